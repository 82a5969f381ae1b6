// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

/// Makes the display list of an SVG document. What it does not draw is in `missing`, by its name. Time and memory are
/// limited: a document that repeats itself too often fails.
struct VectorDrawer {
  /// Why a document is not drawn. Definite.
  struct Failure: Error { let description: String }

  /// The most segments of all outlines, with those that are repeated.
  static let segments = 100_000
  /// The most groups that are drawn apart.
  static let layers = 100
  /// The most uses of elements within each other.
  private static let uses = 16
  /// The most dashes of a line.
  private static let dashes = 20_000.0
  /// The elements that draw nothing by themselves.
  private static let silent: Set<String> = [
    "defs", "title", "desc", "metadata", "style", "linearGradient", "radialGradient", "clipPath", "mask", "symbol",
    "filter", "pattern", "marker", "view",
  ]

  let document: VectorDocument
  /// The size that percentages are of.
  let viewport: Size
  /// The paints of the levels of a symbol; empty: shapes have their own paints.
  var paints: [Paint] = []
  private(set) var missing: [String] = []
  private var left = Self.segments
  private var layers = 0
  private var elements = 0
  private var depth = 0

  init(_ document: VectorDocument, viewport: Size) {
    (self.document, self.viewport) = (document, viewport)
    for selector in document.rules.unknown { note("the style rule \(selector)") }
  }

  mutating func note(_ name: String) {
    if missing.count < 20, !missing.contains(name) { missing.append(name) }
  }

  // MARK: Elements

  mutating func draw(_ element: VectorElement, _ outer: VectorStyle) throws(Failure) -> [Drawing] {
    elements += 1
    guard elements <= XMLScanner.elements else {
      throw Failure(description: "it draws more than \(XMLScanner.elements) elements")
    }
    if Self.silent.contains(element.name) || element.name.contains(":") { return [] }
    var style = outer
    // The rules of a symbol's template are those of its preview in a browser.
    let properties =
      paints.isEmpty ? document.properties(of: element) : VectorDocument.ownProperties(of: element)
    for problem in style.apply(properties, in: viewport) { note(problem) }
    guard style.isDisplayed else { return [] }
    let drawings: [Drawing]
    switch element.name {
    case "g", "a", "svg":
      if element.name == "svg", element !== document.root { note("<svg> within the image") }
      drawings = try all(element.children, style)
    case "switch":
      // Only the first child that can be drawn counts; a foreign object never can.
      let child = element.children.first { $0.name != "foreignObject" }
      drawings = try child.map { child throws(Failure) in try draw(child, style) } ?? []
    case "use": drawings = try use(element, &style)
    case "path", "rect", "circle", "ellipse", "line", "polyline", "polygon": drawings = try shape(element, &style)
    default:
      note("<\(element.name.prefix(40))>")
      return []
    }
    return try grouped(drawings, style)
  }

  private mutating func all(_ elements: [VectorElement], _ style: VectorStyle) throws(Failure) -> [Drawing] {
    var drawings: [Drawing] = []
    for element in elements { drawings += try draw(element, style) }
    return drawings
  }

  private mutating func use(_ element: VectorElement, _ style: inout VectorStyle) throws(Failure) -> [Drawing] {
    guard let id = element.attributes["href"].flatMap(VectorElement.reference) else {
      note("a reference outside of the file")
      return []
    }
    guard let used = document.ids[id] else {
      note("<use> of \"\(id.prefix(40))\", which is not in the file")
      return []
    }
    guard depth < Self.uses else { throw Failure(description: "its elements use each other too often") }
    depth += 1
    defer { depth -= 1 }
    let x = element.attributes["x"].flatMap { VectorNumbers.length($0, of: viewport.width) } ?? 0
    let y = element.attributes["y"].flatMap { VectorNumbers.length($0, of: viewport.height) } ?? 0
    style.transform = style.transform.after(.move(x, y))
    guard used.name == "symbol" else { return try draw(used, style) }
    if used.attributes["viewBox"] != nil { note("the viewBox of <symbol>") }
    return try all(used.children, style)
  }

  /// Takes segments of the limit.
  private mutating func take(_ path: Path) throws(Failure) {
    left -= path.elements.count
    guard left >= 0 else { throw Failure(description: "its outlines have more than \(Self.segments) segments") }
  }

