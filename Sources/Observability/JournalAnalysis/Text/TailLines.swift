// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// Formats envelopes as lines of `tail`, with times relative to the first and the previous line.
package struct TailLines {
  /// What the first column shows.
  package enum Clock: String, CaseIterable, Sendable {
    /// Seconds since the first line.
    case relative = "rel"
    /// The time of day, UTC.
    case wall
  }

  /// What the first column shows.
  package let clock: Clock
  /// The columns, in their order.
  package let columns: [TailColumn]
  /// Whether lines have colours.
  package let isColored: Bool
  private var first: Timestamp?
  private var previous: Timestamp?

  /// Creates a formatter. The first line that it formats is the origin of relative times.
  package init(clock: Clock = .relative, columns: [TailColumn] = TailColumn.usual, isColored: Bool) {
    self.clock = clock
    self.columns = columns
    self.isColored = isColored
  }

  /// The heading line.
  package var heading: String { TerminalColor.faint(TailColumn.row(columns, \.heading), if: isColored) }

  /// Formats the next envelope.
  package mutating func line(_ envelope: Envelope) -> String {
    let header = envelope.header
    let facts = EnvelopeFacts(envelope)
    let time = time(header.sentAt)
    let delta = seconds(from: previous ?? header.sentAt, to: header.sentAt, signed: true)
    previous = header.sentAt
    let line = TailColumn.row(columns) { column in
      switch column {
      case .time: time
      case .delta: delta
      case .sequence: String(header.sequence)
      case .mark: facts.note.mark.rawValue
      case .from: header.source.tailName
      case .to: header.destination.tailName
      case .generation: "\(header.sourceGeneration)>\(header.destinationGeneration)"
      case .kind: header.kind.name
      case .correlation, .id, .cause:
        FilterField(rawValue: column.rawValue).flatMap(facts.identifier).map { String($0.prefix(6)) } ?? "-"
      case .note: facts.note.text
      case .attempt: String(header.attempt)
      case .session: facts.texts(.session).first ?? "-"
      case .widget: facts.texts(.widget).first ?? "-"
      case .pid: facts.number(.pid).map(String.init) ?? "-"
      case .size: String(envelope.body.count)
      }
    }
    return Self.coloured(line, mark: facts.note.mark, kind: header.kind, isColored: isColored)
  }

  private mutating func time(_ at: Timestamp) -> String {
    let start = first ?? at
    first = start
    switch clock {
    case .relative: return seconds(from: start, to: at, signed: false)
    case .wall:
      let day = at.microseconds % 86_400_000_000 / 1000
      func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
      let milliseconds = String(1000 + day % 1000).dropFirst()
      return "\(two(day / 3_600_000)):\(two(day / 60_000 % 60)):\(two(day / 1000 % 60)).\(milliseconds)"
    }
  }

  private func seconds(from start: Timestamp, to end: Timestamp, signed: Bool) -> String {
    let microseconds = end.microseconds - start.microseconds
    let milliseconds = (abs(microseconds) + 500) / 1000
    let sign = microseconds < 0 && milliseconds > 0 ? "-" : signed ? "+" : ""
    return "\(sign)\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
  }

  /// Colours a line by its mark. Replies are faint.
  static func coloured(_ line: String, mark: EnvelopeNote.Mark, kind: Kind, isColored: Bool) -> String {
    switch mark {
    case .launch: TerminalColor.green(line, if: isColored)
    case .exit: TerminalColor.red(line, if: isColored)
    case .refused: TerminalColor.yellow(line, if: isColored)
    case .none: kind.answer == nil ? line : TerminalColor.faint(line, if: isColored)
    }
  }
}

/// Formats an envelope as `tail --output json` prints it: the header's fields, and the body as it was sent.
package struct EnvelopeJSON {
  /// Returns one line, with sorted keys.
  ///
  /// A body that is not JSON is in `bodyText`.
  package static func line(_ envelope: Envelope) -> String {
    let header = envelope.header
    var fields: [String: Any] = [
      "sequence": header.sequence, "kind": header.kind.name, "from": header.source.text, "to": header.destination.text,
      "fromGeneration": header.sourceGeneration, "toGeneration": header.destinationGeneration,
      "id": header.id.text, "sentAt": Double(header.sentAt.microseconds) / 1e6,
      "attempt": header.attempt, "note": EnvelopeNote(envelope).text,
    ]
    fields["cause"] = header.cause?.text
    fields["correlation"] = header.correlation?.text
    let body = Data(envelope.body)
    if let object = try? JSONSerialization.jsonObject(with: body, options: [.fragmentsAllowed]) {
      fields["body"] = object
    } else if !body.isEmpty {
      fields["bodyText"] = String(decoding: body, as: UTF8.self)
    }
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? JSONSerialization.data(withJSONObject: fields, options: options) else {
      return "{\"sequence\":\(header.sequence),\"error\":\"cannot be encoded as JSON\"}"
    }
    return String(decoding: data, as: UTF8.self).escapingControlsOfJSON
  }
}

/// A column of `tail`.
package enum TailColumn: String, CaseIterable, Sendable {
  case time, delta, sequence, mark, from, to, generation, kind, correlation, note
  case attempt, session, pid, widget, id, cause, size

  /// The default columns.
  package static let usual: [TailColumn] = [
    .time, .delta, .sequence, .mark, .from, .to, .generation, .kind, .correlation, .note,
  ]

  /// The names of all columns, separated by commas.
  package static var names: String { allCases.map(\.rawValue).joined(separator: ",") }

  /// The heading of the column.
  var heading: String {
    switch self {
    case .time: "TIME+"
    case .delta: "dt"
    case .sequence: "SEQ"
    case .mark: " "
    case .generation: "GEN"
    case .correlation: "CORR"
    case .attempt: "TRY"
    case .from, .to, .kind, .note, .session, .pid, .widget, .id, .cause, .size: rawValue.uppercased()
    }
  }

  /// The width in characters; 0 for the last column.
  var width: Int {
    switch self {
    case .time: 9
    case .delta: 8
    case .sequence, .size, .pid: 7
    case .mark: 1
    case .from, .to, .session: 20
    case .generation: 5
    case .kind: 22
    case .correlation, .id, .cause: 6
    case .attempt: 3
    case .widget: 16
    case .note: 0
    }
  }

  /// Whether cells are aligned at their end.
  var isNumber: Bool {
    switch self {
    case .time, .delta, .sequence, .size, .pid, .attempt: true
    case .mark, .from, .to, .generation, .kind, .correlation, .note, .session, .widget, .id, .cause: false
    }
  }

  /// Formats cells in column order, each padded to the width of its column. Sender and receiver are joined by an arrow.
  static func row(_ columns: [TailColumn], _ cell: (TailColumn) -> String) -> String {
    var line = ""
    var previous: TailColumn?
    for column in columns {
      if let previous { line += previous == .from && column == .to ? " > " : " " }
      line += column.isNumber ? cell(column).aligned(column.width) : cell(column).padded(column.width)
      previous = column
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }
}
