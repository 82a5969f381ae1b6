import Archive
import Cluster
import Conversations
import Foundation
import WidgetLabTesting

/// A device of its own with the trial's widgets, which differ in their modifiers alone.
struct GalleryTrial: Sendable {
  static let app = "com.example.Gallery"
  static let bundle = "com.example.Gallery.Widget"
  static let widgetExtension = Address.widgetExtension("phone", bundle)
  static let host = Address.host("phone")

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }

  /// Runs a test as often as `WIDGETLAB_REPEAT` says.
  ///
  /// - Parameters:
  ///   - device: what is known of the device besides its name, as YAML.
  ///   - settings: lines of the settings; by default nothing is placed by itself.
  ///   - executable: the extension's.
  ///   - product: lines of the extension.
  ///   - app: lines of the app.
  ///   - isLaunched: whether the app was opened, and left, before the test begins.
  static func run(
    _ name: String, device: String = "model: iPhone 16, version: \"18.0\"",
    settings: [String] = ["placesEachKind: false"], executable: String = "trial-widgets", product: [String] = [],
    app: [String] = ["executable: containing-app"], isLaunched: Bool = true,
    _ body: @Sendable (GalleryTrial) async throws -> Void
  ) async throws {
    let memory = Trial.isSanitized ? ["extensionMemoryLimit: 0"] : []
    let configuration = """
      device: { name: phone, \(device) }
      apps:
        - bundle: \(Self.app)
      \(app.map { "    \($0)" }.joined(separator: "\n"))
      extensions:
        - bundle: \(bundle)
          executable: \(executable)
      \(product.map { "    \($0)\n" }.joined())
      settings:
        suspendAfter: 0.5
      \((settings + memory).map { "  \($0)" }.joined(separator: "\n"))
      """
    let rounds = ProcessInfo.processInfo.environment["WIDGETLAB_REPEAT"].flatMap { Int($0) } ?? 1
    for round in 1...max(1, rounds) {
      try await Berths.shared.occupy {
        do {
          try await LabCluster.with("gallery \(name)", configuration: configuration) { cluster in
            let trial = GalleryTrial(cluster: cluster)
            if isLaunched { try await trial.launch() }
            try await body(trial)
          }
        } catch {
          throw LabError("gallery \(name), round \(round) of \(rounds): \(error)")
        }
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

  // MARK: What a person sees

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

  /// What a command complains of.
  func refusal(_ words: String...) async throws -> String {
    let answer = try await cluster.attempt(words)
    guard answer.status == 1 else {
      let said = answer.output + answer.errors
      throw LabError("widgetlab \(words.joined(separator: " ")) ended with \(answer.status): \(said)")
    }
    return answer.errors
  }

  /// A widget as `widgetlab screen --json` has it.
  struct Seen: Decodable, Sendable {
    let number: Int
    let kind: String
    let family: String
    let content: String
    let background: String
    let renderingMode: String
    let views: [String]
    let note: String?
  }

  private struct Screen: Decodable { let widgets: [Seen] }

  func screen(_ location: String? = nil) async throws -> [Seen] {
    try await read(Screen.self, ["screen"] + (location.map { [$0] } ?? []) + ["--json"]).widgets
  }

  /// Waits until the widget shows an entry.
  func entry(of number: Int, at location: String? = nil) async throws -> Seen {
    var found: Seen?
    try await cluster.eventually("widget \(number) shows an entry") {
      found = try await screen(location).first { $0.number == number && $0.content == "entry" }
      return found != nil
    }
    guard let found else { throw LabError("widget \(number) is not there") }
    return found
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ words: [String]) async throws -> Value {
    let answer = try await cluster.attempt(words)
    guard answer.status == 0 else {
      throw LabError("widgetlab \(words.joined(separator: " ")) ended with \(answer.status): \(answer.errors)")
    }
    return try JSONDecoder().decode(type, from: Data(answer.output.utf8))
  }
}
