// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
package import Layout

extension Picture {
  /// The picture as an SVG document without scripts, in a fixed order and with at most two decimals: the same picture has
  /// the same bytes.
  package func svg(outlines source: any GlyphSource) -> String {
    var writer = SVGWriter(source: source)
    for drawing in drawings { writer.write(drawing) }
    let (width, height) = (size.width.svg, size.height.svg)
    var text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\""
    text += " viewBox=\"0 0 \(width) \(height)\">\n"
    if !writer.definitions.isEmpty { text += "<defs>\n\(writer.definitions)</defs>\n" }
    return text + writer.body + "</svg>\n"
  }
}

/// Writes the operations of a display list.
struct SVGWriter {
  let source: any GlyphSource
  var body = ""
  var definitions = ""
  private var glyphs: [GlyphKey: Int] = [:]
  private var count = 0

  init(source: any GlyphSource) { self.source = source }

  /// A new id.
  mutating func id(_ prefix: String) -> String {
    count += 1
    return "\(prefix)\(count)"
  }

  mutating func write(_ drawing: Drawing) {
    switch drawing {
    case .fill(let path, .angular(let stops, let centre, let start), let isEvenOdd):
      let rule = isEvenOdd ? " clip-rule=\"evenodd\"" : ""
      writeTurn(stops, about: centre, start, clip: "<path d=\"\(path.svg)\"\(rule)/>", reaching: path.points)
    case .stroke(let path, .angular(let stops, let centre, let start), let stroke):
      let space = Path((path.bounds ?? Rect(x: 0, y: 0, width: 0, height: 0)).inset(Insets(-stroke.width * 8)))
      writeTurn(
        stops, about: centre, start, mask: .stroke(path, .color(.white), stroke), reaching: space.points)
    case .text(let words, let glyphs, .angular(let stops, let centre, let start)):
      let corners = glyphs.flatMap { glyph in
        source.outline(of: glyph.key).points.map { point in
          Point(x: glyph.origin.x + point.x * glyph.scale, y: glyph.origin.y + point.y * glyph.scale)
        }
      }
      writeTurn(
        stops, about: centre, start, mask: .text("", glyphs, .color(.white)), words: words, reaching: corners)
    case .fill(let path, let paint, let isEvenOdd):
      let rule = isEvenOdd ? " fill-rule=\"evenodd\"" : ""
      let line = "<path d=\"\(path.svg)\"\(attributes("fill", paint))\(rule)/>\n"
      body += line
    case .stroke(let path, let paint, let stroke):
      var line = "<path d=\"\(path.svg)\" fill=\"none\"\(attributes("stroke", paint))"
      line += " stroke-width=\"\(stroke.width.svg)\""
      if stroke.cap != "butt" { line += " stroke-linecap=\"\(stroke.cap.escaped)\"" }
      if stroke.join != "miter" { line += " stroke-linejoin=\"\(stroke.join.escaped)\"" }
      if !stroke.dash.isEmpty {
        line += " stroke-dasharray=\"\(stroke.dash.map(\.svg).joined(separator: " "))\""
        line += " stroke-dashoffset=\"\(stroke.dashPhase.svg)\""
      }
      body += line + "/>\n"
    case .text(let words, let placed, let paint): write(words, placed: placed, paint: paint)
    case .image(let mediaType, let base64, let rect):
      body +=
        "<image x=\"\(rect.minX.svg)\" y=\"\(rect.minY.svg)\" width=\"\(rect.size.width.svg)\""
        + " height=\"\(rect.size.height.svg)\" preserveAspectRatio=\"none\""
        + " href=\"data:\(mediaType.escaped);base64,\(base64.escaped)\"/>\n"
    case .group(let group, let drawings): write(group, drawings)
    }
  }

  private mutating func write(_ words: String, placed: [PlacedGlyph], paint: Paint) {
    guard case .color = paint else { return writeWhole(words, placed: placed, paint: paint) }
    var lines = "<g role=\"img\" aria-label=\"\(words.escaped)\"\(attributes("fill", paint))>\n"
    for glyph in placed {
      let outline = source.outline(of: glyph.key)
      if outline.elements.isEmpty { continue }
      let number = glyphs[glyph.key] ?? glyphs.count + 1
      if glyphs.updateValue(number, forKey: glyph.key) == nil {
        definitions += "<path id=\"glyph\(number)\" d=\"\(outline.svg)\"/>\n"
      }
      lines += "<use href=\"#glyph\(number)\" transform=\"translate(\(glyph.origin.x.svg) \(glyph.origin.y.svg))"
      lines += " scale(\(glyph.scale.svgFactor))\"/>\n"
    }
    body += lines + "</g>\n"
  }

