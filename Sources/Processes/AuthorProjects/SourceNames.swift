// SPDX-License-Identifier: Apache-2.0

import Foundation

// Which names a source file uses. Names in comments and texts do not count.

extension ConditionalSource {
  /// All names in the code, without the modules of imports.
  var names: Set<String> { names(in: lines) }

  /// The names in the code that is compiled for certain.
  func names(_ values: ConditionValues) -> Set<String> {
    let lines = self.lines
    return names(in: linesCompiled(values) { _ in true }.map { lines[$0.index] })
  }

  private func names(in lines: [Range<Int>]) -> Set<String> {
    var names: Set<String> = []
    for line in lines where !line.isEmpty && importedName(in: line) == nil {
      var start: Int?
      for index in line.lowerBound...line.upperBound {
        let isName = index < line.upperBound && Self.isInName(text.code[index])
        if isName, start == nil { start = index }
        guard !isName, let first = start else { continue }
        names.insert(String(decoding: text.code[first..<index], as: UTF8.self))
        start = nil
      }
    }
    return names
  }

  /// The place of the module's name in an import of a whole module that has its line for itself.
  func moduleName(in line: ImportLine) -> Range<Int>? {
    lines.indices.contains(line.line - 1) ? importedName(in: lines[line.line - 1]) : nil
  }

  private func importedName(in line: Range<Int>) -> Range<Int>? {
    let text = self.text.codeText(line)
    guard text.contains("import ") else { return nil }
    let modules = Self.modules(in: text)
    let code = self.text.code[line]
    guard modules.count == 1, let keyword = code.firstRange(of: Array("import ".utf8)) else { return nil }
    let name = code[keyword.upperBound...].drop { $0 == UInt8(ascii: " ") }.prefix(while: Self.isInName)
    // The import of one declaration has its kind here.
    return String(decoding: name, as: UTF8.self) == modules[0] ? name.startIndex..<name.endIndex : nil
  }

  private static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  // MARK: Foundation's modules

  /// The modules whose names the file uses without importing them, because `import Foundation` makes them visible on
  /// Apple's systems.
  ///
  /// - Parameters:
  ///   - names: those in its code.
  ///   - modules: those that it imports.
  func modulesOfFoundation(_ names: Set<String>, importing modules: Set<String>) -> Set<String> {
    var foundNames = Set(
      AppleFramework.ofFoundation.filter { $0.value.isUsed(names) && !modules.contains($0.key) }.map(\.key))
    // The members with which Combine extends Foundation's types have names that others have, too.
    if !modules.contains("Combine"), !names.isDisjoint(with: ["NotificationCenter", "Timer"]) {
      let code = String(decoding: text.code, as: UTF8.self)
      if code.contains(".publisher(for") || code.contains(".publish(every") { foundNames.insert("Combine") }
    }
    return foundNames
  }
}

// Swift for Linux has no Objective-C: it refuses `@objc`, and a method of NSObject that Foundation declares only for
// Objective-C cannot be overridden.

extension ConditionalSource {
  /// What a view has instead of the attributes for Objective-C, by place: nothing. Only Objective-C sees their names. A
  /// protocol with the attribute is one of classes.
  var withoutObjectiveC: [Range<Int>: String] {
    let code = String(decoding: text.code, as: UTF8.self)
    var result: [Range<Int>: String] = [:]
    func offset(_ index: String.Index) -> Int { code.utf8.distance(from: code.startIndex, to: index) }
    if code.contains("@objc") {
      for match in code.matches(of: /@objc(?:Members\b|\b(?:\([^)\n]*\))?)/) {
        result[offset(match.range.lowerBound)..<offset(match.range.upperBound)] = ""
        let declared =
          /\s+(?:@\w+\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?protocol\s+\w+(?<inherits>\s*:)?/
        if let name = code[match.range.upperBound...].prefixMatch(of: declared) {
          let end = offset(name.range.upperBound)
          result[end..<end] = name.output.inherits == nil ? ": AnyObject" : " AnyObject,"
        }
      }
    }
    if code.contains("observeValue") {
      let observer = /\b(override)\s+(?:(?:public|open|internal)\s+)?func\s+observeValue\s*\(\s*forKeyPath\b/
      for match in code.matches(of: observer) {
        result[offset(match.output.1.startIndex)..<offset(match.output.1.endIndex)] = ""
      }
    }
    return result
  }
}

// Operators that Foundation declares here, and not on Apple's systems. A function of a file competes with a member of a
// type, and the compiler finds its use ambiguous. As a member, it comes before one of another module.

extension ConditionalSource {
  /// What makes a file's own order of numbers, `func < (_: NSNumber, _: NSNumber)`, a member of `NSNumber`, by place.
  ///
  /// Source: `NSNumber` is `Comparable` in Foundation for Linux. https://github.com/SwiftyJSON/SwiftyJSON/issues/1038
  var orderOfNumbersAsMember: [Range<Int>: String] {
    let code = String(decoding: text.code, as: UTF8.self)
    let declaration =
      /((?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?)(func\s*<)\s*\(\s*(?:_\s+)?\w+\s*:\s*NSNumber\s*,\s*(?:_\s+)?\w+\s*:\s*NSNumber\s*\)\s*->\s*Bool\s*\{/
    var result: [Range<Int>: String] = [:]
    for match in code.matches(of: declaration) {
      let start = code.utf8.distance(from: code.startIndex, to: match.range.lowerBound)
      let keyword = code.utf8.distance(from: code.startIndex, to: match.output.2.startIndex)
      let brace = code.utf8.distance(from: code.startIndex, to: match.range.upperBound)
      guard depth(at: start) == 0, let end = end(ofBlock: brace) else { continue }
      // A private member would not be visible in the rest of the file.
      let modifiers = match.output.1.replacing("private", with: "fileprivate").replacing("filefile", with: "file")
      result[start..<keyword] = "extension NSNumber { \(modifiers)static "
      result[end..<end] = " }"
    }
    return result
  }

  /// The number of blocks around a place.
  private func depth(at place: Int) -> Int {
    text.code[..<place].reduce(0) { $0 + Self.step($1) }
  }

  /// The place after the brace that closes a block.
  ///
  /// - Parameter start: after the brace that opens it.
  private func end(ofBlock start: Int) -> Int? {
    var depth = 1
    for index in start..<text.code.count {
      depth += Self.step(text.code[index])
      if depth == 0 { return index + 1 }
    }
    return nil
  }

  private static func step(_ byte: UInt8) -> Int {
    byte == UInt8(ascii: "{") ? 1 : byte == UInt8(ascii: "}") ? -1 : 0
  }
}
