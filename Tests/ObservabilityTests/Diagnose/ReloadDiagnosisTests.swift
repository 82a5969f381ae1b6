// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

/// Mistakes with reloads, over hand-written journals.
@Suite struct `Diagnoses of reloads` {
  @Test(.rule("DIAGNOSIS-06"))
  func `a provider that reloads itself is diagnosed when the second reload follows from the first`() throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      try journal.launch()
      let first = try journal.ask()
      let wish = try journal.reload(nil, cause: first)
      try journal.give(first)
      let second = try journal.ask(cause: wish)
      try journal.reload("Quote", cause: second)
    }
    #expect(findings.map(\.description.code) == ["reload-in-get-timeline"])
    #expect(findings.first?.sighting.evidence.map(\.sequence) == [4, 7])
  }

  @Test func `a provider that reloads itself is diagnosed by the reload cause and the calling method`() throws {
    let codes = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.ask()
      try journal.reload("Quote", within: "getTimeline")
      try journal.ask(because: .extension)
      try journal.reload("Quote", within: "getTimeline")
    }
    #expect(codes == ["reload-in-get-timeline"])
  }

  @Test func `a first reload, a reload of another kind and a reload by the app give no diagnosis`() throws {
    let codes = try RecordedMistakes.codes { journal in
      try journal.launch(["Quote": "QuoteProvider", "List": "ListProvider"])
      for _ in 1...3 {
        let question = try journal.ask()
        try journal.reload("List", cause: question)
        try journal.give(question)
      }
      for _ in 1...3 {
        let question = try journal.ask(because: .app)
        try journal.give(question)
        try journal.reload("Quote", by: RecordedMistakes.app)
      }
    }
    #expect(codes.isEmpty)
  }

  @Test(.rule("DIAGNOSIS-05")) func `six reloads within a minute are diagnosed as a loop`() throws {
    func codes(_ count: Int, apart seconds: Double, again: Bool = false) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.launch()
        for number in 0..<count {
          try journal.send(
            ReloadTimelines(widgetKind: "Quote"), from: RecordedMistakes.app, to: RecordedMistakes.host,
            again: again ? UInt16(number) : 0)
          journal.pass(seconds)
        }
      }
    }
    #expect(try codes(6, apart: 1) == ["reload-loop"])
    #expect(try codes(5, apart: 1).isEmpty)
    #expect(try codes(6, apart: 11) == ["reload-loop"], "5 * 11 s are less than 60 s")
    #expect(try codes(6, apart: 13).isEmpty)
    #expect(try codes(20, apart: 0, again: true).isEmpty, "a request that is sent again counts once")
    #expect(try codes(12, apart: 1) == ["reload-loop"])
  }

  @Test(.rule("DIAGNOSIS-07"))
  func `reloads with unchanged content are diagnosed when the author requests them`() throws {
    func codes(_ timelines: [(ReloadCause, String)]) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.launch()
        for (cause, digest) in timelines { try journal.stored(.never, because: cause, digest: digest) }
      }
    }
    #expect(DiagnosticThresholds().equalTimelines == 3)
    #expect(try codes([(.app, "a"), (.app, "a"), (.extension, "a")]) == ["reload-without-change"])
    #expect(try codes([(.added, "a"), (.app, "a"), (.app, "a")]).isEmpty)
    #expect(try codes([(.app, "a"), (.app, "b"), (.app, "a"), (.app, "b")]).isEmpty)
    #expect(try codes([(.policy, "a"), (.policy, "a"), (.operator, "a"), (.policy, "a")]).isEmpty)
    #expect(try codes([(.app, ""), (.app, ""), (.app, "")]).isEmpty)
  }

  @Test func `a reload of an unknown kind is diagnosed, also when the kinds become known later`() throws {
    let later = try RecordedMistakes.diagnosing { journal in
      try journal.reload("Quotes", by: RecordedMistakes.app)
      try journal.reload("Quote", by: RecordedMistakes.app)
      try journal.launch()
    }
    #expect(later.map(\.description.code) == ["reload-of-unknown-kind"])
    #expect(later.first?.sighting.what == "no widget has the kind Quotes; existing kinds: Quote")
    #expect(later.first?.place == "app/com.example.Lab")
    let atOnce = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.reload("Quotes")
      try journal.reload(nil)
      try journal.reload("Quotes", by: .operator("1"))
      try journal.reload("Quotes", by: .app(RecordedMistakes.device, "com.other.App"))
    }
    #expect(atOnce == ["reload-of-unknown-kind"])
  }
}
