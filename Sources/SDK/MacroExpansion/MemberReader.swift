// SPDX-License-Identifier: Apache-2.0
/// Reads declarations from the tokens of a source text.
struct MemberReader {
  private let text: String
  private let tokens: [Token]
  private var index = 0

  init(_ text: String) {
    self.text = text
    tokens = Tokenizer.tokens(of: text)
  }

  private static let modifiers: Set<String> = [
    "borrowing", "class", "consuming", "convenience", "distributed", "dynamic", "fileprivate", "final", "indirect",
    "infix", "internal", "isolated", "lazy", "mutating", "nonisolated", "nonmutating", "open", "optional", "override",
    "package", "postfix", "prefix", "private", "public", "required", "static", "unowned", "weak",
  ]
  private static let keywords: Set<String> = [
    "actor", "associatedtype", "case", "class", "deinit", "enum", "extension", "func", "import", "init", "let", "macro",
    "operator", "precedencegroup", "protocol", "struct", "subscript", "typealias", "var",
  ]

  private var current: Token? { index < tokens.count ? tokens[index] : nil }
  private func token(after count: Int) -> Token? { index + count < tokens.count ? tokens[index + count] : nil }

  mutating func next() -> Token? {
    guard let token = current else { return nil }
    index += 1
    return token
  }

  // MARK: Members

  /// The members up to the closing brace, which is skipped, or the end of the text.
  mutating func readMembers() -> [SourceMember] {
    var members: [SourceMember] = []
    while let token = current {
      if token.isSymbol("}") {
        index += 1
        break
      }
      if let member = readMember() { members.append(member) }
    }
    return members
  }

  /// The next declaration; `nil` for a semicolon and at the end.
  mutating func readMember() -> SourceMember? {
    guard let first = current else { return nil }
    if first.isSymbol(";") {
      index += 1
      return nil
    }
    if first.kind == .directive {
      index += 1
      return .directive(String(first.text).trimmed)
    }
    if first.isSymbol("#") { return readMacro() }
    let start = index
    let (attributes, modifiers) = readHead()
    guard let keyword = next() else { return index == start ? nil : .other }
    if keyword.isWord("var") || keyword.isWord("let") {
      return .property(readProperty(attributes, modifiers, isConstant: keyword.isWord("let")))
    }
    skipDeclaration()
    return .other
  }

  /// The attributes and modifiers before a keyword.
  mutating func readHead() -> ([SourceAttribute], [String]) {
    var (attributes, modifiers): ([SourceAttribute], [String]) = ([], [])
    while let token = current {
      if token.isSymbol("@") {
        index += 1
        attributes.append(readAttribute())
      } else if token.kind == .word, Self.modifiers.contains(String(token.text)), isModifier {
        index += 1
        modifiers.append(String(token.text))
        if current?.isSymbol("(") == true { skipGroup() }
      } else {
        break
      }
    }
    return (attributes, modifiers)
  }

  /// Whether the word is a modifier here: `class` is one before another keyword only.
  private var isModifier: Bool {
    guard current?.text == "class" else { return true }
    guard let next = token(after: 1), next.kind == .word else { return false }
    return Self.keywords.contains(String(next.text)) || Self.modifiers.contains(String(next.text))
  }

  private mutating func readAttribute() -> SourceAttribute {
    var name = next()?.name ?? ""
    while current?.isSymbol(".") == true, let part = token(after: 1), part.kind == .word {
      index += 2
      name = part.name
    }
    if let token = current, token.isSymbol("<"), !token.followsSpace { skipAngles() }
    guard let token = current, token.isSymbol("("), !token.followsSpace else { return SourceAttribute(name: name) }
    return SourceAttribute(name: name, arguments: skipGroup())
  }

  private mutating func readMacro() -> SourceMember {
    index += 1
    let name = next()?.name ?? ""
    if let token = current, token.isSymbol("<") { skipAngles() }
    var arguments = ""
    if let token = current, token.isSymbol("("), !token.startsLine { arguments = skipGroup() }
    if let token = current, token.isSymbol("{"), !token.startsLine { skipGroup() }
    return .macro(name: name, arguments: arguments)
  }

