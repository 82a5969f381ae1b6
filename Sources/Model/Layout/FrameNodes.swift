// SPDX-License-Identifier: Apache-2.0

import Archive

/// `padding`. Source: OpenSwiftUI, `Layout/Modifier/PaddingLayout.swift`.
final class PaddingNode: WrappingNode {
  private let insets: Insets

  /// The padding without a length, in points. Source: OpenSwiftUI, `Layout/Modifier/DefaultPadding.swift`.
  static let standard = 16.0

  init(_ content: LayoutNode, insets: Insets, style: ViewStyle) {
    self.insets = insets
    super.init(LayoutModifier.padding.rawValue, content: content, style: style)
  }

  override func inner(_ proposal: Proposal) -> Proposal { proposal.inset(insets) }
  override func offset(_ proposal: Proposal) -> Point { Point(x: insets.leading, y: insets.top) }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let size = content.size(inner(proposal))
    return Size(width: max(0, size.width + insets.horizontal), height: max(0, size.height + insets.vertical))
  }

  override func preferredSpacing() -> Spacing {
    var spacing = content.spacing
    if insets.top != 0 { spacing.top = .plain }
    if insets.leading != 0 { spacing.leading = .plain }
    if insets.bottom != 0 { spacing.bottom = .plain }
    if insets.trailing != 0 { spacing.trailing = .plain }
    return spacing
  }
}

/// `frame(width:height:alignment:)`. Source: OpenSwiftUI, `Layout/Modifier/FrameLayout.swift`.
final class FrameNode: WrappingNode {
  private let width: Double?
  private let height: Double?
  private let alignment: Alignment

  init(_ content: LayoutNode, width: Double?, height: Double?, alignment: Alignment, style: ViewStyle) {
    self.width = width
    self.height = height
    self.alignment = alignment
    super.init(LayoutModifier.frame.rawValue, content: content, style: style)
  }

  override func inner(_ proposal: Proposal) -> Proposal {
    Proposal(width: width ?? proposal.width, height: height ?? proposal.height)
  }

  override func offset(_ proposal: Proposal) -> Point {
    aligned(alignment, size: size(proposal), proposal: inner(proposal))
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    if let width, let height { return Size(width: width, height: height) }
    let size = content.size(inner(proposal))
    return Size(width: width ?? size.width, height: height ?? size.height)
  }

  override func preferredSpacing() -> Spacing {
    content.spacing.without(horizontal: width != nil, vertical: height != nil)
  }
}

/// `frame(minWidth:idealWidth:maxWidth:…)`. Source: OpenSwiftUI, `Layout/Modifier/FrameLayout.swift`.
final class FlexibleFrameNode: WrappingNode {
  /// The lengths on one axis, in points.
  struct Limits {
    var least: Double?
    var ideal: Double?
    var most: Double?

    var isEmpty: Bool { least == nil && ideal == nil && most == nil }

    /// Each limit is at least the one before.
    init(least: Double?, ideal: Double?, most: Double?) {
      let least = least.map { max($0, 0) }
      let ideal = ideal.map { max(least ?? 0, $0) }
      self.least = least
      self.ideal = ideal
      self.most = most.map { max(ideal ?? least ?? 0, $0) }
    }

    /// The proposal to the content while the size is sought.
    func inner(_ proposed: Double?) -> Double? { (proposed ?? ideal).map { $0.clamped(least, most) } }

    /// The length, if it does not depend on the content.
    func length(_ proposed: Double?) -> Double? {
      guard let proposed else { return ideal }
      guard let least, let most else { return nil }
      return proposed.clamped(least, most)
    }

    /// The length around content of this length.
    func length(_ proposed: Double?, around content: Double) -> Double {
      switch (least, most) {
      case (let least?, let most?): content.clamped(least, most)
      case (let least?, nil): max(min(inner(proposed) ?? .infinity, content), least)
      case (nil, let most?): min(max(inner(proposed) ?? -.infinity, content), most)
      case (nil, nil): content
      }
    }

    /// The proposal to the content when it is placed in a frame of this length.
    func placing(_ proposed: Double?, in length: Double) -> Double? {
      let isIdeal =
        ideal == nil && proposed == nil && (least ?? -.infinity) < length && length < (most ?? .infinity)
      return isIdeal ? nil : length
    }
  }

