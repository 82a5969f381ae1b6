// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import Messages

/// A predicate over one envelope, such as `kind == transfer.* && session == "daily"`. See `FilterParser` for the
/// grammar.
package indirect enum FilterExpression: Equatable, Sendable {
  case comparison(FilterComparison)
  case not(FilterExpression)
  case and(FilterExpression, FilterExpression)
  case or(FilterExpression, FilterExpression)

  /// Parses an expression.
  ///
  /// - Parameter now: the base of relative times such as `5m`.
  /// - Throws: an error with the position.
  package init(_ text: String, now: Timestamp = .now) throws(FilterError) {
    var parser = FilterParser(text, now: now)
    self = try parser.expression()
  }

  /// Whether the envelope matches.
  package func matches(_ envelope: Envelope) -> Bool { matches(EnvelopeFacts(envelope)) }

  /// Same, for facts that several expressions share.
  func matches(_ facts: EnvelopeFacts) -> Bool {
    switch self {
    case .comparison(let comparison): comparison.matches(facts)
    case .not(let inner): !inner.matches(facts)
    case .and(let left, let right): left.matches(facts) && right.matches(facts)
    case .or(let left, let right): left.matches(facts) || right.matches(facts)
    }
  }
}

/// `field operator value`.
package struct FilterComparison: Equatable, Sendable {
  /// The operators.
  package enum Relation: String, CaseIterable, Sendable {
    case equal = "=="
    case unequal = "!="
    case atMost = "<="
    case atLeast = ">="
    case less = "<"
    case greater = ">"

    /// Whether it is an ordering, which texts do not support.
    var isOrder: Bool { self != .equal && self != .unequal }

    /// Whether the comparison of two values is true.
    func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
      switch self {
      case .equal: left == right
      case .unequal: left != right
      case .atMost: left <= right
      case .atLeast: left >= right
      case .less: left < right
      case .greater: left > right
      }
    }
  }

  /// A value of an expression.
  package enum Value: Equatable, Sendable {
    /// A text with `*`, `?` and `[a-z]`, as in a shell.
    case glob(String)
    case number(Int64)
    case time(Timestamp)
    /// The first digits of an identifier, lower case, without hyphens.
    case digits(String)
  }

  /// The field on the left.
  package let field: FilterField
  /// The operator.
  package let relation: Relation
  /// The value on the right.
  package let value: Value

  /// Creates a comparison. The value must have the shape of the field.
  package init(field: FilterField, relation: Relation, value: Value) {
    self.field = field
    self.relation = relation
    self.value = value
  }

  /// A field that the envelope does not have equals nothing, and is neither less nor greater.
  func matches(_ facts: EnvelopeFacts) -> Bool {
    if relation == .unequal {
      return !FilterComparison(field: field, relation: .equal, value: value).matches(facts)
    }
    switch value {
    case .number(let wanted): return facts.number(field).map { relation.holds($0, wanted) } ?? false
    case .time(let wanted): return relation.holds(facts.envelope.header.sentAt, wanted)
    case .digits(let wanted): return facts.identifier(field).map { $0.hasPrefix(wanted) } ?? false
    case .glob(let glob):
      if facts.texts(field).contains(where: { fnmatch(glob, $0, 0) == 0 }) { return true }
      return field == .session && facts.belongs(toSession: glob)
    }
  }
}

/// The fields of an envelope that an expression can use.
package enum FilterField: String, CaseIterable, Sendable {
  case kind, from, to, address, generation, sequence, correlation, session, pid, widget, attempt, time
  case id, cause, task, state, step, method, mark, note

  /// How the values of a field are compared.
  package enum Shape: String, Equatable, Sendable { case text, address, number, time, identifier }

  /// The shape of the values.
  package var shape: Shape {
    switch self {
    case .from, .to, .address: .address
    case .generation, .sequence, .pid, .attempt, .task: .number
    case .time: .time
    case .correlation, .id, .cause: .identifier
    case .kind, .session, .widget, .state, .step, .method, .mark, .note: .text
    }
  }

  /// The description in the help text.
  package var meaning: String {
    switch self {
    case .kind: "transfer.create, session.events/ack …"
    case .from: "the sender: host, extension, agent/1, app/com.example.*"
    case .to: "the receiver"
    case .address: "the sender, the receiver or the process it is about"
    case .generation: "the sender's generation; of process events, that of the process"
    case .sequence: "the broker's number"
    case .correlation: "the correlation id: its first digits"
    case .session: "the background session's identifier"
    case .pid: "the pid in the message, of the sender or of the subject"
    case .widget: "the kind of widget"
    case .attempt: "how often the sender has sent it before"
    case .time: "when it was sent: 13:05:07, 5m (ago), 2026-11-21T13:05:07Z"
    case .id: "the envelope's id: its first digits"
    case .cause: "the id of the envelope that it replies to or follows from"
    case .task: "the task of a session: 1, 2 …"
    case .state: "of process.state: running, suspended, absent …"
    case .step: "of transfer.progress: started, resumed, finished …"
    case .method: "of delegate.called: didFinishDownloadingTo …"
    case .mark: "launch (process started), exit (process exited) or refused"
    case .note: "the last column of the tail"
    }
  }
}

extension FilterExpression {
  /// The syntax, for `tail --help`.
  package static var lesson: String {
    let fields = FilterField.allCases.map { "  \($0.rawValue.padded(12)) \($0.meaning)" }.joined(separator: "\n")
    return """
      EXPRESSIONS (--where, --exit-when, `wait --for`)
      field == value, combined with && (binds tighter) and ||, negated with !, grouped with ( ). Texts and addresses \
      support == and != with globs (* ? [a-z]); numbers and times also < <= > >=. A value is a bare word or is in \
      "quotes". A field that an envelope lacks equals nothing: `session == *` matches all envelopes with a session. \
      Put the expression in single quotes for the shell.

      \(fields)
      """
  }
}

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
    var foundScalars = String.UnicodeScalarView()
    while position < characters.count, characters[position] != mark {
      if characters[position] == "\\", position + 1 < characters.count, characters[position + 1] == mark {
        position += 1
      }
      foundScalars.append(characters[position])
      position += 1
    }
    guard position < characters.count else {
      place = start..<characters.count
      throw error("these quotes are not closed", "expected: \(mark) at the end of the text")
    }
    position += 1
    return String(foundScalars)
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
