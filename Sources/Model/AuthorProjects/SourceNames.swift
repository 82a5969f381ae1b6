// SPDX-License-Identifier: Apache-2.0

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
    var found = Set(
      AppleFramework.ofFoundation.filter { $0.value.isUsed(names) && !modules.contains($0.key) }.map(\.key))
    // The members with which Combine extends Foundation's types have names that others have, too.
    if !modules.contains("Combine"), !names.isDisjoint(with: ["NotificationCenter", "Timer"]) {
      let code = String(decoding: text.code, as: UTF8.self)
      if code.contains(".publisher(for") || code.contains(".publish(every") { found.insert("Combine") }
    }
    return found
  }
}
