// SPDX-License-Identifier: Apache-2.0

import Layout

/// How a symbol is made from icons, in a box of 16 by 16 units.
indirect enum SymbolForm: Hashable, Sendable {
  /// The icon with this name.
  case icon(String)
  /// One or two letters or digits.
  case letters(String)
  /// Clockwise about the centre of the box.
  case turned(SymbolForm, degrees: Double)
  /// With left and right exchanged.
  case mirrored(SymbolForm)
  /// Larger or smaller about the centre of the box.
  case scaled(SymbolForm, Double)
  /// A sign within a shape. In a filled shape the sign is a hole.
  case within(SymbolForm, SymbolFrame, isFilled: Bool)
  /// With a line from the upper left to the lower right.
  case slashed(SymbolForm)
  /// With a sign at the lower right; `nil`: a dot at the upper right.
  case badged(SymbolForm, SymbolForm?)

  /// The form with each icon replaced; `nil` where an icon has no replacement.
  func mappedIcons(_ change: (String) -> String?) -> SymbolForm? {
    switch self {
    case .icon(let name): change(name).map { .icon($0) }
    case .letters: nil
    case .turned(let form, let degrees): form.mappedIcons(change).map { .turned($0, degrees: degrees) }
    case .mirrored(let form): form.mappedIcons(change).map { .mirrored($0) }
    case .scaled(let form, let factor): form.mappedIcons(change).map { .scaled($0, factor) }
    // The sign and the badge stay as they are.
    case .within, .slashed, .badged: nil
    }
  }

  /// The names of the icons.
  var icons: [String] {
    switch self {
    case .icon(let name): [name]
    case .letters: []
    case .turned(let form, _), .scaled(let form, _), .mirrored(let form), .slashed(let form): form.icons
    case .within(let form, let frame, let isFilled): form.icons + [isFilled ? frame.filledIcon : frame.icon]
    case .badged(let form, let sign): form.icons + (sign?.icons ?? [])
    }
  }
}

/// A shape around a sign, such as `circle` in `heart.circle.fill`.
enum SymbolFrame: String, CaseIterable, Sendable {
  case circle
  case square
  case app
  case triangle
  case diamond
  case octagon
  case hexagon
  case shield

  var icon: String { rawValue }
  var filledIcon: String { rawValue + "-fill" }

  /// The size of the sign as a part of the shape, and its centre in the box. Ours: Apple publishes no numbers.
  var place: (scale: Double, centre: Point) {
    switch self {
    case .circle, .octagon: (0.52, Point(x: 8, y: 8))
    case .square, .app: (0.58, Point(x: 8, y: 8))
    case .hexagon: (0.5, Point(x: 8, y: 8))
    case .diamond: (0.42, Point(x: 8, y: 8))
    case .triangle: (0.48, Point(x: 8, y: 9.7))
    case .shield: (0.46, Point(x: 8, y: 7.6))
    }
  }
}

/// A part of a symbol in a box of 16 by 16 units, which has one style.
struct SymbolLayer: Hashable, Sendable {
  /// Filled by the rule `nonzero`; ink has the winding number 1.
  var path: Path
  /// The level of the hierarchy: 0 is the first.
  var level = 0
  /// Outlines that limit the layer, all together.
  var clips: [Path] = []
  /// Whether the layer consists of lines, which are thicker in a heavier font.
  var hasLines: Bool
  /// The width of a line along the outline in a regular font, in units.
  var stroke = 0.0

  func mapped(_ change: (Point) -> Point) -> SymbolLayer {
    var layer = self
    layer.path = path.mapped(change)
    layer.clips = clips.map { $0.mapped(change) }
    return layer
  }

  /// A rectangle that is larger than each symbol, so that only holes in it limit a layer.
  static let all = Path(Rect(x: -16, y: -16, width: 48, height: 48))

  /// The layer behind a sign: a level lower, and with a hole around the sign.
  func behind(_ sign: Path) -> SymbolLayer {
    var layer = self
    layer.level += 1
    layer.clips.append(Self.all.joined(sign.reversed))
    return layer
  }
}

extension Path {
  func joined(_ other: Path) -> Path {
    var path = self
    path.elements += other.elements
    return path
  }

