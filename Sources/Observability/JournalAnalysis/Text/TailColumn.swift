// SPDX-License-Identifier: Apache-2.0

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
