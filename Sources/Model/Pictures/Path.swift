// SPDX-License-Identifier: Apache-2.0

package import Layout

/// An outline in points.
package struct Path: Hashable, Sendable {
  package enum Element: Hashable, Sendable {
    case move(Point)
    case line(Point)
    case quad(Point, control: Point)
    case curve(Point, control1: Point, control2: Point)
    case close
  }

  package var elements: [Element] = []

  package init() {}

  package init(_ rect: Rect) {
    elements = [
      .move(rect.origin), .line(Point(x: rect.maxX, y: rect.minY)), .line(Point(x: rect.maxX, y: rect.maxY)),
      .line(Point(x: rect.minX, y: rect.maxY)), .close,
    ]
  }

  /// The ellipse in a rectangle, clockwise from its right.
  package init(ellipseIn rect: Rect) {
    // The control points of a quarter circle, by its radius.
    let factor = 0.552285
    let (x, y) = (rect.size.width / 2, rect.size.height / 2)
    func point(_ dx: Double, _ dy: Double) -> Point { Point(x: rect.midX + dx * x, y: rect.midY + dy * y) }
    elements = [
      .move(point(1, 0)),
      .curve(point(0, 1), control1: point(1, factor), control2: point(factor, 1)),
      .curve(point(-1, 0), control1: point(-factor, 1), control2: point(-1, factor)),
      .curve(point(0, -1), control1: point(-1, -factor), control2: point(-factor, -1)),
      .curve(point(1, 0), control1: point(factor, -1), control2: point(1, -factor)), .close,
    ]
  }

  /// The path with each point changed.
  package func mapped(_ change: (Point) -> Point) -> Path {
    var path = Path()
    path.elements = elements.map { element in
      switch element {
      case .move(let point): .move(change(point))
      case .line(let point): .line(change(point))
      case .quad(let point, let control): .quad(change(point), control: change(control))
      case .curve(let point, let one, let two): .curve(change(point), control1: change(one), control2: change(two))
      case .close: .close
      }
    }
    return path
  }

  /// The path turned clockwise about a point.
  package func rotated(degrees: Double, about centre: Point) -> Path {
    let (sine, cosine) = (sinOfDegrees(degrees), sinOfDegrees(degrees + 90))
    return mapped { point in
      let (x, y) = (point.x - centre.x, point.y - centre.y)
      return Point(x: centre.x + x * cosine - y * sine, y: centre.y + x * sine + y * cosine)
    }
  }
}
