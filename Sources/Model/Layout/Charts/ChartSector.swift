// SPDX-License-Identifier: Apache-2.0

import ChartRules
import Foundation

/// A sector of a pie, or of a ring.
struct ChartSector {
  var centre: Point
  /// In points.
  var inner: Double
  var outer: Double
  /// In radians, clockwise from the top.
  var start: Double
  var end: Double
  /// The distance from each straight edge to the true one, in points.
  var inset: Double
  /// The radius of the corners in points.
  var corner: Double

  /// `nil` for a sector that has no area.
  var outline: OutlineMaker? {
    let isWhole = end - start >= 2 * .pi - 1e-9
    let inset = isWhole ? 0 : inset
    guard outer > inner, outer > inset else { return nil }
    var outline = OutlineMaker()
    if isWhole {
      outline.arc(centre, radius: outer, from: start, to: end)
      outline.close()
      if inner > 0 {
        outline.move(to: point(start, inner))
        outline.arc(centre, radius: inner, from: end, to: start)
        outline.close()
      }
      return outline
    }
    func shift(_ radius: Double) -> Double { asin(min(1, inset / radius)) }
    let (first, last) = (start + shift(outer), end - shift(outer))
    guard last > first else { return nil }
    // Where the two straight edges meet, or the inner arc where they do not.
    let apex = inset / max(sin(min(end - start, .pi) / 2), 1e-6)
    let (innerFirst, innerLast) = inner > inset ? (start + shift(inner), end - shift(inner)) : (0, 0)
    let hasHole = inner > apex && innerLast > innerFirst
    let corner = min(self.corner, (outer - (hasHole ? inner : apex)) / 2, (last - first) * outer / 2)
    let innerCorner = hasHole ? min(corner, (innerLast - innerFirst) * inner / 2) : 0
    if corner > 0.01 {
      outline.move(to: edge(start, outer - corner, inset))
      outline.quad(to: point(first + corner / outer, outer), control: point(first, outer))
      outline.arc(centre, radius: outer, from: first + corner / outer, to: last - corner / outer)
      outline.quad(to: edge(end, outer - corner, -inset), control: point(last, outer))
    } else {
      outline.arc(centre, radius: outer, from: first, to: last)
    }
    if !hasHole {
      outline.line(to: point((start + end) / 2, min(apex, outer)))
    } else if innerCorner > 0.01 {
      outline.line(to: edge(end, inner + innerCorner, -inset))
      outline.quad(to: point(innerLast - innerCorner / inner, inner), control: point(innerLast, inner))
      outline.arc(centre, radius: inner, from: innerLast - innerCorner / inner, to: innerFirst + innerCorner / inner)
      outline.quad(to: edge(start, inner + innerCorner, inset), control: point(innerFirst, inner))
    } else {
      outline.arc(centre, radius: inner, from: innerLast, to: innerFirst)
    }
    outline.close()
    return outline
  }

  private func point(_ angle: Double, _ radius: Double) -> Point {
    Point(x: centre.x + sin(angle) * radius, y: centre.y - cos(angle) * radius)
  }

  /// A point on a straight edge, which is beside the line at an angle by a distance, clockwise.
  private func edge(_ angle: Double, _ radius: Double, _ distance: Double) -> Point {
    point(angle + asin(max(-1, min(1, distance / max(radius, abs(distance), 1e-6)))), radius)
  }
}

/// The symbol of a point. Source of the names: `Charts.BasicChartSymbolShape`.
struct ChartSymbol {
  var name: String
  var centre: Point
  /// In points.
  var size: Size

  /// The outlines; those of `plus`, `cross` and `asterisk` are lines.
  var outlines: [OutlineMaker] {
    switch name {
    case "square": [polygon([45, 135, 225, 315], 2.0.squareRoot())]
    case "diamond": [polygon([0, 90, 180, 270])]
    case "triangle": [polygon([0, 120, 240])]
    case "pentagon": [polygon([0, 72, 144, 216, 288])]
    case "plus": lines([0, 90])
    case "cross": lines([45, 135])
    case "asterisk": lines([0, 60, 120])
    default: [circle]
    }
  }

  private var circle: OutlineMaker {
    var outline = OutlineMaker()
    let (x, y) = (size.width / 2, size.height / 2)
    let factor = 0.552285
    func place(_ dx: Double, _ dy: Double) -> ChartCurve.Place {
      ChartCurve.Place(centre.x + dx * x, centre.y + dy * y)
    }
    outline.move(to: Point(x: centre.x + x, y: centre.y))
    outline.add(.curve(place(1, factor), place(factor, 1), place(0, 1)))
    outline.add(.curve(place(-factor, 1), place(-1, factor), place(-1, 0)))
    outline.add(.curve(place(-1, -factor), place(-factor, -1), place(0, -1)))
    outline.add(.curve(place(factor, -1), place(1, -factor), place(1, 0)))
    outline.close()
    return outline
  }

  private func point(_ degrees: Double, _ factor: Double) -> Point {
    let angle = degrees * .pi / 180
    return Point(
      x: centre.x + sin(angle) * factor * size.width / 2, y: centre.y - cos(angle) * factor * size.height / 2)
  }

  private func polygon(_ degrees: [Double], _ factor: Double = 1) -> OutlineMaker {
    var outline = OutlineMaker()
    for (index, angle) in degrees.enumerated() {
      if index == 0 { outline.move(to: point(angle, factor)) } else { outline.line(to: point(angle, factor)) }
    }
    outline.close()
    return outline
  }

  private func lines(_ degrees: [Double]) -> [OutlineMaker] {
    degrees.map { angle in
      var outline = OutlineMaker()
      outline.move(to: point(angle, 1))
      outline.line(to: point(angle + 180, 1))
      return outline
    }
  }
}