  private let width: Limits
  private let height: Limits
  private let alignment: Alignment

  init(_ content: LayoutNode, width: Limits, height: Limits, alignment: Alignment, style: ViewStyle) {
    self.width = width
    self.height = height
    self.alignment = alignment
    super.init(LayoutModifier.frame.rawValue, content: content, style: style)
  }

  override func inner(_ proposal: Proposal) -> Proposal {
    let size = size(proposal)
    return Proposal(
      width: width.placing(proposal.width, in: size.width), height: height.placing(proposal.height, in: size.height))
  }

  override func offset(_ proposal: Proposal) -> Point {
    aligned(alignment, size: size(proposal), proposal: inner(proposal))
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let (fixedWidth, fixedHeight) = (width.length(proposal.width), height.length(proposal.height))
    if let fixedWidth, let fixedHeight { return Size(width: fixedWidth, height: fixedHeight) }
    let size = content.size(Proposal(width: width.inner(proposal.width), height: height.inner(proposal.height)))
    return Size(
      width: fixedWidth ?? width.length(proposal.width, around: size.width),
      height: fixedHeight ?? height.length(proposal.height, around: size.height))
  }

  override func preferredSpacing() -> Spacing {
    content.spacing.without(horizontal: !width.isEmpty, vertical: !height.isEmpty)
  }
}

extension Spacing {
  /// The preferences without those on some axes.
  fileprivate func without(horizontal: Bool, vertical: Bool) -> Spacing {
    var spacing = self
    if horizontal { (spacing.leading, spacing.trailing) = (.plain, .plain) }
    if vertical { (spacing.top, spacing.bottom) = (.plain, .plain) }
    return spacing
  }
}

/// `fixedSize`. Source: OpenSwiftUI, `Layout/FixedSizeLayout.swift`.
final class FixedSizeNode: WrappingNode {
  private let axes: Set<Axis>

  init(_ content: LayoutNode, axes: Set<Axis>, style: ViewStyle) {
    self.axes = axes
    super.init(LayoutModifier.fixedSize.rawValue, content: content, style: style)
  }

  override func inner(_ proposal: Proposal) -> Proposal {
    Proposal(
      width: axes.contains(.horizontal) ? nil : proposal.width, height: axes.contains(.vertical) ? nil : proposal.height
    )
  }
}

/// `aspectRatio`, `scaledToFit` and `scaledToFill`. Source: OpenSwiftUI, `Layout/AspectRatioLayout.swift`.
final class AspectRatioNode: WrappingNode {
  private let ratio: Double?
  private let fills: Bool

  /// - Parameter ratio: width by height; `nil`: that of the ideal size.
  init(_ content: LayoutNode, ratio: Double?, fills: Bool, _ style: ViewStyle) {
    self.ratio = ratio
    self.fills = fills
    super.init(LayoutModifier.aspectRatio.rawValue, content: content, style: style)
  }

  override func inner(_ proposal: Proposal) -> Proposal {
    guard proposal != .ideal else { return proposal }
    let size = ratio.map { Size(width: $0, height: 1) } ?? content.size(.ideal)
    let scales = [Axis.horizontal, .vertical].map { axis -> Double in
      guard let proposed = proposal[axis], size[axis] != 0 || proposed != 0 else { return .infinity }
      return proposed / size[axis]
    }
    let scale = fills ? max(scales[0], scales[1]) : min(scales[0], scales[1])
    func length(_ ownLength: Double) -> Double? { (ownLength * scale).isNaN ? nil : ownLength * scale }
    return Proposal(width: length(size.width), height: length(size.height))
  }
}

/// `layoutPriority` and `zIndex`.
final class OrderNode: WrappingNode {
  private let ownPriority: Double?
  private let ownIndex: Double?

  init(_ content: LayoutNode, priority: Double? = nil, zIndex: Double? = nil, _ style: ViewStyle) {
    ownPriority = priority
    ownIndex = zIndex
    super.init((priority == nil ? LayoutModifier.zIndex : .layoutPriority).rawValue, content: content, style: style)
  }

  override var priority: Double { ownPriority ?? content.priority }
  override var zIndex: Double { ownIndex ?? content.zIndex }
}

