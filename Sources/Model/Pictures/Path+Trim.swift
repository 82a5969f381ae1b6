// SPDX-License-Identifier: Apache-2.0

import Foundation
import Layout

/// The sine of an angle in degrees, exact for multiples of a right angle.
func sinOfDegrees(_ degrees: Double) -> Double {
  let turn = degrees.truncatingRemainder(dividingBy: 360)
  switch turn {
  case 0, 180, -180: return 0
  case 90, -270: return 1
  case 270, -90: return -1
  default: return sin(turn * .pi / 180)
  }
}

extension Path {
  /// A cubic curve with its length.
  private struct Segment {
    var points: [Point]
    var startsSubpath: Bool
    var length = 0.0

    init(_ points: [Point], startsSubpath: Bool) {
      self.points = points
      self.startsSubpath = startsSubpath
      var last = points[0]
      for step in 1...16 {
        let next = point(Double(step) / 16)
        length += hypot(next.x - last.x, next.y - last.y)
        last = next
      }
    }

    private func point(_ t: Double) -> Point {
      let u = 1 - t
      func part(_ axis: KeyPath<Point, Double>) -> Double {
        u * u * u * points[0][keyPath: axis] + 3 * u * u * t * points[1][keyPath: axis]
          + 3 * u * t * t * points[2][keyPath: axis] + t * t * t * points[3][keyPath: axis]
      }
      return Point(x: part(\.x), y: part(\.y))
    }

    /// The part between two fractions, by de Casteljau's construction.
    func part(from start: Double, to end: Double) -> [Point] {
      func split(_ points: [Point], _ t: Double) -> (head: [Point], tail: [Point]) {
        var (head, tail, rest) = ([Point](), [Point](), points)
        while let first = rest.first, let last = rest.last {
          head.append(first)
          tail.insert(last, at: 0)
          rest = zip(rest, rest.dropFirst()).map { one, other in
            Point(x: one.x + (other.x - one.x) * t, y: one.y + (other.y - one.y) * t)
          }
        }
        return (head, tail)
      }
      let head = split(points, end).head
      return end > 0 ? split(head, start / end).tail : head
    }
  }

  private var segments: [Segment] {
    var segments: [Segment] = []
    var (start, now, isNew) = (Point(x: 0, y: 0), Point(x: 0, y: 0), true)
    func between(_ one: Point, _ other: Point, _ t: Double) -> Point {
      Point(x: one.x + (other.x - one.x) * t, y: one.y + (other.y - one.y) * t)
    }
    func add(_ one: Point, _ two: Point, _ end: Point) {
      segments.append(Segment([now, one, two, end], startsSubpath: isNew))
      (now, isNew) = (end, false)
    }
    for element in elements {
      switch element {
      case .move(let point): (start, now, isNew) = (point, point, true)
      case .line(let point): add(between(now, point, 1 / 3.0), between(now, point, 2 / 3.0), point)
      case .quad(let point, let control): add(between(now, control, 2 / 3.0), between(point, control, 2 / 3.0), point)
      case .curve(let point, let one, let two): add(one, two, point)
      case .close:
        if now != start { add(between(now, start, 1 / 3.0), between(now, start, 2 / 3.0), start) }
        isNew = true
      }
    }
    return segments
  }

  /// The part of the path between two fractions of its length.
  package func trimmed(from start: Double, to end: Double) -> Path {
    let segments = segments
    let whole = segments.reduce(0) { $0 + $1.length }
    let (first, last) = (min(max(start, 0), 1) * whole, min(max(end, 0), 1) * whole)
    var path = Path()
    var place = 0.0
    var isOpen = false
    for segment in segments where segment.length > 0 {
      let (from, to) = (max(0, first - place) / segment.length, min(1, (last - place) / segment.length))
      place += segment.length
      guard from < to, from < 1 else {
        isOpen = false
        continue
      }
      let points = segment.part(from: from, to: to)
      if !isOpen || segment.startsSubpath { path.elements.append(.move(points[0])) }
      path.elements.append(.curve(points[3], control1: points[1], control2: points[2]))
      isOpen = true
    }
    return path
  }
}
