// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The state of a process in `/proc/PID/status`.
struct ChildStatus {
  /// Stopped by a signal.
  private(set) var isStopped = false
  /// `RssAnon`: the resident anonymous pages, bytes; `nil` for a process that no longer has any.
  private(set) var memory: Int?

  /// - Returns: `nil` when the process does not exist.
  init?(of pid: Int32) {
    guard let file = fopen("/proc/\(pid)/status", "re") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = fread(&buffer, 1, buffer.count, file)
    self.init(reading: String(decoding: buffer.prefix(count), as: UTF8.self))
  }

  /// - Parameter text: lines of a name, a colon and a value. The process's name, in the first line, has no line breaks:
  ///   the kernel escapes them.
  init(reading text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard words.count > 1 else { continue }
      switch words[0] {
      case "State:": isStopped = words[1] == "T"
      case "RssAnon:": memory = Int(words[1]).map { $0 << 10 }
      default: break
      }
    }
  }
}
