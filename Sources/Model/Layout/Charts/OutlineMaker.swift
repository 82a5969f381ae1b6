// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules
import Foundation

/// An outline of a mark, in the coordinates of the layout, which becomes a placed shape.
struct OutlineMaker {
  private enum Element {
    case move(Point)
    case line(Point)
    case curve(Point, Point, Point)
    case close
  }

  private var elements: [Element] = []

  /// Whether nothing is drawn.
  var isEmpty: Bool { elements.isEmpty }

  mutating func move(to point: Point) { elements.append(.move(point)) }
  mutating func line(to point: Point) { elements.append(.line(point)) }
  mutating func close() { elements.append(.close) }

  /// Adds a part of a line through points.
  mutating func add(_ part: ChartCurve.Part) {
    func point(_ place: ChartCurve.Place) -> Point { Point(x: place.x, y: place.y) }
    switch part {
    case .line(let end): elements.append(.line(point(end)))
    case .curve(let one, let other, let end): elements.append(.curve(point(one), point(other), point(end)))
    }
  }

  /// Adds a quadratic curve from the current point.
  mutating func quad(to end: Point, control: Point) {
    guard let start = current else { return }
    func between(_ point: Point) -> Point {
      Point(x: point.x + (control.x - point.x) * 2 / 3, y: point.y + (control.y - point.y) * 2 / 3)
    }
    elements.append(.curve(between(start), between(end), end))
  }

  /// Adds an arc; the angles are in radians, clockwise from the top. The first point is joined by a line.
  mutating func arc(_ centre: Point, radius: Double, from start: Double, to end: Double) {
    func point(_ angle: Double, _ radius: Double) -> Point {
      Point(x: centre.x + sin(angle) * radius, y: centre.y - cos(angle) * radius)
    }
    let first = point(start, radius)
    elements.append(elements.isEmpty ? .move(first) : .line(first))
    let count = min(max(1, Int(saturating: (abs(end - start) / (.pi / 4)).rounded(.up))), 1000)
    let step = (end - start) / Double(count)
    let handle = 4 / 3 * tan(step / 4) * radius
    for index in 0..<count {
      let (one, other) = (start + Double(index) * step, start + Double(index + 1) * step)
      let (from, to) = (point(one, radius), point(other, radius))
      elements.append(
        .curve(
          Point(x: from.x + cos(one) * handle, y: from.y + sin(one) * handle),
          Point(x: to.x - cos(other) * handle, y: to.y - sin(other) * handle), to))
    }
  }

  private var current: Point? {
    switch elements.last {
    case .move(let point), .line(let point), .curve(_, _, let point): point
    default: nil
    }
  }

  private var points: [Point] {
    elements.flatMap { element -> [Point] in
      switch element {
      case .move(let point), .line(let point): [point]
      case .curve(let one, let other, let end): [one, other, end]
      case .close: []
      }
    }
  }

  /// The rectangle around all points; `nil` without points.
  var bounds: Rect? {
    guard let x = points.map(\.x).range, let y = points.map(\.y).range else { return nil }
    return Rect(
      x: x.lowerBound, y: y.lowerBound, width: x.upperBound - x.lowerBound, height: y.upperBound - y.lowerBound)
  }

  /// The path in the coordinates of a frame, as the archive of a path has it.
  ///
  /// - Parameter isMirrored: whether left and right are exchanged.
  func archived(in frame: Rect, isMirrored: Bool) -> ArchivedValue {
    func numbers(_ point: Point) -> [ArchivedValue] {
      let x = point.x - frame.minX
      return [.number(isMirrored ? frame.size.width - x : x), .number(point.y - frame.minY)]
    }
    return .list(
      elements.map { element in
        switch element {
        case .move(let point): .list(["move"] + numbers(point))
        case .line(let point): .list(["line"] + numbers(point))
        case .curve(let one, let other, let end): .list(["curve"] + numbers(end) + numbers(one) + numbers(other))
        case .close: .list(["close"])
        }
      })
  }
}
