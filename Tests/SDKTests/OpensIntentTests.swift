// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import URLSessionAPI

/// What the results of an author's intents open.
@Suite(.timeLimit(.minutes(1))) struct `The result of an intent` {
  @Test(.rule("GALLERY-50")) func `the reply to an intent has the URL that its result opens`() async throws {
    #expect(try await opened(by: OpenPage.self, ["page": 3]) == .url("trial://page/3"))
    #expect(try await opened(by: OpenPage.self) == nil)
    #expect(OpenURLIntent.opensApp)
    #expect(try await opened(by: OpenURLIntent.self, ["url": "trial://direct"]) == .url("trial://direct"))
  }

  @Test(.rule("GALLERY-50"))
  func `the reply to an intent has the other intent that its result opens, with its values`() async throws {
    #expect(
      try await opened(by: Forwards.self)
        == .intent(Shown.archivedName, values: ["number": 4], opensApp: true, runsInApp: true))
    #expect(
      try await opened(by: Forwards.self, ["isQuiet": true])
        == .intent(Quiet.archivedName, values: [:], opensApp: false, runsInApp: false))
    #expect(try await opened(by: Quiet.self) == nil)
  }

  private func opened<Intent: AppIntent>(
    by intent: Intent.Type, _ values: [String: ArchivedValue] = [:]
  ) async throws -> PerformIntent.Opening? {
    let fixture = try await SDKFixture.serving { [] }
    let request = PerformIntent(intent: Intent.archivedName, values: values, placement: 1)
    return try await fixture.host.connection.request(request, to: SDKFixture.widget).opens
  }
}

private struct OpenPage: AppIntent {
  static let title: LocalizedStringResource = "Open a page"
  @Parameter(title: "Page") var page: Int?

  func perform() async throws -> some IntentResult & OpensIntent {
    guard let page, let url = URL(string: "trial://page/\(page)") else { return .result() }
    return .result(opensIntent: OpenURLIntent(url))
  }
}

private struct Shown: AppIntent {
  static let title: LocalizedStringResource = "Shown"
  static let openAppWhenRun = true
  @Parameter(title: "Number", default: 4) var number: Int
  func perform() async throws -> some IntentResult { .result() }
}

private struct Quiet: AppIntent {
  static let title: LocalizedStringResource = "Quiet"
  func perform() async throws -> some IntentResult & ProvidesDialog { .result(dialog: "Done") }
}

private struct Forwards: AppIntent {
  static let title: LocalizedStringResource = "Forwards"
  @Parameter(title: "Quiet") var isQuiet: Bool

  func perform() async throws -> some ReturnsValue<Int> & OpensIntent & ProvidesDialog {
    if isQuiet { return .result(value: 1, opensIntent: Quiet(), dialog: "Opening") }
    return .result(value: 2, opensIntent: Shown(), dialog: "Opening")
  }
}
