// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import FidelityRules
import Foundation
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

/// In how many forms the views of an entry are archived.
@Suite(.timeLimit(.minutes(1))) struct `Forms of an entry` {
  /// - Parameters:
  ///   - keys: what the view reads.
  ///   - times: how often its body is evaluated for one entry.
  @Test(
    .rule("VIEW-12", "WIDGET-05"),
    arguments: [
      ("plain", 1), ("scheme", 2), ("reasons", 2), ("reasons scheme", 4), ("redacted", 1), ("scheme in private", 3),
      ("reasons button", 3), ("button", 1), ("reasons scheme button", 6),
    ])
  func `an entry is archived in as many forms as its views read, and no more`(keys: String, times: Int) async throws {
    let fixture = try await SDKFixture.serving { Reading(keys: keys).descriptions }
    let entry = try #require(try await fixture.ask(keys).entries.first)
    #expect(evaluations.withLock { $0[keys] } == times)
    let readsScheme = keys.contains("scheme") && !keys.contains("in private")
    #expect((entry.darkView != nil) == readsScheme)
    #expect((entry.privateForm != nil) == (keys.contains("reasons") || keys.contains("in private")))
    let darkKeys = ["reasons scheme", "reasons scheme button", "scheme in private"]
    #expect((entry.privateForm?.darkView != nil) == darkKeys.contains(keys))
    #expect(entry.privateForm?.view.lines.first == entry.privateForm.map { _ in "privacy" })
    #expect((entry.invalidatedForm != nil) == (keys.contains("reasons") && keys.contains("button")))
    #expect((entry.invalidatedForm?.darkView != nil) == (keys == "reasons scheme button"))
    #expect(entry.invalidatedForm?.view.lines.first == entry.invalidatedForm.map { _ in "invalidated" })
  }

  @Test(.rule("VIEW-14"))
  func `a view reads the reason of a placeholder, and a snapshot has no private form`() async throws {
    let fixture = try await SDKFixture.serving { Reading(keys: "a placeholder's reasons").descriptions }
    let kind = "a placeholder's reasons"
    let placeholder = try #require(try await fixture.ask(kind, .placeholder).entries.first)
    #expect(placeholder.view.lines == ["placeholder"] && placeholder.privateForm == nil)
    let snapshot = try #require(try await fixture.ask(kind, .snapshot).entries.first)
    #expect(snapshot.view.lines == ["shown"] && snapshot.privateForm == nil)
  }
}

/// How often a view's body was evaluated, by what it reads.
private let evaluations = Mutex<[String: Int]>([:])

private struct ReadingView: View {
  @Environment(\.redactionReasons) private var reasons
  @Environment(\.colorScheme) private var scheme
  let keys: String

  var body: some View {
    evaluations.withLock { $0[keys, default: 0] += 1 }
    return VStack {
      if keys.contains("reasons") || keys.contains("in private") {
        Text(verbatim: reasons == [] ? "shown" : reasons.name)
      }
      if keys.contains("scheme"), !keys.contains("in private") || reasons.contains(.privacy) {
        Text(verbatim: "\(scheme)")
      }
      if keys.contains("button") { Button("Press", intent: Press()) }
      if keys == "redacted" { Text(verbatim: "redacted").redacted(reason: .privacy) }
    }
  }
}

private struct Press: AppIntent {
  static let title: LocalizedStringResource = "Press"
  func perform() async throws -> some IntentResult { .result() }
}

private struct Reading: Widget {
  var keys = ""

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: keys, provider: OneEntry()) { [keys] _ in ReadingView(keys: keys) }
  }
}
