// SPDX-License-Identifier: Apache-2.0

import Archive

/// What all nodes of one layout share.
final class LayoutContext {
  let measure: any TextMeasure
  /// Pixels per point.
  let scale: Double
  let limits: LayoutLimits
  /// Of the widget.
  let family: WidgetFamilyName?
  /// Whether the language is written from right to left.
  let isRightToLeft: Bool
  private(set) var notices: [LayoutNotice] = []
  private var knownNotices: Set<LayoutNotice> = []
  private var measurements = 0
  /// The content of `containerBackground(for: .widget)`.
  var background: [LayoutNode] = []
  /// Whether a view sets an alignment guide.
  var hasOwnGuides = false
  /// The sizes of closures of the extension that were called with another size, by their identifiers.
  private(set) var closures: [String: Size] = [:]

  init(_ canvas: LayoutCanvas, measure: any TextMeasure, limits: LayoutLimits) {
    (scale, family, isRightToLeft) = (canvas.scale, canvas.family, canvas.isRightToLeft)
    self.measure = measure
    self.limits = limits
  }

  func note(_ reason: LayoutNotice.Reason, _ subject: String) {
    let notice = LayoutNotice(reason, subject)
    if knownNotices.insert(notice).inserted { notices.append(notice) }
  }

  /// Compares the size with which the extension called a closure with the size here. A difference of more than half a
  /// point is noted.
  ///
  /// - Parameters:
  ///   - arguments: with the identifier of the closure.
  ///   - label: that of the size in the arguments; without a size, the closure was not called yet.
  ///   - name: of the view or modifier.
  func check(_ arguments: ArchivedArguments, label: ArgumentLabel, size: Size, name: String) {
    func text(_ width: Double, _ height: Double) -> String { "\(width.shortText) × \(height.shortText)" }
    var called: ArchivedArguments = [:]
    if case .record(let size) = arguments[label] { called = size }
    let (width, height) = (called[.width]?.finite, called[.height]?.finite)
    if let width, let height, abs(width - size.width) <= 0.5, abs(height - size.height) <= 0.5 { return }
    if let closure = arguments[.closure]?.string, size.width.isFinite, size.height.isFinite {
      closures[closure] = size
    }
    guard let width, let height else { return }
    note(
      .madeForAnotherSize,
      "\(name) was made for \(text(width, height)) points, and has \(text(size.width, size.height))")
  }

  /// Counts a measurement.
  ///
  /// - Returns: whether the limit is not exceeded.
  func mayMeasure(_ name: String) -> Bool {
    measurements += 1
    if measurements > limits.measurements { note(.tooManyMeasurements, name) }
    return measurements <= limits.measurements
  }
}

/// Identifies the place of a guide of a view.
private struct GuideKey: Hashable {
  let guide: AlignmentGuide
  let axis: Axis
  let proposal: Proposal
}

/// A view or a modifier that takes part in the layout. The size depends on the proposal; the place is given afterwards.
class LayoutNode {
  /// SwiftUI's name, for notices.
  let name: String
  let style: ViewStyle
  let context: LayoutContext
  private var sizes: [(proposal: Proposal, size: Size)] = []
  /// The sizes after the first eight, which are found more quickly in a list.
  private var furtherSizes: [Proposal: Size] = [:]
  private var ownGuides: [GuideKey: Double?] = [:]
  /// What the view prefers as the distance to its neighbours.
  private(set) final lazy var spacing = preferredSpacing()

  init(_ name: String, style: ViewStyle, context: LayoutContext) {
    self.name = name
    self.style = style
    self.context = context
  }

  /// The size for a proposal: not negative, and never not a number; infinite only where infinity is proposed.
  final func size(_ proposal: Proposal) -> Size {
    if let known = sizes.first(where: { $0.proposal == proposal })?.size ?? furtherSizes[proposal] { return known }
    var size = Size.zero
    if context.mayMeasure(name) {
      size = calculateSize(proposal)
      if !(size.width >= 0) { size.width = 0 }
      if !(size.height >= 0) { size.height = 0 }
    }
    if sizes.count < 8 { sizes.append((proposal, size)) } else { furtherSizes[proposal] = size }
    return size
  }

  /// The place of a guide in points from the leading or top edge.
  final func guide(_ guide: AlignmentGuide, axis: Axis, proposal: Proposal) -> Double {
    if context.hasOwnGuides, let own = ownGuide(guide, axis: axis, proposal: proposal) { return own }
    if guide.isBaseline, let baseline = baseline(guide, proposal) { return baseline }
    if guide.isCustom, let usual = defaultGuide(guide, axis) { return usual }
    return guide.standard(in: size(proposal)[axis])
  }

  /// The place of a guide that `alignmentGuide` set, on the view or within it; `nil`: none did.
  final func ownGuide(_ guide: AlignmentGuide, axis: Axis, proposal: Proposal) -> Double? {
    let key = GuideKey(guide: guide, axis: axis, proposal: proposal)
    if let known = ownGuides[key] { return known }
    let found = context.mayMeasure(name) ? findOwnGuide(guide, axis: axis, proposal: proposal) : nil
    ownGuides.updateValue(found, forKey: key)
    return found
  }

  // MARK: What a node defines

