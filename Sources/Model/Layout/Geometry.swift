// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation

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
package typealias Insets = WidgetEnvironment.Insets

extension Insets {
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

/// A line by which views are aligned. Source: `SwiftUI.HorizontalAlignment`, `SwiftUI.VerticalAlignment`.
enum AlignmentGuide: Hashable {
  case leading, center, trailing, top, bottom, firstTextBaseline, lastTextBaseline
  /// A guide of the author.
  case custom(String)

  private static let system: [AlignmentGuide] = [
    .leading, .center, .trailing, .top, .bottom, .firstTextBaseline, .lastTextBaseline,
  ]

  /// A guide of the system, or else one of the author.
  init(named name: some StringProtocol) {
    self = Self.system.first { $0.name == name } ?? .custom(String(name))
  }

  var name: String { if case .custom(let name) = self { name } else { "\(self)" } }
  var isCustom: Bool { if case .custom = self { true } else { false } }

  /// The place of the guide in a view that sets none, in points from its leading or top edge. For a guide of the
  /// author, which is not known here, it is the centre.
  func standard(in length: Double) -> Double {
    switch self {
    case .leading, .top: 0
    case .center, .custom: length / 2
    case .trailing, .bottom, .firstTextBaseline, .lastTextBaseline: length
    }
  }

  /// Combines the places in several children.
  func combined(_ places: [Double]) -> Double? { self == .lastTextBaseline ? places.max() : places.min() }

  var isBaseline: Bool { self == .firstTextBaseline || self == .lastTextBaseline }
}

/// How a view is aligned on both axes. Source: `SwiftUI.Alignment`.
struct Alignment: Equatable {
  var horizontal: AlignmentGuide
  var vertical: AlignmentGuide

  static let center = Alignment(horizontal: .center, vertical: .center)
  static let topLeading = Alignment(horizontal: .leading, vertical: .top)

  subscript(axis: Axis) -> AlignmentGuide { axis == .horizontal ? horizontal : vertical }
}

extension Alignment {
  /// The alignment that an archive names, such as `leading`, `bottomTrailing` or `firstTextBaselineLeading`, or with a
  /// guide of the author `(Mine, top)`.
  ///
  /// - Returns: `nil` for another name.
  init?(named name: String) {
    self = .center
    if name.hasPrefix("("), name.hasSuffix(")"), let comma = name.range(of: ", ", options: .backwards) {
      horizontal = AlignmentGuide(named: name[name.index(after: name.startIndex)..<comma.lowerBound])
      vertical = AlignmentGuide(named: name[comma.upperBound...].dropLast())
      return
    }
    var rest = Substring(name)
    for vertical in [AlignmentGuide.top, .bottom, .firstTextBaseline, .lastTextBaseline]
    where rest.hasPrefix(vertical.name) {
      self.vertical = vertical
      rest = rest.dropFirst(vertical.name.count)
    }
    if rest.isEmpty { return }
    let horizontal = AlignmentGuide(named: rest.prefix(1).lowercased() + rest.dropFirst())
    if horizontal.isCustom { return nil }
    self.horizontal = horizontal
  }
}

/// What a view prefers as the distance to its neighbours. Source: OpenSwiftUI, `Layout/Geometry/Spacing.swift` and
/// `View/Text/Text/Text+Spacing.swift`.
struct Spacing: Equatable {
  /// The preferences of one edge.
  struct Edge: Equatable {
    /// The edge is that of a view without text: a text keeps the distance that it prefers.
    var isPlain = false
    var text: TextEdge?
    /// A distance to any neighbour that prefers nothing else.
    var fixed: Double?

    static let plain = Edge(isPlain: true)

    mutating func formUnion(_ other: Edge) {
      isPlain = isPlain || other.isPlain
      if let theirs = other.text { text = text.map { $0.union(theirs) } ?? theirs }
      if let theirs = other.fixed { fixed = max(fixed ?? theirs, theirs) }
    }
  }

  /// The distances that a text prefers at its upper or lower edge, in points.
  struct TextEdge: Equatable {
    /// To a view without text.
    var distance: Double
    /// To another text: the leading of the lower one.
    var leading: Double

    func union(_ other: TextEdge) -> TextEdge {
      TextEdge(distance: max(distance, other.distance), leading: max(leading, other.leading))
    }
  }

  var top = Edge.plain
  var leading = Edge.plain
  var bottom = Edge.plain
  var trailing = Edge.plain

  /// The distance between views that prefer none.
  static let standard = 8.0
  /// Of a view that keeps no distance.
  static let zero = Spacing(
    top: Edge(fixed: 0), leading: Edge(fixed: 0), bottom: Edge(fixed: 0), trailing: Edge(fixed: 0))

  /// The preferences of a spacer: no distance along the axis of its stack, and none that counts across.
  static func spacer(along axis: Axis) -> Spacing {
    var spacing = Spacing(top: Edge(), leading: Edge(), bottom: Edge(), trailing: Edge())
    spacing[axis].start = Edge(fixed: 0)
    spacing[axis].end = Edge(fixed: 0)
    return spacing
  }

  /// The preferences of a text in lines with these metrics.
  static func text(_ metrics: LineMetrics, scale: Double) -> Spacing {
    let gap = (metrics.height * 0.1).roundedUp(toPixelsOf: scale)
    var spacing = Spacing()
    let leading = metrics.leading.roundedUp(toPixelsOf: scale)
    spacing.top = Edge(text: TextEdge(distance: metrics.height + gap - metrics.ascent, leading: leading))
    spacing.bottom = Edge(
      text: TextEdge(
        distance: max(metrics.height + gap - metrics.capHeight, gap + metrics.descent), leading: leading))
    return spacing
  }

  /// The two edges on an axis.
  subscript(axis: Axis) -> (start: Edge, end: Edge) {
    get { axis == .horizontal ? (leading, trailing) : (top, bottom) }
    set {
      if axis == .horizontal { (leading, trailing) = newValue } else { (top, bottom) = newValue }
    }
  }

  /// The distance in points between a view and the next one in a stack.
  static func distance(from first: Spacing, to second: Spacing, along axis: Axis) -> Double {
    let (end, start) = (first[axis].end, second[axis].start)
    var distances: [Double] = []
    if axis == .vertical {
      if end.text != nil, let lower = start.text { distances.append(lower.leading) }
      if end.isPlain, let lower = start.text { distances.append(lower.distance) }
      if let upper = end.text, start.isPlain { distances.append(upper.distance) }
    }
    if let distance = distances.max() { return distance }
    return [end.fixed, start.fixed].compactMap { $0 }.max() ?? standard
  }

  mutating func formUnion(_ other: Spacing) {
    top.formUnion(other.top)
    leading.formUnion(other.leading)
    bottom.formUnion(other.bottom)
    trailing.formUnion(other.trailing)
  }
}
