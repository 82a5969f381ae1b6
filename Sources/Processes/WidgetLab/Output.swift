import Foundation
import Glibc

/// Prints to the terminal. Each line is written whole and at once, so that the reader of a pipe sees it immediately.
enum Output {
  /// Whether colours are used: standard output is a terminal and `NO_COLOR` is not set.
  static var isColourful: Bool {
    isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Prints a line on standard output.
  static func print(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }
  /// Prints a line on standard error.
  static func printError(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

  /// Prints one JSON object with sorted keys as a line on standard output.
  static func json<T: Encodable>(_ value: T) throws {
    print(String(decoding: try jsonData(value), as: UTF8.self))
  }

  static func jsonData<T: Encodable>(_ value: T, pretty: Bool = false) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  /// Writing to a closed pipe ends this process by SIGPIPE, like every filter.
  private static func write(_ text: String, to descriptor: CInt) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 { bytes = bytes.dropFirst(written) } else if errno != EINTR && errno != EAGAIN { return }
    }
  }
}

/// The terminal colours of this tool.
enum Colour: String {
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"
  case faint = "2"
  case bold = "1"

  /// The text in this colour when `isOn`.
  func callAsFunction(_ text: String, _ isOn: Bool) -> String {
    isOn ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
  }
}

extension String {
  /// The text padded with trailing spaces to at least `width` characters.
  func padded(_ width: Int) -> String {
    count >= width ? self : self + String(repeating: " ", count: width - count)
  }
  /// The text padded with leading spaces to at least `width` characters.
  func aligned(_ width: Int) -> String {
    count >= width ? self : String(repeating: " ", count: width - count) + self
  }
}

/// Rows below headings, each column as wide as its widest cell.
struct TextTable {
  let headings: [String]
  var rows: [[String]] = []

  var lines: [String] {
    let all = [headings] + rows
    let widths = headings.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      var line = zip(row, widths).map { $0.padded($1) }.joined(separator: "  ")
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }
}