  /// A text as one outline. A gradient has the coordinates of the element that it fills: in a glyph that is used, they
  /// would be those of the glyph.
  private mutating func writeWhole(_ words: String, placed: [PlacedGlyph], paint: Paint) {
    var path = Path()
    for glyph in placed {
      path.elements +=
        source.outline(of: glyph.key).mapped { point in
          Point(x: glyph.origin.x + point.x * glyph.scale, y: glyph.origin.y + point.y * glyph.scale)
        }.elements
    }
    let line = "<path role=\"img\" aria-label=\"\(words.escaped)\" d=\"\(path.svg)\"\(attributes("fill", paint))/>\n"
    body += line
  }

  private mutating func write(_ group: Drawing.Group, _ drawings: [Drawing]) {
    var start = "<g"
    if let compositing = group.compositing { start += " style=\"\(compositing)\"" }
    if let label = group.label { start += " role=\"group\" aria-label=\"\(label.escaped)\"" }
    if group.opacity != 1 { start += " opacity=\"\(group.opacity.svg)\"" }
    if let offset = group.offset {
      start += " transform=\"translate(\(offset.x.svg) \(offset.y.svg))\""
    } else if let turn = group.rotation {
      start += " transform=\"rotate(\(turn.degrees.svg) \(turn.about.x.svg) \(turn.about.y.svg))\""
    } else if let scale = group.scale {
      start += " transform=\"translate(\(scale.about.x.svg) \(scale.about.y.svg))"
      start += " scale(\(scale.x.svg) \(scale.y.svg))"
      start += " translate(\((-scale.about.x).svg) \((-scale.about.y).svg))\""
    }
    if let clip = group.clip {
      let id = id("clip")
      definitions += "<clipPath id=\"\(id)\"><path d=\"\(clip.svg)\"/></clipPath>\n"
      start += " clip-path=\"url(#\(id))\""
    }
    if let mask = group.mask {
      let (id, outer) = (id("mask"), body)
      body = ""
      for drawing in mask { write(drawing) }
      definitions += "<mask id=\"\(id)\" style=\"mask-type:alpha\">\n\(body)</mask>\n"
      body = outer
      start += " mask=\"url(#\(id))\""
    }
    if group.blur > 0 || group.shadow != nil || !group.colors.isEmpty { start += " filter=\"url(#\(filter(group)))\"" }
    body += start + ">\n"
    for drawing in drawings { write(drawing) }
    body += "</g>\n"
  }

  /// A blur radius is about two standard deviations.
  private mutating func filter(_ group: Drawing.Group) -> String {
    let id = id("filter")
    definitions += "<filter id=\"\(id)\" x=\"-50%\" y=\"-50%\" width=\"200%\" height=\"200%\""
    definitions += " color-interpolation-filters=\"sRGB\">"
    for (index, map) in group.colors.enumerated() { definitions += map.svg(index) }
    if group.blur > 0 { definitions += "<feGaussianBlur stdDeviation=\"\(group.blur.svg)\"/>" }
    if let shadow = group.shadow { definitions += shadow.svg }
    definitions += "</filter>\n"
    return id
  }

  /// The attributes of a paint; a gradient becomes a definition.
  private mutating func attributes(_ name: String, _ paint: Paint) -> String {
    switch paint {
    case .color(let color):
      return " \(name)=\"\(color.svg)\"" + (color.opacity < 1 ? " \(name)-opacity=\"\(color.opacity.svg)\"" : "")
    case .linear(let stops, let from, let to):
      let id = id("gradient")
      definitions += "<linearGradient id=\"\(id)\" gradientUnits=\"userSpaceOnUse\" x1=\"\(from.x.svg)\""
      definitions += " y1=\"\(from.y.svg)\" x2=\"\(to.x.svg)\" y2=\"\(to.y.svg)\">"
      definitions += stops.map(\.svg).joined() + "</linearGradient>\n"
      return " \(name)=\"url(#\(id))\""
    case .radial(let stops, let centre, let from, let to):
      let id = id("gradient")
      definitions += "<radialGradient id=\"\(id)\" gradientUnits=\"userSpaceOnUse\" cx=\"\(centre.x.svg)\""
      definitions += " cy=\"\(centre.y.svg)\" fr=\"\(max(0, from).svg)\" r=\"\(max(0, to).svg)\">"
      definitions += stops.map(\.svg).joined() + "</radialGradient>\n"
      return " \(name)=\"url(#\(id))\""
    case .elliptical(let stops, let centre, let unit, let from, let to):
      let id = id("gradient")
      definitions += "<radialGradient id=\"\(id)\" gradientUnits=\"userSpaceOnUse\" cx=\"0\" cy=\"0\""
      definitions += " fr=\"\(max(0, from).svgFactor)\" r=\"\(max(0, to).svgFactor)\""
      definitions += " gradientTransform=\"translate(\(centre.x.svg) \(centre.y.svg))"
      definitions += " scale(\(unit.width.svg) \(unit.height.svg))\">"
      definitions += stops.map(\.svg).joined() + "</radialGradient>\n"
      return " \(name)=\"url(#\(id))\""
    // Drawn as wedges before its attributes are needed; the colour is that of its start.
    case .angular(let stops, _, _): return attributes(name, .color(stops.first?.color ?? .white))
    }
  }
}

