// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
  /// The start of the text, with at most this number of bytes of UTF-8. A scalar is not divided.
  ///
  /// A number of characters bounds nothing: one character can have any number of combining marks.
  package func start(bytes limit: Int) -> String {
    let bytes = Substring(self).utf8
    guard var end = bytes.index(bytes.startIndex, offsetBy: limit, limitedBy: bytes.endIndex), end < bytes.endIndex
    else {
      return String(self)
    }
    while end > bytes.startIndex, bytes[end] & 0xc0 == 0x80 { end = bytes.index(before: end) }
    return String(Substring(bytes[..<end]))
  }

  /// The text, or its start with `…` when it has more than this number of bytes of UTF-8.
  package func excerpt(bytes limit: Int) -> String {
    let start = start(bytes: limit)
    return start.utf8.count < utf8.count ? start + "…" : start
  }
}
