// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

extension Path {
  /// How a line is drawn, as `SwiftUI.StrokeStyle` is archived.
  struct Stroke {
    var width: Double
    var cap: String
    var join: String
    var dash: [Double]
    var phase: Double

    init(_ parts: [String: ArchivedValue]) {
      width = max(0, parts["lineWidth"]?.number ?? 1)
      cap = parts["lineCap"]?.string ?? "butt"
      join = parts["lineJoin"]?.string ?? "miter"
      if case .list(let lengths) = parts["dash"] { dash = lengths.map { max(0, $0.number ?? 0) } } else { dash = [] }
      phase = parts["dashPhase"]?.number ?? 0
    }
  }

  /// A part of a path as straight lines.
  fileprivate struct Polyline {
    var points: [Point]
    var isClosed = false
  }

  /// The area that a stroke covers: a rectangle for each straight line, and the corners and ends. All turn the same way,
  /// so that together they are filled whole.
  func outlined(_ stroke: Stroke) -> Path {
    var area = Path()
    for line in (stroke.dash.contains { $0 > 0 } ? dashed(stroke) : self).polylines { area.add(line, stroke) }
    return area
  }

  /// The parts that a dashed line draws. At most 1,000 dashes.
  private func dashed(_ stroke: Stroke) -> Path {
    let whole = polylines.map(\.length).reduce(0, +)
    let lengths = stroke.dash.count.isMultiple(of: 2) ? stroke.dash : stroke.dash + stroke.dash
    let period = lengths.reduce(0, +)
    guard whole > 0, period > 0 else { return self }
    var path = Path()
    var start = -stroke.phase.truncatingRemainder(dividingBy: period)
    if start > 0 { start -= period }
    for number in 0..<1000 where start < whole {
      let end = start + lengths[number % lengths.count]
      if number.isMultiple(of: 2), end > 0 { path.elements += trimmed(from: start / whole, to: end / whole).elements }
      start = end
    }
    return path
  }

  private var polylines: [Polyline] {
    var lines: [Polyline] = []
    func curve(_ one: Point, _ two: Point, _ end: Point) {
      guard let start = lines.last?.points.last else { return }
      for step in 1...12 {
        let (t, u) = (Double(step) / 12, 1 - Double(step) / 12)
        func part(_ axis: KeyPath<Point, Double>) -> Double {
          u * u * u * start[keyPath: axis] + 3 * u * u * t * one[keyPath: axis] + 3 * u * t * t * two[keyPath: axis]
            + t * t * t * end[keyPath: axis]
        }
        lines[lines.count - 1].points.append(Point(x: part(\.x), y: part(\.y)))
      }
    }
    func between(_ one: Point, _ other: Point) -> Point {
      Point(x: one.x + (other.x - one.x) * 2 / 3, y: one.y + (other.y - one.y) * 2 / 3)
    }
    for element in elements {
      if case .move(let point) = element {
        lines.append(Polyline(points: [point]))
        continue
      }
      guard let last = lines.last, let now = last.points.last else { continue }
      if last.isClosed { lines.append(Polyline(points: [last.points[0]])) }
      switch element {
      case .move: break
      case .line(let point): lines[lines.count - 1].points.append(point)
      case .quad(let end, let control): curve(between(now, control), between(end, control), end)
      case .curve(let end, let one, let two): curve(one, two, end)
      case .close: lines[lines.count - 1].isClosed = true
      }
    }
    return lines
  }

  private mutating func add(_ line: Polyline, _ stroke: Stroke) {
    var points: [Point] = []
    for point in line.points where points.last != point { points.append(point) }
    if line.isClosed, points.count > 1, points.first == points.last { points.removeLast() }
    let half = stroke.width / 2
    guard points.count > 1 else {
      if stroke.cap == "round", let point = points.first { add(circle: point, half) }
      return
    }
    let ends = line.isClosed ? points + [points[0]] : points
    for (start, end) in zip(ends, ends.dropFirst()) { add(from: start, to: end, half) }
    let corners =
      line.isClosed
      ? points.indices.map { (points[($0 + points.count - 1) % points.count], points[$0], ends[$0 + 1]) }
      : points.indices.dropFirst().dropLast().map { (points[$0 - 1], points[$0], points[$0 + 1]) }
    for (before, corner, after) in corners { add(corner: corner, before, after, half, stroke.join) }
    guard !line.isClosed, stroke.cap != "butt" else { return }
    for (end, inner) in [(points[0], points[1]), (points[points.count - 1], points[points.count - 2])] {
      if stroke.cap == "round" {
        add(circle: end, half)
      } else {
        let unit = inner.direction(to: end)
        add(from: end, to: Point(x: end.x + unit.x * half, y: end.y + unit.y * half), half)
      }
    }
  }

  private mutating func add(from start: Point, to end: Point, _ half: Double) {
    let unit = start.direction(to: end)
    let (x, y) = (-unit.y * half, unit.x * half)
    add(polygon: [
      Point(x: start.x + x, y: start.y + y), Point(x: end.x + x, y: end.y + y), Point(x: end.x - x, y: end.y - y),
      Point(x: start.x - x, y: start.y - y),
    ])
  }

  /// A miter is not longer than ten widths: the default of `StrokeStyle`.
  private mutating func add(
    corner: Point, _ before: Point, _ after: Point, _ half: Double, _ join: String
  ) {
    if join == "round" { return add(circle: corner, half) }
    let (one, two) = (before.direction(to: corner), corner.direction(to: after))
    let cross = one.x * two.y - one.y * two.x
    guard abs(cross) > 1e-9 else { return }
    let side = cross > 0 ? -half : half
    let first = Point(x: corner.x - one.y * side, y: corner.y + one.x * side)
    let last = Point(x: corner.x - two.y * side, y: corner.y + two.x * side)
    var polygon = [corner, first, last]
    // The cosine of the angle between both normals, and the tip where both edges meet.
    let cosine = one.x * two.x + one.y * two.y
    if join == "miter", 2 / (1 + cosine) <= 100 {
      let scale = side / (1 + cosine)
      polygon.insert(
        Point(x: corner.x - (one.y + two.y) * scale, y: corner.y + (one.x + two.x) * scale), at: 2)
    }
    add(polygon: polygon)
  }

  private mutating func add(circle centre: Point, _ radius: Double) {
    elements +=
      Path(
        ellipseIn: Rect(x: centre.x - radius, y: centre.y - radius, width: 2 * radius, height: 2 * radius)
      ).elements
  }

  /// Turns it as `init(ellipseIn:)` does.
  private mutating func add(polygon: [Point]) {
    let next = polygon.dropFirst() + polygon.prefix(1)
    let area = zip(polygon, next).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y }
    let points = area < 0 ? polygon.reversed() : polygon
    elements.append(.move(points[0]))
    elements += points.dropFirst().map { .line($0) } + [.close]
  }
}

extension Path.Polyline {
  /// With the last line of a closed one.
  fileprivate var length: Double {
    let all = isClosed ? points + points.prefix(1) : points
    return zip(all, all.dropFirst()).reduce(0) { $0 + hypot($1.1.x - $1.0.x, $1.1.y - $1.0.y) }
  }
}

extension Point {
  /// Of length 1.
  fileprivate func direction(to other: Point) -> Point {
    let length = hypot(other.x - x, other.y - y)
    return length > 0 ? Point(x: (other.x - x) / length, y: (other.y - y) / length) : Point(x: 0, y: 0)
  }
}
