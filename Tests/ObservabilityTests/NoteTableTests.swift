// SPDX-License-Identifier: Apache-2.0

import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `The table of notes` {
  @Test func `each message type of the message table has an entry in the table of notes`() {
    for entry in MessageTable.all { #expect(NoteTable[entry.kind] != nil, "\(entry.kind)") }
  }

  @Test func `each entry of the table of notes is for one message type or reply of the message table`() {
    var kinds: Set<Kind> = []
    for entry in NoteTable.entries {
      #expect(kinds.insert(entry.kind).inserted, "two entries for \(entry.kind)")
      let isReply = entry.kind.answer == .ok && MessageTable[entry.kind]?.style == .request
      let isMessage = entry.kind.answer == nil && MessageTable[entry.kind] != nil
      #expect(isReply || isMessage, "\(entry.kind) is not in the message table")
    }
  }

  @Test func `a message without content has an empty note, and a message sent again states that`() throws {
    for kind in [Goodbye.kind, HelloRequired.kind, BusStatus.kind] {
      var header = EnvelopeHeader(kind: kind, source: .host("d"), destination: .messageBus)
      #expect(EnvelopeNote(Envelope(header: header, body: Array("{}".utf8))).text.isEmpty, "\(kind)")
      header.attempt = 1
      #expect(EnvelopeNote(Envelope(header: header, body: Array("{}".utf8))).text == "again", "\(kind)")
    }
  }

  @Test func `an unknown message type is shown with the beginning of its body`() {
    let header = EnvelopeHeader(kind: "unknown.kind", source: .host("d"), destination: .messageBus)
    #expect(EnvelopeNote(Envelope(header: header, body: Array("{\"a\":1}".utf8))).text == "{\"a\":1}")
  }
}
