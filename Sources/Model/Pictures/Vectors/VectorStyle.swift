// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

/// How the shapes of an SVG document are drawn. Source: Scalable Vector Graphics 1.1, chapters 7, 11, 13 and 14.
struct VectorStyle {
  /// `fill` or `stroke`.
  enum Source: Hashable {
    case none
    case color(RGBA)
    /// The value of `color`.
    case current
    /// The gradient with an id, or else what is after it.
    case reference(String, otherwise: RGBA?)
  }

  /// The properties that have an effect, or a notice where they have none.
  static let properties: Set<String> = [
    "fill", "stroke", "color", "opacity", "fill-opacity", "stroke-opacity", "fill-rule", "clip-rule", "stroke-width",
    "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-dasharray", "stroke-dashoffset", "display",
    "visibility", "clip-path", "mask", "filter", "marker", "marker-start", "marker-mid", "marker-end",
    "mix-blend-mode", "paint-order", "vector-effect", "stop-color", "stop-opacity", "transform",
  ]
  /// Of these those that have none.
  private static let ignored = [
    "filter", "marker", "marker-start", "marker-mid", "marker-end", "mix-blend-mode", "paint-order", "vector-effect",
  ]

  var fill = Source.color(RGBA(0, 0, 0))
  var stroke = Source.none
  var color = RGBA(0, 0, 0)
  var fillOpacity = 1.0
  var strokeOpacity = 1.0
  var isEvenOdd = false
  var isClipEvenOdd = false
  var line = Stroke(width: 1)
  var isVisible = true
  /// The map of the element's coordinates to those of the picture.
  var transform: Transform

  // Not inherited.
  var opacity = 1.0
  var isDisplayed = true
  var clip: String?
  var mask: String?

  init(_ transform: Transform) { self.transform = transform }

  /// Applies what an element sets.
  ///
  /// - Parameter viewport: the size that percentages are of.
  /// - Returns: what has no effect.
  mutating func apply(_ properties: [String: String], in viewport: Size) -> [String] {
    var problems: [String] = []
    (opacity, clip, mask) = (1, nil, nil)
    for name in Self.ignored {
      if let value = properties[name], !["none", "normal", "auto"].contains(value) { problems.append(name) }
    }
    for (name, keyPath) in [
      ("opacity", \Self.opacity), ("fill-opacity", \.fillOpacity), ("stroke-opacity", \.strokeOpacity),
    ] {
      guard let value = properties[name], let number = VectorNumbers.length(value, of: 1) else { continue }
      self[keyPath: keyPath] = min(max(number, 0), 1)
    }
    if let value = properties["color"], let found = RGBA(css: value) { color = found }
    for (name, keyPath) in [("fill", \Self.fill), ("stroke", \.stroke)] {
      guard let value = properties[name], value != "inherit" else { continue }
      if let source = Self.source(value) {
        self[keyPath: keyPath] = source
      } else {
        problems.append("\(name)=\"\(value.prefix(40))\"")
      }
    }
    for (name, keyPath) in [("fill-rule", \Self.isEvenOdd), ("clip-rule", \.isClipEvenOdd)] {
      if let value = properties[name] { self[keyPath: keyPath] = value == "evenodd" }
    }
    switch properties["visibility"] {
    case "hidden", "collapse": isVisible = false
    case "visible": isVisible = true
    default: break
    }
    isDisplayed = properties["display"] != "none"
    for (name, keyPath) in [("clip-path", \Self.clip), ("mask", \.mask)] {
      guard let value = properties[name], value != "none" else { continue }
      self[keyPath: keyPath] = VectorElement.reference(value)
      if self[keyPath: keyPath] == nil { problems.append("a reference outside of the file") }
    }
    applyToLine(properties, in: viewport, &problems)
    if let text = properties["transform"] {
      if let own = Transform(svg: text) {
        transform = transform.after(own)
      } else {
        problems.append("transform=\"\(text.prefix(40))\"")
      }
    }
    return problems
  }

  private mutating func applyToLine(_ properties: [String: String], in viewport: Size, _ problems: inout [String]) {
    let diagonal = ((viewport.width * viewport.width + viewport.height * viewport.height) / 2).squareRoot()
    func length(_ name: String) -> Double? { properties[name].flatMap { VectorNumbers.length($0, of: diagonal) } }
    if let width = length("stroke-width") { line.width = max(0, width) }
    if let cap = properties["stroke-linecap"], ["butt", "round", "square"].contains(cap) { line.cap = cap }
    if let join = properties["stroke-linejoin"], ["miter", "round", "bevel"].contains(join) { line.join = join }
    if let limit = properties["stroke-miterlimit"].flatMap({ VectorNumbers.number($0) }), limit != 4,
      line.join == "miter"
    {
      problems.append("stroke-miterlimit")
    }
    if let dashes = properties["stroke-dasharray"] {
      let lengths = dashes == "none" ? [] : dashes.split { $0 == "," || $0.isWhitespace }
      line.dash = lengths.prefix(32).compactMap { VectorNumbers.length($0, of: diagonal) }.map { max(0, $0) }
    }
    if let phase = length("stroke-dashoffset") { line.dashPhase = phase }
  }

  private static func source(_ value: String) -> Source? {
    if value == "none" { return Source.none }
    if value == "currentColor" || value == "currentcolor" || value.hasPrefix("context-") { return .current }
    if value.hasPrefix("url(") {
      let rest = value.firstIndex(of: ")").map { value[value.index(after: $0)...] } ?? ""
      let otherwise = RGBA(css: rest.trimmingCharacters(in: .whitespaces))
      return VectorElement.reference(value).map { .reference($0, otherwise: otherwise) }
    }
    return RGBA(css: value).map { .color($0) }
  }
}

extension Transform {
  /// A list of functions such as `translate(3 4) scale(2)`, of which the last one applies first. Source: SVG 1.1, 7.6.
  init?(svg text: String) {
    guard let functions = VectorNumbers.functions(text) else { return nil }
    var result = Transform()
    for (name, numbers) in functions {
      switch (name, numbers.count) {
      case ("translate", 1...2): result = result.after(.move(numbers[0], numbers.count > 1 ? numbers[1] : 0))
      case ("scale", 1...2): result = result.after(.scale(numbers[0], numbers[numbers.count - 1]))
      case ("rotate", 1): result = result.after(.rotation(degrees: numbers[0]))
      case ("rotate", 3):
        result = result.after(.move(numbers[1], numbers[2])).after(.rotation(degrees: numbers[0]))
          .after(.move(-numbers[1], -numbers[2]))
      case ("matrix", 6):
        var own = Transform()
        (own.a, own.b, own.c, own.d, own.x, own.y) = (
          numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
        )
        result = result.after(own)
      case ("skewX", 1), ("skewY", 1):
        var own = Transform()
        let cosine = sinOfDegrees(numbers[0] + 90)
        guard abs(cosine) > 1e-6 else { return nil }
        let tangent = sinOfDegrees(numbers[0]) / cosine
        if name == "skewX" { own.c = tangent } else { own.b = tangent }
        result = result.after(own)
      default: return nil
      }
    }
    guard [result.a, result.b, result.c, result.d, result.x, result.y].allSatisfy({ $0.isFinite && abs($0) < 1e9 })
    else { return nil }
    self = result
  }

  /// Whether lengths grow by the same factor in all directions.
  var isEven: Bool {
    let (one, other) = (a * a + b * b, c * c + d * d)
    let size = max(one, other)
    return abs(one - other) <= size * 1e-3 && abs(a * c + b * d) <= size * 1e-3
  }
}