  /// The outline of an element in its own coordinates; `nil`: it has none.
  mutating func outline(_ element: VectorElement) throws(Failure) -> Path? {
    let path: Path?
    do throws(PathDataFailure) {
      path = try Path(element, in: viewport)
    } catch {
      note("a path: \(error)")
      return nil
    }
    guard let path, !path.elements.isEmpty else { return nil }
    try take(path)
    return path
  }

  // MARK: Shapes

  private mutating func shape(_ element: VectorElement, _ style: inout VectorStyle) throws(Failure) -> [Drawing] {
    guard style.isVisible, let ownOutline = try outline(element) else { return [] }
    let placed = ownOutline.mapped { style.transform($0) }
    let box = ownOutline.extent
    var drawings: [Drawing] = []
    if element.name != "line",
      let paint = paint(style.fill, opacity: style.fillOpacity, of: element, box: box, style: style)
    {
      drawings.append(.fill(placed, paint, isEvenOdd: style.isEvenOdd))
    }
    if style.line.width > 0,
      let paint = paint(style.stroke, opacity: style.strokeOpacity, of: element, box: box, style: style)
    {
      drawings.append(.stroke(placed, paint, line(style, along: ownOutline)))
    }
    // One operation needs no group.
    if drawings.count == 1, style.opacity < 1 {
      drawings = drawings.map { $0.faded(style.opacity) }
      style.opacity = 1
    }
    return drawings
  }

  private mutating func line(_ style: VectorStyle, along path: Path) -> Stroke {
    var line = style.line
    let factor = style.transform.factor
    if !style.transform.isEven { note("a line that is wider in one direction") }
    // A list with an odd number of lengths is repeated.
    if !line.dash.count.isMultiple(of: 2) { line.dash += line.dash }
    let period = line.dash.reduce(0, +)
    if period <= 0 { line.dash = [] }
    if !line.dash.isEmpty, path.roughLength / period * Double(line.dash.count) > Self.dashes {
      note("a line with more than \(Int(Self.dashes)) dashes")
      line.dash = []
    }
    line.width *= factor
    line.dash = line.dash.map { $0 * factor }
    line.dashPhase *= factor
    return line
  }

  // MARK: Groups

  private mutating func grouped(_ drawings: [Drawing], _ style: VectorStyle) throws(Failure) -> [Drawing] {
    guard style.opacity < 1 || style.clip != nil || style.mask != nil, !drawings.isEmpty else { return drawings }
    var group = Drawing.Group()
    group.opacity = style.opacity
    if let id = style.clip { group.clip = try clip(id, style) }
    if let id = style.mask { group.mask = try mask(id, style) }
    guard group.isApart else { return drawings }
    layers += group.mask == nil ? 1 : 3
    guard layers <= Self.layers else {
      throw Failure(description: "it has more than \(Self.layers) groups with an opacity, a clip or a mask")
    }
    return [.group(group, drawings)]
  }

  /// The outline of a `clipPath`; `nil`: the document has none with this id.
  private mutating func clip(_ id: String, _ outer: VectorStyle) throws(Failure) -> Path? {
    guard let element = document.ids[id], element.name == "clipPath" else {
      note("the clip path \"\(id.prefix(40))\", which is not in the file")
      return nil
    }
    guard element.attributes["clipPathUnits"] != "objectBoundingBox" else {
      note("clipPathUnits")
      return nil
    }
    guard depth < Self.uses else { throw Failure(description: "its elements use each other too often") }
    depth += 1
    defer { depth -= 1 }
    var style = outer
    for problem in style.apply(document.properties(of: element), in: viewport) { note(problem) }
    if style.clip != nil { note("the clip path of a clip path") }
    var result = Path()
    for child in element.children {
      var ownStyle = style
      for problem in ownStyle.apply(document.properties(of: child), in: viewport) { note(problem) }
      var shape = child
      if child.name == "use", let used = child.attributes["href"].flatMap(VectorElement.reference) {
        guard let found = document.ids[used] else { continue }
        shape = found
        let (x, y) = (child.attributes["x"], child.attributes["y"])
        ownStyle.transform = ownStyle.transform.after(
          .move(x.flatMap { VectorNumbers.length($0) } ?? 0, y.flatMap { VectorNumbers.length($0) } ?? 0))
        for problem in ownStyle.apply(document.properties(of: shape), in: viewport) { note(problem) }
      }
      guard ownStyle.isDisplayed, let path = try outline(shape) else { continue }
      if ownStyle.isClipEvenOdd { note("clip-rule") }
      result = result.joined(path.mapped { ownStyle.transform($0) })
    }
    return result
  }

