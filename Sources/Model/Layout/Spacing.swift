// SPDX-License-Identifier: Apache-2.0

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
    var found: [Double] = []
    if axis == .vertical {
      if end.text != nil, let lower = start.text { found.append(lower.leading) }
      if end.isPlain, let lower = start.text { found.append(lower.distance) }
      if let upper = end.text, start.isPlain { found.append(upper.distance) }
    }
    if let distance = found.max() { return distance }
    return [end.fixed, start.fixed].compactMap { $0 }.max() ?? standard
  }

  mutating func formUnion(_ other: Spacing) {
    top.formUnion(other.top)
    leading.formUnion(other.leading)
    bottom.formUnion(other.bottom)
    trailing.formUnion(other.trailing)
  }
}
