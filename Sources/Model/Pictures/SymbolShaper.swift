// SPDX-License-Identifier: Apache-2.0

import Layout

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
