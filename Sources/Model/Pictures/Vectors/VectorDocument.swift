// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// An element of an SVG document.
final class VectorElement {
  let name: String
  var attributes: [String: String] = [:]
  var children: [VectorElement] = []
  /// The characters within, of which only those of a `style` are used.
  var text = ""

  init(_ name: String) { self.name = name }

  /// The id that an attribute such as `url(#a)` or `#a` refers to; `nil`: none, or outside of the document.
  static func reference(_ value: String) -> String? {
    var text = value.trimmingCharacters(in: .whitespaces)[...]
    if text.hasPrefix("url("), let end = text.firstIndex(of: ")") {
      text = text[text.index(text.startIndex, offsetBy: 4)..<end]
      text = text.trimmingPrefix(while: { "\"' ".contains($0) })
      while let last = text.last, "\"' ".contains(last) { text = text.dropLast() }
    }
    return text.hasPrefix("#") && text.count > 1 ? String(text.dropFirst()) : nil
  }
}

/// The elements of an SVG document, within the limits of `XMLScanner`. Nothing outside of the document is read.
struct VectorDocument {
  let root: VectorElement
  /// The first element with each id.
  private(set) var ids: [String: VectorElement] = [:]
  private(set) var rules = StyleRules()

  /// - Throws: `ImageFault`.
  init(_ data: Data) throws(ImageFault) {
    do throws(XMLFault) {
      var scanner = try XMLScanner(data)
      var open: [VectorElement] = []
      var root: VectorElement?
      while let token = try scanner.next() {
        switch token {
        case .characters(let range) where open.last?.name == "style": open.last?.text += scanner.text(range)
        case .characters: continue
        case .end:
          guard let element = open.popLast(), element.name == "style" else { continue }
          rules.read(element.text)
        case .start(let tag):
          let element = VectorElement(tag.name)
          for (name, value) in tag.attributes { element.attributes[name] = scanner.text(value) }
          if let id = element.attributes["id"], ids[id] == nil { ids[id] = element }
          if let parent = open.last { parent.children.append(element) } else { root = element }
          open.append(element)
        }
      }
      guard let root, root.name == "svg" else { throw XMLFault(description: "its root element is not svg") }
      self.root = root
    } catch {
      throw .vector(error.description)
    }
  }

  /// What sets the look of an element, later ones above earlier ones: its attributes, the rules of style elements, and
  /// its own style.
  func properties(of element: VectorElement) -> [String: String] {
    var result = element.attributes
    if !rules.isEmpty { result.merge(rules.declarations(for: element)) { $1 } }
    if let style = element.attributes["style"] { result.merge(StyleRules.declarations(style)) { $1 } }
    return result
  }

  /// The same without the rules.
  static func ownProperties(of element: VectorElement) -> [String: String] {
    let style = element.attributes["style"].map(StyleRules.declarations) ?? [:]
    return element.attributes.merging(style) { $1 }
  }
}

/// The rules of `style` elements with simple selectors: a class, a name, an id and `*`. Source: CSS 2.1, chapters 4 and 6.
struct StyleRules {
  private var byName: [String: [String: String]] = [:]
  private var byClass: [String: [String: String]] = [:]
  private var byID: [String: [String: String]] = [:]
  /// The selectors that are not obeyed, each once.
  private(set) var unknown: [String] = []
  private var count = 0

  /// The most selectors that are read.
  private static let most = 1000

  var isEmpty: Bool { byName.isEmpty && byClass.isEmpty && byID.isEmpty }

  mutating func read(_ text: String) {
    var rest = Self.withoutComments(text)[...]
    while let start = rest.firstIndex(of: "{") {
      let selectors = rest[..<start].trimmingCharacters(in: .whitespacesAndNewlines)
      var end = start
      var depth = 0
      for index in rest[start...].indices {
        if rest[index] == "{" { depth += 1 }
        if rest[index] == "}" { depth -= 1 }
        end = index
        if depth == 0 { break }
      }
      let body = String(rest[rest.index(after: start)..<max(end, rest.index(after: start))])
      rest = rest[rest.index(after: end)...]
      if selectors.hasPrefix("@") {
        note(selectors)
        continue
      }
      let declarations = Self.declarations(body)
      for selector in selectors.split(separator: ",") where count < Self.most {
        count += 1
        add(selector.trimmingCharacters(in: .whitespacesAndNewlines), declarations)
      }
    }
  }

  private mutating func add(_ selector: String, _ declarations: [String: String]) {
    let body = selector.dropFirst()
    let isSimple = !body.contains { " .#:>+~[*".contains($0) }
    switch selector.first {
    case "." where isSimple: byClass[String(body), default: [:]].merge(declarations) { $1 }
    case "#" where isSimple: byID[String(body), default: [:]].merge(declarations) { $1 }
    case let first? where isSimple && (first.isLetter || selector == "*"):
      byName[selector, default: [:]].merge(declarations) { $1 }
    default: note(selector)
    }
  }

  private mutating func note(_ selector: String) {
    let name = String(selector.prefix(40))
    if unknown.count < 20, !unknown.contains(name) { unknown.append(name) }
  }

  func declarations(for element: VectorElement) -> [String: String] {
    var result = byName["*"] ?? [:]
    if let own = byName[element.name] { result.merge(own) { $1 } }
    for name in element.attributes["class"]?.split(separator: " ").prefix(10) ?? [] {
      if let own = byClass[String(name)] { result.merge(own) { $1 } }
    }
    if let own = element.attributes["id"].flatMap({ byID[$0] }) { result.merge(own) { $1 } }
    return result
  }

  /// The declarations `name: value` of a style, of properties that have an effect or a notice. A colour of another space
  /// does not replace one that is known, as in CSS.
  static func declarations(_ text: String) -> [String: String] {
    var result: [String: String] = [:]
    for part in text.split(separator: ";").prefix(200) {
      guard let colon = part.firstIndex(of: ":") else { continue }
      let name = part[..<colon].trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
      guard VectorStyle.properties.contains(name) else { continue }
      var value = part[part.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
      if value.hasSuffix("!important") {
        value = String(value.dropLast(10)).trimmingCharacters(in: .whitespacesAndNewlines)
      }
      if value.hasPrefix("color(") || value.hasPrefix("var(") { continue }
      result[name] = value
    }
    return result
  }

  private static func withoutComments(_ text: String) -> String {
    guard text.contains("/*") else { return text }
    var result = ""
    var rest = text[...]
    while let start = rest.firstRange(of: "/*") {
      result += rest[..<start.lowerBound]
      rest = rest[start.upperBound...]
      rest = rest.firstRange(of: "*/").map { rest[$0.upperBound...] } ?? ""
    }
    return result + rest
  }
}
