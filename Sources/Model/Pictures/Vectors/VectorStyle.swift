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
        var ownTransform = Transform()
        (ownTransform.a, ownTransform.b, ownTransform.c, ownTransform.d, ownTransform.x, ownTransform.y) = (
          numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
        )
        result = result.after(ownTransform)
      case ("skewX", 1), ("skewY", 1):
        var ownTransform = Transform()
        let cosine = sinOfDegrees(numbers[0] + 90)
        guard abs(cosine) > 1e-6 else { return nil }
        let tangent = sinOfDegrees(numbers[0]) / cosine
        if name == "skewX" { ownTransform.c = tangent } else { ownTransform.b = tangent }
        result = result.after(ownTransform)
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

extension RGBA {
  /// A colour as CSS writes it: `#rgb`, `#rrggbb`, both with an opacity, `rgb()`, `rgba()` or a name; `nil`: another
  /// notation. Source: CSS Color Module Level 4, chapters 5 and 6.
  init?(css text: String) {
    let text = text.lowercased()
    if text == "transparent" {
      self.init(0, 0, 0, opacity: 0)
    } else if text.hasPrefix("#") {
      self.init(hexadecimal: text.dropFirst())
    } else if let open = text.firstIndex(of: "("), text.hasSuffix(")"), text.hasPrefix("rgb") {
      self.init(components: text[text.index(after: open)...].dropLast())
    } else if let number = Self.names[text] {
      self.init(bytes: Double(number >> 16), Double(number >> 8 & 255), Double(number & 255))
    } else {
      return nil
    }
  }

  private init?(hexadecimal digits: Substring) {
    let values = digits.compactMap(\.hexDigitValue).map(Double.init)
    guard values.count == digits.count else { return nil }
    switch values.count {
    case 3, 4:
      let bytes = values.map { $0 * 17 }
      self.init(bytes: bytes[0], bytes[1], bytes[2], opacity: bytes.count == 4 ? bytes[3] / 255 : 1)
    case 6, 8:
      let bytes = stride(from: 0, to: values.count, by: 2).map { values[$0] * 16 + values[$0 + 1] }
      self.init(bytes: bytes[0], bytes[1], bytes[2], opacity: bytes.count == 4 ? bytes[3] / 255 : 1)
    default: return nil
    }
  }

  private init?(components text: Substring) {
    let parts = text.split { $0 == "," || $0 == "/" || $0 == " " }
    guard parts.count == 3 || parts.count == 4 else { return nil }
    var numbers: [Double] = []
    for (index, part) in parts.enumerated() {
      let whole = index == 3 ? 1.0 : 255
      guard let value = VectorNumbers.length(part, of: whole) else { return nil }
      numbers.append(min(max(value, 0), whole))
    }
    self.init(bytes: numbers[0], numbers[1], numbers[2], opacity: numbers.count == 4 ? numbers[3] : 1)
  }

