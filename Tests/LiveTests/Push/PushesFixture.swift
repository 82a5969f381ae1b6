// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import WidgetLabTesting

/// A cluster with a push server. Its extension has two push handlers and its app registers for pushes; both print what
/// they receive. Three of its four widgets take pushes.
struct PushesFixture: Sendable {
  static let bundle = "com.example.Pushes"
  static let widgetExtension = Address.widgetExtension(LiveFixture.device, "com.example.Pushes.Widget")
  static let app = Address.app(LiveFixture.device, bundle)
  static let taking = ["First", "Second", "Other"]

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }
  var widget: TrapAuthor { TrapAuthor(Self.widgetExtension, cluster) }
  var app: TrapAuthor { TrapAuthor(Self.app, cluster) }

  /// - Parameters:
  ///   - isHeld: whether the device's clock is held at 06:00.
  ///   - environment: lines of the extension's environment.
  static func run(
    _ name: String, settings: [String] = ["developerMode: true"], isHeld: Bool = false, environment: [String] = [],
    suspendAfter: Double = 0.5, _ body: @Sendable (PushesFixture) async throws -> Void
  ) async throws {
    let configuration = """
      device:
        name: \(LiveFixture.device)
        version: "26.0"
      apps:
        - bundle: \(bundle)
          executable: FixtureWidgets
          entitlements: {aps-environment: development}
          environment: {TRIAL_FIXTURE: pushes, TRIAL_APP: "yes"}
      extensions:
        - bundle: \(bundle).Widget
          executable: FixtureWidgets
          entitlements: {aps-environment: development}
          environment:
      \((["TRIAL_FIXTURE: pushes", "TRIAL_NAME: pushes"] + environment).map { "      \($0)" }.joined(separator: "\n"))
      pushServer: {priority5Interval: 0, backgroundInterval: 0}
      settings:
      \((["suspendAfter: \(suspendAfter)", "callDeadline: 60"] + settings).map { "  \($0)" }.joined(separator: "\n"))
      """
    let rounds = LiveTrait.rounds
    for round in 1...rounds {
      do {
        try await LabCluster.with(name, configuration: configuration) { cluster in
          if isHeld {
            try await cluster.run("clock", "hold")
            try await cluster.run("clock", "set", "2026-03-01T06:00:00Z")
          }
          try await body(PushesFixture(cluster: cluster))
        }
      } catch {
        throw LabError("\(name), round \(round) of \(rounds): \(error)")
      }
    }
  }

  /// Launches the extension, whose widgets are placed; returns when its handlers have the token and every widget has a
  /// timeline.
  ///
  /// - Returns: the token.
  @discardableResult
  func begin() async throws -> String {
    try await cluster.run("reload", "--all")
    let received = try await received(1)
    for kind in Self.taking + ["Plain"] { try await widget.shows(kind) }
    return received.token
  }

  /// Waits for the n-th call of the handlers.
  func received(_ number: Int) async throws -> TellPushHandlers {
    let calls = try await nth(number, TellPushHandlers.self)
    _ = try await journal.waitFor("the handlers have returned from call \(number)") { $0.cause == calls.envelope.id }
    return calls.body
  }

  /// Sends a push, and returns its id.
  func push(_ arguments: String..., payload: String? = nil) async throws -> UUID {
    try await cluster.push(arguments, payload: payload)
  }

  /// Waits for a step of a push; `detail` selects one of several with the same name.
  @discardableResult
  func step(_ push: UUID, name: PushStep.Name, detail: String = "") async throws -> LabEnvelope {
    try await cluster.step(push, name, detail)
  }

  /// All steps of a push that the device has reported.
  func steps(_ push: UUID) async throws -> [PushStep.Name] {
    var seen: Set<UUID> = []
    return try await journal.all().compactMap { envelope in
      guard let progress = envelope.reading(PushProgress.self), progress.uniqueID == push,
        seen.insert(envelope.id).inserted
      else { return nil }
      return progress.step.name
    }
  }

  /// Returns when the three widgets have their timelines from this push.
  func reloaded(_ push: UUID) async throws {
    for kind in Self.taking { try await step(push, name: .reloaded, detail: "(\(kind))") }
  }

  /// The kinds of the timelines that were stored for a cause, in order.
  func stored(_ cause: ReloadCause) async throws -> [String] {
    try await journal.all().compactMap { $0.reading(TimelineStored.self) }.filter { $0.because == cause }
      .map(\.widgetKind)
  }

  func nth<C: Message>(_ number: Int, _ type: C.Type) async throws -> (envelope: LabEnvelope, body: C) {
    var seen: [UUID: LabEnvelope] = [:]
    var order: [UUID] = []
    try await cluster.eventually("\(number) times \(C.kind.name)") {
      seen = [:]
      order = []
      for envelope in try await journal.all() where envelope.reading(C.self) != nil {
        if seen.updateValue(envelope, forKey: envelope.id) == nil { order.append(envelope.id) }
      }
      return order.count >= number
    }
    guard let envelope = seen[order[number - 1]], let body = envelope.reading(C.self) else {
      throw LabError("\(C.kind.name) is missing")
    }
    return (envelope, body)
  }
}

extension LabEnvelope {
  /// The id and the step of a push that the device or the push server reports.
  var pushStep: (UUID?, PushStep?)? {
    if let progress = reading(PushProgress.self) { return (progress.uniqueID, progress.step) }
    if let logged = reading(PushLogged.self) { return (logged.uniqueID, logged.step) }
    return nil
  }
}

extension LabCluster {
  /// Sends a push, and returns its id.
  func push(_ arguments: [String], payload: String?) async throws -> UUID {
    struct Answer: Decodable { let uniqueID: UUID }
    var all = ["push", "--json"] + arguments
    if let payload {
      let file = folder + "/payload-\(UUID().uuidString).json"
      try Data(payload.utf8).write(to: URL(fileURLWithPath: file))
      all += ["--payload", file]
    }
    let output = try await attempt(all)
    guard output.status == 0 else {
      throw LabError("\(all) exited with \(output.status): \(output.output)\(output.errors)")
    }
    return try JSONDecoder().decode(Answer.self, from: Data(output.output.utf8)).uniqueID
  }

  /// Waits for a step of a push; `detail` selects one of several with the same name.
  @discardableResult
  func step(_ push: UUID, _ name: PushStep.Name, _ detail: String = "") async throws -> LabEnvelope {
    try await journal.waitFor("\(name.rawValue) \(detail): push \(push)") { envelope in
      let (id, step) = envelope.pushStep ?? (nil, nil)
      guard id == push, step?.name == name else { return false }
      // Foundation's `contains` is false for an empty string.
      return detail.isEmpty || step?.detail?.contains(detail) == true
    }
  }
}
