// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A violation of a repository rule: its place, and what to do about it.
struct Finding: CustomStringConvertible, Equatable {
  var path: String
  var line: Int
  var advice: String

  var description: String { "\(path):\(line): \(advice)" }
}

/// The lines of a Swift file in three views: as written, without comments and strings, and without strings.
struct SourceFile {
  /// Relative to the root of the repository.
  let path: String
  /// The lines as written.
  let lines: [String]
  /// The same lines with comments and the insides of string literals blanked.
  let code: [String]
  /// The same lines with only the insides of string literals blanked.
  let prose: [String]

  init(_ path: String, _ text: String) {
    self.path = path
    lines = text.lines
    var blanker = Blanker(text)
    blanker.run()
    code = String(decoding: blanker.code, as: UTF8.self).lines
    prose = String(decoding: blanker.prose, as: UTF8.self).lines
  }

  /// The findings of a check on each line of one view.
  func findings(in view: [String], _ advice: (String) -> String?) -> [Finding] {
    zip(1..., view).compactMap { number, line in advice(line).map { Finding(path: path, line: number, advice: $0) } }
  }

  /// Whether the line (counted from 1) or the line before it has a comment.
  func hasComment(at line: Int) -> Bool {
    prose[max(0, line - 2)..<line].contains { $0.contains("//") }
  }
}

extension String {
  /// The lines of a text. A newline at the end starts no further line.
  fileprivate var lines: [String] {
    var lines = split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  var isIndented: Bool { first == " " }
  var trimmed: String { trimmingCharacters(in: .whitespaces) }

  /// The identifiers of a line of code, in order.
  var identifiers: [Substring] { split { !($0.isLetter || $0.isNumber || $0 == "_") } }

  /// Whether the text contains the phrase as a whole, not as a part of a longer identifier.
  func hasPhrase(_ phrase: String, notAfter forbidden: Character? = nil) -> Bool {
    var rest = self[...]
    while let range = rest.range(of: phrase) {
      let before = self[..<range.lowerBound].last
      let after = self[range.upperBound...].first
      let begins = !(phrase.first?.isPartOfName ?? false) || !(before?.isPartOfName ?? false)
      let ends = !(phrase.last?.isPartOfName ?? false) || !(after?.isPartOfName ?? false)
      if begins, ends, before == nil || before != forbidden { return true }
      rest = self[range.upperBound...]
    }
    return false
  }
}

extension Character {
  fileprivate var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}

/// Reads a Swift text once and blanks everything that is not code. It handles comments, nested comments, every kind of
/// string, and interpolations. It does not parse regex literals: a quote in one ends with its line.
private struct Blanker {
  private enum Mode: Equatable {
    case code(parentheses: Int)
    case lineComment
    case blockComment(depth: Int)
    case string(hashes: Int, quotes: Int)
  }

  private let text: [UInt8]
  private var position = 0
  private var modes: [Mode] = [.code(parentheses: 0)]
  private(set) var code: [UInt8] = []
  private(set) var prose: [UInt8] = []

  init(_ text: String) {
    self.text = Array(text.utf8)
    code.reserveCapacity(self.text.count)
    prose.reserveCapacity(self.text.count)
  }

  mutating func run() {
    while position < text.count {
      switch modes[modes.count - 1] {
      case .code(let parentheses): stepInCode(parentheses)
      case .lineComment: stepInLineComment()
      case .blockComment(let depth): stepInBlockComment(depth)
      case .string(let hashes, let quotes): stepInString(hashes, quotes)
      }
    }
  }

  private func sees(_ phrase: String) -> Bool { text[position...].starts(with: phrase.utf8) }

  private mutating func take(_ count: Int = 1, code inCode: Bool, prose inProse: Bool) {
    for byte in text[position..<min(position + count, text.count)] {
      let blank = byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " ")
      code.append(inCode ? byte : blank)
      prose.append(inProse ? byte : blank)
    }
    position += count
  }

  private mutating func stepInCode(_ parentheses: Int) {
    if sees("//") {
      modes.append(.lineComment)
    } else if sees("/*") {
      modes.append(.blockComment(depth: 0))
    } else if sees("\"") || sees("#") {
      let hashes = text[position...].prefix { $0 == UInt8(ascii: "#") }.count
      position += hashes
      let quotes = sees("\"\"\"\n") ? 3 : sees("\"") ? 1 : 0
      position -= hashes
      if quotes > 0 { modes.append(.string(hashes: hashes, quotes: quotes)) }
      take(hashes + quotes, code: true, prose: true)
    } else {
      if parentheses > 0, sees("(") { modes[modes.count - 1] = .code(parentheses: parentheses + 1) }
      if parentheses > 1, sees(")") { modes[modes.count - 1] = .code(parentheses: parentheses - 1) }
      if parentheses == 1, sees(")") { modes.removeLast() }
      take(code: true, prose: true)
    }
  }

  private mutating func stepInLineComment() {
    if sees("\n") { modes.removeLast() }
    take(code: false, prose: true)
  }

  private mutating func stepInBlockComment(_ depth: Int) {
    let change = sees("/*") ? 1 : sees("*/") ? -1 : 0
    modes[modes.count - 1] = .blockComment(depth: depth + change)
    if depth + change == 0 { modes.removeLast() }
    take(change == 0 ? 1 : 2, code: false, prose: true)
  }

  private mutating func stepInString(_ hashes: Int, _ quotes: Int) {
    let pounds = String(repeating: "#", count: hashes)
    let end = String(repeating: "\"", count: quotes) + pounds
    if sees(end) {
      modes.removeLast()
      take(end.utf8.count, code: true, prose: true)
    } else if sees("\\\(pounds)(") {
      modes.append(.code(parentheses: 1))
      take(hashes + 2, code: true, prose: true)
    } else if sees("\\") && hashes == 0 {
      take(2, code: false, prose: false)
    } else if sees("\n") && quotes == 1 {
      modes = [.code(parentheses: 0)]
    } else {
      take(code: false, prose: false)
    }
  }
}
