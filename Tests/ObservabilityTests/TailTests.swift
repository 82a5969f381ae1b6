// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `Lines and filters of the tail` {
  private func envelope(_ kind: Kind, _ source: Address, sequence: UInt64, at microseconds: Int64) -> Envelope {
    var header = EnvelopeHeader(
      kind: kind, sentAt: Timestamp(microseconds: microseconds), source: source, destination: .journal)
    header.sequence = sequence
    return Envelope(header: header, body: Array("{}".utf8))
  }

  @Test func `a position is parsed from a sequence number, an age or a timestamp`() {
    #expect(JournalFilter.Moment("seq:4711") == .sequence(4711))
    #expect(JournalFilter.Moment("5m") == .ago(300))
    #expect(JournalFilter.Moment("1.5h") == .ago(5400))
    #expect(JournalFilter.Moment("@2") == .time(Timestamp(microseconds: 2_000_000)))
    for text in ["", "m", "5", "seq:", "seq:x", "-5m", "@"] { #expect(JournalFilter.Moment(text) == nil, "\(text)") }
    let now = Timestamp(microseconds: 10_000_000)
    #expect(JournalFilter.Moment.ago(4).fixed(now: now) == .time(Timestamp(microseconds: 6_000_000)))
  }

  @Test func `a position is parsed from a time of day or a date`() {
    let now = Timestamp(microseconds: 1_795_269_907_250_000)  // 2026-11-21T14:05:07.25Z
    func seconds(_ text: String) -> Double? {
      guard case .time(let time) = JournalFilter.Moment(text)?.fixed(now: now) else { return nil }
      return Double(time.microseconds) / 1e6
    }
    #expect(seconds("14:05:07.25") == 1_795_269_907.25)
    #expect(seconds("14:05") == 1_795_269_900)
    #expect(seconds("now") == 1_795_269_907.25)
    #expect(seconds("2026-11-21T14:05:07.25Z") == 1_795_269_907.25)
    #expect(seconds("2026-11-21T16:05:07.25+02:00") == 1_795_269_907.25)
    #expect(seconds("2026-11-21 14:05:07") == 1_795_269_907)
    #expect(seconds("2026-11-21") == 1_795_219_200)
    #expect(seconds("2024-02-29") == 1_709_164_800)
    for text in [
      "25:00", "13:60", "13:5", "13:05:07:01", "2026-02-29", "2026-13-01", "2026-11-21T", "2026-11-21T1Z", "::",
    ] {
      #expect(JournalFilter.Moment(text) == nil, "\(text)")
    }
  }

  @Test func `a glob for a message type also matches its replies`() {
    let filter = JournalFilter(kinds: ["transfer.*"])
    #expect(filter.passes(envelope("transfer.create", .host("d"), sequence: 1, at: 0)))
    #expect(filter.passes(envelope("transfer.create/ok", .host("d"), sequence: 1, at: 0)))
    #expect(!filter.passes(envelope("session.open", .host("d"), sequence: 1, at: 0)))
    #expect(
      JournalFilter(kinds: ["transfer.create"]).passes(envelope("transfer.create/ok", .host("d"), sequence: 1, at: 0)))
  }

  @Test func `a glob for an address matches the sender, the receiver and the process in the body`() throws {
    var scenario = RecordedScenario()
    try scenario.death(RecordedScenario.cast.widgetExtension, 1, pid: 1)
    let death = try #require(scenario.envelopes.first)
    #expect(JournalFilter(addresses: ["extension/*"]).passes(death))
    #expect(JournalFilter(addresses: ["agent/1"]).passes(death))
    #expect(JournalFilter(addresses: ["host"]).passes(death))
    #expect(!JournalFilter(addresses: ["app/*"]).passes(death))
  }

  @Test func `a filter keeps a range of sequence numbers or times`() {
    let filter = JournalFilter(since: .sequence(5), until: .sequence(6))
    let places = (4...7).map { filter.place(envelope("peer.ping", .messageBus, sequence: $0, at: 0).header) }
    #expect(places == [.before, .inside, .inside, .after])
    let late = JournalFilter(since: .time(Timestamp(microseconds: 10)))
    #expect(late.place(envelope("peer.ping", .messageBus, sequence: 1, at: 9).header) == .before)
  }

  @Test func `a line shows the time since the first line and since the previous one`() {
    var lines = TailLines(isColored: false)
    _ = lines.line(envelope("peer.ping", .messageBus, sequence: 1, at: 1_000_000))
    let second = lines.line(envelope("peer.ping", .messageBus, sequence: 2, at: 2_500_000))
    let third = lines.line(envelope("peer.ping", .messageBus, sequence: 3, at: 2_499_000))
    #expect(second.split(separator: " ").prefix(3) == ["1.500", "+1.500", "2"])
    #expect(third.split(separator: " ").prefix(3) == ["1.499", "-0.001", "3"])
  }

  @Test func `launches and exits have marks, and a pipe gets no colours`() throws {
    var scenario = RecordedScenario()
    try scenario.launch(RecordedScenario.cast.widgetExtension, 2, pid: 77)
    try scenario.death(RecordedScenario.cast.widgetExtension, 2, pid: 77)
    var lines = TailLines(isColored: false)
    let texts = scenario.envelopes.map { lines.line($0) }
    #expect(texts.first?.contains(" ^ ") == true)
    #expect(texts.last?.contains(" ! ") == true)
    #expect(texts.last?.contains("extension/…Widget generation 2 pid 77 exited: signal SIGKILL") == true)
    #expect(!texts.joined().contains("\u{1b}"))
  }

  @Test func `a note on exceeded memory states the memory and the limit`() throws {
    var scenario = RecordedScenario()
    try scenario.memory(RecordedScenario.cast.widgetExtension, 2, pid: 77)
    let note = EnvelopeNote(try #require(scenario.envelopes.first))
    #expect(note.text == "extension/…Widget generation 2 pid 77: memory 41.3 MiB over the limit of 30 MiB")
    #expect(note.mark == .refused)
    // A memory that exceeds the limit by one page is printed as more than the limit.
    #expect(MemoryLimit.mebibytes((30 << 20) + 4096) == "30.1")
  }

  @Test func `a body that cannot be decoded gives a note and no error`() {
    let broken = Envelope(
      header: EnvelopeHeader(kind: ProcessExited.kind, source: .agent("d", 1), destination: .host("d")), body: [1, 2])
    #expect(EnvelopeNote(broken).text.contains("2 bytes"))
    #expect(EnvelopeJSON.line(broken).contains("bodyText"))
  }

  @Test func `a JSON line holds the header and the body`() throws {
    var scenario = RecordedScenario()
    try scenario.death(RecordedScenario.cast.app, 3, pid: 9)
    let line = EnvelopeJSON.line(try #require(scenario.envelopes.first))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["kind"] as? String == "process.exited")
    #expect((object["body"] as? [String: Any])?["pid"] as? Int == 9)
    #expect(object["from"] as? String == "device/iphone/agent/1")
  }
}
