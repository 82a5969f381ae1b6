// SPDX-License-Identifier: Apache-2.0

import Archive

/// `Spacer`. Source: OpenSwiftUI, `Layout/Separator/Spacer.swift`.
final class SpacerNode: ViewNode {
  private let axis: Axis?
  private let least: Double

  /// - Parameter axis: that of the stack around; `nil`: outside of a stack, where the spacer takes both.
  init(least: Double?, along axis: Axis?, _ style: ViewStyle, _ context: LayoutContext) {
    self.axis = axis
    self.least = max(0, least ?? Spacing.standard)
    super.init(.leaf(.spacer), style, context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    func length(_ own: Axis) -> Double { axis == own.other ? 0 : max(proposal[own] ?? 0, least) }
    return Size(width: length(.horizontal), height: length(.vertical))
  }

  override func preferredSpacing() -> Spacing { axis.map(Spacing.spacer) ?? .zero }
  override var priority: Double { -.infinity }
}

/// `Divider`: a line of one pixel across the axis of the stack around.
final class DividerNode: ViewNode {
  private let axis: Axis

  init(across axis: Axis, _ style: ViewStyle, _ context: LayoutContext) {
    self.axis = axis
    super.init(.leaf(.divider), style, context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    var size = Size.zero
    size[axis] = 1 / context.scale
    size[axis.other] = proposal[axis.other] ?? FillingNode.standard
    return size
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    [placed([:], at: origin, size(proposal))]
  }
}

extension Proposal {
  /// The size of a view that takes what is proposed to it.
  var filled: Size { Size(width: width ?? FillingNode.standard, height: height ?? FillingNode.standard) }
}

/// A shape, a colour or a gradient: it takes the proposal.
final class FillingNode: ViewNode {
  /// The length of an axis without a proposal, in points. Source: `ProposedViewSize.replacingUnspecifiedDimensions(by:)`.
  static let standard = 10.0

  private let arguments: [String: ArchivedValue]
  private let operations: [ViewArchive.Modifier]

  init(
    _ view: ViewArchive, operations: [ViewArchive.Modifier] = [], _ style: ViewStyle, _ context: LayoutContext
  ) {
    arguments = view.arguments
    self.operations = operations
    super.init(view.name, style, context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let size = proposal.filled
    guard view == .shape(.circle) else { return size }
    let side = min(size.width, size.height)
    return Size(width: side, height: side)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    if view == .shape(.path) { context.check(arguments, "in", size, arguments["type"]?.string ?? name) }
    var shape = placed(arguments, at: origin, size)
    shape.operations = operations
    return [shape]
  }
}

/// `GeometryReader`: it takes the proposal, and has its content at the top leading corner.
final class GeometryReaderNode: ViewNode {
  private let content: LayoutNode
  private let arguments: [String: ArchivedValue]

  init(_ view: ViewArchive, _ content: LayoutNode, _ style: ViewStyle) {
    self.content = content
    arguments = view.arguments
    super.init(view.name, style, content.context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    Size(width: proposal.width ?? 0, height: proposal.height ?? 0)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    context.check(arguments, "size", size, name)
    var view = placed([:], at: origin, size)
    view.children = content.place(at: origin, Proposal(size))
    return [view]
  }
}

/// `ViewThatFits`: the first view whose ideal size fits the proposal, or else the last.
final class FittingNode: ViewNode {
  private let axes: Set<Axis>
  private let children: [LayoutNode]

  init(_ axes: Set<Axis>, _ children: [LayoutNode], _ style: ViewStyle, _ context: LayoutContext) {
    self.axes = axes
    self.children = children
    super.init(.container(.viewThatFits), style, context)
  }

  private func chosen(_ proposal: Proposal) -> LayoutNode? {
    let ideal = Proposal(
      width: axes.contains(.horizontal) ? nil : proposal.width, height: axes.contains(.vertical) ? nil : proposal.height
    )
    return children.first { child in
      let size = child.size(ideal)
      return axes.allSatisfy { axis in size[axis] <= (proposal[axis] ?? .infinity) + 0.001 }
    } ?? children.last
  }

  override func calculateSize(_ proposal: Proposal) -> Size { chosen(proposal)?.size(proposal) ?? .zero }
  override func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    chosen(proposal)?.baseline(guide, proposal)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed([:], at: origin, size(proposal))
    view.children = chosen(proposal)?.place(at: origin, proposal) ?? []
    return [view]
  }

  /// Of the first view, since the neighbours are asked before a size is proposed.
  override func preferredSpacing() -> Spacing { children.first?.spacing ?? .zero }
}