  // MARK: Properties

  private mutating func readProperty(
    _ attributes: [SourceAttribute], _ modifiers: [String], isConstant: Bool
  ) -> SourceProperty {
    var property = SourceProperty(attributes: attributes, modifiers: modifiers, isConstant: isConstant)
    repeat { readVariable(into: &property) } while skipComma()
    return property
  }

  private mutating func skipComma() -> Bool {
    guard current?.isSymbol(",") == true else { return false }
    index += 1
    return true
  }

  private mutating func readVariable(into property: inout SourceProperty) {
    (property.hasInitialValue, property.isOptional) = (false, false)
    guard let first = current else { return }
    if first.isSymbol("(") {
      // A tuple of variables.
      let names = skipGroup().split(separator: ",").map { String($0).trimmed }
      property.names += names
    } else {
      index += 1
      property.names.append(first.name)
    }
    if current?.isSymbol(":") == true {
      index += 1
      property.isOptional = readType()
    }
    if let token = current, token.isSymbol("="), !isOperator {
      index += 1
      property.hasInitialValue = true
      skipExpression()
    }
    if let token = current, token.isSymbol("{") { readAccessors(into: &property) }
  }

  /// Whether the symbol is part of a longer operator, such as `==`.
  private var isOperator: Bool {
    guard let next = token(after: 1), next.kind == .symbol, !next.followsSpace else { return false }
    return "=<>&|+*/%^~".contains(next.text)
  }

  /// Skips a type. Returns whether it is optional.
  private mutating func readType() -> Bool {
    var last: Token?
    let first = current
    var depth = 0
    while let token = current {
      if depth == 0, token.isSymbol(",") || token.isSymbol("=") || token.isSymbol("{") || token.isSymbol(";") { break }
      if token.isSymbol("}") || token.kind == .directive { break }
      if last != nil, startsMember { break }
      if token.isSymbol("<") { depth += 1 }
      if token.isSymbol(">") { depth -= 1 }
      last = token
      if token.isSymbol("(") || token.isSymbol("[") { last = skipGroupAndLast() } else { index += 1 }
    }
    return last?.isSymbol("?") == true || last?.isSymbol("!") == true || first?.isWord("Optional") == true
  }

  /// Skips an initial value, up to a comma of the property, the observers, or the next declaration.
  private mutating func skipExpression() {
    var depth = 0
    var isFirst = true
    while let token = current {
      if token.isSymbol("}") || token.isSymbol(";") || token.kind == .directive { return }
      if !isFirst, startsMember { return }
      if depth == 0, token.isSymbol(",") { return }
      if token.isSymbol("{"), !isFirst, observersFollow { return }
      // `Name<…>` and not `a < b`.
      if token.isSymbol("<"), !token.followsSpace, !isFirst { depth += 1 }
      if token.isSymbol(">"), depth > 0 { depth -= 1 }
      isFirst = false
      if token.isOpening { skipGroup() } else { index += 1 }
    }
  }

  private var observersFollow: Bool {
    guard let first = token(after: 1) else { return false }
    return first.isWord("willSet") || first.isWord("didSet") || first.isSymbol("@")
  }

  private mutating func readAccessors(into property: inout SourceProperty) {
    if observersFollow { property.hasObservers = true } else { property.isComputed = true }
    skipGroup()
  }

  /// Whether the current token is in a new line and starts another declaration.
  private var startsMember: Bool {
    guard let token = current, token.startsLine else { return false }
    if token.isSymbol("@") || token.kind == .directive { return true }
    if token.isSymbol("#") { return self.token(after: 1).map { $0.name.first?.isUppercase == true } ?? false }
    guard token.kind == .word else { return false }
    let text = String(token.text)
    return Self.keywords.contains(text) || Self.modifiers.contains(text)
  }

  // MARK: Skipping

  /// Skips the rest of a declaration after its keyword: to the end of its body, or to the next declaration.
  private mutating func skipDeclaration() {
    while let token = current {
      if token.isSymbol("}") || token.isSymbol(";") || token.kind == .directive || startsMember { return }
      let isBody = token.isSymbol("{")
      if token.isOpening { skipGroup() } else { index += 1 }
      if isBody { return }
    }
  }