/// `offset` and `position`. An offset moves only the picture of the view.
final class MovedNode: WrappingNode {
  private let place: Point
  private let isAbsolute: Bool

  /// - Parameter isAbsolute: the centre of the content is at `place`, in the space that is proposed.
  init(_ content: LayoutNode, to place: Point, isAbsolute: Bool, _ style: ViewStyle) {
    self.place = place
    self.isAbsolute = isAbsolute
    super.init((isAbsolute ? LayoutModifier.position : .offset).rawValue, content: content, style: style)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    guard isAbsolute else { return super.calculateSize(proposal) }
    let size = content.size(proposal)
    return Size(width: proposal.width ?? size.width, height: proposal.height ?? size.height)
  }

  override func offset(_ proposal: Proposal) -> Point {
    guard isAbsolute else { return place }
    let size = content.size(proposal)
    return Point(x: place.x - size.width / 2, y: place.y - size.height / 2)
  }

  override func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    isAbsolute ? super.baseline(guide, proposal) : content.baseline(guide, proposal)
  }

  override func findOwnGuide(_ guide: AlignmentGuide, axis: Axis, proposal: Proposal) -> Double? {
    isAbsolute
      ? super.findOwnGuide(guide, axis: axis, proposal: proposal)
      : content.ownGuide(guide, axis: axis, proposal: proposal)
  }
}

/// `alignmentGuide`, or the default place of a guide of the author. The extension has calculated the place, unless it
/// does not know the size of the content yet.
final class AlignedNode: WrappingNode {
  private let guide: AlignmentGuide
  private let axis: Axis
  private let value: Double?
  /// Whether the place is that of a view that sets none.
  private let isDefault: Bool
  private let arguments: ArchivedArguments

  init(
    _ modifier: ViewArchive.Modifier, content: LayoutNode, guide: AlignmentGuide, axis: Axis, value: Double?,
    style: ViewStyle
  ) {
    self.guide = guide
    self.axis = axis
    self.value = value
    arguments = modifier.arguments
    isDefault = modifier.arguments[.isDefault] == true
    super.init(LayoutModifier.alignmentGuide.rawValue, content: content, style: style)
    if !isDefault { context.hasOwnGuides = true }
  }

  override func findOwnGuide(_ guide: AlignmentGuide, axis: Axis, proposal: Proposal) -> Double? {
    if !isDefault, guide == self.guide, axis == self.axis, let value { return value }
    return super.findOwnGuide(guide, axis: axis, proposal: proposal)
  }

  override func defaultGuide(_ guide: AlignmentGuide, _ axis: Axis) -> Double? {
    if isDefault, guide == self.guide, axis == self.axis { return value }
    // The defaults of both axes follow each other.
    return isDefault ? content.defaultGuide(guide, axis) : nil
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    context.check(arguments, label: .in, size: content.size(proposal), name: name)
    if value == nil { context.note(.modifierNotLaidOut, "." + name) }
    return super.place(at: origin, proposal)
  }
}

/// `ZStack`. Source: OpenSwiftUI, `Layout/Stack/ZStack.swift`.
final class ZStackNode: ViewNode {
  private let alignment: Alignment
  private let children: [LayoutNode]
  private let arguments: ArchivedArguments

  init(
    _ view: ViewName, alignment: Alignment, children: [LayoutNode], arguments: ArchivedArguments = [:],
    style: ViewStyle, context: LayoutContext
  ) {
    self.alignment = alignment
    self.children = children
    self.arguments = arguments
    super.init(view, style: style, context: context)
  }

  /// The children with the highest priority: they alone determine the size.
  private var leading: [LayoutNode] {
    let most = children.map(\.priority).max() ?? 0
    return children.filter { $0.priority == most }
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    leading.reduce(.zero) { size, child in
      let own = child.size(proposal)
      return Size(width: max(size.width, own.width), height: max(size.height, own.height))
    }
  }

