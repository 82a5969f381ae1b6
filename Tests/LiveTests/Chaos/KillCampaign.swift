// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages
import WidgetLabTesting

/// A cluster under load whose processes are killed in turn.
struct KillCampaign: Sendable {
  /// A process that is killed: each standing process, by its name in `up`, and the two that the host launches.
  enum Victim: String, CaseIterable, Sendable {
    case messageBus = "message-bus"
    case host
    case agent = "agent-1"
    case provider
    case widgetExtension = "extension"
    case app
  }

  static let widgetExtension = LiveFixture.widgetExtension
  static let app = LiveFixture.app
  static let agent = Address.agent(LiveFixture.device, 1)
  private static let path = "/figures?size=98304&bytesPerSecond=196608&seed=trial"
  private static let appPath = "/figures?size=65536&bytesPerSecond=131072&seed=app"

  static let configuration = LiveFixture.configuration(path: path, appPath: appPath, suspendAfter: 0.3)

  /// `up` restarts a process at once if it ran this long; after a shorter run it waits, which would distort the
  /// measurement.
  private static let shortRun = Duration.seconds(2)

  let cluster: LabCluster
  let watch: CampaignWatch
  let bus: Connection

  /// Connects as an operator.
  static func begin(_ cluster: LabCluster) async throws -> KillCampaign {
    let digests = [
      widgetExtension: try await cluster.sha256(of: try await cluster.fetch(path)),
      app: try await cluster.sha256(of: try await cluster.fetch(appPath)),
    ]
    let ledger = CampaignLedger(
      owners: [LiveFixture.session: widgetExtension, LiveFixture.appSession: app],
      strangers: [LiveFixture.correlation: app, LiveFixture.appCorrelation: widgetExtension],
      digest: { digests[$0.owner] })
    return try await begin(cluster, ledger)
  }

  static func begin(_ cluster: LabCluster, _ ledger: CampaignLedger) async throws -> KillCampaign {
    let bus = try await connect(
      as: .operator, address: .operator("campaign"), instance: cluster.instance, within: LabTimeout.usual)
    return KillCampaign(cluster: cluster, watch: CampaignWatch(cluster.instance.journal, ledger), bus: bus)
  }

  // MARK: The load

