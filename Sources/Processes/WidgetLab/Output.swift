import Foundation
import Glibc

/// Where this tool prints. Each line goes out whole and at once, so that a reader at the other end of a pipe sees it.
enum Output {
  /// Whether colours make sense: standard output is a terminal and `NO_COLOR` is not set.
  static var isColourful: Bool {
    isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  /// A line on standard output.
  static func say(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }
  /// A line on standard error.
  static func complain(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

  /// One JSON object on a line of standard output, with sorted keys.
  static func json<T: Encodable>(_ value: T) throws {
    say(String(decoding: try jsonData(value), as: UTF8.self))
  }

  static func jsonData<T: Encodable>(_ value: T, pretty: Bool = false) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  /// A reader that went away (a closed pipe) ends this process by SIGPIPE, as it does every filter.
  private static func write(_ text: String, to descriptor: CInt) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 { bytes = bytes.dropFirst(written) } else if errno != EINTR && errno != EAGAIN { return }
    }
  }
}

/// The colours of the terminal that this tool uses.
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
  /// The text with spaces after it, to at least `width` characters.
  func padded(_ width: Int) -> String {
    count >= width ? self : self + String(repeating: " ", count: width - count)
  }
  /// The text with spaces before it, to at least `width` characters.
  func aligned(_ width: Int) -> String {
    count >= width ? self : String(repeating: " ", count: width - count) + self
  }
}

/// Rows under headings, each column as wide as its widest cell.
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
