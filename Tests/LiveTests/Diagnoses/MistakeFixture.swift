// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A cluster with two authors: one makes a mistake that `widgetlab diagnose` reports, the other does not. Each has an
/// extension, and an app if the mistake is the app's.
struct MistakeFixture: Sendable {
  static let kind = "Mistake"

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }
  let server: LocalServer
  let wrong: TrapAuthor
  let right: TrapAuthor

  /// The server's default response.
  static let news = #"[{"title": "news", "begins": 60}]"#

  /// Runs a test `WIDGETLAB_REPEAT` times.
  ///
  /// - Parameters:
  ///   - mistake: its name in `FixtureMistakes`.
  ///   - hasApps: whether each extension has a containing app with the same mistake.
  static func run(
    _ mistake: String, hasApps: Bool = false, settings: [String] = [],
    answer: @escaping @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text(news) },
    _ body: @Sendable (MistakeFixture) async throws -> Void
  ) async throws {
    let rounds = LiveTrait.rounds
    for round in 1...rounds {
      let server = try LocalServer(answer)
      defer { server.stop() }
      let url = server.url("/").absoluteString
      let forms = ["wrong", "right"]
      let apps = hasApps ? forms.map { product($0, mistake: mistake, url: url, isApp: true) } : []
      let configuration = """
        device:
          name: \(LiveFixture.device)
        appGroups:
        \(forms.map { "  - group.com.example.\($0.capitalized)" }.joined(separator: "\n"))
        \(apps.isEmpty ? "" : "apps:\n" + apps.joined(separator: "\n"))
        extensions:
        \(forms.map { product($0, mistake: mistake, url: url, isApp: false) }.joined(separator: "\n"))
        settings:
        \((["suspendAfter: 0.5", "callDeadline: 60", "developerMode: true"] + settings).map { "  \($0)" }.joined(separator: "\n"))
        """
      do {
        try await LabCluster.with("mistake \(mistake)", configuration: configuration) { cluster in
          try await body(MistakeFixture(cluster, server))
        }
      } catch {
        throw LabError("mistake \(mistake), round \(round) of \(rounds): \(error)")
      }
    }
  }

  private static func product(_ form: String, mistake: String, url: String, isApp: Bool) -> String {
    let bundle = "com.example.\(form.capitalized)"
    return """
        - bundle: \(bundle)\(isApp ? "" : ".Widget")
          executable: FixtureHandlers
          environment:
            TRIAL_FIXTURE: mistakes
            TRIAL_MISTAKE: \(mistake) \(form)
            TRIAL_URL: \(url)
            TRIAL_GROUP: group.\(bundle)\(isApp ? "\n      TRIAL_APP: yes" : "")
      """
  }

  private init(_ cluster: LabCluster, _ server: LocalServer) {
    self.cluster = cluster
    self.server = server
    wrong = TrapAuthor(.widgetExtension(LiveFixture.device, "com.example.Wrong.Widget"), cluster)
    right = TrapAuthor(.widgetExtension(LiveFixture.device, "com.example.Right.Widget"), cluster)
  }

  /// The containing app of an author.
  func app(of author: TrapAuthor) -> TrapAuthor {
    let bundle = (author.owner.bundleIdentifier ?? "").replacing(".Widget", with: "")
    return TrapAuthor(.app(LiveFixture.device, bundle), cluster)
  }

  /// Requests a timeline from both.
  func reload() async throws { try await cluster.run("reload", Self.kind) }

  /// Opens both apps; returns when both have printed `in front`.
  func openApps() async throws {
    for author in [wrong, right].map(app) {
      let before = try await cluster.journal.all().last?.sequence ?? 0
      try await cluster.run("app", "open", author.owner.bundleIdentifier ?? "")
      try await author.prints("in front", after: before)
    }
  }
}

/// A diagnosis, as `widgetlab diagnose --json` prints it.
struct NamedMistake: Decodable {
  struct Evidence: Decodable {
    let sequence: UInt64
    let text: String
  }
  let code: String
  let severity: String
  let process: String
  let subject: String
  let what: String
  let evidence: [Evidence]
  let times: Int
}

extension LabCluster {
  /// The current results of `widgetlab diagnose`.
  func diagnoses() async throws -> [NamedMistake] {
    let text = try await run("diagnose", "--json", "--fail-on", "never")
    return try JSONDecoder().decode([NamedMistake].self, from: Data(text.utf8))
  }

  /// Waits for a diagnosis of one author and checks that the other author does not get it.
  ///
  /// - Returns: the diagnosis.
  @discardableResult
  func expect(_ code: String, of wrong: TrapAuthor, notOf right: TrapAuthor) async throws -> NamedMistake {
    var foundMistakes: [NamedMistake] = []
    try await eventually("\(wrong.owner.short) has the diagnosis \(code)") {
      foundMistakes = try await diagnoses()
      return foundMistakes.contains { $0.code == code && $0.process == wrong.owner.short }
    }
    let codes = foundMistakes.filter { $0.process == right.owner.short }.map(\.code)
    #expect(!codes.contains(code), "\(right.owner.short) must not have the diagnosis")
    let earned = try #require(foundMistakes.first { $0.code == code && $0.process == wrong.owner.short })
    // The evidence has the journal's sequence numbers.
    let journal = try await journal.all()
    for evidence in earned.evidence {
      let envelope = try #require(journal.first { $0.sequence == evidence.sequence })
      #expect(evidence.text.contains(envelope.kind), "\(evidence.sequence)")
    }
    return earned
  }
}
