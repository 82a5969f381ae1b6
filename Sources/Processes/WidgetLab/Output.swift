// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Receives the lines of a command instead of the terminal. Any thread.
protocol OutputSink: Sendable {
  /// A line, without its end.
  func line(_ text: String, isError: Bool)
}

/// Prints to the terminal. Each line is written whole and at once, so that the reader of a pipe sees it immediately.
enum Output {
  /// Whether colours are used: standard output is a terminal and `NO_COLOR` is not set.
  static var isColored: Bool {
    sink == nil && isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Prints a line on standard output.
  static func print(_ line: String) {
    if let sink { sink.line(line, isError: false) } else { write(line + "\n", to: STDOUT_FILENO) }
  }
  /// Prints a line on standard error.
  static func printError(_ line: String) {
    if let sink { sink.line(line, isError: true) } else { write(line + "\n", to: STDERR_FILENO) }
  }

  /// Receives the output of the current task; nil for the terminal.
  @TaskLocal static var sink: (any OutputSink)?

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
