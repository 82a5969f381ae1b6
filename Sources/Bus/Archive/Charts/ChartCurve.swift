// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The line through the points of a series.
package enum ChartCurve {
  /// A place in the plot, in points.
  package struct Place: Hashable, Sendable {
    package var x: Double
    package var y: Double

    package init(_ x: Double, _ y: Double) {
      self.x = x
      self.y = y
    }
  }

  /// A part of the line, from the end of the one before.
  package enum Part: Hashable, Sendable {
    case line(Place)
    case curve(Place, Place, Place)

    /// Where the part ends.
    package var end: Place {
      switch self {
      case .line(let place), .curve(_, _, let place): place
      }
    }
  }

  /// The parts of the line after its first point.
  ///
  /// - Parameters:
  ///   - method: the name of Apple's interpolation method.
  ///   - tension: of a cardinal spline, from 0 to 1; 1 is straight.
  ///   - alpha: of a Catmull-Rom spline, from 0 to 1.
  package static func parts(
    through points: [Place], method: String = "linear", tension: Double = 0, alpha: Double = 0.5
  ) -> [Part] {
    guard points.count > 1 else { return [] }
    switch method {
    case "monotone": return monotone(points)
    case "catmullRom": return catmullRom(points, alpha)
    case "cardinal": return cardinal(points, tension)
    case "stepStart": return steps(points) { start, _ in start.x }
    case "stepCenter": return steps(points) { start, end in (start.x + end.x) / 2 }
    case "stepEnd": return steps(points) { _, end in end.x }
    default: return points.dropFirst().map { .line($0) }
    }
  }

  /// Horizontal lines, joined by a vertical one at the given place between two points.
  private static func steps(_ points: [Place], _ join: (Place, Place) -> Double) -> [Part] {
    zip(points, points.dropFirst()).flatMap { start, end -> [Part] in
      let x = join(start, end)
      return [.line(Place(x, start.y)), .line(Place(x, end.y)), .line(end)]
    }
  }

  /// A cubic spline that is never above or below two neighbours between them. Source: Steffen, "A simple method for
  /// monotonic interpolation in one dimension", 1990.
  private static func monotone(_ points: [Place]) -> [Part] {
    let slopes = zip(points, points.dropFirst()).map { start, end in
      end.x == start.x ? 0 : (end.y - start.y) / (end.x - start.x)
    }
    var tangents = Array(repeating: 0.0, count: points.count)
    for index in points.indices.dropFirst().dropLast() {
      let (before, after) = (slopes[index - 1], slopes[index])
      guard before * after > 0 else { continue }
      let (left, right) = (points[index].x - points[index - 1].x, points[index + 1].x - points[index].x)
      let middle = (before * right + after * left) / (left + right)
      let sign = before < 0 ? -1.0 : 1
      tangents[index] = sign * min(2 * abs(before), 2 * abs(after), abs(middle))
    }
    // At the ends a parabola through the first slope and the tangent beside it.
    tangents[0] = points.count == 2 ? slopes[0] : bounded((3 * slopes[0] - tangents[1]) / 2, slopes[0])
    let last = points.count - 1
    tangents[last] =
      points.count == 2 ? slopes[0] : bounded((3 * slopes[last - 1] - tangents[last - 1]) / 2, slopes[last - 1])
    return points.indices.dropFirst().map { index in
      let (start, end) = (points[index - 1], points[index])
      let third = (end.x - start.x) / 3
      return .curve(
        Place(start.x + third, start.y + tangents[index - 1] * third),
        Place(end.x - third, end.y - tangents[index] * third), end)
    }
  }

  /// The tangent at an end, so that the curve does not turn back.
  private static func bounded(_ tangent: Double, _ slope: Double) -> Double {
    if tangent * slope <= 0 { return 0 }
    return abs(tangent) > 2 * abs(slope) ? 2 * slope : tangent
  }

  private static func cardinal(_ points: [Place], _ tension: Double) -> [Part] {
    let factor = (1 - min(max(tension, 0), 1)) / 6
    return points.indices.dropFirst().map { index in
      let (start, end) = (points[index - 1], points[index])
      let (before, after) = (points[max(index - 2, 0)], points[min(index + 1, points.count - 1)])
      return .curve(
        Place(start.x + (end.x - before.x) * factor, start.y + (end.y - before.y) * factor),
        Place(end.x - (after.x - start.x) * factor, end.y - (after.y - start.y) * factor), end)
    }
  }

  /// Source: Barry and Goldman, "A recursive evaluation algorithm for a class of Catmull-Rom splines", 1988, as Bézier
  /// curves.
  private static func catmullRom(_ points: [Place], _ alpha: Double) -> [Part] {
    /// The distance of two points to the power of 2 alpha.
    func distance(_ one: Place, _ other: Place) -> Double {
      pow((other.x - one.x) * (other.x - one.x) + (other.y - one.y) * (other.y - one.y), min(max(alpha, 0), 1))
    }
    return points.indices.dropFirst().map { index in
      let (start, end) = (points[index - 1], points[index])
      let (before, after) = (points[max(index - 2, 0)], points[min(index + 1, points.count - 1)])
      let (one, two, three) = (distance(before, start), distance(start, end), distance(end, after))
      let (first, second, third) = (one.squareRoot(), two.squareRoot(), three.squareRoot())
      var (control, other) = (start, end)
      if first > 0 {
        let weight = 2 * one + 3 * first * second + two
        let sum = 3 * first * (first + second)
        control = Place(
          (start.x * weight - before.x * two + end.x * one) / sum,
          (start.y * weight - before.y * two + end.y * one) / sum)
      }
      if third > 0 {
        let weight = 2 * three + 3 * third * second + two
        let sum = 3 * third * (third + second)
        other = Place(
          (end.x * weight + start.x * three - after.x * two) / sum,
          (end.y * weight + start.y * three - after.y * two) / sum)
      }
      return .curve(control, other, end)
    }
  }
}

