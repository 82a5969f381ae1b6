// SPDX-License-Identifier: Apache-2.0

/// The direction of a stack.
package enum Axis: Hashable, Sendable {
  case horizontal, vertical

  var other: Axis { self == .horizontal ? .vertical : .horizontal }
}

/// A place, in points: x to the trailing edge, y downwards.
package struct Point: Hashable, Sendable {
  package var x: Double
  package var y: Double

  package init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  subscript(axis: Axis) -> Double {
    get { axis == .horizontal ? x : y }
    set { if axis == .horizontal { x = newValue } else { y = newValue } }
  }
}

/// A size in points.
package struct Size: Hashable, Sendable {
  package var width: Double
  package var height: Double

  package static let zero = Size(width: 0, height: 0)

  package init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  subscript(axis: Axis) -> Double {
    get { axis == .horizontal ? width : height }
    set { if axis == .horizontal { width = newValue } else { height = newValue } }
  }
}

/// A rectangle in points.
package struct Rect: Hashable, Sendable {
  package var origin: Point
  package var size: Size

  package init(origin: Point, size: Size) {
    self.origin = origin
    self.size = size
  }

  package init(x: Double, y: Double, width: Double, height: Double) {
    self.init(origin: Point(x: x, y: y), size: Size(width: width, height: height))
  }

  package var minX: Double { origin.x }
  package var minY: Double { origin.y }
  package var maxX: Double { origin.x + size.width }
  package var maxY: Double { origin.y + size.height }
  package var midX: Double { origin.x + size.width / 2 }
  package var midY: Double { origin.y + size.height / 2 }

  /// The rectangle without these margins, with no side below zero.
  package func inset(_ insets: Insets) -> Rect {
    Rect(
      x: minX + insets.leading, y: minY + insets.top, width: max(0, size.width - insets.horizontal),
      height: max(0, size.height - insets.vertical))
  }
}

/// Margins in points.
package struct Insets: Hashable, Sendable {
  package var top: Double
  package var leading: Double
  package var bottom: Double
  package var trailing: Double

  package init(top: Double, leading: Double, bottom: Double, trailing: Double) {
    self.top = top
    self.leading = leading
    self.bottom = bottom
    self.trailing = trailing
  }

  /// The same margin on all four sides.
  package init(_ inset: Double) { self.init(top: inset, leading: inset, bottom: inset, trailing: inset) }

  var horizontal: Double { leading + trailing }
  var vertical: Double { top + bottom }
}

/// The size that a parent proposes, in points, per axis: a number, infinity, or `nil` for the ideal size.
struct Proposal: Hashable {
  var width: Double?
  var height: Double?

  static let ideal = Proposal(width: nil, height: nil)

  init(width: Double?, height: Double?) {
    self.width = width.map { max($0, 0) }
    self.height = height.map { max($0, 0) }
  }

  init(_ size: Size) { self.init(width: size.width, height: size.height) }

  init(_ length: Double?, along axis: Axis, across: Double?) {
    if axis == .horizontal {
      self.init(width: length, height: across)
    } else {
      self.init(width: across, height: length)
    }
  }

  subscript(axis: Axis) -> Double? { axis == .horizontal ? width : height }

  /// The proposal to a child within these margins.
  func inset(_ insets: Insets) -> Proposal {
    Proposal(width: width.map { $0 - insets.horizontal }, height: height.map { $0 - insets.vertical })
  }
}

extension Double {
  /// The next multiple of a pixel that is not smaller, apart from the error of a calculation.
  func roundedUp(toPixelsOf scale: Double) -> Double {
    guard isFinite else { return self }
    return (self * scale - 0.001).rounded(.up) / scale
  }

  /// The number within two limits; the lower limit wins.
  func clamped(_ lower: Double?, _ upper: Double?) -> Double {
    Swift.max(Swift.min(self, upper ?? .infinity), lower ?? -.infinity)
  }
}
