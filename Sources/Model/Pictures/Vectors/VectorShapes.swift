// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

extension Path {
  /// The outline of an SVG shape; `nil` for another element, and without a size.
  ///
  /// - Parameters:
  ///   - viewport: the size that percentages are of.
  ///   - circle: an ellipse as one shape.
  /// - Throws: `PathDataFailure`.
  init?(_ element: VectorElement, in viewport: Size) throws(PathDataFailure) {
    func length(_ name: String, _ whole: Double) -> Double? {
      element.attributes[name].flatMap { VectorNumbers.length($0, of: whole) }
    }
    func x(_ name: String) -> Double { length(name, viewport.width) ?? 0 }
    func y(_ name: String) -> Double { length(name, viewport.height) ?? 0 }
    switch element.name {
    case "path": self = try SVGPathReader.path(element.attributes["d"] ?? "")
    case "rect":
      let rect = Rect(x: x("x"), y: y("y"), width: x("width"), height: y("height"))
      guard rect.size.width > 0, rect.size.height > 0 else { return nil }
      let (rx, ry) = (length("rx", viewport.width), length("ry", viewport.height))
      let radii = Size(width: max(0, rx ?? ry ?? 0), height: max(0, ry ?? rx ?? 0))
      self.init(rect, corners: radii)
    case "circle":
      let radius = length("r", min(viewport.width, viewport.height)) ?? 0
      guard radius > 0 else { return nil }
      self.init(
        ellipseIn: Rect(x: x("cx") - radius, y: y("cy") - radius, width: radius * 2, height: radius * 2))
    case "ellipse":
      let (rx, ry) = (x("rx"), y("ry"))
      guard rx > 0, ry > 0 else { return nil }
      self.init(ellipseIn: Rect(x: x("cx") - rx, y: y("cy") - ry, width: rx * 2, height: ry * 2))
    case "line":
      self.init()
      elements = [.move(Point(x: x("x1"), y: y("y1"))), .line(Point(x: x("x2"), y: y("y2")))]
    case "polyline", "polygon":
      let numbers = element.attributes["points"].flatMap { VectorNumbers.list($0) } ?? []
      guard numbers.count >= 4 else { return nil }
      self.init()
      for index in stride(from: 0, to: numbers.count - 1, by: 2) {
        let point = Point(x: numbers[index], y: numbers[index + 1])
        elements.append(index == 0 ? .move(point) : .line(point))
      }
      if element.name == "polygon" { elements.append(.close) }
    default: return nil
    }
  }

  /// A rectangle with round corners, whose radii are at most half a side.
  private init(_ rect: Rect, corners: Size) {
    guard corners.width > 0, corners.height > 0 else {
      self.init(rect)
      return
    }
    self.init()
    let (rx, ry) = (min(corners.width, rect.size.width / 2), min(corners.height, rect.size.height / 2))
    let (kx, ky) = (rx * (1 - 0.552285), ry * (1 - 0.552285))
    let (left, top, right, bottom) = (rect.minX, rect.minY, rect.maxX, rect.maxY)
    func at(_ x: Double, _ y: Double) -> Point { Point(x: x, y: y) }
    elements = [
      .move(at(left + rx, top)), .line(at(right - rx, top)),
      .curve(at(right, top + ry), control1: at(right - kx, top), control2: at(right, top + ky)),
      .line(at(right, bottom - ry)),
      .curve(at(right - rx, bottom), control1: at(right, bottom - ky), control2: at(right - kx, bottom)),
      .line(at(left + rx, bottom)),
      .curve(at(left, bottom - ry), control1: at(left + kx, bottom), control2: at(left, bottom - ky)),
      .line(at(left, top + ry)),
      .curve(at(left + rx, top), control1: at(left, top + ky), control2: at(left + kx, top)), .close,
    ]
  }

  /// The smallest rectangle around the outline; `nil` without points.
  var extent: Rect? {
    var (low, high) = (Point(x: .infinity, y: .infinity), Point(x: -.infinity, y: -.infinity))
    func add(_ point: Point) {
      guard point.x.isFinite, point.y.isFinite else { return }
      (low.x, low.y) = (min(low.x, point.x), min(low.y, point.y))
      (high.x, high.y) = (max(high.x, point.x), max(high.y, point.y))
    }
    var last = Point(x: 0, y: 0)
    for element in elements {
      switch element {
      case .move(let point), .line(let point):
        add(point)
        last = point
      case .quad(let point, let control):
        let one = Point(x: last.x + (control.x - last.x) * 2 / 3, y: last.y + (control.y - last.y) * 2 / 3)
        let two = Point(x: point.x + (control.x - point.x) * 2 / 3, y: point.y + (control.y - point.y) * 2 / 3)
        Self.extremes(last, one, two, point).forEach(add)
        last = point
      case .curve(let point, let one, let two):
        Self.extremes(last, one, two, point).forEach(add)
        last = point
      case .close: break
      }
    }
    return low.x <= high.x ? Rect(x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y) : nil
  }

  /// The points of a curve where it turns back along an axis, and its ends.
  private static func extremes(_ start: Point, _ one: Point, _ two: Point, _ end: Point) -> [Point] {
    var places = [0.0, 1]
    for axis in [\Point.x, \Point.y] {
      // The derivative is a t² + b t + c, by the factor 3.
      let (p, q, r, s) = (start[keyPath: axis], one[keyPath: axis], two[keyPath: axis], end[keyPath: axis])
      let (a, b, c) = (s - 3 * r + 3 * q - p, 2 * (r - 2 * q + p), q - p)
      if abs(a) < 1e-12 {
        if abs(b) > 1e-12 { places.append(-c / b) }
        continue
      }
      let square = b * b - 4 * a * c
      guard square >= 0 else { continue }
      let root = square.squareRoot()
      places += [(-b + root) / (2 * a), (-b - root) / (2 * a)]
    }
    return places.filter { (0...1).contains($0) }.map { place in
      let rest = 1 - place
      let (w0, w1, w2, w3) = (
        rest * rest * rest, 3 * rest * rest * place, 3 * rest * place * place, place * place * place
      )
      return Point(
        x: w0 * start.x + w1 * one.x + w2 * two.x + w3 * end.x,
        y: w0 * start.y + w1 * one.y + w2 * two.y + w3 * end.y)
    }
  }

  /// The length of the outline, or a little more: that of the lines between its points and control points.
  var roughLength: Double {
    var (sum, last, start) = (0.0, Point(x: 0, y: 0), Point(x: 0, y: 0))
    func go(_ points: Point...) {
      for point in points {
        sum += hypot(point.x - last.x, point.y - last.y)
        last = point
      }
    }
    for element in elements {
      switch element {
      case .move(let point): (last, start) = (point, point)
      case .line(let point): go(point)
      case .quad(let point, let control): go(control, point)
      case .curve(let point, let one, let two): go(one, two, point)
      case .close: go(start)
      }
    }
    return sum
  }
}
