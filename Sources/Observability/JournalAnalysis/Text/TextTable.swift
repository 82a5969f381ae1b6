// SPDX-License-Identifier: Apache-2.0

import Messages

/// The terminal colours of texts.
package enum TerminalColor: String, CaseIterable {
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"
  case faint = "2"
  case bold = "1"

  /// The text in this colour when `isOn`, with its control characters escaped.
  package func callAsFunction(_ text: String, if isOn: Bool) -> String {
    isOn ? begin + text.escapingControls + Self.end : text
  }

  private var begin: String { "\u{1b}[\(rawValue)m" }
  private static let end = "\u{1b}[0m"

  /// A line with its control characters escaped, except for these colours when `isOn`.
  package static func shown(_ line: String, if isOn: @autoclosure () -> Bool) -> String {
    var allowed: [String]?
    return line.escapingControls { rest in
      guard rest.first == "\u{1b}" else { return 0 }
      let codes = allowed ?? (isOn() ? allCases.map(\.begin) + [end] : [])
      allowed = codes
      return codes.first { rest.starts(with: $0.unicodeScalars) }?.unicodeScalars.count ?? 0
    }
  }
}

extension String {
  /// The text padded with trailing spaces to at least `width` characters.
  package func padded(_ width: Int) -> String {
    count >= width ? self : self + String(repeating: " ", count: width - count)
  }
  /// The text padded with leading spaces to at least `width` characters.
  package func aligned(_ width: Int) -> String {
    count >= width ? self : String(repeating: " ", count: width - count) + self
  }
}

/// Rows below headings, each column as wide as its widest cell.
package struct TextTable {
  /// The headings of the columns.
  package let headings: [String]
  /// The cells, row by row.
  package var rows: [[String]] = []

  /// Creates a table without rows.
  package init(headings: [String]) { self.headings = headings }

  /// The heading and the rows as lines.
  package var lines: [String] {
    let all = [headings] + rows
    let widths = headings.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      var line = zip(row, widths).map { $0.padded($1) }.joined(separator: "  ")
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }
}
