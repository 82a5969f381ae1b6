// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import FaultPoints
import Foundation
import JournalAnalysis
import MessageBus
import Messages
import Testing
import WidgetLabTesting

/// The sample's cluster with a page of fault points: downloads of the extension and the app, reloads, and pushes of the
/// backend.
struct FaultFixture: Sendable {
  static let host = LiveFixture.host
  static let agent = Address.agent(LiveFixture.device, 1)
  static let widgetExtension = SampleFixture.widgetExtension
  static let app = SampleFixture.app
  private static let bundle = "com.example.CaffeineTracker"

  private static let configuration = SampleFixture.configuration(
    app: "${provider.url}/figures?size=32768", widget: "${provider.url}/figures?size=65536",
    settings: ["suspendAfter: 0.3", "crashBackoffFirst: 0.1"])

  let cluster: LabCluster
  let page: FaultPointPage
  let bus: Connection

  /// - Parameter page: created before the first process starts.
  static func run(_ name: String, _ body: (FaultFixture) async throws -> Void) async throws {
    for round in 1...LiveTrait.rounds {
      var page: FaultPointPage?
      do {
        try await LabCluster.with(
          name, configuration: configuration,
          prepare: { page = try FaultPointPage.create(at: $0.faultPoints) }
        ) { cluster in
          let bus = try await connect(
            as: .operator, address: .operator("faults"), instance: cluster.instance, within: LabTimeout.usual)
          let fixture = FaultFixture(cluster: cluster, page: try #require(page), bus: bus)
          try await fixture.start()
          try await body(fixture)
          await bus.leave()
        }
      } catch {
        throw LabError("\(name), round \(round) of \(LiveTrait.rounds): \(error)")
      }
    }
  }

  /// Returns when the backend has the widget's token. The widget sends it once: without it no push ever follows.
  private func start() async throws {
    try await cluster.run("app", "open")
    try await cluster.run("reload", "CaffeineTracker")
    try await cluster.eventually("the backend has the token of the widget") {
      try await SampleFixture(cluster: cluster).subscriptions().count == 1
    }
  }

  // MARK: Work

  /// What makes a process reach a point.
  enum Demand: Sendable {
    /// A reload, which starts a download, and a push.
    case work
    /// The extension is killed, and needed again.
    case launch
    /// The device's network and screen change.
    case settings
    /// The widget's token is replaced.
    case token
  }

  /// Requests work, and waits for no result: the process that must give it may end before.
  func ask(_ demand: Demand) async {
    switch demand {
    case .work: break
    case .launch: _ = try? await cluster.attempt(["kill", "extension"])
    case .settings:
      _ = try? await bus.request(SetNetwork(state: NetworkState()), to: Self.host, within: .seconds(5))
      _ = try? await bus.request(ChangeScreen(.background(app: Self.bundle)), to: Self.host, within: .seconds(5))
    case .token:
      let subject = PushSubject(device: LiveFixture.device, bundle: Self.bundle, use: .widgets)
      _ = try? await bus.request(ChangeToken(subject: subject, change: .rotate), to: .pushServer, within: .seconds(5))
    }
    bus.submit(ReloadTimelines(widgetKind: "CaffeineTracker"), to: Self.host, id: UUID(), context: .none) { _ in }
    _ = try? await bus.request(OpenApp(bundle: Self.bundle), to: Self.host, within: .seconds(5))
    _ = try? await cluster.post("/drinks", json: #"{"name":"Espresso","milligrams":63}"#)
  }

  /// The pid of the current instance of a standing process; 0 for others.
  func runningInstance(of process: Address) async throws -> Int32 {
    guard process.bundleIdentifier == nil else { return 0 }
    var pid: Int32 = 0
    try await cluster.eventually("\(process) runs") {
      pid = page.state(of: process)?.pid ?? 0
      return pid > 0 && LabProcess(pid: pid).isAlive
    }
    return pid
  }

  /// Requests work until the fault has taken effect, and disarms it.
  func provoke(_ fault: FaultPointPage.Fault?, _ what: String, by demand: Demand = .work) async throws {
    let fault = try #require(fault, "all places for faults are in use")
    try await cluster.eventually("the fault took effect: \(what)") {
      if page.performed(fault) == 0 { await ask(demand) }
      return page.performed(fault) > 0
    }
    page.disarm(fault)
  }

  // MARK: The end

  /// Waits until nothing is left to be done, and expects that no law is broken and nothing was lost.
  func expectLawful() async throws {
    page.disarmAll()
    try await cluster.eventually("every event is acknowledged") {
      let status = try await bus.request(
        DeviceStatus(), to: Self.host, within: LabTimeout.usual, whenUnreachable: .wait)
      return status.sessions.allSatisfy { $0.running == 0 && $0.undelivered == 0 }
    }
    var verdicts: [LawVerdict] = []
    try await cluster.eventually("no task is lost") {
      var checker = LawChecker()
      for entry in try await cluster.journal.all() { _ = checker.handle(entry.envelope) }
      verdicts = checker.verdicts()
      return verdicts.contains { $0.answer == .broken }
        || verdicts.contains { $0.law.code == "no-loss" && $0.answer == .holds }
    }
    for verdict in verdicts { #expect(verdict.answer != .broken, "\(verdict.law.code): \(verdict.findings)") }
  }
}