  /// The path in the opposite direction, so that it is a hole in a path around it.
  var reversed: Path {
    var result = Path()
    for subpath in elements.split(whereSeparator: { $0 == .close }) {
      // A subpath without its closing element: a start, and its segments.
      var rest = Array(subpath)
      while let index = rest.lastIndex(where: { if case .move = $0 { true } else { false } }) {
        result.elements += Self.reversed(rest[index...])
        rest.removeSubrange(index...)
      }
    }
    return result
  }

  private static func reversed(_ subpath: ArraySlice<Element>) -> [Element] {
    let ends = subpath.compactMap { element -> Point? in
      switch element {
      case .move(let point), .line(let point), .quad(let point, _), .curve(let point, _, _): point
      case .close: nil
      }
    }
    guard let last = ends.last else { return [] }
    var result: [Element] = [.move(last)]
    for (element, end) in zip(subpath.dropFirst(), ends).reversed() {
      switch element {
      case .quad(_, let control): result.append(.quad(end, control: control))
      case .curve(_, let one, let two): result.append(.curve(end, control1: two, control2: one))
      case .move, .line, .close: result.append(.line(end))
      }
    }
    return result + [.close]
  }
}

/// Makes the layers of symbols in a box of 16 by 16 units.
struct SymbolShaper {
  let table: SymbolTable
  /// Whether the parts of a symbol have several styles. A sign in a filled shape is a layer then, and no hole.
  var isLayered = false
  /// The outline of letters and digits that fill the box; ink has the winding number 1, or 2 where strokes cross.
  var letters: (String) -> Path? = { _ in nil }

  private static let side = SymbolTable.side
  private static let centre = Point(x: side / 2, y: side / 2)

  /// The layers of a form, the hindmost first; `nil`, if an outline cannot be read.
  func layers(of form: SymbolForm) -> [SymbolLayer]? {
    switch form {
    case .icon(let name):
      guard let data = table.outlines[name], let path = try? SVGPathReader.path(data), !path.elements.isEmpty else {
        return nil
      }
      return [SymbolLayer(path: path, hasLines: !name.hasSuffix("-fill"))]
    case .letters(let text): return letters(text).map { [SymbolLayer(path: $0, hasLines: false)] }
    case .turned(let form, let degrees):
      let (sine, cosine) = (sinOfDegrees(degrees), sinOfDegrees(degrees + 90))
      return changed(form) { point in
        let (x, y) = (point.x - Self.centre.x, point.y - Self.centre.y)
        return Point(x: Self.centre.x + x * cosine - y * sine, y: Self.centre.y + x * sine + y * cosine)
      }
    case .mirrored(let form):
      // A mirror image is wound the other way.
      return changed(form) { Point(x: Self.side - $0.x, y: $0.y) }?.map { layer in
        var layer = layer
        layer.path = layer.path.reversed
        layer.clips = layer.clips.map(\.reversed)
        return layer
      }
    case .scaled(let form, let factor): return changed(form, Self.scaled(by: factor, to: Self.centre))
    case .within(let sign, let frame, let isFilled): return within(sign, frame, isFilled: isFilled)
    case .slashed(let form):
      func bar(_ width: Double, _ length: Double) -> Path {
        let rect = Rect(x: (Self.side - length) / 2, y: (Self.side - width) / 2, width: length, height: width)
        return Path(roundedRect: rect, radii: Array(repeating: width / 2, count: 4), isContinuous: false)
          .rotated(degrees: 45, about: Self.centre)
      }
      return layers(of: form).map { layers in
        layers.map { $0.behind(bar(3.2, 40)) } + [SymbolLayer(path: bar(1.1, 19.5), hasLines: true)]
      }
    case .badged(let form, let sign):
      guard let layers = layers(of: form), let badge = badge(sign) else { return nil }
      return layers.map { $0.behind(badge.hole) } + badge.layers
    }
  }

  private func changed(_ form: SymbolForm, _ change: (Point) -> Point) -> [SymbolLayer]? {
    layers(of: form)?.map { $0.mapped(change) }
  }

  private static func scaled(by factor: Double, to place: Point) -> (Point) -> Point {
    { Point(x: place.x + ($0.x - centre.x) * factor, y: place.y + ($0.y - centre.y) * factor) }
  }