  /// What a `mask` shows, as opacity; `nil`: the document has none with this id.
  private mutating func mask(_ id: String, _ outer: VectorStyle) throws(Failure) -> [Drawing]? {
    guard let element = document.ids[id], element.name == "mask" else {
      note("the mask \"\(id.prefix(40))\", which is not in the file")
      return nil
    }
    guard element.attributes["maskContentUnits"] != "objectBoundingBox" else {
      note("maskContentUnits")
      return nil
    }
    guard depth < Self.uses else { throw Failure(description: "its elements use each other too often") }
    depth += 1
    defer { depth -= 1 }
    var style = VectorStyle(outer.transform)
    for problem in style.apply(document.properties(of: element), in: viewport) { note(problem) }
    let drawings = try all(element.children, style)
    let isAlpha = [element.attributes["mask-type"] ?? "", element.attributes["style"] ?? ""].contains {
      $0.contains("alpha")
    }
    if isAlpha { return drawings }
    var group = Drawing.Group()
    group.colors = [.luminance(.white)]
    return [.group(group, drawings)]
  }
}

extension Drawing {
  /// The same with another opacity, for one operation.
  fileprivate func faded(_ opacity: Double) -> Drawing {
    switch self {
    case .fill(let path, let paint, let isEvenOdd): .fill(path, paint.faded(opacity), isEvenOdd: isEvenOdd)
    case .stroke(let path, let paint, let stroke): .stroke(path, paint.faded(opacity), stroke)
    case .text, .image, .group: self
    }
  }
}

extension VectorDrawer {
  /// The paint of a shape; `nil`: none.
  ///
  /// - Parameter box: around the shape in its own coordinates.
  mutating func paint(
    _ source: VectorStyle.Source, opacity: Double, of element: VectorElement, box: Rect?, style: VectorStyle
  ) -> Paint? {
    if !paints.isEmpty {
      return source == .none ? nil : paints[min(level(of: element), paints.count - 1)].faded(opacity)
    }
    switch source {
    case .none: return nil
    case .color(let color): return Paint.color(color).faded(opacity)
    case .current: return Paint.color(style.color).faded(opacity)
    case .reference(let id, let otherwise):
      if let paint = gradient(id, box: box, style: style) { return paint.faded(opacity) }
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
  private mutating func gradient(_ id: String, box: Rect?, style: VectorStyle) -> Paint? {
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
    func place(_ name: String, length: Double, usual: Double) -> Double {
      gradient.attribute(name).flatMap { VectorNumbers.length($0, of: length) } ?? usual * length
    }
    if first.name == "radialGradient" {
      let diagonal = ((whole.width * whole.width + whole.height * whole.height) / 2).squareRoot()
      let centre = Point(
        x: place("cx", length: whole.width, usual: 0.5), y: place("cy", length: whole.height, usual: 0.5))
      let radii = (max(0, place("fr", length: diagonal, usual: 0)), place("r", length: diagonal, usual: 0.5))
      let focus = Point(
        x: gradient.attribute("fx") == nil ? centre.x : place("fx", length: whole.width, usual: 0.5),
        y: gradient.attribute("fy") == nil ? centre.y : place("fy", length: whole.height, usual: 0.5))
      if abs(focus.x - centre.x) + abs(focus.y - centre.y) > radii.1 * 0.01 { note("the focus of a radial gradient") }
      guard radii.1 > 0 else { return .color(last.color) }
      return radial(stops, centre: centre, from: radii.0, to: radii.1, transform: transform)
    }
    let from = Point(x: place("x1", length: whole.width, usual: 0), y: place("y1", length: whole.height, usual: 0))
    let to = Point(x: place("x2", length: whole.width, usual: 1), y: place("y2", length: whole.height, usual: 0))
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
    _ stops: [Paint.Stop], centre: Point, from: Double, to: Double, transform: Transform
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
