import Archive
import Conversations
import Foundation
import Testing

@testable import WidgetLab

/// Mistakes with reloads, over journals that were written by hand.
@Suite struct `A diagnosis of reloads` {
  @Test func `is that a provider reloads itself, when the second reload follows from the first`() throws {
    let found = try RecordedMistakes.diagnosing { journal in
      try journal.birth()
      let first = try journal.ask()
      let wish = try journal.reload(nil, cause: first)
      try journal.give(first)
      let second = try journal.ask(cause: wish)
      try journal.reload("Quote", cause: second)
    }
    #expect(found.map(\.description.code) == ["reload-in-get-timeline"])
    #expect(found.first?.sighting.evidence.map(\.sequence) == [4, 7])
  }

  @Test func `is the same by the cause of the reload, and by the method that it was asked for in`() throws {
    let codes = try RecordedMistakes.codes { journal in
      try journal.birth()
      try journal.ask()
      try journal.reload("Quote", within: "getTimeline")
      try journal.ask(because: .extension)
      try journal.reload("Quote", within: "getTimeline")
    }
    #expect(codes == ["reload-in-get-timeline"])
  }

  @Test func `is none for a first reload, another kind, or a reload that the app asks for`() throws {
    let codes = try RecordedMistakes.codes { journal in
      try journal.birth(["Quote": "QuoteProvider", "List": "ListProvider"])
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

  @Test func `is a loop from the sixth within a minute on`() throws {
    func codes(_ count: Int, apart seconds: Double, again: Bool = false) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.birth()
        for number in 0..<count {
          try journal.say(
            ReloadTimelines(widgetKind: "Quote"), from: RecordedMistakes.app, to: RecordedMistakes.host,
            again: again ? UInt16(number) : 0)
          journal.pass(seconds)
        }
      }
    }
    #expect(try codes(6, apart: 1) == ["reload-loop"])
    #expect(try codes(5, apart: 1).isEmpty)
    #expect(try codes(6, apart: 13).isEmpty)
    #expect(try codes(20, apart: 0, again: true).isEmpty, "one that is sent again is one")
    #expect(try codes(12, apart: 1) == ["reload-loop"])
  }

  @Test func `is that the content stays the same, when the author asks for it`() throws {
    func codes(_ timelines: [(ReloadCause, String)]) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.birth()
        for (cause, digest) in timelines { try journal.stored(.never, because: cause, digest: digest) }
      }
    }
    #expect(try codes([(.app, "a"), (.app, "a"), (.extension, "a")]) == ["reload-without-change"])
    #expect(try codes([(.added, "a"), (.app, "a"), (.app, "a")]).isEmpty)
    #expect(try codes([(.app, "a"), (.app, "b"), (.app, "a"), (.app, "b")]).isEmpty)
    #expect(try codes([(.policy, "a"), (.policy, "a"), (.operator, "a"), (.policy, "a")]).isEmpty)
    #expect(try codes([(.app, ""), (.app, ""), (.app, "")]).isEmpty)
  }

  @Test func `is that a kind does not exist, also when that is known later`() throws {
    let later = try RecordedMistakes.diagnosing { journal in
      try journal.reload("Quotes", by: RecordedMistakes.app)
      try journal.reload("Quote", by: RecordedMistakes.app)
      try journal.birth()
    }
    #expect(later.map(\.description.code) == ["reload-of-unknown-kind"])
    #expect(later.first?.sighting.what == "there is no widget of the kind Quotes; there are: Quote")
    #expect(later.first?.place == "app/com.example.Lab")
    let atOnce = try RecordedMistakes.codes { journal in
      try journal.birth()
      try journal.reload("Quotes")
      try journal.reload(nil)
      try journal.reload("Quotes", by: .operator("1"))
      try journal.reload("Quotes", by: .app(RecordedMistakes.device, "com.other.App"))
    }
    #expect(atOnce == ["reload-of-unknown-kind"])
  }
}
