// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The bytes of a Swift source file, and the same without comments and the contents of texts.
///
/// Source: *The Swift Programming Language*, Lexical Structure.
struct SourceText {
  let bytes: [UInt8]
  /// As long as `bytes`: comments and the contents of texts are spaces, ends of lines remain.
  private(set) var code: [UInt8]
  private var position = 0

  init(_ data: Data) {
    bytes = Array(data)
    code = bytes
    scan(untilParenthesis: false)
  }

  /// The ranges of the lines in `code` and `bytes`, without their ends.
  var lines: [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = 0
    for index in code.indices where code[index] == UInt8(ascii: "\n") {
      lines.append(start..<index)
      start = index + 1
    }
    return lines + [start..<code.count]
  }

  func codeText(_ range: Range<Int>) -> String { String(decoding: code[range], as: UTF8.self) }

  // MARK: Scanning

  /// - Parameter untilParenthesis: whether to stop after the parenthesis that closes an interpolation.
  private mutating func scan(untilParenthesis: Bool) {
    var depth = 1
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "/") where next(1) == UInt8(ascii: "/"): skipLineComment()
      case UInt8(ascii: "/") where next(1) == UInt8(ascii: "*"): skipBlockComment()
      case UInt8(ascii: "\""): skipText(raw: 0)
      case UInt8(ascii: "#"):
        let signs = bytes[position...].prefix { $0 == UInt8(ascii: "#") }.count
        if next(signs) == UInt8(ascii: "\"") {
          position += signs
          skipText(raw: signs)
        } else {
          position += signs
        }
      case UInt8(ascii: "(") where untilParenthesis:
        depth += 1
        position += 1
      case UInt8(ascii: ")") where untilParenthesis:
        depth -= 1
        position += 1
        if depth == 0 { return }
      default: position += 1
      }
    }
  }

  private func next(_ offset: Int) -> UInt8? {
    position + offset < bytes.count ? bytes[position + offset] : nil
  }

  /// Replaces bytes by spaces, but not the ends of lines.
  private mutating func blank(_ count: Int) {
    for index in position..<min(position + count, bytes.count)
    where bytes[index] != UInt8(ascii: "\n") && bytes[index] != UInt8(ascii: "\r") {
      code[index] = UInt8(ascii: " ")
    }
    position = min(position + count, bytes.count)
  }

  private mutating func skipLineComment() {
    while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { blank(1) }
  }

  private mutating func skipBlockComment() {
    var depth = 0
    repeat {
      if bytes[position] == UInt8(ascii: "/"), next(1) == UInt8(ascii: "*") {
        depth += 1
        blank(2)
      } else if bytes[position] == UInt8(ascii: "*"), next(1) == UInt8(ascii: "/") {
        depth -= 1
        blank(2)
      } else {
        blank(1)
      }
    } while depth > 0 && position < bytes.count
  }

  /// Skips a text from its first quote.
  ///
  /// - Parameter raw: the number of its `#`.
  private mutating func skipText(raw: Int) {
    let quote = UInt8(ascii: "\"")
    let isLong = next(1) == quote && next(2) == quote
    position += isLong ? 3 : 1
    let quotes = isLong ? 3 : 1
    while position < bytes.count {
      let byte = bytes[position]
      // A text of one line ends with the line, also when its quote is missing.
      if !isLong, byte == UInt8(ascii: "\n") { return }
      if byte == quote, (0..<quotes).allSatisfy({ next($0) == quote }), hasSigns(raw, after: quotes) {
        position += quotes + raw
        return
      }
      guard byte == UInt8(ascii: "\\"), hasSigns(raw, after: 1) else {
        blank(1)
        continue
      }
      if next(1 + raw) == UInt8(ascii: "(") {
        position += raw + 2
        scan(untilParenthesis: true)
      } else {
        blank(2 + raw)
      }
    }
  }

  private func hasSigns(_ count: Int, after offset: Int) -> Bool {
    (0..<count).allSatisfy { next(offset + $0) == UInt8(ascii: "#") }
  }
}
