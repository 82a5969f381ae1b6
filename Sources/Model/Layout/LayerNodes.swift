// SPDX-License-Identifier: Apache-2.0

import Archive

/// `ZStack`. Source: OpenSwiftUI, `Layout/Stack/ZStack.swift`.
final class ZStackNode: ViewNode {
  private let alignment: Alignment
  private let children: [LayoutNode]
  private let arguments: [String: ArchivedValue]

  init(
    _ view: ViewName, _ alignment: Alignment, _ children: [LayoutNode], arguments: [String: ArchivedValue] = [:],
    _ style: ViewStyle, _ context: LayoutContext
  ) {
    self.alignment = alignment
    self.children = children
    self.arguments = arguments
    super.init(view, style, context)
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
    func guides(_ axis: Axis) -> [Double] { children.map { $0.guide(alignment[axis], axis, proposal) } }
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

  override func findOwnGuide(_ guide: AlignmentGuide, _ axis: Axis, _ proposal: Proposal) -> Double? {
    let size = size(proposal)
    let own = children.map { $0.ownGuide(guide, axis, Proposal(size)) }
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
  private let arguments: [String: ArchivedValue]

  init(
    _ layer: LayerModifier, _ content: LayoutNode, _ layers: [LayoutNode], _ alignment: Alignment,
    arguments: [String: ArchivedValue] = [:], _ style: ViewStyle
  ) {
    self.layer = layer
    self.layers = layers
    self.alignment = alignment
    self.arguments = arguments
    super.init(layer.rawValue, content, style)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    var view = placed(.layer(layer), arguments, at: origin, size)
    let own = super.place(at: origin, proposal)
    let added = layers.flatMap { layer in
      func place(_ axis: Axis) -> Double {
        content.guide(alignment[axis], axis, proposal) - layer.guide(alignment[axis], axis, Proposal(size))
      }
      return layer.place(
        at: Point(x: origin.x + place(.horizontal), y: origin.y + place(.vertical)), Proposal(size))
    }
    switch layer {
    case .background: view.children = added + own
    case .overlay: view.children = own + added
    case .mask, .clipShape, .containerShape: (view.children, view.mask) = (own, added)
    }
    return [view]
  }
}

/// A modifier that changes how the view is drawn and not its size, such as `opacity`.
final class EffectNode: WrappingNode {
  private let kind: PlacedView.Kind
  private let arguments: [String: ArchivedValue]

  init(_ kind: PlacedView.Kind, _ modifier: ViewArchive.Modifier, _ content: LayoutNode, _ style: ViewStyle) {
    self.kind = kind
    arguments = modifier.arguments
    super.init(modifier.name.rawValue, content, style)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed(kind, arguments, at: origin, size(proposal))
    view.children = super.place(at: origin, proposal)
    return [view]
  }
}

/// A view that contains one view and has its size, such as `Link` and `Button`.
final class ContainerNode: WrappingNode {
  private let container: ViewName
  private let arguments: [String: ArchivedValue]

  init(_ view: ViewArchive, _ content: LayoutNode, _ style: ViewStyle) {
    container = view.name
    arguments = view.arguments
    super.init(view.name.rawValue, content, style)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed(.view(container), arguments, at: origin, size(proposal))
    view.children = super.place(at: origin, proposal)
    return [view]
  }
}