  func calculateSize(_ proposal: Proposal) -> Size { .zero }
  /// The place of a baseline from the top edge; `nil`: the view has no text.
  func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? { nil }
  /// The place of a guide of the author that no `alignmentGuide` set; `nil`: it is not calculated yet.
  func defaultGuide(_ guide: AlignmentGuide, _ axis: Axis) -> Double? { nil }
  /// See `ownGuide`.
  func findOwnGuide(_ guide: AlignmentGuide, axis: Axis, proposal: Proposal) -> Double? { nil }
  /// Returns the view at a place, for the proposal that gave it its size.
  func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] { [] }
  func preferredSpacing() -> Spacing { Spacing() }
  var priority: Double { 0 }
  var zIndex: Double { 0 }
  var gridTraits: GridTraits { GridTraits() }

  /// A placed view without content.
  final func placed(
    _ kind: PlacedView.Kind, arguments: ArchivedArguments, at origin: Point, size: Size
  ) -> PlacedView {
    PlacedView(kind: kind, arguments: arguments, frame: Rect(origin: origin, size: size), style: style)
  }
}

/// A view that is placed under its name.
class ViewNode: LayoutNode {
  let view: ViewName

  init(_ view: ViewName, style: ViewStyle, context: LayoutContext) {
    self.view = view
    super.init(view.rawValue, style: style, context: context)
  }

  /// The placed view without content.
  final func placed(_ arguments: ArchivedArguments, at origin: Point, _ size: Size) -> PlacedView {
    placed(.view(view), arguments: arguments, at: origin, size: size)
  }
}

/// A modifier of one view. It leaves everything to that view, except what a subclass changes.
class WrappingNode: LayoutNode {
  let content: LayoutNode

  init(_ name: String, content: LayoutNode, style: ViewStyle) {
    self.content = content
    super.init(name, style: style, context: content.context)
  }

  /// The proposal to the content.
  func inner(_ proposal: Proposal) -> Proposal { proposal }
  /// The place of the content within this view.
  func offset(_ proposal: Proposal) -> Point { Point(x: 0, y: 0) }

  override func calculateSize(_ proposal: Proposal) -> Size { content.size(inner(proposal)) }

  override func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    content.baseline(guide, inner(proposal)).map { $0 + offset(proposal).y }
  }

  override func findOwnGuide(_ guide: AlignmentGuide, axis: Axis, proposal: Proposal) -> Double? {
    content.ownGuide(guide, axis: axis, proposal: inner(proposal)).map { $0 + offset(proposal)[axis] }
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let offset = offset(proposal)
    return content.place(at: Point(x: origin.x + offset.x, y: origin.y + offset.y), inner(proposal))
  }

  override func preferredSpacing() -> Spacing { content.spacing }
  override var priority: Double { content.priority }
  override var zIndex: Double { content.zIndex }
  override var gridTraits: GridTraits { content.gridTraits }

  /// Where the content is when it is aligned in a frame.
  final func aligned(_ alignment: Alignment, size: Size, proposal: Proposal) -> Point {
    func place(_ axis: Axis) -> Double {
      let distance =
        alignment[axis].standard(in: size[axis]) - content.guide(alignment[axis], axis: axis, proposal: proposal)
      return distance.isFinite ? distance : 0
    }
    return Point(x: place(.horizontal), y: place(.vertical))
  }
}

extension Double {
  /// With at most one decimal place.
  fileprivate var shortText: String {
    guard isFinite, abs(self) < 1e12 else { return "\(self)" }
    let tenths = (self * 10).rounded() / 10
    return tenths == tenths.rounded() ? "\(Int(saturating: tenths))" : "\(tenths)"
  }
}

/// What a layout does not show as a device would, by name.
package struct LayoutNotice: Hashable, Sendable, CustomStringConvertible {
  package enum Reason: String, Hashable, Sendable {
    /// The view is not laid out: it has no size and no content.
    case viewNotLaidOut
    /// The modifier has no effect.
    case modifierNotLaidOut
    /// The size of an image is not in the archive.
    case unknownImageSize
    /// The extension made the content for another size than the layout found.
    case madeForAnotherSize
    /// Only Apple's system font is measured; another font is measured as that.
    case fontNotAvailable
    /// A number of the author is negative, infinite or not a number where SwiftUI accepts none.
    case invalidNumber
    /// The views are nested deeper than the limit; the rest is omitted.
    case tooDeep
    /// The text is longer than the limit; the rest is omitted.
    case textTooLong
    /// The layout needs more measurements than the limit; the rest has no size.
    case tooManyMeasurements
  }

  package let reason: Reason
  /// The view or modifier by SwiftUI's name, with what identifies it.
  package let subject: String

  init(_ reason: Reason, _ subject: String) {
    self.reason = reason
    self.subject = subject
  }

  /// A sentence for a person.
  package var description: String {
    switch reason {
    case .viewNotLaidOut: "\(subject) is not drawn"
    case .modifierNotLaidOut: "\(subject) has no effect"
    case .unknownImageSize: "\(subject): the size of the image is not known"
    case .madeForAnotherSize: "\(subject)"
    case .fontNotAvailable: "the font \(subject) is not available"
    case .invalidNumber: "\(subject): the number is negative, infinite or not a number, and is ignored"
    case .tooDeep: "the views are nested too deep, from \(subject) on"
    case .textTooLong: "the text \(subject) is too long, and is cut"
    case .tooManyMeasurements: "the layout is too complex, from \(subject) on"
    }
  }
}

/// What bounds the time and the memory of a layout.
package struct LayoutLimits: Hashable, Sendable {
  /// Nested views and modifiers.
  package var depth: Int
  /// Sizes that are calculated, over all views.
  package var measurements: Int
  /// Characters of one text.
  package var characters: Int

  package init(depth: Int = 300, measurements: Int = 200_000, characters: Int = 10_000) {
    self.depth = depth
    self.measurements = measurements
    self.characters = characters
  }
}
