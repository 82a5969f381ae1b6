// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The requirements of Apple's delegates, compared with the protocols of the SDK: what an author may implement is called,
/// or does not compile.
@Suite struct `The delegates of an author` {
  /// A line of the list.
  private struct Requirement {
    let place: String
    let name: String
    let state: String
    /// The type that does not exist.
    let missing: String?
  }

  private static let list = "scripts/declarations.d/delegates.txt"

  @Test func `each requirement of Apple's delegates is called, refused or named as a limitation`() throws {
    let tree = try Tree()
    let requirements = Self.requirements(in: try tree.read(Self.list))
    #expect(requirements.count > 80)
    let code = try tree.swiftFiles(below: "Sources/SDK").map { $0.code.joined(separator: "\n") }
    let declared = Self.declarations(in: code)
    let types = Set(
      code.flatMap { $0.matches(of: /\b(?:class|struct|enum|protocol|typealias) (\w+)/).map { String($0.1) } })
    let limitations = try tree.read("Documentation/limitations.md")
    for requirement in requirements {
      let name = requirement.name
      switch requirement.state {
      case "called": #expect(declared[requirement.place]?.contains(name) == true, "\(requirement.place) lacks \(name)")
      case "refused": #expect(declared["NSObject"]?.contains(name) == true, "nothing refuses \(name)")
      case "absent": #expect(requirement.missing.map(types.contains) == false, "\(name): its type exists")
      case "accepted":
        #expect(declared[requirement.place]?.contains(name) == true, "\(requirement.place) lacks \(name)")
        #expect(limitations.contains("`\(name)`"), "limitations.md does not name \(name)")
      default: Issue.record("\(name) has no such state: \(requirement.state)")
      }
    }
  }

  @Test func `each requirement of a protocol is in the list`() throws {
    let tree = try Tree()
    let requirements = Self.requirements(in: try tree.read(Self.list))
    let declared = Self.declarations(
      in: try tree.swiftFiles(below: "Sources/SDK").map { $0.code.joined(separator: "\n") })
    for place in Set(requirements.map(\.place)).sorted() {
      let listed = Set(requirements.filter { $0.place == place }.map(\.name))
      #expect((declared[place] ?? []).subtracting(listed).isEmpty, "\(place)")
    }
  }

  @Test func `names are read from protocols and from extensions`() {
    let source = """
      @MainActor public protocol Listener: NSObjectProtocol {
        var window: Window? { get set }
        func one(
          _ first: Int, second other: @escaping (Int, Bool) -> Void = { _ in }, third: [String: Int]
        ) -> Bool
        func two()
      }
      extension NSObject {
        public final func three(_ value: Int) async -> Int { 0 }
      }
      extension Listener {
        func four() {}
      }
      """
    let found = Self.declarations(in: [source])
    #expect(found["Listener"] == ["window", "one(_:second:third:)", "two()"])
    #expect(found["NSObject"] == ["three(_:)"])
    #expect(Self.requirements(in: "# a\n\nP | a(_:) | absent: T\n").map(\.missing) == ["T"])
  }

  private static func requirements(in list: String) -> [Requirement] {
    list.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3 else { return nil }
      let state = cells[2].split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
      return Requirement(place: cells[0], name: cells[1], state: state[0], missing: state.dropFirst().first)
    }
  }

  /// The functions and properties of each protocol, and of the extensions of `NSObject`. Each block begins and ends at the
  /// beginning of a line.
  private static func declarations(in code: [String]) -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    let head = /^(?:[@\w]+ )*(?:protocol (\w+)|extension (NSObject))[^\n]*\{$/.anchorsMatchLineEndings()
    for text in code {
      for match in text.matches(of: head) {
        let name = String(match.1 ?? match.2 ?? "")
        let rest = text[match.range.upperBound...]
        let block = rest.range(of: "\n}").map { rest[..<$0.lowerBound] } ?? rest
        found[name, default: []].formUnion(functions(in: block))
        found[name, default: []].formUnion(block.matches(of: /\n  var (\w+):/).map { String($0.1) })
      }
    }
    return found
  }

  private static func functions(in block: Substring) -> [String] {
    block.matches(of: /func (\w+)\(/).map { match in
      var depth = 1
      var labels = [""]
      for character in block[match.range.upperBound...] {
        if "([{".contains(character) { depth += 1 }
        if ")]}".contains(character) { depth -= 1 }
        if depth == 0 { break }
        if character == ",", depth == 1 { labels.append("") } else { labels[labels.count - 1].append(character) }
      }
      let names = labels.compactMap { $0.split { !($0.isLetter || $0.isNumber || $0 == "_") }.first.map { "\($0):" } }
      return "\(match.1)(\(names.joined()))"
    }
  }
}
