// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Canvas`. The closure is called with the size that `GeometryReader` has at this place. What it draws is
/// archived as views, each as large as the canvas.
nonisolated public struct Canvas: View, ArchivedView {
  public typealias Body = Never
  public var renderer: (inout GraphicsContext, CGSize) -> Void

  /// The colour mode, and whether the canvas is opaque or draws at another time, make no difference in an archive.
  public init(
    opaque: Bool = false, colorMode: ColorRenderingMode = .nonLinear, rendersAsynchronously: Bool = false,
    renderer: @escaping (inout GraphicsContext, CGSize) -> Void
  ) {
    self.renderer = renderer
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let (identifier, size, inner) = context.enterClosure()
    var graphics = GraphicsContext(size: size, environment: inner.environment)
    inner.environment.during { renderer(&graphics, size) }
    var children: [ViewArchive] = []
    for view in graphics.drawn { children += try inner.children(of: view) }
    return ViewArchive(
      .container(.canvas), given: ["size": size.archived, "closure": identifier?.archived], children: children)
  }
}

/// Source: `SwiftUI.ColorRenderingMode`.
public enum ColorRenderingMode: Hashable, Sendable {
  case nonLinear
  case linear
  case extendedLinear
}

/// A text or an image of a canvas, with a point of it at a place. It has its ideal size, or the size that is given.
nonisolated struct CanvasItem<Content: View>: View, ArchivedView {
  typealias Body = Never

  let content: Content
  /// In points, from the top leading corner of the canvas.
  let place: CGPoint
  let anchor: UnitPoint
  let size: CGSize?

  @MainActor func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      .container(.canvasItem),
      given: [
        "x": place.x.archived, "y": place.y.archived, "anchorX": anchor.x.archived, "anchorY": anchor.y.archived,
        "width": size?.width.archived, "height": size?.height.archived,
      ], children: try context.children(of: content))
  }
}
