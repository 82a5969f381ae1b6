// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import WidgetLabTesting

/// A cluster with a push server. Its app requests, updates and ends Live Activities, and its extension shows them; both
/// are `FixtureActivities`.
struct ActivitiesFixture: Sendable {
  static let bundle = "com.example.Rides"
  static let widgetExtension = Address.widgetExtension(LiveFixture.device, "com.example.Rides.Widget")
  static let app = Address.app(LiveFixture.device, bundle)
  static let type = "RideAttributes"

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }
  var widget: TrapAuthor { TrapAuthor(Self.widgetExtension, cluster) }
  var app: TrapAuthor { TrapAuthor(Self.app, cluster) }

  /// Runs a test `WIDGETLAB_REPEAT` times, with the device's clock held at 06:00.
  ///
  /// - Parameters:
  ///   - requests: whether the app requests an activity when it is opened.
  ///   - diesOnce: the extension exits at the first request for views.
  static func run(
    _ name: String, settings: [String] = [], requests: Bool = true, diesOnce: Bool = false, isEntitled: Bool = true,
    model: String = "iPhone 16", suspendAfter: Double = 0.5, _ body: @Sendable (ActivitiesFixture) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.path
    let rounds = LiveTrait.rounds
    for round in 1...rounds {
      let file = "\(folder)/widgetlab-dies-\(UUID().uuidString)"
      defer { try? FileManager.default.removeItem(atPath: file) }
      let configuration = """
        device: {name: \(LiveFixture.device), version: "26.0", model: \(model)}
        apps:
          - bundle: \(bundle)
            executable: FixtureWidgets
            entitlements: {\(isEntitled ? "aps-environment: development" : "")}
            environment: {TRIAL_FIXTURE: activities, TRIAL_APP: "yes"\(requests ? ", TRIAL_REQUESTS: \"yes\"" : "")}
        extensions:
          - bundle: \(bundle).Widget
            executable: FixtureWidgets
            environment: {TRIAL_FIXTURE: activities, TRIAL_NAME: rides\(diesOnce ? ", TRIAL_DIES: \(file)" : "")}
        pushServer: {priority5Interval: 0, backgroundInterval: 0}
        settings:
        \((["suspendAfter: \(suspendAfter)", "callDeadline: 60"] + settings).map { "  \($0)" }.joined(separator: "\n"))
        """
      do {
        try await LabCluster.with(name, configuration: configuration) { cluster in
          try await cluster.run("clock", "hold")
          try await cluster.run("clock", "set", "2026-03-01T06:00:00Z")
          try await body(ActivitiesFixture(cluster: cluster))
        }
      } catch {
        throw LabError("\(name), round \(round) of \(rounds): \(error)")
      }
    }
  }

  // MARK: Waiting

  /// Waits for a step of an activity.
  @discardableResult
  func moved(
    _ change: ActivityMoved.Change, _ number: Int = 1, because cause: ActivityMoved.Cause? = nil, text: String? = nil,
    after: UInt64 = 0
  ) async throws -> (envelope: LabEnvelope, body: ActivityMoved) {
    let what = "Live Activity \(number) \(change.rawValue) \(cause?.rawValue ?? "") \(text ?? "")"
    let envelope = try await journal.waitFor(what, after: after) {
      guard let moved = $0.reading(ActivityMoved.self), moved.activity.number == number, moved.change == change else {
        return false
      }
      return (cause == nil || moved.because == cause) && (text == nil || moved.text.contains(text ?? ""))
    }
    guard let body = envelope.reading(ActivityMoved.self) else { throw LabError("\(what) is missing") }
    return (envelope, body)
  }

  /// Opens the app, which requests the activity 1.
  ///
  /// - Returns: the token of the activity.
  @discardableResult
  func begin() async throws -> String {
    try await cluster.run("app", "open")
    try await moved(.started, because: .app)
    try await moved(.archived, text: "in 5 minutes")
    return try await token(1)
  }

  /// Waits for the token of an activity.
  func token(_ number: Int) async throws -> String {
    let moved = try await moved(.token, number).body
    guard let token = moved.activity.token else { throw LabError("the activity \(number) has lost its token") }
    return token
  }

  /// The activities of the device.
  func activities() async throws -> [ActivityRecord] {
    let text = try await cluster.run("activity", "list", "--json")
    return try BodyCoding.decode(AppActivities.self, from: Array(text.utf8)).activities
  }

  // MARK: Pushes

  /// Sends a push for an activity, or one that starts one; and returns its id.
  ///
  /// - Parameter aps: the fields of `aps` besides event and timestamp.
  func push(
    _ event: String, _ aps: String, to arguments: [String] = ["--activity", "1"], timestamp: Int, priority: Int = 10
  ) async throws -> UUID {
    let payload = #"{"aps":{"event":"\#(event)","timestamp":\#(timestamp),\#(aps)}}"#
    return try await cluster.push(
      ["--type", "liveactivity", "--priority", "\(priority)"] + arguments, payload: payload)
  }

  /// Sends a push that tells the app in the background what to do.
  func tell(_ story: String) async throws {
    let id = try await cluster.push(
      ["--type", "background"], payload: #"{"aps":{"content-available":1},"story":"\#(story)"}"#)
    try await step(id, name: .handled)
  }

  /// Waits for a step of a push.
  @discardableResult
  func step(_ push: UUID, name: PushStep.Name, detail: String = "") async throws -> LabEnvelope {
    try await cluster.step(push, name, detail)
  }
}
