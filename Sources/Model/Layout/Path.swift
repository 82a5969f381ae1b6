// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

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

extension Path {
  /// A rounded rectangle, clockwise from the start of its top edge.
  ///
  /// - Parameters:
  ///   - radii: of the corners: top leading, top trailing, bottom trailing, bottom leading; each is limited to half a side.
  ///   - isContinuous: whether the curvature ascends continuously. Source of the numbers: LinBowen9656/ChainableUIKit,
  ///     `UIBezierPath+ContinuousCorner.swift`.
  package init(roundedRect rect: Rect, radii: [Double], isContinuous: Bool) {
    let side = min(rect.size.width, rect.size.height)
    let corners = [
      (Point(x: rect.minX, y: rect.minY), Point(x: 1, y: 0), Point(x: 0, y: 1)),
      (Point(x: rect.maxX, y: rect.minY), Point(x: 0, y: 1), Point(x: -1, y: 0)),
      (Point(x: rect.maxX, y: rect.maxY), Point(x: -1, y: 0), Point(x: 0, y: -1)),
      (Point(x: rect.minX, y: rect.maxY), Point(x: 0, y: -1), Point(x: 1, y: 0)),
    ]
    for (index, (corner, out, into)) in corners.enumerated() {
      let reach = isContinuous ? 1.528665 : 1
      let radius = max(0, min(radii[index], side / 2 / reach))
      /// A point of the corner, by its distances along the edge that ends in it and along the edge that begins in it.
      func point(_ before: Double, _ after: Double) -> Point {
        Point(
          x: corner.x + (into.x * before + out.x * after) * radius,
          y: corner.y + (into.y * before + out.y * after) * radius)
      }
      func add(_ end: Point, one: Point, two: Point) {
        elements.append(.curve(end, control1: one, control2: two))
      }
      elements.append(index == 0 ? .move(point(reach, 0)) : .line(point(reach, 0)))
      if radius == 0 { continue }
      if isContinuous {
        add(point(0.631494, 0.074911), one: point(1.088493, 0), two: point(0.868407, 0))
        add(point(0.074911, 0.631494), one: point(0.372824, 0.169060), two: point(0.169060, 0.372824))
        add(point(0, 1.528665), one: point(0, 0.868407), two: point(0, 1.088493))
      } else {
        add(point(0, 1), one: point(1 - 0.552285, 0), two: point(0, 1 - 0.552285))
      }
    }
    elements.append(.close)
  }

  /// The outline of one of SwiftUI's shapes in a rectangle; `nil` for another view.
  ///
  /// - Parameter container: the radius of the corners of the widget.
  package init?(_ view: PlacedView, container: (rect: Rect, radius: Double)) {
    guard case .view(.shape(let name)) = view.kind else { return nil }
    let inset = view.arguments[.inset]?.number ?? 0
    let rect = view.frame.inset(Insets(inset))
    let isContinuous = view.arguments[.style] != "circular"
    let side = min(rect.size.width, rect.size.height)
    switch name {
    case .rectangle: self.init(rect)
    case .circle:
      self.init(ellipseIn: Rect(x: rect.midX - side / 2, y: rect.midY - side / 2, width: side, height: side))
    case .ellipse: self.init(ellipseIn: rect)
    // A corner that is as large as the side is round in both styles.
    case .capsule:
      self.init(roundedRect: rect, radii: Array(repeating: side / 2, count: 4), isContinuous: false)
    case .roundedRectangle:
      let radius: Double
      if case .record(let size) = view.arguments[.cornerRadius] {
        radius = min(size[.width]?.number ?? 0, size[.height]?.number ?? 0)
      } else {
        radius = view.arguments[.cornerRadius]?.number ?? 0
      }
      self.init(
        roundedRect: rect, radii: Array(repeating: max(0, radius - inset), count: 4), isContinuous: isContinuous)
    case .unevenRoundedRectangle:
      var radii = [0.0, 0, 0, 0]
      if case .record(let record) = view.arguments[.cornerRadii] {
        radii = [ArgumentLabel.topLeading, .topTrailing, .bottomTrailing, .bottomLeading].map {
          max(0, (record[$0]?.number ?? 0) - inset)
        }
      }
      self.init(roundedRect: rect, radii: radii, isContinuous: isContinuous)
    case .containerRelativeShape:
      let outer = container.rect
      let distance =
        [
          rect.minX - outer.minX, rect.minY - outer.minY, outer.maxX - rect.maxX, outer.maxY - rect.maxY,
        ].min() ?? 0
      self.init(
        roundedRect: rect, radii: Array(repeating: max(0, container.radius - max(0, distance)), count: 4),
        isContinuous: true)
    case .path:
      guard case .list(let elements) = view.arguments[.path] else { return nil }
      self.init(archived: elements)
      self = mapped { Point(x: $0.x + view.frame.minX, y: $0.y + view.frame.minY) }
    }
  }

