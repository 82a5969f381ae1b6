// SPDX-License-Identifier: Apache-2.0

import Layout

/// Why a text is no path data. Definite.
package struct PathDataFailure: Error, Hashable, CustomStringConvertible {
  /// The place in the text, in bytes from its start.
  package let offset: Int
  package let description: String
}

/// Reads the path data of SVG: the commands M, L, H, V, C, S, Q, T, A and Z with absolute and relative coordinates.
/// Arcs become cubic curves. Source: Scalable Vector Graphics 1.1, chapter 8.3 and appendix F.6.
struct SVGPathReader {
  private let bytes: [UInt8]
  private var index = 0
  private var path = Path()
  private var now = Point(x: 0, y: 0)
  private var start = Point(x: 0, y: 0)
  /// The last control point, which the commands S and T mirror.
  private var control: (cubic: Point?, quadratic: Point?) = (nil, nil)

  private init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

  /// The outline that path data describes.
  static func path(_ text: some StringProtocol) throws(PathDataFailure) -> Path {
    var reader = SVGPathReader(text)
    var command: UInt8?
    while let next = reader.next() {
      if next.isLetter {
        reader.index += 1
        command = next
      } else if command == nil || command == UInt8(ascii: "Z") || command == UInt8(ascii: "z") {
        throw reader.failure("a command is expected")
      }
      guard let foundCommand = command else { break }
      if reader.path.elements.isEmpty, foundCommand.upper != UInt8(ascii: "M") {
        throw reader.failure("path data begins with a move")
      }
      try reader.read(foundCommand)
      // A move with more points continues with lines.
      if foundCommand == UInt8(ascii: "M") { command = UInt8(ascii: "L") }
      if foundCommand == UInt8(ascii: "m") { command = UInt8(ascii: "l") }
    }
    return reader.path
  }

  // MARK: Characters

  private func failure(_ reason: String) -> PathDataFailure {
    PathDataFailure(offset: index, description: "\(reason) at byte \(index) of the path data")
  }

  /// The next byte that separates nothing; `nil` at the end.
  private mutating func next() -> UInt8? {
    while index < bytes.count, bytes[index].isSeparator { index += 1 }
    return index < bytes.count ? bytes[index] : nil
  }

