// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

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

extension Path {
  /// The outline of an SVG shape; `nil` for another element, and without a size.
  ///
  /// - Parameters:
  ///   - viewport: the size that percentages are of.
  ///   - circle: an ellipse as one shape.
  /// - Throws: `PathDataFailure`.
  init?(_ element: VectorElement, in viewport: Size) throws(PathDataFailure) {
    func length(_ name: String, _ whole: Double) -> Double? {
      element.attributes[name].flatMap { VectorNumbers.length($0, of: whole) }
    }
    func x(_ name: String) -> Double { length(name, viewport.width) ?? 0 }
    func y(_ name: String) -> Double { length(name, viewport.height) ?? 0 }
    switch element.name {
    case "path": self = try SVGPathReader.path(element.attributes["d"] ?? "")
    case "rect":
      let rect = Rect(x: x("x"), y: y("y"), width: x("width"), height: y("height"))
      guard rect.size.width > 0, rect.size.height > 0 else { return nil }
      let (rx, ry) = (length("rx", viewport.width), length("ry", viewport.height))
      let radii = Size(width: max(0, rx ?? ry ?? 0), height: max(0, ry ?? rx ?? 0))
      self.init(rect, corners: radii)
    case "circle":
      let radius = length("r", min(viewport.width, viewport.height)) ?? 0
      guard radius > 0 else { return nil }
      self.init(
        ellipseIn: Rect(x: x("cx") - radius, y: y("cy") - radius, width: radius * 2, height: radius * 2))
    case "ellipse":
      let (rx, ry) = (x("rx"), y("ry"))
      guard rx > 0, ry > 0 else { return nil }
      self.init(ellipseIn: Rect(x: x("cx") - rx, y: y("cy") - ry, width: rx * 2, height: ry * 2))
    case "line":
      self.init()
      elements = [.move(Point(x: x("x1"), y: y("y1"))), .line(Point(x: x("x2"), y: y("y2")))]
    case "polyline", "polygon":
      let numbers = element.attributes["points"].flatMap { VectorNumbers.list($0) } ?? []
      guard numbers.count >= 4 else { return nil }
      self.init()
      for index in stride(from: 0, to: numbers.count - 1, by: 2) {
        let point = Point(x: numbers[index], y: numbers[index + 1])
        elements.append(index == 0 ? .move(point) : .line(point))
      }
      if element.name == "polygon" { elements.append(.close) }
    default: return nil
    }
  }

  /// A rectangle with round corners, whose radii are at most half a side.
  private init(_ rect: Rect, corners: Size) {
    guard corners.width > 0, corners.height > 0 else {
      self.init(rect)
      return
    }
    self.init()
    let (rx, ry) = (min(corners.width, rect.size.width / 2), min(corners.height, rect.size.height / 2))
    let (kx, ky) = (rx * (1 - 0.552285), ry * (1 - 0.552285))
    let (left, top, right, bottom) = (rect.minX, rect.minY, rect.maxX, rect.maxY)
    func at(_ x: Double, _ y: Double) -> Point { Point(x: x, y: y) }
    elements = [
      .move(at(left + rx, top)), .line(at(right - rx, top)),
      .curve(at(right, top + ry), control1: at(right - kx, top), control2: at(right, top + ky)),
      .line(at(right, bottom - ry)),
      .curve(at(right - rx, bottom), control1: at(right, bottom - ky), control2: at(right - kx, bottom)),
      .line(at(left + rx, bottom)),
      .curve(at(left, bottom - ry), control1: at(left + kx, bottom), control2: at(left, bottom - ky)),
      .line(at(left, top + ry)),
      .curve(at(left + rx, top), control1: at(left, top + ky), control2: at(left + kx, top)), .close,
    ]
  }

  /// The smallest rectangle around the outline; `nil` without points.
  var extent: Rect? {
    var (low, high) = (Point(x: .infinity, y: .infinity), Point(x: -.infinity, y: -.infinity))
    func add(_ point: Point) {
      guard point.x.isFinite, point.y.isFinite else { return }
      (low.x, low.y) = (min(low.x, point.x), min(low.y, point.y))
      (high.x, high.y) = (max(high.x, point.x), max(high.y, point.y))
    }
    var last = Point(x: 0, y: 0)
    for element in elements {
      switch element {
      case .move(let point), .line(let point):
        add(point)
        last = point
      case .quad(let point, let control):
        let one = Point(x: last.x + (control.x - last.x) * 2 / 3, y: last.y + (control.y - last.y) * 2 / 3)
        let two = Point(x: point.x + (control.x - point.x) * 2 / 3, y: point.y + (control.y - point.y) * 2 / 3)
        Self.extremes(from: last, one, two, to: point).forEach(add)
        last = point
      case .curve(let point, let one, let two):
        Self.extremes(from: last, one, two, to: point).forEach(add)
        last = point
      case .close: break
      }
    }
    return low.x <= high.x ? Rect(x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y) : nil
  }

  /// The points of a curve where it turns back along an axis, and its ends.
  private static func extremes(from start: Point, _ one: Point, _ two: Point, to end: Point) -> [Point] {
    var places = [0.0, 1]
    for axis in [\Point.x, \Point.y] {
      // The derivative is a t² + b t + c, by the factor 3.
      let (p, q, r, s) = (start[keyPath: axis], one[keyPath: axis], two[keyPath: axis], end[keyPath: axis])
      let (a, b, c) = (s - 3 * r + 3 * q - p, 2 * (r - 2 * q + p), q - p)
      if abs(a) < 1e-12 {
        if abs(b) > 1e-12 { places.append(-c / b) }
        continue
      }
      let square = b * b - 4 * a * c
      guard square >= 0 else { continue }
      let root = square.squareRoot()
      places += [(-b + root) / (2 * a), (-b - root) / (2 * a)]
    }
    return places.filter { (0...1).contains($0) }.map { place in
      let rest = 1 - place
      let (w0, w1, w2, w3) = (
        rest * rest * rest, 3 * rest * rest * place, 3 * rest * place * place, place * place * place
      )
      return Point(
        x: w0 * start.x + w1 * one.x + w2 * two.x + w3 * end.x,
        y: w0 * start.y + w1 * one.y + w2 * two.y + w3 * end.y)
    }
  }

  /// The length of the outline, or a little more: that of the lines between its points and control points.
  var roughLength: Double {
    var (sum, last, start) = (0.0, Point(x: 0, y: 0), Point(x: 0, y: 0))
    func go(_ points: Point...) {
      for point in points {
        sum += hypot(point.x - last.x, point.y - last.y)
        last = point
      }
    }
    for element in elements {
      switch element {
      case .move(let point): (last, start) = (point, point)
      case .line(let point): go(point)
      case .quad(let point, let control): go(control, point)
      case .curve(let point, let one, let two): go(one, two, point)
      case .close: go(start)
      }
    }
    return sum
  }
}