  /// A path as `SwiftUI.Path` is archived: each element is a keyword and its numbers.
  private init(archived elements: [ArchivedValue]) {
    for element in elements {
      guard case .list(let parts) = element, let word = parts.first?.string else { continue }
      let numbers = parts.dropFirst().map { $0.number ?? 0 }.map { $0.isFinite ? $0 : 0 }
      func point(_ index: Int) -> Point {
        numbers.count > index * 2 + 1 ? Point(x: numbers[index * 2], y: numbers[index * 2 + 1]) : Point(x: 0, y: 0)
      }
      func rect() -> Rect { Rect(origin: point(0), size: Size(width: point(1).x, height: point(1).y)) }
      switch word {
      case "move": self.elements.append(.move(point(0)))
      case "line": self.elements.append(.line(point(0)))
      case "quad": self.elements.append(.quad(point(0), control: point(1)))
      case "curve": self.elements.append(.curve(point(0), control1: point(1), control2: point(2)))
      case "close": self.elements.append(.close)
      case "rect": self.elements += Path(rect()).elements
      case "ellipse": self.elements += Path(ellipseIn: rect()).elements
      case "roundedRect":
        let radii = Array(repeating: min(point(2).x, point(2).y), count: 4)
        let isContinuous = parts.last != "circular"
        self.elements += Path(roundedRect: rect(), radii: radii, isContinuous: isContinuous).elements
      case "arc": addArc(numbers, clockwise: parts.last == .bool(true))
      case "stroked":
        guard parts.count == 3, case .list(let inner) = parts[1], case .record(let style) = parts[2] else { continue }
        self.elements += Path(archived: inner).outlined(Stroke(style)).elements
      default: break
      }
    }
  }

  /// An arc from its centre, its radius, and its angles in degrees. `clockwise` is in SwiftUI's flipped coordinates:
  /// it is seen counterclockwise.
  private mutating func addArc(_ numbers: [Double], clockwise: Bool) {
    guard numbers.count >= 5 else { return }
    let (centre, radius) = (Point(x: numbers[0], y: numbers[1]), numbers[2])
    var sweep = (numbers[4] - numbers[3]).truncatingRemainder(dividingBy: 360)
    if abs(numbers[4] - numbers[3]) >= 360 { sweep = 360 } else if sweep < 0 { sweep += 360 }
    if clockwise { sweep -= 360 }
    let circle = Path(
      ellipseIn: Rect(x: centre.x - radius, y: centre.y - radius, width: 2 * radius, height: 2 * radius))
    var arc = circle.trimmed(from: 0, to: abs(sweep) / 360)
    if sweep < 0 { arc = arc.mapped { Point(x: $0.x, y: 2 * centre.y - $0.y) } }
    arc = arc.rotated(degrees: numbers[3], about: centre)
    for (index, element) in arc.elements.enumerated() {
      if index == 0, case .move(let start) = element, !elements.isEmpty {
        elements.append(.line(start))
      } else {
        elements.append(element)
      }
    }
  }
}

extension Path {
  /// How a line is drawn, as `SwiftUI.StrokeStyle` is archived.
  package struct Stroke {
    var width: Double
    var cap: String
    var join: String
    var dash: [Double]
    var phase: Double

    init(_ parts: ArchivedArguments) {
      width = max(0, parts[.lineWidth]?.number ?? 1)
      cap = parts[.lineCap]?.string ?? "butt"
      join = parts[.lineJoin]?.string ?? "miter"
      if case .list(let lengths) = parts[.dash] { dash = lengths.map { max(0, $0.number ?? 0) } } else { dash = [] }
      phase = parts[.dashPhase]?.number ?? 0
    }
  }

  /// A part of a path as straight lines.
  fileprivate struct Polyline {
    var points: [Point]
    var isClosed = false
  }

  /// The area that a stroke covers: a rectangle for each straight line, and the corners and ends. All turn the same way,
  /// so that together they are filled whole.
  package func outlined(_ stroke: Stroke) -> Path {
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
    func curve(_ one: Point, _ two: Point, to end: Point) {
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
      case .quad(let end, let control): curve(between(now, control), between(end, control), to: end)
      case .curve(let end, let one, let two): curve(one, two, to: end)
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
    for (before, corner, after) in corners {
      add(corner: corner, before: before, after: after, half: half, join: stroke.join)
    }
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
    corner: Point, before: Point, after: Point, half: Double, join: String
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

/// The sine of an angle in degrees, exact for multiples of a right angle.
package func sinOfDegrees(_ degrees: Double) -> Double {
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
    func between(_ one: Point, _ other: Point, at t: Double) -> Point {
      Point(x: one.x + (other.x - one.x) * t, y: one.y + (other.y - one.y) * t)
    }
    func add(_ one: Point, _ two: Point, to end: Point) {
      segments.append(Segment([now, one, two, end], startsSubpath: isNew))
      (now, isNew) = (end, false)
    }
    for element in elements {
      switch element {
      case .move(let point): (start, now, isNew) = (point, point, true)
      case .line(let point): add(between(now, point, at: 1 / 3.0), between(now, point, at: 2 / 3.0), to: point)
      case .quad(let point, let control):
        add(between(now, control, at: 2 / 3.0), between(point, control, at: 2 / 3.0), to: point)
      case .curve(let point, let one, let two): add(one, two, to: point)
      case .close:
        if now != start { add(between(now, start, at: 1 / 3.0), between(now, start, at: 2 / 3.0), to: start) }
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
