// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// A syntax error, with its position.
package struct FilterError: Error, Equatable, CustomStringConvertible {
  /// What is wrong.
  package let message: String
  /// What is allowed at this position.
  package let allowed: String
  /// The whole expression.
  package let text: String
  /// The range of characters at fault. An empty range after the last character is the end of the text.
  package let place: Range<Int>

  /// Four lines: the error, the text, a mark below the position, and what is allowed there.
  package var description: String {
    // Characters other than plain spaces would misalign the mark.
    let line = text.onOneLine
    let mark = String(repeating: " ", count: place.lowerBound) + String(repeating: "^", count: max(1, place.count))
    return "\(message)\n  \(line)\n  \(mark)\n  \(allowed)"
  }
}

/// Parses filter expressions. Total: any text yields an expression or an error with a position.
///
///     expression = and { "||" and }
///     and        = not { "&&" not }
///     not        = "!" not | "(" expression ")" | field relation value
///     relation   = "==" | "!=" | "<" | "<=" | ">" | ">="
///     value      = bare word | "text" | 'text'
struct FilterParser {
  private enum Token: Equatable {
    case word(String)
    case quoted(String)
    case symbol(String)
    case end
  }

  private static let depthLimit = 64
  /// Characters of Unicode. Each comparison of a chain needs stack when the expression is evaluated.
  private static let lengthLimit = 10_000
  private static let symbols = ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", "=", "&", "|"]
  private static let ofWords = Set("&|=!<>()\"'".unicodeScalars)

  private let text: String
  /// Not `Character`: a combining mark behind a quotation mark belongs to the text in the quotes.
  private let characters: [Unicode.Scalar]
  private let now: Timestamp
  private var position = 0
  private var token = Token.end
  private var place = 0..<0
  private var depth = 0

  /// Creates a parser. Relative times are relative to `now`.
  init(_ text: String, now: Timestamp) {
    self.text = text
    self.characters = Array(text.unicodeScalars)
    self.now = now
  }

  /// Parses the whole text.
  mutating func expression() throws(FilterError) -> FilterExpression {
    guard characters.count <= Self.lengthLimit else {
      place = Self.lengthLimit..<characters.count
      throw error("the expression is too long", "at most \(Self.lengthLimit) characters are allowed")
    }
    try advance()
    let found = try anyOf()
    guard token == .end else {
      throw error("the expression is already complete here", "join with && or ||, or remove an unmatched )")
    }
    return found
  }

  private mutating func anyOf() throws(FilterError) -> FilterExpression {
    var left = try allOf()
    while token == .symbol("||") {
      try advance()
      left = .or(left, try allOf())
    }
    return left
  }

  private mutating func allOf() throws(FilterError) -> FilterExpression {
    var left = try negation()
    while token == .symbol("&&") {
      try advance()
      left = .and(left, try negation())
    }
    return left
  }

  private mutating func negation() throws(FilterError) -> FilterExpression {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else {
      throw error("the nesting is too deep", "at most \(Self.depthLimit) levels of ! and ( are allowed")
    }
    switch token {
    case .symbol("!"):
      try advance()
      return .not(try negation())
    case .symbol("("):
      let opening = place
      try advance()
      let inner = try anyOf()
      guard token == .symbol(")") else {
        if token == .end { place = opening }
        throw error(token == .end ? "a ) is missing" : "this is not expected here", "expected: && or || or )")
      }
      try advance()
      return inner
    default: return .comparison(try comparison())
    }
  }