  private static let names: [String: Int] = [
    "aliceblue": 0xF0F8FF, "antiquewhite": 0xFAEBD7, "aqua": 0x00FFFF, "aquamarine": 0x7FFFD4, "azure": 0xF0FFFF,
    "beige": 0xF5F5DC, "bisque": 0xFFE4C4, "black": 0x000000, "blanchedalmond": 0xFFEBCD, "blue": 0x0000FF,
    "blueviolet": 0x8A2BE2, "brown": 0xA52A2A, "burlywood": 0xDEB887, "cadetblue": 0x5F9EA0, "chartreuse": 0x7FFF00,
    "chocolate": 0xD2691E, "coral": 0xFF7F50, "cornflowerblue": 0x6495ED, "cornsilk": 0xFFF8DC, "crimson": 0xDC143C,
    "cyan": 0x00FFFF, "darkblue": 0x00008B, "darkcyan": 0x008B8B, "darkgoldenrod": 0xB8860B, "darkgray": 0xA9A9A9,
    "darkgreen": 0x006400, "darkgrey": 0xA9A9A9, "darkkhaki": 0xBDB76B, "darkmagenta": 0x8B008B,
    "darkolivegreen": 0x556B2F, "darkorange": 0xFF8C00, "darkorchid": 0x9932CC, "darkred": 0x8B0000,
    "darksalmon": 0xE9967A, "darkseagreen": 0x8FBC8F, "darkslateblue": 0x483D8B, "darkslategray": 0x2F4F4F,
    "darkslategrey": 0x2F4F4F, "darkturquoise": 0x00CED1, "darkviolet": 0x9400D3, "deeppink": 0xFF1493,
    "deepskyblue": 0x00BFFF, "dimgray": 0x696969, "dimgrey": 0x696969, "dodgerblue": 0x1E90FF, "firebrick": 0xB22222,
    "floralwhite": 0xFFFAF0, "forestgreen": 0x228B22, "fuchsia": 0xFF00FF, "gainsboro": 0xDCDCDC,
    "ghostwhite": 0xF8F8FF, "gold": 0xFFD700, "goldenrod": 0xDAA520, "gray": 0x808080, "grey": 0x808080,
    "green": 0x008000, "greenyellow": 0xADFF2F, "honeydew": 0xF0FFF0, "hotpink": 0xFF69B4, "indianred": 0xCD5C5C,
    "indigo": 0x4B0082, "ivory": 0xFFFFF0, "khaki": 0xF0E68C, "lavender": 0xE6E6FA, "lavenderblush": 0xFFF0F5,
    "lawngreen": 0x7CFC00, "lemonchiffon": 0xFFFACD, "lightblue": 0xADD8E6, "lightcoral": 0xF08080,
    "lightcyan": 0xE0FFFF, "lightgoldenrodyellow": 0xFAFAD2, "lightgray": 0xD3D3D3, "lightgreen": 0x90EE90,
    "lightgrey": 0xD3D3D3, "lightpink": 0xFFB6C1, "lightsalmon": 0xFFA07A, "lightseagreen": 0x20B2AA,
    "lightskyblue": 0x87CEFA, "lightslategray": 0x778899, "lightslategrey": 0x778899, "lightsteelblue": 0xB0C4DE,
    "lightyellow": 0xFFFFE0, "lime": 0x00FF00, "limegreen": 0x32CD32, "linen": 0xFAF0E6, "magenta": 0xFF00FF,
    "maroon": 0x800000, "mediumaquamarine": 0x66CDAA, "mediumblue": 0x0000CD, "mediumorchid": 0xBA55D3,
    "mediumpurple": 0x9370DB, "mediumseagreen": 0x3CB371, "mediumslateblue": 0x7B68EE, "mediumspringgreen": 0x00FA9A,
    "mediumturquoise": 0x48D1CC, "mediumvioletred": 0xC71585, "midnightblue": 0x191970, "mintcream": 0xF5FFFA,
    "mistyrose": 0xFFE4E1, "moccasin": 0xFFE4B5, "navajowhite": 0xFFDEAD, "navy": 0x000080, "oldlace": 0xFDF5E6,
    "olive": 0x808000, "olivedrab": 0x6B8E23, "orange": 0xFFA500, "orangered": 0xFF4500, "orchid": 0xDA70D6,
    "palegoldenrod": 0xEEE8AA, "palegreen": 0x98FB98, "paleturquoise": 0xAFEEEE, "palevioletred": 0xDB7093,
    "papayawhip": 0xFFEFD5, "peachpuff": 0xFFDAB9, "peru": 0xCD853F, "pink": 0xFFC0CB, "plum": 0xDDA0DD,
    "powderblue": 0xB0E0E6, "purple": 0x800080, "rebeccapurple": 0x663399, "red": 0xFF0000, "rosybrown": 0xBC8F8F,
    "royalblue": 0x4169E1, "saddlebrown": 0x8B4513, "salmon": 0xFA8072, "sandybrown": 0xF4A460, "seagreen": 0x2E8B57,
    "seashell": 0xFFF5EE, "sienna": 0xA0522D, "silver": 0xC0C0C0, "skyblue": 0x87CEEB, "slateblue": 0x6A5ACD,
    "slategray": 0x708090, "slategrey": 0x708090, "snow": 0xFFFAFA, "springgreen": 0x00FF7F, "steelblue": 0x4682B4,
    "tan": 0xD2B48C, "teal": 0x008080, "thistle": 0xD8BFD8, "tomato": 0xFF6347, "turquoise": 0x40E0D0,
    "violet": 0xEE82EE, "wheat": 0xF5DEB3, "white": 0xFFFFFF, "whitesmoke": 0xF5F5F5, "yellow": 0xFFFF00,
    "yellowgreen": 0x9ACD32,
  ]
}