extension Paint.Stop {
  var svg: String {
    let opacity = color.opacity < 1 ? " stop-opacity=\"\(color.opacity.svg)\"" : ""
    return "<stop offset=\"\(location.svg)\" stop-color=\"\(color.svg)\"\(opacity)/>"
  }
}

extension RGBA {
  /// `#RRGGBB`.
  var svg: String {
    "#" + [red, green, blue].map { UInt8(saturating: (min(max($0, 0), 1) * 255).rounded()) }.hexadecimal
  }
}

extension Path {
  var svg: String {
    func text(_ points: Point...) -> String { points.map { "\($0.x.svg) \($0.y.svg)" }.joined(separator: " ") }
    return elements.map { element in
      switch element {
      case .move(let point): "M" + text(point)
      case .line(let point): "L" + text(point)
      case .quad(let point, let control): "Q" + text(control, point)
      case .curve(let point, let one, let two): "C" + text(one, two, point)
      case .close: "Z"
      }
    }.joined()
  }
}

extension Double {
  /// With at most two decimals. A number that is not finite is 0.
  var svg: String { decimals(2) }
  /// The factor of an outline: with at most six decimals.
  var svgFactor: String { decimals(6) }

  private func decimals(_ count: Int) -> String {
    guard isFinite, abs(self) < 1e9 else { return "0" }
    var factor = 1
    for _ in 0..<count { factor *= 10 }
    let number = Int(saturating: (self * Double(factor)).rounded())
    let (whole, rest) = (abs(number) / factor, abs(number) % factor)
    var text = (number < 0 ? "-" : "") + "\(whole)"
    if rest > 0 {
      var digits = String(rest)
      digits = String(repeating: "0", count: count - digits.count) + digits
      while digits.last == "0" { digits.removeLast() }
      text += "." + digits
    }
    return text
  }
}

extension String {
  /// As the text of an XML attribute. Characters that XML does not permit become the replacement character.
  var escaped: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "\n", "\t", "\r": text += "&#\(scalar.value);"
      case _ where scalar.value < 32 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: text += "\u{FFFD}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension SVGWriter {
  // MARK: Angular gradients

  /// Writes a turn of colours as wedges, of which an outline shows a part.
  mutating func writeTurn(
    _ stops: [Paint.Stop], about centre: Point, _ start: Double, clip: String, reaching points: [Point]
  ) {
    let id = id("clip")
    definitions += "<clipPath id=\"\(id)\">\(clip)</clipPath>\n"
    writeWedges("clip-path=\"url(#\(id))\"", Wedges(stops: stops, centre: centre, start: start, points))
  }

  /// The same for a drawing in white.
  ///
  /// - Parameter words: of a text.
  mutating func writeTurn(
    _ stops: [Paint.Stop], about centre: Point, _ start: Double, mask: Drawing, words: String? = nil,
    reaching points: [Point]
  ) {
    let (id, outer) = (id("mask"), body)
    body = ""
    write(mask)
    definitions += "<mask id=\"\(id)\" style=\"mask-type:alpha\">\n\(body)</mask>\n"
    body = outer
    let label = words.map { " role=\"img\" aria-label=\"\($0.escaped)\"" } ?? ""
    writeWedges("mask=\"url(#\(id))\"" + label, Wedges(stops: stops, centre: centre, start: start, points))
  }

  /// Without smoothing between them, no line is seen where two wedges touch.
  private mutating func writeWedges(_ attribute: String, _ wedges: Wedges) {
    body += "<g \(attribute) shape-rendering=\"crispEdges\">\n"
    for wedge in wedges.all {
      let opacity = wedge.color.opacity < 1 ? " fill-opacity=\"\(wedge.color.opacity.svg)\"" : ""
      body += "<path d=\"\(wedge.path.svg)\" fill=\"\(wedge.color.svg)\"\(opacity)/>\n"
    }
    body += "</g>\n"
  }
}

/// The wedges of an angular gradient, each in one colour.
struct Wedges {
  struct Wedge: Equatable {
    var path: Path
    var color: RGBA
  }

  private(set) var all: [Wedge] = []
  private let centre: Point
  private let radius: Double

