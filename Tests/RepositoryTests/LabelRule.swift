// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The labels of the arguments in an archive: the SDK writes each, and the host reads it. A misspelled one does not
/// compile; one that only one side mentions is found here.
@Suite struct `Labels of arguments` {
  private static let declaration = "Sources/Bus/Archive/ArgumentLabel.swift"

  /// Labels that the SDK does not write.
  private static let notWritten = [
    "isFilledControl": "ours: the layout tells the picture which shape is behind a control"
  ]

  /// Labels that only the text of an archive has. The list may only become shorter.
  private static let notRead = [
    "curvesContent": "the modifier is not drawn, which is noted",
    "edge": "safeAreaInset is not drawn, which is noted",
    "enabled": "nothing is hit in an archived view",
    "flag": "tightening is not simulated",
    "hidden": "assistive technology reads it, and no picture",
    "hint": "assistive technology reads it, and no picture",
    "id": "identity matters to a view that changes, and an archived view does not",
    "identifier": "tests of an app read it, and no picture",
    "isAntialiased": "every picture is antialiased",
    "kind": "the shadow of a style is not drawn, which is noted",
    "lowercaseSmallCaps": "texts are drawn without small capitals",
    "pattern": "a line under a text is solid",
    "priority": "assistive technology reads it, and no picture",
    "smallCaps": "texts are drawn without small capitals",
    "tiledImage": "an image as a style is not drawn, which is noted",
    "traits": "assistive technology reads them, and no picture",
    "uppercaseSmallCaps": "texts are drawn without small capitals",
    "verticalPlacement": "the system places the regions of the Dynamic Island",
  ]

  private let labels: Set<String>
  private let tree: Tree

  init() throws {
    tree = try Tree()
    let file = SourceFile(Self.declaration, try tree.read(Self.declaration))
    let cases = file.code.prefix { $0 != "}" }.filter { $0.hasPrefix("  case ") }
    labels = Set(cases.flatMap { $0.identifiers.dropFirst().map(String.init) })
    // `in` and `case` are also labels, in backquotes.
    #expect(labels.count > 150 && labels.isSuperset(of: ["width", "in"]))
  }

  private func mentions(below folders: [String]) throws -> Set<String> {
    let files = try folders.flatMap { try tree.swiftFiles(below: $0) }.filter { $0.path != Self.declaration }
    #expect(files.count > 10, "the files were not found")
    return files.reduce(into: []) { found, file in
      for line in file.code { found.formUnion(Self.mentions(in: line)) }
    }
  }

  @Test func `the SDK writes every label`() throws {
    let written = try mentions(below: ["Sources/SDK", "Sources/Bus/Archive"])
    #expect(labels.subtracting(written) == Set(Self.notWritten.keys))
  }

  @Test func `the host reads every label, except those of a list`() throws {
    let read = try mentions(
      below: ["Sources/Bus/Archive", "Sources/Model/Layout", "Sources/Model/Pictures", "Sources/Device/DeviceRules"])
    #expect(labels.subtracting(read) == Set(Self.notRead.keys))
  }

  @Test func `a mention is a case without its type, and no property, pattern or name of a modifier`() {
    func found(_ line: String) -> Set<String> { Self.mentions(in: line) }
    #expect(found("arguments[.width] = width.archived") == ["width"])
    #expect(found("modified(.style(.font), [.font: font?.archived, .size: size])") == ["font", "size"])
    #expect(
      found("  node, width: number(.minWidth), most: isHigh ? .maxHeight : .maxWidth")
        == ["minWidth", "maxHeight", "maxWidth"])
    #expect(found("for label in [ArgumentLabel.dark, .light] {") == ["dark", "light"])
    #expect(found("let name = view.name.label.x") == [])
    #expect(found("case .opacity: group.opacity = number(.amount)") == ["amount"])
    #expect(found("case .stroke where arguments[.style] == nil: stroke = line") == ["style"])
    #expect(found("case .style, .shape(.fill),") == [])
  }

  /// The cases without their type that a line of code names, besides those that a `switch` compares.
  private static func mentions(in line: String) -> Set<String> {
    guard line.contains(".") else { return [] }
    var code = line.trimmed[...]
    if code.hasPrefix("case .") {
      guard let end = code.range(of: " where ") ?? code.range(of: ": ") else { return [] }
      code = code[end.upperBound...]
    }
    var found: Set<String> = []
    var rest = code
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[code.index(after: dot)...]
      let name = rest.prefix { $0.isLetter || $0.isNumber }
      guard !name.isEmpty, code[name.endIndex...].first != "(", isUntyped(code[..<dot]) else { continue }
      found.insert(String(name))
    }
    return found
  }

  /// Whether a case after this text is written without its type, or with that of the labels, and is not the name of a
  /// view or a modifier in its group.
  private static func isUntyped(_ before: Substring) -> Bool {
    guard let last = before.last else { return true }
    if last == "(" {
      let owner = String(before.dropLast()).identifiers.last.map(String.init) ?? ""
      return !groups.contains(owner)
    }
    return last == " " || last == "[" || before.hasSuffix("ArgumentLabel")
  }

  /// The groups of `ModifierName` and `ViewName`.
  private static let groups: Set<String> = [
    "style", "shape", "layout", "layer", "effect", "color", "chart", "accessibility", "silent", "undrawn", "leaf",
    "fill", "container", "control", "mark",
  ]
}