/// Where marks at the same place start and end along the axis of their lengths.
package enum ChartStacking {
  /// The length of one mark, and the others that it is stacked with.
  package struct Piece: Hashable, Sendable {
    /// The marks of one stack have the same.
    package var stack: Stack
    package var length: Double
    /// By the name of Apple's method: `standard`, `normalized`, `center` or `unstacked`.
    package var method: String

    package init(stack: Stack, length: Double, method: String = "standard") {
      self.stack = stack
      self.length = length
      self.method = method
    }
  }

  /// What the marks of one stack have in common.
  package struct Stack: Hashable, Sendable {
    package var kind: MarkView
    package var place: ChartValue?
    package var category: String?

    package init(kind: MarkView, place: ChartValue?, category: String? = nil) {
      self.kind = kind
      self.place = place
      self.category = category
    }
  }

  /// The start and the end of each piece, in the same order. Negative lengths are stacked below zero.
  package static func extents(of pieces: [Piece]) -> [ClosedExtent] {
    var (above, below, totals): ([Stack: Double], [Stack: Double], [Stack: Double]) = ([:], [:], [:])
    for piece in pieces where piece.method != "unstacked" { totals[piece.stack, default: 0] += abs(piece.length) }
    return pieces.map { piece in
      guard piece.method != "unstacked" else { return ClosedExtent(start: 0, end: piece.length) }
      let total = totals[piece.stack] ?? 0
      var length = piece.length
      if piece.method == "normalized" { length = total > 0 ? length / total : 0 }
      if piece.method == "center" {
        let start = above[piece.stack] ?? -total / 2
        above[piece.stack] = start + abs(length)
        return ClosedExtent(start: start, end: start + abs(length))
      }
      let start = (length < 0 ? below[piece.stack] : above[piece.stack]) ?? 0
      if length < 0 { below[piece.stack] = start + length } else { above[piece.stack] = start + length }
      return ClosedExtent(start: start, end: start + length)
    }
  }
}

/// A start and an end on an axis; the end may be the smaller one.
package struct ClosedExtent: Hashable, Sendable {
  package var start: Double
  package var end: Double

  package init(start: Double, end: Double) {
    self.start = start
    self.end = end
  }
}
