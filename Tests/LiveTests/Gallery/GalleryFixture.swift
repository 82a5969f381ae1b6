// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import Messages
import WidgetLabTesting

/// A device with the fixture's widgets, which differ only in their modifiers.
struct GalleryFixture: Sendable {
  static let app = "com.example.Gallery"
  static let bundle = "com.example.Gallery.Widget"
  static let second = "com.example.Gallery.Second"
  /// The app of the fixture's widgets, which requests new timelines when it enters and when it leaves the foreground.
  static let reloading = ["executable: FixtureWidgets", "environment:", "  TRIAL_APP: 1"]
  /// The extension's lines for the widgets with links and controls.
  static let touched = ["environment:", "  TRIAL_WIDGETS: touched"]
  static let widgetExtension = Address.widgetExtension("phone", bundle)
  static let host = Address.host("phone")

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }

  /// Runs a test `WIDGETLAB_REPEAT` times.
  ///
  /// - Parameters:
  ///   - device: the device's properties besides its name, as YAML.
  ///   - settings: lines of the settings; by default nothing is placed automatically.
  ///   - executable: the extension's executable.
  ///   - fixture: the fixture in this executable; `nil`: the first.
  ///   - product: lines of the extension.
  ///   - app: lines of the app.
  ///   - second: lines of a second extension of the app; none when empty.
  ///   - groups: the app groups.
  ///   - isLaunched: whether the app is opened and left before the body runs.
  static func run(
    _ name: String, device: String = "model: iPhone 16, version: \"18.0\"",
    settings: [String] = ["placesEachKind: false"], executable: String = "FixtureWidgets", fixture: String? = nil,
    product: [String] = [], app: [String] = ["executable: containing-app"], second: [String] = [],
    groups: [String] = [], isLaunched: Bool = true, _ body: @Sendable (GalleryFixture) async throws -> Void
  ) async throws {
    let product = product + (fixture.map { ["environment: {TRIAL_FIXTURE: \($0)}"] } ?? [])
    let other = second.isEmpty ? [] : ["  - bundle: \(Self.second)"] + second.map { "    \($0)" }
    let configuration = """
      device: { name: phone, \(device) }
      appGroups: [\(groups.joined(separator: ", "))]
      apps:
        - bundle: \(Self.app)
      \(app.map { "    \($0)" }.joined(separator: "\n"))
      extensions:
        - bundle: \(bundle)
          executable: \(executable)
      \((product.map { "    \($0)" } + other).joined(separator: "\n"))
      settings:
        suspendAfter: 0.5
      \(settings.map { "  \($0)" }.joined(separator: "\n"))
      """
    let rounds = LiveTrait.rounds
    for round in 1...rounds {
      do {
        try await LabCluster.with("gallery \(name)", configuration: configuration) { cluster in
          let fixture = GalleryFixture(cluster: cluster)
          if isLaunched { try await fixture.launch() }
          try await body(fixture)
        }
      } catch {
        throw LabError("gallery \(name), round \(round) of \(rounds): \(error)")
      }
    }
  }

  /// Opens the app and leaves it.
  func launch() async throws {
    try await cluster.run("app", "open")
    try await cluster.eventually("the app runs") {
      try await cluster.run("ps").split(separator: "\n").contains { $0.contains("app/") && $0.contains("running") }
    }
    try await cluster.run("app", "background")
  }

  // MARK: What the user sees

  /// The gallery of a place.
  func gallery(_ location: String? = nil) async throws -> [ListGallery.Item] {
    let words = ["gallery", "--json"] + (location.map { ["--location", $0] } ?? [])
    return try await read(ListGallery.Reply.self, words).items
  }

  func item(_ kind: String, at location: String = "homeScreen") async throws -> [ListGallery.Item] {
    try await gallery(location).filter { $0.widgetKind == kind }
  }

  @discardableResult
  func add(_ kind: String, _ more: String...) async throws -> PlacementReport {
    try await read(PlacementReport.self, ["add", kind, "--json"] + more)
  }

  /// The error text of a command that must fail.
  func refusal(_ words: String...) async throws -> String {
    let answer = try await cluster.attempt(words)
    guard answer.status == 1 else {
      let output = answer.output + answer.errors
      throw LabError("widgetlab \(words.joined(separator: " ")) exited with \(answer.status): \(output)")
    }
    return answer.errors
  }

  /// A widget as `widgetlab screen --json` prints it.
  struct Seen: Decodable, Sendable {
    let number: Int
    let kind: String
    let family: String
    let content: String
    let background: String
    let renderingMode: String
    let views: [String]
    let note: String?
    let covers: [Int]
  }

  private struct Screen: Decodable {
    let tint: String?
    let widgets: [Seen]
  }

  func screen(_ location: String? = nil) async throws -> [Seen] {
    try await read(Screen.self, ["screen"] + (location.map { [$0] } ?? []) + ["--json"]).widgets
  }

  /// The tint of a place.
  func tint(_ location: String) async throws -> String? {
    try await read(Screen.self, ["screen", location, "--json"]).tint
  }

  /// Waits until the widget shows an entry.
  func entry(of number: Int, at location: String? = nil) async throws -> Seen {
    var foundScreen: Seen?
    try await cluster.eventually("widget \(number) shows an entry") {
      foundScreen = try await screen(location).first { $0.number == number && $0.content == "entry" }
      return foundScreen != nil
    }
    guard let foundScreen else { throw LabError("widget \(number) is missing") }
    return foundScreen
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ words: [String]) async throws -> Value {
    let answer = try await cluster.attempt(words)
    guard answer.status == 0 else {
      throw LabError("widgetlab \(words.joined(separator: " ")) exited with \(answer.status): \(answer.errors)")
    }
    return try JSONDecoder().decode(type, from: Data(answer.output.utf8))
  }

  // MARK: The journal

  func all<N: Notice>(_ type: N.Type, after sequence: UInt64 = 0) async throws -> [N] {
    try await journal.all().filter { $0.sequence > sequence }.compactMap { $0.reading(N.self) }
  }

  var last: UInt64 { get async throws { try await journal.all().last?.sequence ?? 0 } }

  /// Waits for a line of a process's output.
  @discardableResult
  func printed(_ line: String, after sequence: UInt64) async throws -> ProcessOutput {
    let found = try await journal.waitFor("a process prints \(line)", after: sequence) {
      $0.reading(ProcessOutput.self)?.line == line
    }
    guard let output = found.reading(ProcessOutput.self) else { throw LabError("\(found) is not a process output") }
    return output
  }

  /// Cause, verdict and rule of each line of the ledger.
  func ledger(after sequence: UInt64 = 0) async throws -> [String] {
    try await all(BudgetDecided.self, after: sequence).map {
      "\($0.entry.because) \($0.entry.verdict) \($0.entry.rule)"
    }
  }
}