  /// Downloads, reloads and pings until the task is cancelled.
  func load() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await again(each: .milliseconds(4), ping) }
      group.addTask { try await again(each: .milliseconds(150), reload) }
      group.addTask { try await again(each: .milliseconds(400), openApp) }
      try await group.waitForAll()
    }
  }

  private func again(each pause: Duration, _ work: () async throws -> Void) async throws {
    while !Task.isCancelled {
      do {
        try await work()
        // The pace of the load; no condition is waited for.
        try await Task.sleep(for: pause)
      } catch {
        guard Task.isCancelled else { throw error }
      }
    }
  }

  private func ping() async throws {
    for address in [.messageBus, LiveFixture.host, Self.agent] { _ = try await ping(address) }
  }

  private func ping(_ address: Address) async throws -> Ping.Reply {
    try await bus.request(Ping(), to: address, within: LabTimeout.usual, whenUnreachable: .wait)
  }

  /// The extension starts a download when it finds no result.
  private func reload() async throws {
    unlink(cluster.instance.device(LiveFixture.device).group(LiveFixture.group) + "/trial-result")
    try await bus.deliver(ReloadTimelines(widgetKind: LiveFixture.kind), to: LiveFixture.host)
  }

  private func openApp() async throws {
    _ = try await bus.request(
      OpenApp(bundle: "com.example.Trial"), to: LiveFixture.host, within: LabTimeout.usual, whenUnreachable: .wait)
  }

  // MARK: The killing

  /// Kills each victim once in every round, and waits until it is back.
  ///
  /// - Returns: the recovery times, from the kill until the process is ready again.
  func kill(
    _ victims: [Victim] = Victim.allCases, rounds: Int, seed: UInt64
  ) async throws -> [Victim: [Duration]] {
    var random = SplitMix64(seed: seed)
    var readySince: [Victim: ContinuousClock.Instant] = [:]
    var recoveries: [Victim: [Duration]] = [:]
    let began = ContinuousClock.now
    for round in 1...rounds {
      for victim in victims {
        let old = (readySince[victim] ?? began) + Self.shortRun
        let chance = Duration.microseconds(Int.random(in: 0...300_000, using: &random))
        // The random time of the kill.
        try await Task.sleep(until: max(old, .now) + chance)
        do {
          recoveries[victim, default: []].append(try await kill(victim))
        } catch {
          throw LabError("\(victim.rawValue), killed in round \(round) of seed \(seed): \(error)")
        }
        readySince[victim] = .now
      }
    }
    return recoveries
  }

  private func kill(_ victim: Victim) async throws -> Duration {
    switch victim {
    case .messageBus: try await killStanding(victim) { try await isReady(.messageBus, but: $0) }
    case .host: try await killStanding(victim) { try await isReady(LiveFixture.host, but: $0) }
    case .agent: try await killStanding(victim) { try await isReady(Self.agent, but: $0) }
    case .provider:
      try await killStanding(victim) { old in
        let isNew = cluster.pid(of: victim.rawValue).map { $0 != old } ?? false
        return isNew ? (try? await cluster.fetch("/health")) != nil : false
      }
    case .widgetExtension:
      try await killLaunched(Self.widgetExtension, named: "FixtureExtension") { try await reload() }
    case .app: try await killLaunched(Self.app, named: "containing-app") { try await openApp() }
    }
  }

  private func isReady(_ address: Address, but old: Int32) async throws -> Bool {
    let reply = try await ping(address)
    return reply.pid != old && reply.isReady
  }

  private func killStanding(_ victim: Victim, isBack: (Int32) async throws -> Bool) async throws -> Duration {
    guard let pid = cluster.pid(of: victim.rawValue) else { throw LabError("it has no pid") }
    let death = ContinuousClock.now
    try LabProcess(pid: pid).signal(SIGKILL)
    try await looked("it is ready again") { try await isBack(pid) }
    return ContinuousClock.now - death
  }

  private func killLaunched(
    _ address: Address, named executable: String, demand: () async throws -> Void
  ) async throws -> Duration {
    var victim: CampaignLedger.Instance?
    try await looked("a process of \(address.short) that is ready") {
      guard let instance = try await watch.look({ $0.instances[address] }) else { return false }
      let process = LabProcess(pid: instance.pid)
      // It may have exited with its agent, before its exit is recorded.
      guard process.executableName == executable, (try? process.signal(SIGKILL)) != nil else { return false }
      victim = instance
      return true
    }
    guard let victim else { throw LabError("no process was killed") }
    let death = Timestamp.now
    try await looked("the exit of pid \(victim.pid) in the journal") {
      try await watch.look { $0.exits.contains(victim.pid) }
    }
    try await demand()
    var next = victim
    try await looked("a generation of \(address.short) after \(victim.generation)") {
      next = try await watch.look { $0.instances[address] } ?? victim
      return next.generation > victim.generation
    }
    return .microseconds(next.readyAt.microseconds - death.microseconds)
  }

  private func looked(_ what: String, _ isSo: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + LabTimeout.usual
    while try await !isSo() {
      guard ContinuousClock.now < deadline else { throw LabError("not within 60 s: \(what)") }
      // The precision of a recovery time: polls a file or the kernel, which send no notification.
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  // MARK: The end

  /// Returns when every accepted download is acknowledged and the host has no undelivered one.
  func settled() async throws {
    try await cluster.eventually("every download is acknowledged") {
      let status = try await bus.request(
        DeviceStatus(), to: LiveFixture.host, within: LabTimeout.usual, whenUnreachable: .wait)
      guard status.sessions.allSatisfy({ $0.running == 0 && $0.undelivered == 0 }) else { return false }
      return try await watch.look(\.unfinished.isEmpty)
    }
  }
}
