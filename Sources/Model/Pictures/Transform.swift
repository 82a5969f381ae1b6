// SPDX-License-Identifier: Apache-2.0

import Archive
import Layout

/// An affine map: a point becomes (a x + c y + x₀, b x + d y + y₀).
struct Transform: Hashable {
  var (a, b, c, d) = (1.0, 0.0, 0.0, 1.0)
  var (x, y) = (0.0, 0.0)

  static func scale(_ x: Double, _ y: Double) -> Transform {
    var result = Transform()
    (result.a, result.d) = (x, y)
    return result
  }

  static func move(_ x: Double, _ y: Double) -> Transform {
    var result = Transform()
    (result.x, result.y) = (x, y)
    return result
  }

  /// A turn about the origin, clockwise.
  static func rotation(degrees: Double) -> Transform {
    let (sine, cosine) = (sinOfDegrees(degrees), sinOfDegrees(degrees + 90))
    var result = Transform()
    (result.a, result.b, result.c, result.d) = (cosine, sine, -sine, cosine)
    return result
  }

  /// The map that applies another one first.
  func after(_ other: Transform) -> Transform {
    var result = Transform()
    (result.a, result.b) = (a * other.a + c * other.b, b * other.a + d * other.b)
    (result.c, result.d) = (a * other.c + c * other.d, b * other.c + d * other.d)
    (result.x, result.y) = (a * other.x + c * other.y + x, b * other.x + d * other.y + y)
    return result
  }

  func callAsFunction(_ point: Point) -> Point {
    Point(x: a * point.x + c * point.y + x, y: b * point.x + d * point.y + y)
  }

  /// The factor of areas, with its sign.
  var determinant: Double { a * d - b * c }

  /// The factor of lengths, as a mean of all directions.
  var factor: Double { abs(determinant).squareRoot() }

  /// The map back; `nil`: areas become lines or points, or a number is not finite.
  var inverse: Transform? {
    let determinant = determinant
    guard [a, b, c, d, x, y].allSatisfy(\.isFinite), abs(determinant) > 1e-12 else { return nil }
    var result = Transform()
    (result.a, result.b) = (d / determinant, -b / determinant)
    (result.c, result.d) = (-c / determinant, a / determinant)
    (result.x, result.y) = ((c * y - d * x) / determinant, (b * x - a * y) / determinant)
    return result
  }
}

extension Drawing.Group {
  /// The map of the group's coordinates to those around it. A group has one of the three.
  var transform: Transform {
    if let offset { return .move(offset.x, offset.y) }
    if let rotation {
      return .move(rotation.about.x, rotation.about.y).after(.rotation(degrees: rotation.degrees))
        .after(.move(-rotation.about.x, -rotation.about.y))
    }
    if let scale {
      return .move(scale.about.x, scale.about.y).after(.scale(scale.x, scale.y))
        .after(.move(-scale.about.x, -scale.about.y))
    }
    return Transform()
  }
}

/// A rectangle of whole pixels. The ends are not part of it.
struct PixelBox: Hashable {
  var left: Int
  var top: Int
  var right: Int
  var bottom: Int

  var width: Int { right - left }
  var height: Int { bottom - top }
  var isEmpty: Bool { right <= left || bottom <= top }

  init(left: Int, top: Int, right: Int, bottom: Int) {
    (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
  }

  /// The pixels that a rectangle touches after a map.
  init(_ rect: Rect, _ transform: Transform) {
    let corners = [
      rect.origin, Point(x: rect.maxX, y: rect.minY), Point(x: rect.minX, y: rect.maxY),
      Point(x: rect.maxX, y: rect.maxY),
    ].map { transform($0) }
    func whole(_ number: Double) -> Int { Int(saturating: min(max(number, -1e6), 1e6)) }
    let (xs, ys) = (corners.map(\.x), corners.map(\.y))
    left = whole((xs.min() ?? 0).rounded(.down))
    top = whole((ys.min() ?? 0).rounded(.down))
    right = whole((xs.max() ?? 0).rounded(.up))
    bottom = whole((ys.max() ?? 0).rounded(.up))
  }

  func intersection(_ other: PixelBox) -> PixelBox {
    PixelBox(
      left: max(left, other.left), top: max(top, other.top), right: min(right, other.right),
      bottom: min(bottom, other.bottom))
  }

  func grown(by margin: Int) -> PixelBox {
    PixelBox(left: left - margin, top: top - margin, right: right + margin, bottom: bottom + margin)
  }
}
