import Glibc

/// What the kernel says of a process in `/proc/PID/status`.
struct ChildStatus {
  /// Stopped by a signal.
  private(set) var isStopped = false
  /// `RssAnon`: the anonymous pages in the machine's memory, bytes; `nil` for a process that has none any longer.
  private(set) var memory: Int?

  /// - Returns: `nil` when there is no such process.
  init?(of pid: Int32) {
    guard let file = fopen("/proc/\(pid)/status", "re") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = fread(&buffer, 1, buffer.count, file)
    self.init(reading: String(decoding: buffer.prefix(count), as: UTF8.self))
  }

  /// - Parameter text: lines of a name, a colon and a value. A process's own name, the first of them, has no line breaks: the
  ///   kernel escapes them.
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
