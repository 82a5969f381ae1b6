// SPDX-License-Identifier: Apache-2.0

package import Archive

/// `Spacer`. Source: OpenSwiftUI, `Layout/Separator/Spacer.swift`.
final class SpacerNode: ViewNode {
  private let axis: Axis?
  private let least: Double

  /// - Parameter axis: that of the stack around; `nil`: outside of a stack, where the spacer takes both.
  init(least: Double?, along axis: Axis?, _ style: ViewStyle, _ context: LayoutContext) {
    self.axis = axis
    self.least = max(0, least ?? Spacing.standard)
    super.init(.leaf(.spacer), style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    func length(_ ownAxis: Axis) -> Double { axis == ownAxis.other ? 0 : max(proposal[ownAxis] ?? 0, least) }
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
    super.init(.leaf(.divider), style: style, context: context)
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

  private let arguments: ArchivedArguments
  private let operations: [ViewArchive.Modifier]

  init(
    _ view: ViewArchive, operations: [ViewArchive.Modifier] = [], style: ViewStyle, context: LayoutContext
  ) {
    arguments = view.arguments
    self.operations = operations
    super.init(view.name, style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let size = proposal.filled
    guard view == .shape(.circle) else { return size }
    let side = min(size.width, size.height)
    return Size(width: side, height: side)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    if view == .shape(.path) {
      context.check(arguments, label: .in, size: size, name: arguments[.type]?.string ?? name)
    }
    var shape = placed(arguments, at: origin, size)
    shape.operations = operations
    return [shape]
  }
}

/// `GeometryReader`: it takes the proposal, and has its content at the top leading corner.
final class GeometryReaderNode: ViewNode {
  private let content: LayoutNode
  private let arguments: ArchivedArguments

  init(_ view: ViewArchive, content: LayoutNode, style: ViewStyle) {
    self.content = content
    arguments = view.arguments
    super.init(view.name, style: style, context: content.context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    Size(width: proposal.width ?? 0, height: proposal.height ?? 0)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    context.check(arguments, label: .size, size: size, name: name)
    var view = placed([:], at: origin, size)
    view.children = content.place(at: origin, Proposal(size))
    return [view]
  }
}

/// `ViewThatFits`: the first view whose ideal size fits the proposal, or else the last.
final class FittingNode: ViewNode {
  private let axes: Set<Axis>
  private let children: [LayoutNode]

  init(_ axes: Set<Axis>, children: [LayoutNode], style: ViewStyle, context: LayoutContext) {
    self.axes = axes
    self.children = children
    super.init(.container(.viewThatFits), style: style, context: context)
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

/// `Image`. One that is not resizable has its own size.
final class ImageNode: ViewNode {
  private let arguments: ArchivedArguments
  private let isResizable: Bool
  private let operations: [ViewArchive.Modifier]
  private let metrics: LineMetrics

  init(_ view: ViewArchive, operations: [ViewArchive.Modifier], style: ViewStyle, context: LayoutContext) {
    arguments = view.arguments
    self.operations = operations
    isResizable = operations.contains { $0.name == .shape(.resizable) }
    metrics = context.measure.metrics(of: style.resolvedFont)
    super.init(.leaf(.image), style: style, context: context)
    if ownSize == nil {
      context.note(.unknownImageSize, "Image \"\(arguments[.name]?.string ?? "")\"")
    }
  }

  private var isSymbol: Bool { arguments[.systemName] != nil || arguments[.symbol] != nil }

  /// The size without a proposal: an image with pixels has its scale, a symbol is a square. An image that cannot be used
  /// has no size, as one that a phone does not find.
  private var ownSize: Size? {
    if let width = arguments[.pixelWidth]?.finite, let height = arguments[.pixelHeight]?.finite {
      let scale = arguments[.scale]?.finite.flatMap { $0 > 0 ? $0 : nil } ?? 1
      return Size(width: max(0, width) / scale, height: max(0, height) / scale)
    }
    if arguments[.problem] != nil { return .zero }
    if let variant = SymbolVariant(arguments[.symbol], style) { return variant.size }
    // A redacted image has no other arguments left: it is shown as a symbol is.
    guard isSymbol || arguments[.text] != nil else { return nil }
    let side = Self.symbolSide(metrics, style.imageScale)
    return Size(width: side, height: side)
  }

  /// The side of a symbol in points.
  static func symbolSide(_ metrics: LineMetrics, _ scale: String) -> Double {
    metrics.capHeight * 1.4 * factor(of: scale)
  }

  /// The size of a scale as a factor of the medium one.
  static func factor(of scale: String) -> Double { scale == "small" ? 0.8 : scale == "large" ? 1.3 : 1 }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let own = ownSize ?? .zero
    guard isResizable else { return own }
    return Size(width: proposal.width ?? own.width, height: proposal.height ?? own.height)
  }

  /// A symbol is centred on the capital letters of the text beside it.
  override func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    guard isSymbol, !isResizable else { return nil }
    return size(proposal).height / 2 + metrics.capHeight / 2
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed(arguments, at: origin, size(proposal))
    view.operations = operations
    return [view]
  }
}

/// The variant of a custom symbol for a font and a scale, and its size.
package struct SymbolVariant: Hashable, Sendable {
  package let variant: SymbolTemplate.Variant
  /// The height of capital letters in the variant, in points.
  package let capHeight: Double
  /// In points: as wide as the template says, and as high as a symbol of the system.
  package let size: Size

  /// The variant with the scale and the nearest weight, of two the one that is nearer to regular. If the symbol
  /// does not have the scale, another one is made larger or smaller.
  ///
  /// - Parameter symbol: the widths of the variants in heights of the capital letters, by their ids; `nil`, or without a
  ///   variant that can be drawn: the result is `nil`.
  package init?(_ symbol: ArchivedValue?, _ style: ViewStyle) {
    guard case .record(let parts) = symbol else { return nil }
    let font = style.resolvedFont
    let wanted = ["small": "S", "large": "L"][style.imageScale] ?? "M"
    let scales = [wanted] + ["M", "L", "S"].filter { $0 != wanted }
    let knownWidths = parts.values.compactMap { id, width in
      SymbolTemplate.Variant(id: id).flatMap { variant in width.finite.map { (variant, $0.clamped(0, 1000)) } }
    }
    func distance(_ variant: SymbolTemplate.Variant) -> (Int, Int, Int) {
      let weight = (SymbolTemplate.Variant.weights.firstIndex(of: variant.weight) ?? 3) * 100 + 100
      return (scales.firstIndex(of: variant.scale) ?? 3, abs(weight - font.weight.rawValue), abs(weight - 400))
    }
    guard let nearest = knownWidths.min(by: { distance($0.0) < distance($1.0) }) else { return nil }
    variant = nearest.0
    // The lines of a template are equally far apart in each scale. Only what is between them grows.
    let factors = ["S": ImageNode.factor(of: "small"), "M": 1, "L": ImageNode.factor(of: "large")]
    let metrics = LineMetrics.system(size: font.size)
    capHeight = metrics.capHeight * (factors[wanted] ?? 1) / (factors[variant.scale] ?? 1)
    size = Size(width: nearest.1 * capHeight, height: ImageNode.symbolSide(metrics, style.imageScale))
  }
}

/// `Canvas`: it takes the proposal, and what it draws has its size.
final class CanvasNode: ViewNode {
  private let layers: [LayoutNode]
  private let arguments: ArchivedArguments

  init(_ view: ViewArchive, layers: [LayoutNode], style: ViewStyle, context: LayoutContext) {
    self.layers = layers
    arguments = view.arguments
    super.init(view.name, style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size { proposal.filled }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    context.check(arguments, label: .size, size: size, name: name)
    var view = placed([:], at: origin, size)
    view.children = layers.flatMap { $0.place(at: origin, Proposal(size)) }
    return [view]
  }
}

/// A text or an image of a canvas, at a place in a layer of the canvas.
final class CanvasItemNode: ViewNode {
  private let content: LayoutNode
  private let point: Point
  /// Parts of the size of the content.
  private let anchor: Point
  private let inner: Proposal

  init(_ content: LayoutNode, arguments: Arguments, style: ViewStyle) {
    self.content = content
    point = Point(x: arguments.number(.x) ?? 0, y: arguments.number(.y) ?? 0)
    anchor = Point(x: arguments.number(.anchorX) ?? 0, y: arguments.number(.anchorY) ?? 0)
    inner = Proposal(width: arguments.length(.width), height: arguments.length(.height))
    super.init(.container(.canvasItem), style: style, context: content.context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size { proposal.filled }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let own = content.size(inner)
    var view = placed([:], at: origin, size(proposal))
    view.children = content.place(
      at: Point(
        x: origin.x + point.x - anchor.x * own.width, y: origin.y + point.y - anchor.y * own.height), inner)
    return [view]
  }
}
