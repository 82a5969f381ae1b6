// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

extension VectorDrawer {
  /// The paint of a shape; `nil`: none.
  ///
  /// - Parameter box: around the shape in its own coordinates.
  mutating func paint(
    _ source: VectorStyle.Source, _ opacity: Double, of element: VectorElement, _ box: Rect?, _ style: VectorStyle
  ) -> Paint? {
    if !paints.isEmpty {
      return source == .none ? nil : paints[min(level(of: element), paints.count - 1)].faded(opacity)
    }
    switch source {
    case .none: return nil
    case .color(let color): return Paint.color(color).faded(opacity)
    case .current: return Paint.color(style.color).faded(opacity)
    case .reference(let id, let otherwise):
      if let paint = gradient(id, box, style) { return paint.faded(opacity) }
      return otherwise.map { Paint.color($0).faded(opacity) }
    }
  }

  /// The level of a part of a symbol, from classes such as `hierarchical-1:secondary`. Source: templates that the SF
  /// Symbols app exports.
  private func level(of element: VectorElement) -> Int {
    for name in element.attributes["class"]?.split(separator: " ") ?? [] where name.hasPrefix("hierarchical-") {
      if let level = ["primary", "secondary", "tertiary"].firstIndex(where: { name.hasSuffix(":\($0)") }) {
        return level
      }
    }
    return 0
  }

  // MARK: Gradients

  /// The attributes and the stops of a gradient, with those that it refers to.
  private struct Gradient {
    var chain: [VectorElement] = []

    func attribute(_ name: String) -> String? { chain.lazy.compactMap { $0.attributes[name] }.first }
    var stops: [VectorElement] {
      chain.lazy.map { $0.children.filter { $0.name == "stop" } }.first { !$0.isEmpty } ?? []
    }
  }

  /// A gradient in the coordinates of the picture; `nil`: none.
  private mutating func gradient(_ id: String, _ box: Rect?, _ style: VectorStyle) -> Paint? {
    var gradient = Gradient()
    var next = document.ids[id]
    while let element = next, gradient.chain.count < 8 {
      guard ["linearGradient", "radialGradient"].contains(element.name) else { break }
      gradient.chain.append(element)
      next = element.attributes["href"].flatMap(VectorElement.reference).flatMap { document.ids[$0] }
    }
    guard let first = gradient.chain.first else {
      note(document.ids[id].map { "<\($0.name)>" } ?? "the paint \"\(id.prefix(40))\", which is not in the file")
      return nil
    }
    if let spread = gradient.attribute("spreadMethod"), spread != "pad" {
      note("spreadMethod=\"\(spread.prefix(40))\"")
    }
    let stops = stops(gradient)
    guard let last = stops.last else { return nil }
    if stops.count == 1 { return .color(last.color) }
    var transform = style.transform
    var whole = viewport
    if gradient.attribute("gradientUnits") != "userSpaceOnUse" {
      // A shape without an area has no box to which a gradient fits.
      guard let box, box.size.width > 0, box.size.height > 0 else { return nil }
      transform = transform.after(.move(box.minX, box.minY)).after(.scale(box.size.width, box.size.height))
      whole = Size(width: 1, height: 1)
    }
    if let text = gradient.attribute("gradientTransform") {
      if let own = Transform(svg: text) {
        transform = transform.after(own)
      } else {
        note("gradientTransform=\"\(text.prefix(40))\"")
      }
    }
    guard let inverse = transform.inverse else { return .color(last.color) }
    func place(_ name: String, _ length: Double, _ usual: Double) -> Double {
      gradient.attribute(name).flatMap { VectorNumbers.length($0, of: length) } ?? usual * length
    }
    if first.name == "radialGradient" {
      let diagonal = ((whole.width * whole.width + whole.height * whole.height) / 2).squareRoot()
      let centre = Point(x: place("cx", whole.width, 0.5), y: place("cy", whole.height, 0.5))
      let radii = (max(0, place("fr", diagonal, 0)), place("r", diagonal, 0.5))
      let focus = Point(
        x: gradient.attribute("fx") == nil ? centre.x : place("fx", whole.width, 0.5),
        y: gradient.attribute("fy") == nil ? centre.y : place("fy", whole.height, 0.5))
      if abs(focus.x - centre.x) + abs(focus.y - centre.y) > radii.1 * 0.01 { note("the focus of a radial gradient") }
      guard radii.1 > 0 else { return .color(last.color) }
      return radial(stops, centre, from: radii.0, to: radii.1, transform)
    }
    let from = Point(x: place("x1", whole.width, 0), y: place("y1", whole.height, 0))
    let to = Point(x: place("x2", whole.width, 1), y: place("y2", whole.height, 0))
    let (dx, dy) = (to.x - from.x, to.y - from.y)
    let square = dx * dx + dy * dy
    guard square > 0 else { return .color(last.color) }
    // The lines of equal colour are mapped as all lines are; the gradient is perpendicular to them.
    let across = Point(x: (inverse.a * dx + inverse.b * dy) / square, y: (inverse.c * dx + inverse.d * dy) / square)
    let length = across.x * across.x + across.y * across.y
    guard length > 0, length.isFinite else { return .color(last.color) }
    let start = transform(from)
    return .linear(stops, from: start, to: Point(x: start.x + across.x / length, y: start.y + across.y / length))
  }

  private mutating func radial(
    _ stops: [Paint.Stop], _ centre: Point, from: Double, to: Double, _ transform: Transform
  ) -> Paint {
    let place = transform(centre)
    let size = max(abs(transform.a), abs(transform.b), abs(transform.c), abs(transform.d)) * 1e-6
    if transform.isEven
      || (abs(transform.b) > size || abs(transform.c) > size) && (abs(transform.a) > size || abs(transform.d) > size)
    {
      if !transform.isEven { note("a turned ellipse of a radial gradient") }
      return .radial(stops, centre: place, from: from * transform.factor, to: to * transform.factor)
    }
    let unit = Size(
      width: max(abs(transform.a), abs(transform.c)) * to, height: max(abs(transform.b), abs(transform.d)) * to)
    return .elliptical(stops, centre: place, unit: unit, from: from / to, to: 1)
  }

  private mutating func stops(_ gradient: Gradient) -> [Paint.Stop] {
    var last = 0.0
    var result: [Paint.Stop] = []
    for element in gradient.stops.prefix(256) {
      let properties = document.properties(of: element)
      let offset = element.attributes["offset"].flatMap { VectorNumbers.length($0, of: 1) } ?? 0
      last = max(last, min(max(offset, 0), 1))
      let text = properties["stop-color"] ?? "black"
      var color = RGBA(0, 0, 0)
      if let found = RGBA(css: text) { color = found } else { note("stop-color=\"\(text.prefix(40))\"") }
      let opacity = properties["stop-opacity"].flatMap { VectorNumbers.length($0, of: 1) } ?? 1
      color.opacity *= min(max(opacity, 0), 1)
      result.append(Paint.Stop(color: color, location: last))
    }
    return result
  }
}