  /// Skips to the first brace outside of other brackets, and that brace.
  mutating func skipToBody() -> Bool {
    while let token = current {
      if token.isSymbol("{") {
        index += 1
        return true
      }
      if token.isOpening { skipGroup() } else { index += 1 }
    }
    return false
  }

  /// Skips a group in brackets, and returns the text within them.
  @discardableResult private mutating func skipGroup() -> String {
    guard let opening = current else { return "" }
    var depth = 0
    while let token = next() {
      if token.isOpening { depth += 1 }
      if token.isClosing { depth -= 1 }
      if depth == 0 { return String(text[opening.range.upperBound..<token.range.lowerBound]) }
    }
    return String(text[opening.range.upperBound...])
  }

  private mutating func skipGroupAndLast() -> Token? {
    skipGroup()
    return index > 0 ? tokens[index - 1] : nil
  }

  private mutating func skipAngles() {
    var depth = 0
    while let token = next() {
      if token.isSymbol("<") { depth += 1 }
      if token.isSymbol(">") { depth -= 1 }
      if depth == 0 { return }
    }
  }
}

extension Token {
  var isOpening: Bool { kind == .symbol && ["(", "[", "{"].contains(text) }
  var isClosing: Bool { kind == .symbol && [")", "]", "}"].contains(text) }
}

extension String {
  /// Without space at both ends.
  var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}

/// An attribute of a declaration, such as `@Attribute(.unique)`.
struct SourceAttribute: Equatable {
  /// The name without its module.
  var name: String
  /// The text between its parentheses; `nil` without them.
  var arguments: String?
}

/// A property with one or more variables.
struct SourceProperty: Equatable {
  var attributes: [SourceAttribute] = []
  var modifiers: [String] = []
  var isConstant = false
  /// The names of its variables. Several are separated by commas: `var a = 1, b = 2`.
  var names: [String] = []
  /// Whether the last variable has `= …`.
  var hasInitialValue = false
  /// Whether the type of the last variable is written with `?` or `!` or as `Optional<…>`.
  var isOptional = false
  /// Whether it has `{ get … }`, `{ set … }` or a body without `get`.
  var isComputed = false
  /// Whether it has `willSet` or `didSet`.
  var hasObservers = false

  func attribute(_ name: String) -> SourceAttribute? { attributes.first { $0.name == name } }

  /// Whether SwiftData stores it: a stored property of the instance. A constant with a value cannot have another one.
  var isPersisted: Bool {
    !isComputed && !(isConstant && hasInitialValue) && attribute("Transient") == nil
      && modifiers.allSatisfy { !["static", "class", "lazy"].contains($0) }
      && names.allSatisfy { !$0.hasPrefix("_$") }
  }
}

/// What is between the braces of a type, as far as the macros need it.
enum SourceMember: Equatable {
  case property(SourceProperty)
  /// `#Name<…>(arguments)`
  case macro(name: String, arguments: String)
  /// The condition of a compilation, such as `#if DEBUG`.
  case directive(String)
  /// Everything else: functions, initializers, types.
  case other
}

/// The declaration of a class or an actor, as its source text.
struct TypeSource: Equatable {
  /// `class`, `actor`, `struct` or `enum`.
  var keyword: String
  var name: String
  var attributes: [SourceAttribute]
  var modifiers: [String]
  var members: [SourceMember]

  /// - Returns: `nil` when the text is not the declaration of a class, an actor or a structure with a body.
  init?(_ text: String) {
    var reader = MemberReader(text)
    (attributes, modifiers) = reader.readHead()
    guard let keyword = reader.next(), ["class", "actor", "struct", "enum"].contains(keyword.text),
      let name = reader.next(), name.kind == .word
    else { return nil }
    (self.keyword, self.name) = (String(keyword.text), name.name)
    guard reader.skipToBody() else { return nil }
    members = reader.readMembers()
  }
}

extension SourceProperty {
  /// The property that the text declares; `nil` for another declaration.
  init?(_ text: String) {
    var reader = MemberReader(text)
    guard case .property(let property)? = reader.readMember() else { return nil }
    self = property
  }
}
