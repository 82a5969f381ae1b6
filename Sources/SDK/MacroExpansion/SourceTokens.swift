// SPDX-License-Identifier: Apache-2.0

/// A token of Swift's source text.
struct Token: Equatable {
  enum Kind: Equatable {
    /// An identifier or a keyword; also one in backticks.
    case word
    /// A string, with its interpolations, or a regular expression.
    case literal
    case number
    /// One character: a bracket, or part of an operator. `->` is one token.
    case symbol
    /// `#if`, `#elseif`, `#else` or `#endif`, with the rest of its line.
    case directive
  }

  var kind: Kind
  var text: Substring
  /// Whether a newline is between this token and the one before it.
  var startsLine: Bool
  /// Whether space, a newline or a comment is before this token.
  var followsSpace: Bool

  var range: Range<String.Index> { text.startIndex..<text.endIndex }
  /// The name without backticks.
  var name: String { text.hasPrefix("`") ? String(text.dropFirst().dropLast()) : String(text) }

  func isSymbol(_ text: String) -> Bool { kind == .symbol && self.text == text }
  func isWord(_ text: String) -> Bool { kind == .word && self.text == text }
}

/// Splits Swift's source text into tokens. It knows comments, strings and regular expressions, so that a brace in one
/// of them is not a bracket. It accepts every text.
struct Tokenizer {
  private let text: String
  private var index: String.Index
  private var startsLine = true
  private var followsSpace = true
  private var tokens: [Token] = []

  static func tokens(of text: String) -> [Token] {
    var tokenizer = Tokenizer(text)
    while tokenizer.readToken() {}
    return tokenizer.tokens
  }

  private init(_ text: String) { (self.text, index) = (text, text.startIndex) }

  private var rest: Substring { text[index...] }
  private var current: Character? { index < text.endIndex ? text[index] : nil }

  private mutating func add(_ kind: Token.Kind, from start: String.Index) {
    tokens.append(
      Token(kind: kind, text: text[start..<index], startsLine: startsLine, followsSpace: followsSpace))
    (startsLine, followsSpace) = (false, false)
  }

  /// Whether there was a token.
  private mutating func readToken() -> Bool {
    skipSpace()
    guard let character = current else { return false }
    let start = index
    switch character {
    case _ where character.isLetter || character == "_" || character == "$":
      skip { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
      add(.word, from: start)
    case "`":
      advance()
      skip { $0 != "`" && !$0.isNewline }
      if current == "`" { advance() }
      add(.word, from: start)
    case _ where character.isNumber:
      skip { $0.isLetter || $0.isNumber || $0 == "_" }
      // A fraction, and not a range or a member.
      if current == ".", let digit = text[index...].dropFirst().first, digit.isNumber {
        advance()
        skip { $0.isLetter || $0.isNumber || $0 == "_" }
      }
      add(.number, from: start)
    case "\"":
      readString(hashes: 0)
      add(.literal, from: start)
    case "#": readHash(from: start)
    case "/" where isRegexStart:
      readRegex(hashes: 0)
      add(.literal, from: start)
    case "-" where rest.hasPrefix("->"):
      advance(2)
      add(.symbol, from: start)
    default:
      advance()
      add(.symbol, from: start)
    }
    return true
  }

  // MARK: Space and comments

  private mutating func skipSpace() {
    while let character = current {
      if character.isWhitespace {
        if character.isNewline { startsLine = true }
        advance()
      } else if rest.hasPrefix("//") {
        skip { !$0.isNewline }
      } else if rest.hasPrefix("/*") {
        skipComment()
      } else {
        return
      }
      followsSpace = true
    }
  }

  /// Comments are nested.
  private mutating func skipComment() {
    var depth = 0
    repeat {
      if rest.hasPrefix("/*") {
        depth += 1
        advance(2)
      } else if rest.hasPrefix("*/") {
        depth -= 1
        advance(2)
      } else {
        if current?.isNewline == true { startsLine = true }
        advance()
      }
    } while depth > 0 && current != nil
  }

  // MARK: Literals

  /// Reads `#if …`, `#"…"#`, `#/…/#`, or the sign alone.
  private mutating func readHash(from start: String.Index) {
    let hashes = rest.prefix { $0 == "#" }.count
    switch rest.dropFirst(hashes).first {
    case "\"":
      advance(hashes)
      readString(hashes: hashes)
      return add(.literal, from: start)
    case "/":
      advance(hashes)
      readRegex(hashes: hashes)
      return add(.literal, from: start)
    default: break
    }
    if startsLine, ["#if", "#elseif", "#else", "#endif"].contains(rest.prefix { $0 == "#" || $0.isLetter }) {
      while let character = current, !character.isNewline, !rest.hasPrefix("//"), !rest.hasPrefix("/*") {
        _ = character
        advance()
      }
      return add(.directive, from: start)
    }
    advance()
    add(.symbol, from: start)
  }

  /// Reads a string from its first quote on, with its interpolations, which may contain strings.
  private mutating func readString(hashes: Int) {
    let pad = String(repeating: "#", count: hashes)
    let isMultiline = rest.hasPrefix("\"\"\"")
    let quotes = isMultiline ? "\"\"\"" : "\""
    advance(quotes.count)
    while let character = current {
      if rest.hasPrefix(quotes + pad) { return advance(quotes.count + hashes) }
      if rest.hasPrefix("\\" + pad) {
        advance(1 + hashes)
        if current == "(" { skipInterpolation() } else { advance() }
      } else if character.isNewline && !isMultiline {
        return
      } else {
        advance()
      }
    }
  }

  /// Skips `( … )` of an interpolation, with the same rules as for other source text.
  private mutating func skipInterpolation() {
    var inner = Tokenizer(text)
    inner.index = index
    var depth = 0
    repeat {
      guard inner.readToken(), let token = inner.tokens.last else { break }
      if token.isSymbol("(") { depth += 1 }
      if token.isSymbol(")") { depth -= 1 }
    } while depth > 0
    index = inner.index
  }

  /// Whether a slash starts a regular expression: where an operand is expected, and with its end in the same line.
  private var isRegexStart: Bool {
    guard let next = rest.dropFirst().first, !next.isWhitespace, next != "/", next != "*" else { return false }
    if let last = tokens.last {
      let isOperand = last.kind != .symbol && last.kind != .directive || [")", "]", "}", "?", "!"].contains(last.text)
      guard !isOperand || startsLine else { return false }
    }
    return rest.dropFirst().prefix { !$0.isNewline }.contains("/")
  }

  private mutating func readRegex(hashes: Int) {
    let end = "/" + String(repeating: "#", count: hashes)
    advance()
    while let character = current {
      if rest.hasPrefix(end) { return advance(end.count) }
      if character.isNewline && hashes == 0 { return }
      if character == "\\" { advance() }
      advance()
    }
  }

  // MARK: Position

  private mutating func advance(_ count: Int = 1) {
    index = text.index(index, offsetBy: count, limitedBy: text.endIndex) ?? text.endIndex
  }

  private mutating func skip(while condition: (Character) -> Bool) {
    while let character = current, condition(character) { advance() }
  }
}