  private mutating func number() throws(PathDataFailure) -> Double {
    _ = next()
    let first = index
    if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") { index += 1 }
    digits()
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      digits()
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") { index += 1 }
      digits()
    }
    // Coordinates beyond this have no use, and their squares would be infinite.
    guard let value = Double(String(decoding: bytes[first..<index], as: UTF8.self)), abs(value) < 1e6 else {
      index = first
      throw failure("a number is expected")
    }
    return value
  }

  private mutating func digits() {
    while index < bytes.count, bytes[index].isDigit { index += 1 }
  }

  /// A flag of an arc: one digit, which no separator needs to follow.
  private mutating func flag() throws(PathDataFailure) -> Bool {
    guard let digit = next(), digit == UInt8(ascii: "0") || digit == UInt8(ascii: "1") else {
      throw failure("0 or 1 is expected")
    }
    index += 1
    return digit == UInt8(ascii: "1")
  }

  private mutating func point(_ isRelative: Bool) throws(PathDataFailure) -> Point {
    let (x, y) = (try number(), try number())
    return isRelative ? Point(x: now.x + x, y: now.y + y) : Point(x: x, y: y)
  }

  // MARK: Commands

  private mutating func read(_ command: UInt8) throws(PathDataFailure) {
    let isRelative = command.isLowercase
    var controls: (cubic: Point?, quadratic: Point?) = (nil, nil)
    // A segment after the end of a subpath begins where that subpath began.
    if case .close = path.elements.last, !"MZ".utf8.contains(command.upper) { path.elements.append(.move(start)) }
    switch command.upper {
    case UInt8(ascii: "M"):
      now = try point(isRelative)
      start = now
      path.elements.append(.move(now))
    case UInt8(ascii: "L"): line(to: try point(isRelative))
    case UInt8(ascii: "H"): line(to: Point(x: try number() + (isRelative ? now.x : 0), y: now.y))
    case UInt8(ascii: "V"): line(to: Point(x: now.x, y: try number() + (isRelative ? now.y : 0)))
    case UInt8(ascii: "C"):
      let (one, two, end) = (try point(isRelative), try point(isRelative), try point(isRelative))
      controls.cubic = two
      curve(to: end, one, two)
    case UInt8(ascii: "S"):
      let one = mirrored(control.cubic)
      let (two, end) = (try point(isRelative), try point(isRelative))
      controls.cubic = two
      curve(to: end, one, two)
    case UInt8(ascii: "Q"), UInt8(ascii: "T"):
      let one = command.upper == UInt8(ascii: "Q") ? try point(isRelative) : mirrored(control.quadratic)
      now = try point(isRelative)
      controls.quadratic = one
      path.elements.append(.quad(now, control: one))
    case UInt8(ascii: "A"):
      let (radii, turn) = (Size(width: abs(try number()), height: abs(try number())), try number())
      let (isLarge, isClockwise) = (try flag(), try flag())
      arc(to: try point(isRelative), radii, turn, isLarge: isLarge, isClockwise: isClockwise)
    case UInt8(ascii: "Z"):
      path.elements.append(.close)
      now = start
    default:
      index -= 1
      throw failure("an unknown command")
    }
    control = controls
  }

  private func mirrored(_ control: Point?) -> Point {
    guard let control else { return now }
    return Point(x: 2 * now.x - control.x, y: 2 * now.y - control.y)
  }

  private mutating func line(to point: Point) {
    now = point
    path.elements.append(.line(now))
  }

  private mutating func curve(to point: Point, _ one: Point, _ two: Point) {
    now = point
    path.elements.append(.curve(now, control1: one, control2: two))
  }

  // MARK: Arcs

  /// Adds an elliptical arc as curves of at most a right angle each.
  private mutating func arc(to end: Point, _ radii: Size, _ degrees: Double, isLarge: Bool, isClockwise: Bool) {
    let begin = now
    if begin == end { return }
    now = end
    var (rx, ry) = (radii.width, radii.height)
    guard rx > 1e-9, ry > 1e-9 else {
      path.elements.append(.line(end))
      return
    }
    // The ends as the ellipse sees them: with its axes along x and y, and its radii as the units.
    let (sine, cosine) = (sinOfDegrees(degrees), sinOfDegrees(degrees + 90))
    let (dx, dy) = ((begin.x - end.x) / 2, (begin.y - end.y) / 2)
    var half = Point(x: (cosine * dx + sine * dy) / rx, y: (cosine * dy - sine * dx) / ry)
    let length = (half.x * half.x + half.y * half.y).squareRoot()
    if length > 1 {
      // Radii that are too small for the distance of the ends grow.
      (rx, ry) = (rx * length, ry * length)
      half = Point(x: half.x / length, y: half.y / length)
    }
    let square = half.x * half.x + half.y * half.y
    guard square > 1e-18 else {
      path.elements.append(.line(end))
      return
    }
    let away = (max(0, 1 - square) / square).squareRoot() * (isLarge == isClockwise ? -1 : 1)
    let centre = Point(x: away * half.y, y: -away * half.x)
    let (first, last) = (
      Point(x: half.x - centre.x, y: half.y - centre.y), Point(x: -half.x - centre.x, y: -half.y - centre.y)
    )
    /// A point of the unit circle in the coordinates of the path.
    func placed(_ point: Point) -> Point {
      let (x, y) = ((point.x + centre.x) * rx, (point.y + centre.y) * ry)
      return Point(x: cosine * x - sine * y + (begin.x + end.x) / 2, y: sine * x + cosine * y + (begin.y + end.y) / 2)
    }
    let curves = Self.curves(from: first, to: last, isClockwise ? 1 : -1, depth: 0)
    for (index, curve) in curves.enumerated() {
      path.elements.append(
        .curve(
          index == curves.count - 1 ? end : placed(curve.end), control1: placed(curve.one), control2: placed(curve.two))
      )
    }
  }

  /// An arc of the unit circle as curves. An arc of more than a right angle is divided in its middle, which needs no
  /// function but the square root, so that each machine computes the same numbers.
  ///
  /// - Parameter sign: 1 for clockwise, with y downwards.
  private static func curves(
    from one: Point, to other: Point, _ sign: Double, depth: Int
  ) -> [(one: Point, two: Point, end: Point)] {
    let dot = one.x * other.x + one.y * other.y
    let cross = sign * (one.x * other.y - one.y * other.x)
    if dot < 0 || cross < 0, depth < 3 {
      var middle = Point(x: one.x + other.x, y: one.y + other.y)
      let length = (middle.x * middle.x + middle.y * middle.y).squareRoot()
      if length < 1e-4 {
        middle = Point(x: -sign * one.y, y: sign * one.x)
      } else {
        let factor = (cross < 0 ? -1 : 1) / length
        middle = Point(x: middle.x * factor, y: middle.y * factor)
      }
      return curves(from: one, to: middle, sign, depth: depth + 1)
        + curves(from: middle, to: other, sign, depth: depth + 1)
    }
    // The control points are at 4/3 of the tangent of a quarter of the angle.
    let cosine = (max(0, 1 + min(dot, 1)) / 2).squareRoot()
    let sine = (max(0, 1 - cosine * cosine)).squareRoot()
    let reach = sign * 4 / 3 * sine / (1 + cosine)
    return [
      (
        Point(x: one.x - reach * one.y, y: one.y + reach * one.x),
        Point(x: other.x + reach * other.y, y: other.y - reach * other.x), other
      )
    ]
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (0x41...0x5A).contains(upper) }
  fileprivate var isLowercase: Bool { (0x61...0x7A).contains(self) }
  fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
  fileprivate var isSeparator: Bool { self == 0x20 || self == 0x2C || (0x09...0x0D).contains(self) }
  fileprivate var upper: UInt8 { isLowercase ? self - 0x20 : self }
}
