// SPDX-License-Identifier: Apache-2.0

/// The state of a process in `/proc/PID/status`.
struct ChildStatus {
  /// Stopped by a signal.
  private(set) var isStopped = false
  /// `RssAnon`: the resident anonymous pages, bytes; `nil` for a process that no longer has any.
  private(set) var memory: Int?

  /// - Returns: `nil` when the process does not exist.
  init?(of pid: Int32) {
    guard let bytes = ProcFile.contents("/proc/\(pid)/status") else { return nil }
    self.init(reading: String(decoding: bytes, as: UTF8.self))
  }

  /// - Parameter text: lines of a name, a colon and a value. The process's name, in the first line, has no line breaks:
  ///   the kernel escapes them.
  init(reading text: String) {
    // As bytes: splitting characters took most of the agent's CPU time when children were suspended often.
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      if line.starts(with: "State:".utf8) {
        isStopped = Self.value(line).first == UInt8(ascii: "T")
      } else if line.starts(with: "RssAnon:".utf8) {
        memory = Int(String(Self.value(line)) ?? "").map { $0 << 10 }
      }
    }
  }

  /// The first word after the name of a line.
  private static func value(_ line: Substring.UTF8View) -> Substring.UTF8View {
    let words = line.split(maxSplits: 2) { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
    return words.count > 1 ? words[1] : line[line.endIndex...]
  }
}
