/// Turns the bytes of a stream into lines of valid UTF-8.
///
/// A line longer than the limit is cut into pieces, between characters where it is UTF-8, so that a child that never
/// ends its line costs no memory. What is no UTF-8 becomes U+FFFD.
struct LineSplitter: Sendable {
  /// Bytes of a line.
  static let limit = 8192
  private var rest: [UInt8] = []

  /// The lines that the bytes complete.
  mutating func append(_ bytes: [UInt8]) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        lines.append(take(rest.count))
      } else {
        rest.append(byte)
        if rest.count > LineSplitter.limit { lines.append(take(cut)) }
      }
    }
    return lines
  }

  /// What is left at the end of the stream; `nil` when it ended with its last line.
  mutating func finish() -> String? { rest.isEmpty ? nil : take(rest.count) }

  /// Where a line over the limit is cut: before a character that does not fit.
  private var cut: Int {
    let start = (LineSplitter.limit - 3...LineSplitter.limit).last { rest[$0] & 0xc0 != 0x80 }
    return start ?? LineSplitter.limit
  }

  private mutating func take(_ count: Int) -> String {
    let line = String(decoding: rest.prefix(count), as: UTF8.self)
    rest.removeFirst(count)
    return line
  }
}
