// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

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
