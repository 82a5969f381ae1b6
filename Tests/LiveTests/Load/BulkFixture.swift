// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import WidgetLabTesting

/// A cluster whose extension creates many downloads in one session.
struct BulkFixture: Sendable {
  static let isLong = ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1"

  let cluster: LabCluster
  let journal: LabJournal
  let count: Int
  let path: String

  /// - Parameters:
  ///   - path: the provider's path; each download adds its own seed.
  ///   - settings: lines that are added to the configuration's.
  static func run(
    _ name: String, count: Int, path: String, suspendAfter: Double = 0.3, settings: [String] = [],
    _ body: @Sendable (BulkFixture) async throws -> Void
  ) async throws {
    let configuration = TrialCluster.yaml(
      widget: ["TRIAL_FORM: bulk", "TRIAL_URLS: ${provider.url}\(path)", "TRIAL_COUNT: \(count)"],
      settings: ["suspendAfter: \(suspendAfter)", "limiterFirst: 0"] + settings)
    let rounds = LiveTrait.rounds
    for _ in 1...(isLong ? 1 : rounds) {
      try await LabCluster.with(name, configuration: configuration) { cluster in
        try await body(BulkFixture(cluster: cluster, journal: cluster.journal, count: count, path: path))
      }
    }
  }

  /// The path of one download.
  func path(_ seed: Int) -> String { "\(path)&seed=\(seed)" }

  /// The path to which the extension moves a download's file.
  func result(_ seed: Int) -> String { "\(groupFolder)/results/\(seed)" }

  private var groupFolder: String { cluster.instance.device(LiveFixture.device).group(LiveFixture.group) }

  /// Makes the next timeline request start the downloads.
  func letGo() throws {
    guard FileManager.default.createFile(atPath: groupFolder + "/go", contents: nil) else {
      throw LabError("\(groupFolder)/go cannot be created")
    }
  }

  /// Waits for a line of the extension's standard output.
  @discardableResult
  func prints(_ beginning: String, after: UInt64 = 0, within limit: Duration = LabTimeout.usual) async throws -> String
  {
    let entry = try await journal.waitFor("the extension prints: \(beginning)", after: after, within: limit) {
      $0.reading(ProcessOutput.self)?.line.hasPrefix(beginning) ?? false
    }
    return entry.reading(ProcessOutput.self)?.line ?? ""
  }

  /// The process of a generation of the extension.
  func process(_ generation: UInt32 = 1) async throws -> LabProcess {
    let launch = try await journal.waitFor("generation \(generation) of the extension is launched") {
      let started = $0.reading(ProcessStarted.self)
      return started?.address == LiveFixture.widgetExtension && started?.generation == generation
    }
    return LabProcess(pid: launch.reading(ProcessStarted.self)?.pid ?? 0)
  }

  /// Kills the host; returns when the next one is connected.
  func killHost() async throws {
    let last = try await journal.all().last?.sequence ?? 0
    try await cluster.run("kill", "host")
    try await journal.waitFor("a new host is connected", after: last) {
      let changed = $0.reading(RegistrationChanged.self)
      return changed?.change == .connected && changed?.registration.address == LiveFixture.host
    }
  }

  /// Files of downloads in the device's folders, except those that the extension has moved.
  func leftFiles() -> [String] {
    let device = cluster.instance.device(LiveFixture.device)
    let folders = [device.transfers, device.containers(of: "com.example.Trial.Widget")]
    return folders.flatMap { folder -> [String] in
      let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
      // Transfers write the identifier of the machine's start.
      return names.filter { $0 != "boot" }.map { "\(folder)/\($0)" }.filter { path in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
      }
    }
  }
}

/// Samples the memory of processes.
actor MemoryWatch {
  private var most: [String: Int] = [:]
  private var looking: Task<Void, Never>?

  /// - Parameter processes: the processes by name, at each sample.
  func begin(_ processes: @escaping @Sendable () -> [String: LabProcess]) {
    looking = Task {
      while !Task.isCancelled {
        for (name, process) in processes() { most[name] = max(most[name] ?? 0, process.memory ?? 0) }
        // The sampling interval, which limits the precision of a peak.
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// The peak memory of each process, in MiB.
  func end() -> [String: Double] {
    looking?.cancel()
    return most.mapValues { Double($0) / 1_048_576 }
  }
}
