// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import JournalAnalysis
import Messages

/// One message with its body, its cause and its effects.
struct MessageDetail {
  let envelope: Envelope
  let cause: Envelope?
  let effects: [Envelope]
  let trace: String?

  /// How far causes and effects are searched.
  private static let reach: UInt64 = 20_000
  private static let effectLimit = 50

  /// - Throws: 404 when the journal does not contain the number.
  init(_ sequence: UInt64, _ pages: JournalPages, _ traces: TraceList) throws {
    guard sequence > 0, let envelope = try pages.read(sequence...sequence).first, let bounds = try pages.bounds() else {
      throw ConsoleError(
        404, "the journal has no message \(sequence)", advice: "it may be removed: the journal has a size limit")
    }
    self.envelope = envelope
    let first = max(bounds.lowerBound, sequence > Self.reach ? sequence - Self.reach : 1)
    cause = try envelope.header.cause.flatMap { id in
      sequence > first ? try pages.last(id, in: first...sequence - 1) : nil
    }
    let id = RecordIdentifier(envelope.header.id)
    var found = 0
    let last = min(bounds.upperBound, sequence + Self.reach)
    effects =
      sequence < last
      ? try pages.select(sequence + 1...last) { head in
        guard head.cause == id, found < Self.effectLimit else { return false }
        found += 1
        return true
      } : []
    trace = traces.entry(of: envelope.header)?.id
  }

  /// As JSON: the body is as it was sent.
  var json: [UInt8] {
    get throws {
      func object(_ row: MessageRow) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(try ConsoleJSON.bytes(row)))
      }
      let header = envelope.header
      var fields: [String: Any] = [
        "row": try object(MessageRow(envelope)), "id": header.id.text,
        "size": envelope.body.count, "effects": try effects.map { try object(MessageRow($0)) },
      ]
      fields["cause"] = header.cause?.text
      fields["correlation"] = header.correlation?.text
      fields["causeRow"] = try cause.map { try object(MessageRow($0)) }
      fields["trace"] = trace
      let body = Data(envelope.body)
      if let object = try? JSONSerialization.jsonObject(with: body, options: [.fragmentsAllowed]) {
        fields["body"] = object
      } else if !body.isEmpty {
        fields["bodyText"] = String(decoding: body, as: UTF8.self)
      }
      return Array(try JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys, .withoutEscapingSlashes]))
    }
  }
}
