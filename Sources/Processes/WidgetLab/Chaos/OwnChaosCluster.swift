// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import FaultPoints
import Foundation
import Glibc
import Messages

/// A campaign's own cluster: a cluster that this process supervises. All its processes end with this process, so no fault
/// outlives it.
struct OwnChaosCluster: ChaosCluster {
  let cluster: ClusterFacts
  let supervisor: Supervisor
  private let lifecycle: ClusterLifecycle
  private let lock: InstanceLock
  private let points: FaultPointPage
  private let connection: SharedOperatorSession
  static let kinds = Set(FaultKind.allCases).subtracting([.recreate])
  var page: FaultPointPage? { points }
  var journal: String { cluster.instance.journal }
  var provider: String? { (try? ProviderAnnouncement.read(in: cluster.instance))?.url }

  /// Checks the executables. Starts nothing.
  init(_ home: ChaosHome, executables: String?) async throws {
    cluster = try ClusterFacts(folder: home.folder, configurationPath: home.configurationPath)
    let search = ExecutableSearch(configuration: cluster.configurationPath, named: executables)
    try await ExecutableCheck(cluster: cluster, search: search).run()
    lock = try InstanceLock(instance: cluster.folder)
    do {
      points = try FaultPointPage.create(at: cluster.instance.faultPoints)
    } catch {
      throw CommandError(Exit.broken, "\(error)", at: cluster.folder)
    }
    supervisor = Supervisor(instance: cluster.folder, restarts: .inCampaign) { _ in }
    connection = SharedOperatorSession(cluster)
    lifecycle = ClusterLifecycle(cluster: cluster, search: search, supervisor: supervisor)
  }

  func start() async throws { _ = try await lifecycle.start() }

  /// Stops all processes, like Ctrl-C.
  func stop() async {
    await connection.leave()
    await supervisor.stop()
    lifecycle.removeAnnouncements()
    lock.release()
  }

  func session() async throws -> OperatorSession { try await connection.session(within: .seconds(30)) }

  func running(_ instances: [ChaosVictim: CampaignObserver.Instance]) async -> [ChaosVictim] {
    await supervisor.pids.keys.map(ChaosVictim.init(rawValue:))
      + instances.filter { ProcessFacts(pid: $1.pid).runs($1.executable) }.map(\.key)
  }

  func kill(
    _ victims: [ChaosVictim], _ instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> [ChaosVictim: Int32] {
    await signal(victims, SIGKILL, instances)
  }

  func setStopped(
    _ isStopped: Bool, _ victim: ChaosVictim, _ instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> Bool {
    await signal([victim], isStopped ? SIGSTOP : SIGCONT, instances)[victim] != nil
  }

  private func signal(
    _ victims: [ChaosVictim], _ number: Int32, _ instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> [ChaosVictim: Int32] {
    let standing = await supervisor.signal(victims.filter { !$0.isLaunched }.map(\.rawValue), number)
    var reached = Dictionary(uniqueKeysWithValues: standing.map { (ChaosVictim(rawValue: $0), $1) })
    for victim in victims where victim.isLaunched {
      guard let instance = instances[victim], ProcessFacts(pid: instance.pid).runs(instance.executable),
        Glibc.kill(instance.pid, number) == 0
      else { continue }
      reached[victim] = instance.pid
    }
    return reached
  }

  func killBus(_ damage: JournalDamage) async -> Int32? {
    let folder = cluster.instance.journal
    return await supervisor.kill(ChaosVictim.messageBus.rawValue) { JournalEnd(folder: folder).damage(damage) }
  }

  /// It has no containers.
  func recreate(_ victim: ChaosVictim) async -> Int32? { nil }

  func state(of victim: ChaosVictim, pid: Int32) -> String? {
    guard let address = cluster.address(of: victim), let state = points.state(of: address, pid: pid) else { return nil }
    guard let point = state.point else { return "starting" }
    return point.isBefore || state.age < CampaignObserver.idle ? point.name : "idle"
  }

  func isRestarted(_ victim: ChaosVictim, since pid: Int32) async -> Bool {
    await supervisor.pid(of: victim.rawValue).map { $0 != pid } ?? false
  }
}

/// The end of the newest segment of a journal whose broker is dead.
struct JournalEnd {
  let folder: String

  /// Adds what a broker leaves that is interrupted in the middle of a write.
  func damage(_ damage: JournalDamage) {
    guard
      let newest = try? FileManager.default.contentsOfDirectory(atPath: folder).filter({ $0.hasSuffix(".journal") })
        .max()
    else { return }
    let path = "\(folder)/\(newest)"
    switch damage {
    case .half: append(Self.head(length: 600) + Array(repeating: 0x20, count: 200), to: path)
    case .garbage: append(Self.head(length: 300) + Array(repeating: 0xff, count: 300), to: path)
    case .draft: _ = FileManager.default.createFile(atPath: path + ".draft", contents: Data())
    }
  }

  /// The head of a record: the length of its frame, and a checksum that matches nothing.
  private static func head(length: UInt32) -> [UInt8] {
    withUnsafeBytes(of: length.littleEndian) { Array($0) } + [0xde, 0xad, 0xbe, 0xef]
  }

  private func append(_ bytes: [UInt8], to path: String) {
    guard let file = FileHandle(forWritingAtPath: path) else { return }
    defer { try? file.close() }
    _ = try? file.seekToEnd()
    try? file.write(contentsOf: bytes)
  }
}
