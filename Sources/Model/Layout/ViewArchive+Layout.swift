// SPDX-License-Identifier: Apache-2.0

package import Archive

/// The space of a widget.
package struct LayoutCanvas: Hashable, Sendable {
  /// Of the whole widget, in points.
  package var size: Size
  /// The margins that the system adds around the content.
  package var margins: Insets
  /// Pixels per point.
  package var scale: Double
  /// Whether the language is written from right to left.
  package var isRightToLeft: Bool
  /// Decides which styles are automatic; `nil`: those of a family of the Home Screen.
  package var family: WidgetFamilyName?

  package init(
    size: Size, margins: Insets = Insets(0), scale: Double = 3, isRightToLeft: Bool = false,
    family: WidgetFamilyName? = nil
  ) {
    self.size = size
    self.margins = margins
    self.scale = scale
    self.isRightToLeft = isRightToLeft
    self.family = family
  }
}

extension ViewArchive {
  /// Lays out the view as SwiftUI does: a parent proposes a size, the child chooses its own, the parent places it.
  ///
  /// The view is proposed the canvas within its margins, and is centred there; `containerBackground` has the whole canvas.
  /// The same arguments have the same result.
  ///
  /// - Parameter style: what the view inherits from the device.
  package func laidOut(
    in canvas: LayoutCanvas, style: ViewStyle = ViewStyle(), measuring measure: any TextMeasure,
    limits: LayoutLimits = LayoutLimits()
  ) -> LayoutResult {
    let context = LayoutContext(canvas, measure: measure, limits: limits)
    let builder = LayoutBuilder(context: context)
    let shown = canvas.family == .accessoryInline ? inline(context) : self
    let nodes = builder.nodes(of: shown, style, axis: nil, depth: 0)
    let space = Rect(origin: Point(x: 0, y: 0), size: canvas.size)
    var views: [PlacedView] = []
    if let root = builder.joined(nodes, .stack(.vertical), style) {
      let content = space.inset(canvas.margins)
      let size = root.size(Proposal(content.size))
      views = root.place(
        at: Point(x: content.midX - size.width / 2, y: content.midY - size.height / 2), Proposal(content.size))
    }
    var background = context.background.flatMap { $0.place(at: space.origin, Proposal(canvas.size)) }
    if canvas.isRightToLeft {
      views = views.map { $0.mirrored(in: canvas.size.width) }
      background = background.map { $0.mirrored(in: canvas.size.width) }
    }
    return LayoutResult(views: views, background: background, notices: context.notices, closures: context.closures)
  }
}

extension ViewArchive {
  /// The size that the view chooses without a canvas.
  ///
  /// - Parameters:
  ///   - width: the width that it is proposed, in points; `nil`: its ideal width.
  ///   - style: what the view inherits from the device.
  package func size(
    proposedWidth width: Double?, style: ViewStyle = ViewStyle(), isRightToLeft: Bool = false, scale: Double = 3,
    measuring measure: any TextMeasure, limits: LayoutLimits = LayoutLimits()
  ) -> Size {
    let canvas = LayoutCanvas(size: .zero, scale: scale, isRightToLeft: isRightToLeft, family: .systemMedium)
    let builder = LayoutBuilder(context: LayoutContext(canvas, measure: measure, limits: limits))
    let nodes = builder.nodes(of: self, style, axis: nil, depth: 0)
    guard let root = builder.joined(nodes, .stack(.vertical), style) else { return .zero }
    return root.size(Proposal(width: width, height: nil))
  }

  /// The first image and the first text, in one line: what accessoryInline shows. Other views that draw are noted.
  fileprivate func inline(_ context: LayoutContext) -> ViewArchive {
    var found: [LeafView: ViewArchive] = [:]
    var isMore = false
    var left = [self]
    while let view = left.popLast() {
      switch view.name {
      case .leaf(let name) where name == .text || name == .image:
        isMore = isMore || found[name] != nil
        found[name] = found[name] ?? view
      case .leaf, .shape, .fill, .container, .control, .chart, .mark, .unknown:
        if view.children.isEmpty, !view.name.isBlank { isMore = true }
        left += view.children.reversed()
      }
    }
    if isMore { context.note(.viewNotLaidOut, "accessoryInline: what is besides its first image and text") }
    let views = [LeafView.image, .text].compactMap { found[$0] }.map { view in
      var view = view
      view.modifiers = []
      return view
    }
    let limit = Modifier(.style(.lineLimit), ["lines": 1])
    return ViewArchive(.container(.hStack), ["spacing": 4], children: views, modifiers: [limit])
  }
}
