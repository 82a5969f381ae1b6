// SPDX-License-Identifier: Apache-2.0

/// Splits the bytes of a stream into lines of valid UTF-8.
///
/// A line longer than the limit is cut into pieces, at character boundaries where it is UTF-8, so that a child that
/// never ends its line uses bounded memory. Invalid UTF-8 becomes U+FFFD.
struct LineSplitter: Sendable {
  /// The maximum length of a line in bytes.
  static let limit = 8192
  private var rest: [UInt8] = []

  /// Appends bytes and returns the lines that they complete.
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

  /// Returns the rest at the end of the stream; `nil` when the last line was complete.
  mutating func finish() -> String? { rest.isEmpty ? nil : take(rest.count) }

  /// Where a line over the limit is cut: before the first character that does not fit.
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
