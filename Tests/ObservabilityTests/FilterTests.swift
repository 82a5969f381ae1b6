// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `The filter language` {
  private static let ownExtension = RecordedScenario.cast.widgetExtension

  private func envelopes() throws -> [Envelope] {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(Self.ownExtension, 2, pid: 201)
    try scenario.events(2, pid: 201)
    try scenario.appsOwnEvents()
    return scenario.envelopes
  }

  private func sequences(_ text: String) throws -> [UInt64] {
    let expression = try FilterExpression(text, now: Timestamp(microseconds: 10_000_000))
    return try envelopes().filter { expression.matches($0) }.map(\.header.sequence)
  }

  private func kinds(_ text: String) throws -> Set<String> {
    let expression = try FilterExpression(text)
    return Set(try envelopes().filter { expression.matches($0) }.map(\.header.kind.name))
  }

  @Test func `and binds closer than or, and parentheses bind closest`() throws {
    let of = { (text: String) in try FilterExpression(text) }
    #expect(
      try of("pid==1||pid==2&&pid==3") == .or(try of("pid==1"), .and(try of("pid==2"), try of("pid==3"))))
    #expect(
      try of("(pid==1||pid==2)&&pid==3") == .and(.or(try of("pid==1"), try of("pid==2")), try of("pid==3")))
    #expect(try of("!pid==1&&pid==2") == .and(.not(try of("pid==1")), try of("pid==2")))
    #expect(try of("!(pid==1&&pid==2)") == .not(.and(try of("pid==1"), try of("pid==2"))))
    #expect(try of("pid==1&&pid==2&&pid==3") == .and(.and(try of("pid==1"), try of("pid==2")), try of("pid==3")))
    #expect(try of("!!pid==1") == .not(.not(try of("pid==1"))))
  }

  @Test func `text is compared with globs, quoted or bare`() throws {
    #expect(try kinds("kind == transfer.*") == ["transfer.create", "transfer.create/ok", "transfer.progress"])
    #expect(try kinds("kind == \"transfer.create\"") == ["transfer.create"])
    #expect(try kinds("kind == '*.called' && kind != handler.*") == ["delegate.called", "completion.called"])
    #expect(try sequences("session == *") == sequences("!(session != *)"))
    #expect(try kinds("method == didFinish*") == ["delegate.called"])
    #expect(try kinds("step == finished") == ["transfer.progress"])
    #expect(try kinds("widget == Lab").contains("timeline.stored"))
  }

  @Test func `a filter matches an address by each of its names`() throws {
    let full = try sequences("from == \(Self.ownExtension.text)")
    #expect(!full.isEmpty)
    for name in ["extension", "extension/*", "extension/…Widget", "extension/com.example.Lab.Widget"] {
      #expect(try sequences("from == \(name)") == full, "\(name)")
    }
    #expect(try kinds("from == bus") == ["peer.changed"])
    #expect(
      try kinds("address == app && kind == process.*").contains("process.started"), "the address in the body matches")
  }

  @Test func `a filter matches the generation of the sender or of the process in the body`() throws {
    #expect(try kinds("generation == 2 && kind == process.started") == ["process.started"])
    #expect(try kinds("generation >= 2 && kind == *.called").contains("handler.called"))
    #expect(try sequences("generation > 2").isEmpty)
  }

  @Test func `numbers and times are ordered`() throws {
    #expect(try sequences("sequence >= 3 && sequence < 6") == [3, 4, 5])
    #expect(try sequences("time <= @0.002") == [1, 2, 3])
    #expect(try sequences("time < 1970-01-01T00:00:00.002Z") == [1, 2])
    #expect(try kinds("pid == 201").isSuperset(of: ["process.started", "peer.changed", "handler.called"]))
    #expect(try sequences("pid != 201 && pid == 201").isEmpty)
    #expect(try sequences("pid < 0").isEmpty, "an envelope without a pid does not match")
    #expect(try sequences("attempt == 0").count == envelopes().count)
    #expect(try kinds("task == 1 && kind == delegate.*") == ["delegate.called"])
  }

  @Test func `a filter matches a correlation id by its first digits`() throws {
    let id = MessageContext.correlation(ofSession: RecordedScenario.session, of: Self.ownExtension).uuidString
    let whole = try sequences("correlation == \(id)")
    #expect(!whole.isEmpty)
    #expect(try sequences("correlation == \(id.prefix(6).lowercased())") == whole)
    #expect(try sequences("session == figures") == whole)
  }

  @Test func `a reply matches a session by its correlation id`() throws {
    var header = EnvelopeHeader(
      kind: "session.events/ack", correlation: MessageContext.correlation(ofSession: "daily", of: Self.ownExtension),
      source: Self.ownExtension,
      destination: RecordedScenario.cast.host)
    #expect(try FilterExpression("session == daily").matches(Envelope(header: header)))
    #expect(try !FilterExpression("session != daily").matches(Envelope(header: header)))
    header.correlation = nil
    #expect(try !FilterExpression("session == daily").matches(Envelope(header: header)))
  }

  @Test func `a filter matches launches and exits by their marks`() throws {
    #expect(try kinds("mark == exit") == ["process.exited"])
    #expect(try kinds("mark == launch") == ["process.started", "peer.changed"])
  }

  @Test(arguments: [
    ("kin == x", 0, 3, "kind"), ("kind = x", 5, 1, "=="), ("kind == ", 8, 0, "quotes"), ("kind < x", 5, 1, "globs"),
    ("pid == x", 7, 1, "pid >= 2"), ("pid == 1 pid == 2", 9, 3, "&&"), ("(pid == 1", 0, 1, ")"),
    ("pid == 1)", 8, 1, "||"), ("pid == 1 & pid == 2", 9, 1, "&&"), ("pid == 1 &&", 11, 0, "kind"), ("", 0, 0, "kind"),
    ("session == \"daily", 11, 6, "\""), ("time == soon", 8, 4, "13:05:07"), ("time > seq:3", 7, 5, "5m"),
    ("correlation == xyz", 15, 3, "digits"), ("pid", 3, 0, "<="), ("!", 1, 0, "kind"), ("== 3", 0, 2, "kind"),
  ])
  func `a filter error points at its place and lists what is allowed there`(
    text: String, column: Int, length: Int, allowed: String
  ) {
    let error = #expect(throws: FilterError.self) { try FilterExpression(text) }
    #expect(error?.place == column..<column + length, "\(text)")
    #expect(error?.allowed.contains(allowed) == true, "\(error?.allowed ?? "")")
    let lines = (error?.description ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4)
    #expect(lines[1] == "  \(text)")
    #expect(lines[2].firstIndex(of: "^").map { lines[2].distance(from: lines[2].startIndex, to: $0) } == column + 2)
  }

  @Test func `any text parses to an expression or an error`() {
    let pieces = [
      "kind", "==", "!=", "(", ")", "!", "&&", "||", "&", "\"", "'", "\\", "x*[", " ", "pid", "<", "7", "é", "\n",
    ]
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let count = Int.random(in: 0...12, using: &generator)
      let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      do {
        _ = try FilterExpression(text)
      } catch {
        #expect(error.place.lowerBound >= 0 && error.place.upperBound <= text.count, "\(text)")
      }
    }
    let deep = String(repeating: "(", count: 100_000)
    #expect(throws: FilterError.self) { try FilterExpression(deep) }
    #expect(throws: FilterError.self) { try FilterExpression(String(repeating: "!", count: 100_000) + "pid == 1") }
  }

  @Test func `a filter's text is read by the characters of Unicode, and only ASCII digits are digits`() throws {
    #expect(
      try FilterExpression("note == \"\u{301}x\"")
        == .comparison(FilterComparison(field: .note, relation: .equal, value: .glob("\u{301}x"))))
    let digits = #expect(throws: FilterError.self) { try FilterExpression("id == \u{FF10}\u{FF21}") }
    #expect(digits?.message.contains("needs the digits of an identifier") == true)
  }

  @Test func `an error about a value with a line end has four lines`() {
    let error = #expect(throws: FilterError.self) { try FilterExpression("time == \"a\nb\"") }
    #expect(error?.description.split(separator: "\n").count == 4)
  }

  @Test func `a long chain is evaluated, and a longer one is refused`() throws {
    let chain = { (count: Int) in Array(repeating: "pid>1", count: count).joined(separator: "||") }
    let envelope = try #require(try envelopes().first)
    _ = try FilterExpression(chain(1_400)).matches(envelope)
    let error = #expect(throws: FilterError.self) { try FilterExpression(chain(20_000)) }
    #expect(error?.message == "the expression is too long")
  }
}
