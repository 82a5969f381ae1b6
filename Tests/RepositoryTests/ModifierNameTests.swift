// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The names of modifiers in an archive, compared with the functions of the SDK and with the page of limitations.
@Suite struct `Names of modifiers` {
  private static let declaration = "Sources/Bus/Archive/ModifierName.swift"
  private static let page = "Documentation/limitations.md"

  /// Names that no function has: parts of an axis, and the group that colours a view.
  private static let withoutFunction: Set<String> = ["drawn", "gridLine", "tick", "valueLabel"]

  private let tree: Tree
  /// The names, by the enumeration of their group.
  private let groups: [String: Set<String>]

  init() throws {
    tree = try Tree()
    groups = Self.groups(in: try tree.read(Self.declaration))
    #expect(groups.count == 10 && groups.values.reduce(0) { $0 + $1.count } > 130)
  }

  /// An archive has SwiftUI's names, and an author's code calls the function of this name.
  @Test func `each name is that of a function of the SDK`() throws {
    let lines = try tree.swiftFiles(below: "Sources/SDK").flatMap(\.code).filter { $0.contains("func ") }
    let functions = Set(lines.compactMap { $0.identifiers.drop { $0 != "func" }.dropFirst().first.map(String.init) })
    #expect(functions.count > 1000, "the files were not found")
    #expect(groups.values.reduce(into: Set()) { $0.formUnion($1) }.subtracting(functions) == Self.withoutFunction)
  }

  @Test func `the page of limitations names each modifier that is not drawn, and no other one`() throws {
    let undrawn = try #require(groups["UndrawnModifier"])
    #expect(Self.undrawn(in: try tree.read(Self.page)) == undrawn)
  }

  @Test func `names are read from the enumerations, and from the entry of the page`() {
    let source = """
      package enum Name: Hashable {
        case style(StyleModifier)
      }
      package enum StyleModifier: String, CaseIterable {
        case tint, font
        case label = "theLabel"
        var isColor: Bool {
          switch self {
          case .tint: true
      """
    #expect(Self.groups(in: source) == ["StyleModifier": ["tint", "font", "theLabel"]])
    let page = "- Modifiers that are archived and not drawn: `a`,\n  `b(_:)`. No `c`.\n- `d`\n"
    #expect(Self.undrawn(in: page) == ["a", "b"])
    #expect(Self.undrawn(in: "- `d`\n") == nil)
  }

  private static func groups(in source: String) -> [String: Set<String>] {
    var groups: [String: Set<String>] = [:]
    var current: String?
    for line in source.split(separator: "\n") {
      if let head = line.prefixMatch(of: /package enum (\w+)(: String)?/) {
        current = head.2 == nil ? nil : String(head.1)
      } else if let group = current, line.hasPrefix("  case ") {
        let names = line.dropFirst(7).split(separator: ",").map { part in
          part.split(separator: "\"").dropFirst().first.map(String.init) ?? String(part).trimmed
        }
        groups[group, default: []].formUnion(names)
      }
    }
    return groups
  }

  /// The names between backquotes in the first sentence of the entry.
  private static func undrawn(in page: String) -> Set<String>? {
    guard let start = page.range(of: "- Modifiers that are archived and not drawn: ")?.upperBound else { return nil }
    let names = String(page[start...].prefix { $0 != "." }).quoted
    return Set(names.map { name in String(name.prefix { $0.isLetter || $0.isNumber }) })
  }
}
