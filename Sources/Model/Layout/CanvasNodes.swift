// SPDX-License-Identifier: Apache-2.0

import Archive

/// `Canvas`: it takes the proposal, and what it draws has its size.
final class CanvasNode: ViewNode {
  private let layers: [LayoutNode]
  private let arguments: [String: ArchivedValue]

  init(_ view: ViewArchive, _ layers: [LayoutNode], _ style: ViewStyle, _ context: LayoutContext) {
    self.layers = layers
    arguments = view.arguments
    super.init(view.name, style, context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size { proposal.filled }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    context.check(arguments, "size", size, name)
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

  init(_ content: LayoutNode, _ arguments: Arguments, _ style: ViewStyle) {
    self.content = content
    point = Point(x: arguments.number("x") ?? 0, y: arguments.number("y") ?? 0)
    anchor = Point(x: arguments.number("anchorX") ?? 0, y: arguments.number("anchorY") ?? 0)
    inner = Proposal(width: arguments.length("width"), height: arguments.length("height"))
    super.init(.container(.canvasItem), style, content.context)
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
