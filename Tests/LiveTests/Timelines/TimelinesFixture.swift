// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import WidgetLabTesting

/// A cluster whose extension's timelines depend only on the device's time, which is held at 06:00.
struct TimelinesFixture: Sendable {
  static let widgetExtension = Address.widgetExtension(LiveFixture.device, "com.example.Timelines.Widget")
  static let app = Address.app(LiveFixture.device, "com.example.Timelines")
  static let morning = Date(timeIntervalSince1970: 1_772_344_800)

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }

  /// - Parameters:
  ///   - only: the only widget that the extension has.
  ///   - misbehaves: what its widget `Bad` does after its first timeline.
  ///   - settings: lines of the configuration's settings.
  ///   - model: the device's model.
  static func run(
    _ name: String, only: String? = nil, misbehaves: String? = nil, settings: [String] = [],
    model: String = "iPhone 16", _ body: @Sendable (TimelinesFixture) async throws -> Void
  ) async throws {
    let environment =
      [only.map { "TRIAL_ONLY: \($0)" }, misbehaves.map { "TRIAL_MISBEHAVES: \($0)" }]
      .compactMap(\.self) + ["TRIAL_FIXTURE: timelines", "TRIAL_NAME: timelines"]
    let configuration = """
      device:
        name: \(LiveFixture.device)
        model: \(model)
      apps:
        - bundle: com.example.Timelines
          executable: containing-app
      extensions:
        - bundle: com.example.Timelines.Widget
          executable: FixtureExtension
          environment:
      \(environment.map { "      \($0)" }.joined(separator: "\n"))
      settings:
      \((["suspendAfter: 0.5"] + settings).map { "  \($0)" }.joined(separator: "\n"))
      """
    let rounds = LiveTrait.rounds
    for _ in 1...rounds {
      try await LabCluster.with(name, configuration: configuration) { cluster in
        try await cluster.run("clock", "hold")
        try await cluster.run("clock", "set", "2026-03-01T06:00:00Z")
        try await body(TimelinesFixture(cluster: cluster))
      }
    }
  }

  /// Launches the extension, so that its kinds are placed; returns when this number of timelines is stored.
  func begin(_ count: Int = 1) async throws {
    try await cluster.run("reload", "--all")
    try await stored(count)
  }

  /// Waits for the n-th stored timeline.
  @discardableResult
  func stored(_ count: Int) async throws -> TimelineStored {
    let found = try await nth(count, TimelineStored.self)
    return found
  }

  /// Waits for the n-th notice of a type.
  func nth<N: Notice>(_ number: Int, _ type: N.Type) async throws -> N {
    try await cluster.eventually("\(number) times \(N.kind.name)") { try await all(type).count >= number }
    return try await all(type)[number - 1]
  }

  func all<N: Notice>(_ type: N.Type) async throws -> [N] {
    try await journal.all().compactMap { $0.reading(N.self) }
  }

  /// The shown entries: minutes since the morning, and the text.
  func shown() async throws -> [String] {
    try await all(EntryShown.self).map { "\($0.date.timeIntervalSince(Self.morning) / 60) \($0.text.joined())" }
  }

  /// Cause, verdict and rule of each line of the ledger.
  func ledger() async throws -> [String] {
    try await all(BudgetDecided.self).map { "\($0.entry.because) \($0.entry.verdict) \($0.entry.rule)" }
  }
}
