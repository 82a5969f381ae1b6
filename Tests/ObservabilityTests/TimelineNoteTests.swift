// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

private let noon = Date(timeIntervalSince1970: 1_795_262_400)

@Suite struct `Notes of timelines and the budget` {
  private func note<C: Message>(_ body: C) throws -> EnvelopeNote {
    var scenario = RecordedScenario()
    try scenario.send(body, from: RecordedScenario.cast.host)
    return EnvelopeNote(scenario.envelopes[0])
  }

  @Test func `a note on a request or a budget decision shows the placement, the cause and the cost`() throws {
    let request = RequestTimeline(
      .placeholder, widgetKind: "Coffee", placement: 3, because: .added,
      environment: WidgetEnvironment(family: .systemSmall, width: 1, height: 1))
    #expect(try note(request).text == "Coffee systemSmall placeholder of placement 3 because of added")
    let line = LedgerEntry(
      number: 1, date: noon, reload: 12, placement: 3, bundle: "a.b", widgetKind: "Coffee", because: .extension,
      verdict: .delayed, rule: "minimum-spacing", balance: 2.5, until: noon)
    #expect(
      try note(BudgetDecided(line)).text
        == "reload 12 of placement 3 because of extension: delayed until 2026-11-21 12:00:00Z by minimum-spacing, 2.5 left"
    )
    #expect(try note(ListBudget(placement: 3)).text == "placement 3")
    #expect(try note(ReloadTimelines(widgetKind: nil, within: "getTimeline")).text == "all kinds within getTimeline")
  }

  @Test func `a note on an entry shows its text, and a note on a failed reload shows the reason`() throws {
    let shown = EntryShown(bundle: "a.b", widgetKind: "Coffee", placement: 3, date: noon, text: ["95", "mg"])
    #expect(try note(shown).text == "Coffee of placement 3: 95 | mg")
    let failed = try note(ReloadFailed(bundle: "a.b", widgetKind: "Coffee", reason: "it died", nextTry: noon))
    #expect(failed.text == "Coffee: it died; retry at 2026-11-21 12:00:00Z" && failed.mark == .refused)
  }
}
