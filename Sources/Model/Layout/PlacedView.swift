// SPDX-License-Identifier: Apache-2.0

package import Archive

/// A view with its place on a picture. A modifier that draws is a placed view too, with the view that it modifies within.
package struct PlacedView: Equatable, Sendable {
  /// The name of what is placed.
  package enum Kind: Hashable, Sendable {
    case view(ViewName)
    /// `children` are drawn in order: backgrounds first, overlays last.
    case layer(LayerModifier)
    case effect(EffectModifier)
    case color(ColorModifier)
  }

  package var kind: Kind
  package var arguments: ArchivedArguments
  /// In points, in the coordinates of the whole layout.
  package var frame: Rect
  /// What the view inherits.
  package var style: ViewStyle
  /// The operations on a shape, such as `trim` and `fill`, in order.
  package var operations: [ViewArchive.Modifier] = []
  /// The lines of a `Text`.
  package var text: PlacedText?
  /// In drawing order.
  package var children: [PlacedView] = []
  /// What a `clipShape`, `mask` or `containerShape` was given.
  package var mask: [PlacedView] = []

  /// SwiftUI's name of the view or modifier.
  package var name: String {
    switch kind {
    case .view(let name): name.rawValue
    case .layer(let name): name.rawValue
    case .effect(let name): name.rawValue
    case .color(let name): name.rawValue
    }
  }

  /// Visits the view and the views within, parents first.
  package func walk(_ visit: (PlacedView) -> Void) {
    visit(self)
    for view in children + mask { view.walk(visit) }
  }

  /// Mirrors the view in a layout of this width, for a language that is written from right to left.
  func mirrored(in width: Double) -> PlacedView {
    let mirroredX = width - frame.maxX
    // What a canvas draws is not mirrored: it has coordinates from left to right.
    if kind == .view(.container(.canvas)) { return moved(by: mirroredX - frame.minX) }
    var view = self
    view.frame.origin.x = mirroredX
    if let text {
      view.text?.lines = text.lines.map { line in
        var line = line
        line.x = frame.size.width - line.x - line.width
        return line
      }
    }
    view.children = children.map { $0.mirrored(in: width) }
    view.mask = mask.map { $0.mirrored(in: width) }
    return view
  }

  /// Moves the view to the right, with all views within.
  private func moved(by distance: Double) -> PlacedView {
    var view = self
    view.frame.origin.x += distance
    view.children = children.map { $0.moved(by: distance) }
    view.mask = mask.map { $0.moved(by: distance) }
    return view
  }
}

/// The lines of a text.
package struct PlacedText: Equatable, Sendable {
  /// A part of a line with one style.
  package struct Fragment: Equatable, Sendable {
    package var text: String
    package var font: FontDescription
    package var style: ViewStyle
    /// The arguments of an image within the text.
    package var image: ArchivedArguments?
    /// From the left edge of the line, in points.
    package var x: Double
    /// In points.
    package var width: Double
    package var isRightToLeft = false
  }

  package struct Line: Equatable, Sendable {
    /// From the leading edge of the text's frame, in points.
    package var x: Double
    /// The baseline, from the top edge of the text's frame, in points.
    package var baseline: Double
    /// In points.
    package var width: Double
    /// In the order of the text.
    package var fragments: [Fragment]

    package var text: String { fragments.map(\.text).joined() }
  }

  package var lines: [Line]
  /// Whether a part of the text is replaced by an ellipsis.
  package var isTruncated: Bool
  /// The font size as a factor of the usual one. Source: `SwiftUI.View.minimumScaleFactor`.
  package var scale: Double
}

/// A laid out view.
package struct LayoutResult: Equatable, Sendable {
  /// In drawing order.
  package var views: [PlacedView]
  /// The content of `containerBackground(for: .widget)`, in the frame of the whole widget.
  package var background: [PlacedView]
  /// What is not shown as a device would; each once, in the order of the archive.
  package var notices: [LayoutNotice]
  /// The sizes of the extension's closures that were called with another size, by their identifiers. Points.
  package var closures: [String: Size] = [:]
}

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
    if let root = builder.joined(nodes, join: .stack(.vertical), style: style) {
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
    guard let root = builder.joined(nodes, join: .stack(.vertical), style: style) else { return .zero }
    return root.size(Proposal(width: width, height: nil))
  }

  /// The first image and the first text, in one line: what accessoryInline shows. Other views that draw are noted.
  fileprivate func inline(_ context: LayoutContext) -> ViewArchive {
    var foundViews: [LeafView: ViewArchive] = [:]
    var isMore = false
    var left = [self]
    while let view = left.popLast() {
      switch view.name {
      case .leaf(let name) where name == .text || name == .image:
        isMore = isMore || foundViews[name] != nil
        foundViews[name] = foundViews[name] ?? view
      case .leaf, .shape, .fill, .container, .control, .chart, .mark, .unknown:
        if view.children.isEmpty, !view.name.isBlank { isMore = true }
        left += view.children.reversed()
      }
    }
    if isMore { context.note(.viewNotLaidOut, "accessoryInline: what is besides its first image and text") }
    let views = [LeafView.image, .text].compactMap { foundViews[$0] }.map { view in
      var view = view
      view.modifiers = []
      return view
    }
    let limit = Modifier(.style(.lineLimit), [.lines: 1])
    return ViewArchive(.container(.hStack), [.spacing: 4], children: views, modifiers: [limit])
  }
}
