// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// What the conditions of `#if` evaluate to when an author's sources are compiled here.
package struct ConditionValues: Sendable, Hashable {
  /// The name in `os(…)` that is true besides `Linux`: the platform of the target.
  package var platform: String
  /// The modules that can be imported.
  package var modules: Set<String>
  /// The active compilation conditions, such as `DEBUG`.
  package var defined: Set<String>

  package init(platform: String, modules: Set<String>, defined: Set<String>) {
    self.platform = platform
    self.modules = modules
    self.defined = defined
  }
}

/// An `import` that is compiled here.
package struct ImportLine: Hashable, Sendable {
  package let module: String
  /// From 1.
  package let line: Int
}

/// A Swift source file with its conditions.
package struct ConditionalSource {
  let text: SourceText
  let lines: [Range<Int>]

  package init(_ data: Data) {
    text = SourceText(data)
    lines = text.lines
  }

  /// The file with every `os(PLATFORM)` of its `#if` and `#elseif` replaced by `true`, and with the names of modules in
  /// place of those of submodules, which modules of Swift do not have: `import os.log` becomes `import os`. `nil` when
  /// nothing is replaced. The number of lines is the same.
  ///
  /// - Parameter places: other texts that are replaced, without ends of lines.
  package func view(platform: String, replacing places: [Range<Int>: String] = [:]) -> Data? {
    var result: [UInt8] = []
    var copied = 0
    let tests = conditionLines().flatMap { platformTests(in: $0, platform) }.map { ($0, Array("true".utf8)) }
    let others: [(Range<Int>, [UInt8])] =
      submodules().map { ($0, []) } + places.map { ($0.key, Array($0.value.utf8)) }
    for (range, text) in (tests + others).sorted(by: { $0.0.lowerBound < $1.0.lowerBound }) {
      result += self.text.bytes[copied..<range.lowerBound] + text
      copied = range.upperBound
    }
    guard copied > 0 else { return nil }
    return Data(result + text.bytes[copied...])
  }

  /// The ranges of `.SUBMODULE` in imports of a whole module.
  private func submodules() -> [Range<Int>] {
    lines.compactMap { line in
      let code = text.code[line]
      guard let keyword = code.firstRange(of: Array("import ".utf8)), Self.modules(in: text.codeText(line)).count == 1
      else { return nil }
      let before = code[..<keyword.lowerBound].last
      guard before.map({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) ?? true else { return nil }
      let name = code[keyword.upperBound...].drop { $0 == UInt8(ascii: " ") }
      let end = name.firstIndex { !Self.isPartOfName($0) || $0 == UInt8(ascii: ".") } ?? line.upperBound
      guard end < line.upperBound, code[end] == UInt8(ascii: ".") else { return nil }
      let rest = code[end...].prefix { Self.isPartOfName($0) }
      return rest.startIndex..<rest.endIndex
    }
  }

  /// The imports that are compiled for certain. One within a condition that cannot be evaluated here is left out.
  package func imports(_ values: ConditionValues) -> [ImportLine] {
    linesCompiled(values) { $0.contains("import") }.flatMap { index, line in
      Self.modules(in: line).map { ImportLine(module: $0, line: index + 1) }
    }
  }

  /// The lines that are compiled for certain, trimmed, with their index.
  ///
  /// - Parameter isWanted: whether a line counts that is no directive.
  func linesCompiled(_ values: ConditionValues, isWanted: (String) -> Bool) -> [(index: Int, line: String)] {
    var result: [(Int, String)] = []
    /// For each `#if`: whether this branch is compiled, and whether an earlier one is.
    var branches: [(now: Bool?, before: Bool?)] = []
    for (index, range) in lines.enumerated() {
      let line = text.codeText(range).trimmed
      guard line.hasPrefix("#") || isWanted(line) else { continue }
      let (word, rest) = Self.directive(line)
      switch word {
      case "#if":
        branches.append((Self.evaluate(rest, values), false))
      case "#elseif", "#else":
        guard let last = branches.popLast() else { continue }
        let before = PartialLogic.or(last.before, last.now)
        let own = word == "#else" ? true : Self.evaluate(rest, values)
        branches.append((PartialLogic.and(PartialLogic.not(before), own), before))
      case "#endif": _ = branches.popLast()
      default:
        if branches.allSatisfy({ $0.now == true }) { result.append((index, line)) }
      }
    }
    return result
  }

  /// Whether the file has an entry point: `@main` before a type that conforms to `Widget` or `WidgetBundle`.
  package var hasWidgetEntry: Bool {
    let code = String(decoding: text.code, as: UTF8.self)
    guard code.contains("@main") else { return false }
    return (try? /@main\b[^{]*?:[^{]*?\b(?:WidgetBundle|Widget)\b/.firstMatch(in: code)) != nil
  }

  /// Whether the file uses a type that on Linux is in `FoundationNetworking`, and on Apple's platforms in `Foundation`.
  var usesURLLoading: Bool {
    let code = String(decoding: text.code, as: UTF8.self)
    guard code.contains("URL") else { return false }
    // Unicode has no boundary of words at a period between letters.
    let name = /\b(?:HTTPURLResponse|URLRequest|URLSession)\b/.wordBoundaryKind(.simple)
    return (try? name.firstMatch(in: code)) != nil
  }

  // MARK: Conditions

  /// The lines of all conditions, with those on which a condition continues.
  private func conditionLines() -> [Range<Int>] {
    var result: [Range<Int>] = []
    var continues = false
    for range in lines {
      let line = text.codeText(range).trimmed
      let word = Self.directive(line).word
      guard continues || word == "#if" || word == "#elseif" else { continue }
      result.append(range)
      continues = line.hasSuffix("||") || line.hasSuffix("&&")
    }
    return result
  }

  /// The ranges of `os(PLATFORM)` in a line.
  private func platformTests(in line: Range<Int>, _ platform: String) -> [Range<Int>] {
    let code = text.code
    var foundRanges: [Range<Int>] = []
    var index = line.lowerBound
    while index + 1 < line.upperBound {
      let isName =
        code[index] == UInt8(ascii: "o") && code[index + 1] == UInt8(ascii: "s")
        && (index == line.lowerBound || !Self.isPartOfName(code[index - 1]))
      guard isName else {
        index += 1
        continue
      }
      var end = index + 2
      func skip(_ text: String) -> Bool {
        while end < line.upperBound, code[end] == UInt8(ascii: " ") || code[end] == UInt8(ascii: "\t") { end += 1 }
        guard code[end..<line.upperBound].starts(with: Array(text.utf8)) else { return false }
        end += text.utf8.count
        return true
      }
      if skip("("), skip(platform), skip(")") {
        foundRanges.append(index..<end)
        index = end
      } else {
        index += 2
      }
    }
    return foundRanges
  }

  private static func isPartOfName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte >= 0x80
      || Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
  }

  private static func directive(_ line: String) -> (word: String, rest: Substring) {
    guard line.hasPrefix("#") else { return ("", "") }
    let name = line.dropFirst().drop { $0 == " " || $0 == "\t" }
    let word = name.prefix { $0.isLetter }
    return ("#" + word, name.dropFirst(word.count))
  }

  private static func evaluate(_ condition: Substring, _ values: ConditionValues) -> Bool? {
    var reader = ConditionReader(condition, values)
    return reader.value()
  }

  // MARK: Imports

  private static let kinds: Set<Substring> = [
    "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
  ]
  private static let modifiers: Set<Substring> = ["fileprivate", "internal", "package", "private", "public"]

  /// The modules that a line imports: several, when it has several statements.
  static func modules(in line: String) -> [String] {
    line.split(separator: ";").compactMap { statement in
      var words = statement.split { $0 == " " || $0 == "\t" || $0 == "\r" }[...]
      while let first = words.first, first.hasPrefix("@") || modifiers.contains(first) { words.removeFirst() }
      guard words.first == "import" else { return nil }
      words.removeFirst()
      if let first = words.first, kinds.contains(first), words.count > 1 { words.removeFirst() }
      let module = words.first?.prefix { $0 != "." } ?? ""
      return module.isEmpty ? nil : String(module.filter { $0 != "`" })
    }
  }
}

/// Logic with a third value, `nil`, for what is not known.
private enum PartialLogic {
  static func not(_ value: Bool?) -> Bool? { value.map { !$0 } }

  static func and(_ left: Bool?, _ right: Bool?) -> Bool? {
    left == false || right == false ? false : left == nil || right == nil ? nil : true
  }

  static func or(_ left: Bool?, _ right: Bool?) -> Bool? { not(and(not(left), not(right))) }
}

/// Evaluates the condition of an `#if`.
private struct ConditionReader {
  private let values: ConditionValues
  private var rest: Substring

  init(_ text: Substring, _ values: ConditionValues) {
    rest = text
    self.values = values
  }

  mutating func value() -> Bool? {
    var value = conjunction()
    while skip("||") { value = PartialLogic.or(value, conjunction()) }
    return value
  }

  private mutating func conjunction() -> Bool? {
    var value = term()
    while skip("&&") { value = PartialLogic.and(value, term()) }
    return value
  }

  private mutating func term() -> Bool? {
    if skip("!") { return PartialLogic.not(term()) }
    if skip("(") {
      defer { _ = skip(")") }
      return value()
    }
    rest = rest.drop(while: \.isWhitespace)
    let name = String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    rest = rest.dropFirst(name.count)
    guard !name.isEmpty else { return nil }
    guard skip("(") else { return Bool(name) ?? values.defined.contains(name) }
    let argument = rest.prefix { $0 != ")" }
    rest = rest.dropFirst(argument.count)
    _ = skip(")")
    return test(name, String(argument).trimmed)
  }

  private func test(_ name: String, _ argument: String) -> Bool? {
    switch name {
    case "os": argument == values.platform || argument == "Linux"
    case "canImport":
      values.modules.contains(String(argument.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
    case "targetEnvironment": false
    // Sources of an Xcode project are written for a current compiler.
    case "swift", "compiler": argument.hasPrefix(">=") ? true : nil
    default: nil
    }
  }

  private mutating func skip(_ token: String) -> Bool {
    rest = rest.drop(while: \.isWhitespace)
    guard rest.hasPrefix(token) else { return false }
    rest = rest.dropFirst(token.count)
    return true
  }
}