  private func places(_ size: Size) -> [Point] {
    let proposal = Proposal(size)
    func guides(_ axis: Axis) -> [Double] { children.map { $0.guide(alignment[axis], axis: axis, proposal: proposal) } }
    let (columns, rows) = (guides(.horizontal), guides(.vertical))
    let most = children.map(\.priority).max() ?? 0
    let determining = children.indices.filter { children[$0].priority == most }
    let (x, y) = (determining.map { columns[$0] }.max() ?? 0, determining.map { rows[$0] }.max() ?? 0)
    return children.indices.map { index in
      let place = Point(x: x - columns[index], y: y - rows[index])
      return Point(x: place.x.isFinite ? place.x : 0, y: place.y.isFinite ? place.y : 0)
    }
  }

  override func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    let size = size(proposal)
    return guide.combined(
      zip(children, places(size)).compactMap { child, place in
        child.baseline(guide, Proposal(size)).map { $0 + place.y }
      })
  }

  override func findOwnGuide(_ guide: AlignmentGuide, axis: Axis, proposal: Proposal) -> Double? {
    let size = size(proposal)
    let own = children.map { $0.ownGuide(guide, axis: axis, proposal: Proposal(size)) }
    guard own.contains(where: { $0 != nil }) else { return nil }
    return averageGuide(zip(own, places(size)).compactMap { own, place in own.map { $0 + place[axis] } })
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    var view = placed(arguments, at: origin, size)
    view.children = inDrawingOrder(Array(zip(children, places(size))), \.0.zIndex).flatMap { child, place in
      child.place(at: Point(x: origin.x + place.x, y: origin.y + place.y), Proposal(size))
    }
    return [view]
  }

  override func preferredSpacing() -> Spacing {
    guard let first = children.first else { return .zero }
    return children.dropFirst().reduce(into: first.spacing) { $0.formUnion($1.spacing) }
  }
}

/// `background`, `overlay`, `mask` and `clipShape`: layers that get the size of the view and do not change it. Source:
/// OpenSwiftUI, `Modifier/ViewModifier/OverlayModifier.swift`.
final class DecoratedNode: WrappingNode {
  private let layer: LayerModifier
  private let layers: [LayoutNode]
  private let alignment: Alignment
  private let arguments: ArchivedArguments

  init(
    _ layer: LayerModifier, content: LayoutNode, layers: [LayoutNode], alignment: Alignment,
    arguments: ArchivedArguments = [:], style: ViewStyle
  ) {
    self.layer = layer
    self.layers = layers
    self.alignment = alignment
    self.arguments = arguments
    super.init(layer.rawValue, content: content, style: style)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    var view = placed(.layer(layer), arguments: arguments, at: origin, size: size)
    let ownViews = super.place(at: origin, proposal)
    let added = layers.flatMap { layer in
      func place(_ axis: Axis) -> Double {
        content.guide(alignment[axis], axis: axis, proposal: proposal)
          - layer.guide(alignment[axis], axis: axis, proposal: Proposal(size))
      }
      return layer.place(
        at: Point(x: origin.x + place(.horizontal), y: origin.y + place(.vertical)), Proposal(size))
    }
    switch layer {
    case .background: view.children = added + ownViews
    case .overlay: view.children = ownViews + added
    case .mask, .clipShape, .containerShape: (view.children, view.mask) = (ownViews, added)
    }
    return [view]
  }
}

/// A modifier that changes how the view is drawn and not its size, such as `opacity`.
final class EffectNode: WrappingNode {
  private let kind: PlacedView.Kind
  private let arguments: ArchivedArguments

  init(_ kind: PlacedView.Kind, modifier: ViewArchive.Modifier, content: LayoutNode, style: ViewStyle) {
    self.kind = kind
    arguments = modifier.arguments
    super.init(modifier.name.rawValue, content: content, style: style)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed(kind, arguments: arguments, at: origin, size: size(proposal))
    view.children = super.place(at: origin, proposal)
    return [view]
  }
}

/// A view that contains one view and has its size, such as `Link` and `Button`.
final class ContainerNode: WrappingNode {
  private let container: ViewName
  private let arguments: ArchivedArguments

  init(_ view: ViewArchive, content: LayoutNode, style: ViewStyle) {
    container = view.name
    arguments = view.arguments
    super.init(view.name.rawValue, content: content, style: style)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed(.view(container), arguments: arguments, at: origin, size: size(proposal))
    view.children = super.place(at: origin, proposal)
    return [view]
  }
}
