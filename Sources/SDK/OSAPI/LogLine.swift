// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A line of the unified log. It goes where the author's prints go: to standard error, which the agent adds to the
/// journal.
enum LogLine {
  /// What writes it.
  struct Origin: Sendable {
    var subsystem = ""
    var category = ""
    var isEnabled = true
  }

  /// The line without its end: `[subsystem:category] level: text`.
  static func text(_ text: String, _ level: String, from origin: Origin) -> String {
    let place = [origin.subsystem, origin.category].filter { !$0.isEmpty }.joined(separator: ":")
    return "\(place.isEmpty ? "" : "[\(place)] ")\(level): \(text)"
  }

  /// Writes a line as a whole. Any thread.
  static func write(_ message: @autoclosure () -> String, _ level: String, from origin: Origin) {
    guard origin.isEnabled else { return }
    var line = Array((text(message(), level, from: origin) + "\n").utf8)[...]
    while !line.isEmpty {
      let count = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        return
      }
      line = line.dropFirst(count)
    }
  }
}
