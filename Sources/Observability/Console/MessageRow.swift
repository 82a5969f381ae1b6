// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalAnalysis
import Messages
import ShownText

/// One line of the page's list of messages.
struct MessageRow: Encodable, Sendable {
  let sequence: UInt64
  let time: Double
  let from: String
  let to: String
  let fromGeneration: UInt32
  let toGeneration: UInt32
  let kind: String
  /// The first six digits of the correlation id.
  let correlation: String?
  let mark: String?
  let note: String
  let attempt: UInt16

  init(_ envelope: Envelope) {
    let (header, note) = (envelope.header, EnvelopeNote(envelope))
    sequence = header.sequence
    time = Double(header.sentAt.microseconds) / 1e6
    from = header.source.tailName
    to = header.destination.tailName
    fromGeneration = header.sourceGeneration
    toGeneration = header.destinationGeneration
    kind = header.kind.name
    correlation = header.correlation.map { String($0.digits.prefix(6)) }
    mark = note.mark.word
    self.note = note.text.start(bytes: 400)
    attempt = header.attempt
  }

  /// The row as JSON.
  var json: [UInt8] { (try? ConsoleJSON.bytes(self)) ?? Array("{\"sequence\":\(sequence)}".utf8) }
}

/// The JSON of all answers.
enum ConsoleJSON {
  static func bytes<T: Encodable>(_ value: T) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .secondsSince1970
    return Array(try encoder.encode(value))
  }
}