  /// - Parameters:
  ///   - start: in degrees, clockwise from the right.
  ///   - points: that the wedges enclose.
  init(stops: [Paint.Stop], centre: Point, start: Double, _ points: [Point]) {
    self.centre = centre
    // The chord of a wedge of 45 degrees is nearer to the centre than its ends.
    radius = points.map { hypot($0.x - centre.x, $0.y - centre.y) }.filter(\.isFinite).max().map { $0 * 1.1 + 1 } ?? 1
    for (one, other) in zip(stops, stops.dropFirst()) where other.location > one.location {
      let sweep = (other.location - one.location) * 360
      let count = Self.count(from: one.color, to: other.color, sweep)
      for index in 0..<count {
        func angle(_ index: Int) -> Double { start + one.location * 360 + sweep * Double(index) / Double(count) }
        let middle = one.location + (other.location - one.location) * (Double(index) + 0.5) / Double(count)
        let color = Paints.color(of: [one, other], at: middle)
        all.append(Wedge(path: wedge(from: angle(index), to: angle(index + 1)), color: color))
      }
    }
  }

  /// As many wedges as the colours differ by 1/128, none larger than 45 degrees, and none smaller than 1.5.
  private static func count(from one: RGBA, to other: RGBA, _ sweep: Double) -> Int {
    let distance =
      [
        one.red - other.red, one.green - other.green, one.blue - other.blue, one.opacity - other.opacity,
      ].map(abs).max() ?? 0
    let steps = min((distance * 128).rounded(.up), (sweep / 1.5).rounded(.down))
    return Int(saturating: min(max(steps, (sweep / 45).rounded(.up), 1), 240))
  }

  private func wedge(from start: Double, to end: Double) -> Path {
    func point(_ degrees: Double) -> Point {
      Point(x: centre.x + radius * sinOfDegrees(degrees + 90), y: centre.y + radius * sinOfDegrees(degrees))
    }
    var path = Path()
    path.elements = [.move(centre), .line(point(start)), .line(point(end)), .close]
    return path
  }
}

extension Path {
  /// All points and control points, which enclose the outline.
  var points: [Point] {
    elements.flatMap { element -> [Point] in
      switch element {
      case .move(let point), .line(let point): [point]
      case .quad(let point, let control): [point, control]
      case .curve(let point, let one, let two): [point, one, two]
      case .close: []
      }
    }
  }
}

// MARK: Groups

extension Drawing.Group {
  /// The CSS properties for what is below the group; `nil`: none.
  var compositing: String? {
    if blend != .normal { return "mix-blend-mode:\(blend.css)" }
    return isIsolated ? "isolation:isolate" : nil
  }
}

extension Drawing.Blend {
  /// The name in CSS.
  fileprivate var css: String {
    rawValue.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
  }
}

extension Drawing.Shadow {
  /// The filter primitives, which follow others. Not all programs have `feDropShadow`.
  var svg: String {
    [
      "<feOffset dx=\"0\" dy=\"0\" result=\"shape\"/>",
      "<feGaussianBlur stdDeviation=\"\((radius / 2).svg)\"/>",
      "<feOffset dx=\"\(x.svg)\" dy=\"\(y.svg)\" result=\"place\"/>",
      "<feFlood flood-color=\"\(color.svg)\" flood-opacity=\"\(color.opacity.svg)\"/>",
      "<feComposite operator=\"in\" in2=\"place\" result=\"shadow\"/>",
      "<feMerge><feMergeNode in=\"shadow\"/><feMergeNode in=\"shape\"/></feMerge>",
    ].joined()
  }
}

extension Drawing.ColorMap {
  /// The filter primitives.
  ///
  /// - Parameter index: among the maps of the group.
  func svg(_ index: Int) -> String {
    let input = index == 0 ? "SourceGraphic" : "map\(index)"
    let result = "map\(index + 1)"
    switch self {
    case .matrix(let numbers):
      return "<feColorMatrix in=\"\(input)\" type=\"matrix\" values=\"\(Self.text(numbers))\" result=\"\(result)\"/>"
    case .luminance(let color):
      let rows = [0, 0, 0, 0, color.red, 0, 0, 0, 0, color.green, 0, 0, 0, 0, color.blue]
      let last = Self.shares.map { $0 * color.opacity } + [0, 0]
      return "<feColorMatrix in=\"\(input)\" type=\"matrix\" values=\"\(Self.text(rows + last))\"/>"
        + "<feComposite operator=\"in\" in2=\"\(input)\" result=\"\(result)\"/>"
    }
  }

  private static func text(_ numbers: [Double]) -> String {
    numbers.map(\.svgFactor).joined(separator: " ")
  }
}
