// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing
import WidgetLabTesting

/// Views that draw their own form of hidden content, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Views that read the redaction reasons` {
  @Test(.rule("VIEW-12", "VIEW-13", "VIEW-14", "GALLERY-28"), arguments: [true, false])
  func `a view draws its own placeholder, and its own private form where the user hides content`(
    hidesSensitiveContent: Bool
  ) async throws {
    try await GalleryFixture.run(
      "privacy \(hidesSensitiveContent)",
      settings: ["placesEachKind: false", "hidesSensitiveContent: \(hidesSensitiveContent)"],
      product: ["environment:", "  TRIAL_WIDGETS: private"]
    ) { fixture in
      try await fixture.add("Balance")
      #expect(try await fixture.entry(of: 1).texts == ["balance 12 light", "of Anna"])
      try await fixture.cluster.run("lock")
      let locked = try await fixture.entry(of: 1, at: "homeScreen")
      #expect(locked.texts == (hidesSensitiveContent ? ["balance hidden light"] : ["balance 12 light", "of Anna"]))
      #expect(locked.hides == hidesSensitiveContent)
      try await fixture.cluster.run("look", "dark")
      let dark = try await fixture.entry(of: 1, at: "homeScreen").texts.first
      #expect(dark == (hidesSensitiveContent ? "balance hidden dark" : "balance 12 dark"))
      try await fixture.cluster.run("kill", "host")
      try await fixture.cluster.isBack("host")
      #expect(try await fixture.entry(of: 1, at: "homeScreen").texts.first == dark, "the forms are stored")
      try await fixture.cluster.run("lock", "--restart")
      let placeholder = try #require(try await fixture.screen("homeScreen").first)
      #expect(placeholder.content == "placeholder" && placeholder.texts == ["loading dark"] && placeholder.hides)
      try await fixture.cluster.run("unlock")
      #expect(try await fixture.entry(of: 1).texts.first == "balance 12 dark")
    }
  }
}

extension GalleryFixture.Seen {
  /// Whether a text is shown as a grey bar.
  fileprivate var hides: Bool { views.contains { $0.contains("▒▒▒▒▒▒▒") } }
}
