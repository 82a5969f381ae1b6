// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A cluster whose extension and app have a selectable form of handler.
struct HandlersFixture {
  /// The size in bytes of the usual file. The provider holds most of it until `release`.
  static let size = 524_288
  /// The session of the app: an app and its extension do not share one.
  static let appSession = "com.example.Trial.app"
  static let urls = ["/figures?size=\(size)&bytesPerSecond=262144&holdAt=65536&seed=handlers"]

  let cluster: LabCluster
  let journal: LabJournal

  static func run(
    _ name: String, extensionForm: String, appForm: String = "app", urls: [String] = urls, suspendAfter: Double = 0.2,
    settings: [String] = [],
    _ body: @Sendable (HandlersFixture) async throws -> Void
  ) async throws {
    let all = urls.map { "${provider.url}\($0)" }.joined(separator: ",")
    let configuration = TrialCluster.yaml(
      widget: [
        "TRIAL_FORM: \(extensionForm)", "TRIAL_URLS: \(all)",
        "TRIAL_INLINE_URL: ${provider.url}/figures?size=1048576&bytesPerSecond=1024&seed=inline",
      ],
      app: ["TRIAL_FORM: \(appForm)", "TRIAL_SESSION: \(appSession)", "TRIAL_URLS: \(all)"],
      settings: ["suspendAfter: \(suspendAfter)"] + settings)
    let rounds = LiveTrait.rounds
    for _ in 1...rounds {
      try await LabCluster.with(name, configuration: configuration) { cluster in
        try await body(HandlersFixture(cluster: cluster, journal: cluster.journal))
      }
    }
  }

  /// Reloads the widget; returns when a download of it has begun.
  func begin() async throws {
    try await cluster.run("reload", LiveFixture.kind)
    try await progress(of: LiveFixture.widgetExtension, .started)
  }

  func set(_ name: String) throws {
    let path = "\(cluster.instance.device(LiveFixture.device).group(LiveFixture.group))/\(name)"
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      throw LabError("\(path) cannot be created")
    }
  }

  /// Advances the clock past the deadline of a timeline or snapshot request.
  func expireTimeline(after sequence: UInt64) async throws {
    try await journal.waitFor("the extension gets a request", after: sequence) {
      $0.reading(RequestTimeline.self) != nil
    }
    try await cluster.run("clock", "advance", "31s")
  }

  /// Lets the downloads end when the extension is suspended. Events of one that ended earlier would call no handler.
  func suspended() async throws {
    try await state("suspended")
    try await release()
  }

  /// Lets the provider send the rest of each file.
  func release() async throws { try await cluster.post("/figures/release", json: "{}") }

  @discardableResult
  func state(_ state: String, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("the extension is \(state)", after: after) {
      let change = $0.reading(ProcessState.self)
      return change?.address == LiveFixture.widgetExtension && change?.state == state
    }
  }

  @discardableResult
  func progress(of owner: Address, _ step: TransferProgress.Step) async throws -> LabEnvelope {
    try await journal.waitFor("\(step.rawValue): a download of \(owner.short)") {
      let progress = $0.reading(TransferProgress.self)
      return progress?.owner == owner && progress?.step == step
    }
  }

  /// Returns when this number of deliveries is acknowledged.
  func acknowledged(_ count: Int = 1, owner: Address = LiveFixture.widgetExtension) async throws {
    try await cluster.eventually("\(owner.short) has acknowledged \(count)") {
      try await journal.all().count { $0.reading(SessionAcknowledged.self)?.owner == owner } == count
    }
  }

  func stored(_ text: String) async throws {
    try await journal.waitFor("the timeline shows: \(text)") { $0.reading(TimelineStored.self)?.text == [text] }
  }

  @discardableResult
  func prints(_ line: String) async throws -> LabEnvelope {
    try await journal.waitFor("a process prints: \(line)") { $0.reading(ProcessOutput.self)?.line == line }
  }

  func ended(_ generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("the exit of generation \(generation) of the extension") {
      let exited = $0.reading(ProcessExited.self)
      return exited?.address == LiveFixture.widgetExtension && exited?.generation == generation
    }
  }

  func process(_ generation: UInt32) async throws -> LabProcess {
    let launch = try await journal.waitFor("generation \(generation) of the extension is launched") {
      let started = $0.reading(ProcessStarted.self)
      return started?.address == LiveFixture.widgetExtension && started?.generation == generation
    }
    return LabProcess(pid: launch.reading(ProcessStarted.self)?.pid ?? 0)
  }

  /// The calls in all process instances of an owner, in order, as its runtime recorded them.
  func calls(of owner: Address) async throws -> [String] {
    try await journal.all().filter { $0.envelope.header.source == owner }.compactMap { entry in
      if let called = entry.reading(HandlerCalled.self) { return "handler \(called.matching)" }
      if let called = entry.reading(DelegateCalled.self) { return called.method }
      return entry.reading(CompletionCalled.self).map { "completion \($0.outstanding)" }
    }
  }

  /// The lines that the author's handlers printed. Output passes through the agent, so the journal may have it late.
  func lines(of owner: Address) async throws -> [String] {
    try await journal.all().compactMap { $0.reading(ProcessOutput.self) }.filter { $0.address == owner }.map(\.line)
      .filter { $0.hasPrefix("called ") || $0.hasPrefix("returned ") }
  }
}
