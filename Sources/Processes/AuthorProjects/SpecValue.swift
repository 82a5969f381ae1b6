// SPDX-License-Identifier: Apache-2.0

import Foundation
import Yams

/// A value of a project's description in YAML, with the line on which it begins.
struct SpecValue: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    /// - Parameter isPlain: whether it is without quotes, so that it can be a number or a Boolean value.
    case text(String, isPlain: Bool)
    case list([SpecValue])
    case map([String: SpecValue])
    case nothing
  }

  var content: Content
  /// From 1.
  var line: Int

  init(_ content: Content, line: Int = 0) {
    self.content = content
    self.line = line
  }

  /// A text, also that of a number; `nil` for a list and a map.
  var text: String? { if case .text(let text, _) = content { text } else { nil } }
  var map: [String: SpecValue] { if case .map(let map) = content { map } else { [:] } }
  var list: [SpecValue] { if case .list(let list) = content { list } else { [] } }
  /// The texts of a list, or the only one.
  var texts: [String] { text.map { [$0] } ?? list.compactMap(\.text) }
  var boolean: Bool? { if case .text(let text, true) = content { Self.booleans[text.lowercased()] } else { nil } }
  subscript(_ key: String) -> SpecValue? { map[key] }

  /// Source: YAML 1.1, *Boolean language-independent type*.
  private static let booleans = ["true": true, "yes": true, "on": true, "false": false, "no": false, "off": false]

  /// As a value of a build setting: the words of a list are separated by spaces.
  var setting: String? {
    switch content {
    case .text(let text, _): boolean.map { $0 ? "YES" : "NO" } ?? text
    case .list(let list):
      list.compactMap(\.text).map { $0.contains(" ") ? "\"\($0)\"" : $0 }.joined(separator: " ")
    case .map, .nothing: nil
    }
  }

  /// As a value of a property list; `nil` for nothing.
  var property: Any? {
    switch content {
    case .text(let text, let isPlain):
      if let boolean { return boolean }
      guard isPlain else { return text }
      return Int(text).map { $0 as Any } ?? (text.contains(/^-?[0-9]+\.[0-9]+$/) ? Double(text) : nil) ?? text
    case .list(let list): return list.compactMap(\.property)
    case .map(let map): return map.compactMapValues(\.property)
    case .nothing: return nil
    }
  }

  /// The value with others inserted for `${NAME}` in all texts and keys.
  func replacing(_ values: [String: String]) -> SpecValue {
    func replace(_ text: String) -> String {
      guard text.contains("${") else { return text }
      return values.reduce(text) { $0.replacing("${\($1.key)}", with: $1.value) }
    }
    var result = self
    switch content {
    case .text(let text, let isPlain): result.content = .text(replace(text), isPlain: isPlain)
    case .list(let list): result.content = .list(list.map { $0.replacing(values) })
    case .map(let map):
      result.content = .map(
        Dictionary(map.map { (replace($0.key), $0.value.replacing(values)) }, uniquingKeysWith: { $1 }))
    case .nothing: break
    }
    return result
  }

  /// This value over another: maps are merged, lists are appended, and others replace.
  ///
  /// Source: XcodeGen, *Project Spec*, Include.
  func merged(over base: SpecValue) -> SpecValue {
    switch (base.content, content) {
    case (.map(var result), .map(let ownFields)):
      for (key, value) in ownFields {
        if key.hasSuffix(Self.replacement) {
          result[String(key.dropLast(Self.replacement.count))] = value
        } else {
          result[key] = result[key].map { value.merged(over: $0) } ?? value
        }
      }
      return SpecValue(.map(result), line: line)
    case (.list(let first), .list(let second)): return SpecValue(.list(first + second), line: line)
    default: return self
    }
  }

  private static let replacement = ":REPLACE"
}

/// Reads YAML in time and memory that its length bounds.
enum SpecReader {
  /// The longest text, in bytes.
  private static let longest = 1 << 20
  /// The most values, with those that aliases repeat.
  private static let most = 200_000
  /// Replaces the mark of an alias, so that the alias is a text. A private character of Unicode, which YAML permits.
  private static let stand: Character = "\u{E000}"

  /// - Throws: `damaged`, with the line.
  static func read(_ text: String, at file: String) throws(ProjectError) -> SpecValue {
    guard text.utf8.count <= longest else {
      throw ProjectError(.damaged, "this description is longer than \(longest) bytes", at: file)
    }
    // Yams compares the keys of a mapping. A key of nested aliases would have a size exponential in their number.
    if text.contains("&") {
      let plain = try compose(text.replacing("*", with: String(stand)), file)
      try plain.map { node throws(ProjectError) in try checkKeys(node, file) }
    }
    guard let node = try compose(text, file) else { return SpecValue(.nothing) }
    var count = 0
    return try value(node, counting: &count, file: file)
  }

  private static func compose(_ text: String, _ file: String) throws(ProjectError) -> Node? {
    do {
      return try Yams.compose(yaml: text)
    } catch {
      throw ProjectError(.damaged, "this is not YAML: \(reason(error))", at: file, advice: "correct the line")
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?,
      .composer(_, let problem, let mark, _)?:
      "line \(mark.line): \(problem)"
    case .duplicatedKeysInMapping(let duplicates, let context)?:
      "line \(context.mark.line): a key is there twice: \(duplicates.joined(separator: ", "))"
    default: "\(error)".replacing(String(stand), with: "*")
    }
  }

  private static func checkKeys(_ node: Node, _ file: String) throws(ProjectError) {
    switch node {
    case .sequence(let sequence): for element in sequence { try checkKeys(element, file) }
    case .mapping(let mapping):
      for (key, value) in mapping {
        guard case .scalar(let name) = key, name.style != .plain || name.string.first != stand else {
          throw notAName(key, file)
        }
        try checkKeys(value, file)
      }
    case .scalar, .alias: break
    }
  }

  private static func notAName(_ key: Node, _ file: String) -> ProjectError {
    ProjectError(
      .damaged, "line \(key.mark?.line ?? 0): a key is a list, a mapping or an alias", at: file, advice: "write a name")
  }

  private static func value(_ node: Node, counting count: inout Int, file: String) throws(ProjectError) -> SpecValue {
    count += 1
    guard count <= most else {
      throw ProjectError(.damaged, "this description has more than \(most) values", at: file)
    }
    let line = node.mark?.line ?? 0
    switch node {
    case .scalar(let scalar):
      let isPlain = scalar.style == .plain || scalar.style == .any
      let isNothing = isPlain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
      return SpecValue(isNothing ? .nothing : .text(scalar.string, isPlain: isPlain), line: line)
    case .sequence(let sequence):
      var list: [SpecValue] = []
      for element in sequence { list.append(try value(element, counting: &count, file: file)) }
      return SpecValue(.list(list), line: line)
    case .mapping(let mapping):
      var map: [String: SpecValue] = [:]
      var base: [String: SpecValue] = [:]
      for (key, element) in mapping {
        guard case .scalar(let name) = key else { throw notAName(key, file) }
        let read = try value(element, counting: &count, file: file)
        if name.string == "<<" {
          // Source: YAML 1.1, *Merge key language-independent type*.
          for other in read.list.isEmpty ? [read] : read.list { base.merge(other.map) { first, _ in first } }
        } else {
          map[name.string] = SpecValue(read.content, line: key.mark?.line ?? read.line)
        }
      }
      return SpecValue(.map(base.merging(map) { $1 }), line: line)
    case .alias: return SpecValue(.nothing, line: line)
    }
  }
}
