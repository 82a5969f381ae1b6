// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import JournalAnalysis
import ShownText

/// Receives the lines of a command instead of the terminal. Any thread.
protocol OutputSink: Sendable {
  /// A line, without its end.
  func line(_ text: String, isError: Bool)
}

/// Prints to the terminal. Each line is written whole and at once, so that the reader of a pipe sees it immediately.
///
/// Names, errors and output come from servers, providers and authors' processes. So control characters are printed as
/// `\u{1b}`, and in JSON as `\u001b`; only the colours of `TerminalColor` reach a terminal.
enum Output {
  /// Whether colours are used: standard output is a terminal and `NO_COLOR` is not set.
  static var isColored: Bool {
    sink == nil && isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Prints a line on standard output. A line end within it is escaped: a text from outside forges no line.
  static func print(_ line: String) { print(line, isColored: isColored) }
  /// Prints a line on standard output, with its colours where they are wanted.
  static func print(_ line: String, isColored: @autoclosure () -> Bool) {
    printWhole(TerminalColor.shown(line, isColored()))
  }
  /// Prints a line on standard error.
  static func printError(_ line: String) { printWhole(line.escapingControls, isError: true) }

  /// Prints a text of several lines.
  static func printText(_ text: String, isError: Bool = false) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      printWhole(line.escapingControls, isError: isError)
    }
  }

  /// Clears a terminal.
  static func clearTerminal() { printWhole("\u{1b}[H\u{1b}[2J") }

  private static func printWhole(_ line: String, isError: Bool = false) {
    if let sink { return sink.line(line, isError: isError) }
    write(line + "\n", to: isError ? STDERR_FILENO : STDOUT_FILENO)
  }

  /// Receives the output of the current task; nil for the terminal.
  @TaskLocal static var sink: (any OutputSink)?

  /// Prints one JSON object with sorted keys as a line on standard output.
  static func json<T: Encodable>(_ value: T) throws {
    json(data: try jsonData(value))
  }

  /// Prints JSON as a line on standard output.
  static func json(data: Data) { printWhole(String(decoding: data, as: UTF8.self).escapingControlsOfJSON) }

  static func jsonData<T: Encodable>(_ value: T, pretty: Bool = false) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    return Data(String(decoding: try encoder.encode(value), as: UTF8.self).escapingControlsOfJSON.utf8)
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