  private func within(_ sign: SymbolForm, _ frame: SymbolFrame, isFilled: Bool) -> [SymbolLayer]? {
    guard var shape = layers(of: .icon(isFilled ? frame.filledIcon : frame.icon))?.first,
      var signs = layers(of: sign)
    else { return nil }
    let place = frame.place
    let hasLines = signs.allSatisfy(\.hasLines)
    signs = signs.map { sign in
      // Lines would be too thin at the scale of the sign.
      var sign = sign.mapped(Self.scaled(by: hasLines ? place.scale * 1.2 : place.scale, to: place.centre))
      if sign.hasLines { sign.stroke = 0.35 }
      return sign
    }
    if isFilled, !isLayered, let hole = signs.first, signs.count == 1, hole.clips.isEmpty {
      let parts = hole.path.parts
      if parts.count > 1, parts.haveCommonBounds {
        // Crossing parts would be ink where they cross: each is a hole by itself.
        for part in parts { shape.clips.append(SymbolLayer.all.joined(part.reversed)) }
      } else {
        shape.path = shape.path.joined(hole.path.reversed)
      }
      return [shape]
    }
    shape.level = (signs.map(\.level).max() ?? 0) + 1
    return [shape] + signs
  }

  /// A sign at the lower right, or a dot at the upper right, and the hole around it. Ours: Apple publishes no numbers.
  private func badge(_ sign: SymbolForm?) -> (layers: [SymbolLayer], hole: Path)? {
    func circle(_ centre: Point, _ radius: Double) -> Path {
      Path(
        ellipseIn: Rect(x: centre.x - radius, y: centre.y - radius, width: 2 * radius, height: 2 * radius))
    }
    guard let sign else {
      let centre = Point(x: 13.2, y: 2.8)
      return ([SymbolLayer(path: circle(centre, 2.8), hasLines: false)], circle(centre, 3.8))
    }
    let centre = Point(x: 12.2, y: 12.2)
    // A sign in a circle stays as it is in all modes.
    let shaper = SymbolShaper(table: table)
    return shaper.changed(sign, Self.scaled(by: 0.475, to: centre)).map { ($0, circle(centre, 4.8)) }
  }
}

extension Path {
  /// The bounds of the finite points and control points; `nil` without any.
  var bounds: Rect? {
    var (low, high) = (Point(x: .infinity, y: .infinity), Point(x: -.infinity, y: -.infinity))
    _ = mapped { point in
      guard point.x.isFinite, point.y.isFinite else { return point }
      (low.x, low.y) = (min(low.x, point.x), min(low.y, point.y))
      (high.x, high.y) = (max(high.x, point.x), max(high.y, point.y))
      return point
    }
    return low.x <= high.x ? Rect(x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y) : nil
  }

  /// The subpaths that are ink, each with its holes: the subpaths within it that are wound the other way.
  fileprivate var parts: [Path] {
    var (inks, holes) = ([Path](), [Path]())
    for element in elements {
      if case .move = element { inks.append(Path()) }
      if let last = inks.indices.last { inks[last].elements.append(element) }
    }
    holes = inks.filter { $0.area < 0 }
    inks = inks.filter { $0.area >= 0 }
    for hole in holes {
      guard let inner = hole.bounds else { continue }
      let around = inks.indices.filter { inks[$0].bounds.map { $0.contains(inner) } == true }
      guard let index = around.min(by: { inks[$0].area < inks[$1].area }) ?? inks.indices.last else { continue }
      inks[index].elements += hole.elements
    }
    return inks
  }

  /// Twice the area of the polygon of the ends of the segments: positive, if it is clockwise.
  private var area: Double {
    var (points, sum) = ([Point](), 0.0)
    for element in elements {
      switch element {
      case .move(let point), .line(let point): points.append(point)
      case .quad(let point, let control): points += [control, point]
      case .curve(let point, let one, let two): points += [one, two, point]
      case .close: break
      }
    }
    guard var last = points.last else { return 0 }
    for point in points {
      sum += last.x * point.y - point.x * last.y
      last = point
    }
    return sum
  }
}

extension Rect {
  fileprivate func contains(_ other: Rect) -> Bool {
    minX <= other.minX && minY <= other.minY && maxX >= other.maxX && maxY >= other.maxY
  }

  fileprivate func meets(_ other: Rect) -> Bool {
    minX < other.maxX && other.minX < maxX && minY < other.maxY && other.minY < maxY
  }
}

extension [Path] {
  /// Whether the bounds of two paths overlap.
  fileprivate var haveCommonBounds: Bool {
    let bounds = compactMap(\.bounds)
    return bounds.indices.contains { one in bounds[..<one].contains { $0.meets(bounds[one]) } }
  }
}