  private mutating func comparison() throws(FilterError) -> FilterComparison {
    let names = FilterField.allCases.map(\.rawValue).joined(separator: ", ")
    guard case .word(let name) = token else {
      throw error(token == .end ? "the expression is incomplete" : "a field is expected here", "one of: \(names)")
    }
    guard let field = FilterField(rawValue: name) else { throw error("'\(name)' is not a field", "one of: \(names)") }
    try advance()
    guard case .symbol(let symbol) = token, let relation = FilterComparison.Relation(rawValue: symbol) else {
      let hint = token == .symbol("=") ? "use == for equality" : "expected: == != < <= > >="
      throw error("a comparison is expected after '\(name)'", hint)
    }
    if relation.isOrder, field.shape != .number, field.shape != .time {
      throw error("'\(name)' has no order", "expected: == or != (with globs)")
    }
    try advance()
    let value: String
    switch token {
    case .word(let text), .quoted(let text): value = text
    default: throw error("a value is expected", "a word, or text in \"quotes\"")
    }
    let comparison = FilterComparison(field: field, relation: relation, value: try read(value, field))
    try advance()
    return comparison
  }

  private func read(_ text: String, _ field: FilterField) throws(FilterError) -> FilterComparison.Value {
    switch field.shape {
    case .text, .address: return .glob(text)
    case .number:
      guard let number = Int64(text) else {
        throw error("'\(field.rawValue)' needs a number", "such as \(field.rawValue) >= 2")
      }
      return .number(number)
    case .time:
      guard case .time(let time) = JournalFilter.Moment(text)?.fixed(now: now) else {
        throw error(
          "'\(text.onOneLine)' is not a time", "13:05:07 (UTC), 2026-11-21T13:05:07Z, 5m (ago) or @1790000000")
      }
      return .time(time)
    case .identifier:
      let digits = text.lowercased().filter { $0 != "-" }
      // Of ASCII: `isHexDigit` alone also accepts the wide digits of East Asian text.
      guard !digits.isEmpty, digits.utf8.count <= 32, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
        throw error(
          "'\(field.rawValue)' needs the digits of an identifier", "the first digits, as the tail prints them: 3fa94c")
      }
      return .digits(digits)
    }
  }

  // MARK: Tokens

  private mutating func advance() throws(FilterError) {
    while position < characters.count, characters[position].properties.isWhitespace { position += 1 }
    let start = position
    guard position < characters.count else {
      token = .end
      place = start..<start
      return
    }
    let next = characters[position]
    if next == "\"" || next == "'" {
      token = .quoted(try quoted(next))
    } else if let symbol = Self.symbols.first(where: { characters[position...].starts(with: $0.unicodeScalars) }) {
      position += symbol.unicodeScalars.count
      token = .symbol(symbol)
    } else {
      while position < characters.count, !characters[position].properties.isWhitespace,
        !Self.ofWords.contains(characters[position])
      { position += 1 }
      token = .word(characters[start..<position].text)
    }
    place = start..<position
    if token == .symbol("&") || token == .symbol("|") {
      throw error("an operator has two characters", "use && for and, || for or")
    }
  }

  /// Reads a text up to the same quotation mark. A backslash before the mark makes it part of the text.
  private mutating func quoted(_ mark: Unicode.Scalar) throws(FilterError) -> String {
    let start = position
    position += 1
    var found = String.UnicodeScalarView()
    while position < characters.count, characters[position] != mark {
      if characters[position] == "\\", position + 1 < characters.count, characters[position + 1] == mark {
        position += 1
      }
      found.append(characters[position])
      position += 1
    }
    guard position < characters.count else {
      place = start..<characters.count
      throw error("these quotes are not closed", "expected: \(mark) at the end of the text")
    }
    position += 1
    return String(found)
  }

  private func error(_ message: String, _ allowed: String) -> FilterError {
    let whole = text.count
    let start = min(characters[..<place.lowerBound].text.count, whole)
    let end = min(start + characters[place].text.count, whole)
    return FilterError(message: message, allowed: allowed, text: text, place: start..<end)
  }
}

extension ArraySlice<Unicode.Scalar> {
  fileprivate var text: String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: self)
    return String(view)
  }
}

extension String {
  /// With a space for each character that would end the line or move what follows it.
  fileprivate var onOneLine: String { String(map { $0.isNewline || $0 == "\t" ? " " : $0 }) }
}
