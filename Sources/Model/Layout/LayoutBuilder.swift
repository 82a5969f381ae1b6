// SPDX-License-Identifier: Apache-2.0

import Archive

/// Makes the nodes of a layout from an archive.
struct LayoutBuilder {
  /// How the views of a list are joined where one view is needed.
  enum Join {
    case stack(Axis)
    case layers(Alignment)
  }

  let context: LayoutContext
  /// The plot of the chart around, which `chartPlotStyle` places.
  var plot: ChartPlotNode?

  /// The nodes of a view: none for an empty one, several for a group, whose modifiers apply to each of its views.
  ///
  /// - Parameters:
  ///   - axis: that of the stack around.
  ///   - depth: the views and modifiers around.
  func nodes(of view: ViewArchive, _ outer: ViewStyle, axis: Axis?, depth: Int) -> [LayoutNode] {
    let depth = depth + 1 + view.modifiers.count
    guard depth <= context.limits.depth else {
      context.note(.tooDeep, view.name)
      return []
    }
    // The style that the views of each modifier inherit: that of the modifiers around it.
    var styles = [outer]
    var operations: [ViewArchive.Modifier] = []
    var modifiers: [(modifier: ViewArchive.Modifier, style: ViewStyle)] = []
    for modifier in view.modifiers.reversed() {
      var style = styles[0]
      if style.apply(modifier) {
        styles[0] = style
      } else if Self.operations.contains(modifier.name) {
        operations.insert(modifier, at: 0)
      } else if !Self.isWithoutEffect(modifier) {
        modifiers.insert((modifier, style), at: 0)
      }
    }
    var nodes = content(of: view, operations, styles[0], axis: axis, depth: depth)
    for (modifier, style) in modifiers {
      nodes = nodes.map { wrap($0, modifier, style, depth: depth) }
    }
    return nodes
  }

  /// The nodes of several views.
  func nodes(of views: [ViewArchive], _ style: ViewStyle, axis: Axis?, depth: Int) -> [LayoutNode] {
    views.flatMap { nodes(of: $0, style, axis: axis, depth: depth) }
  }

  /// One node for a list; `nil` for an empty list.
  func joined(_ nodes: [LayoutNode], _ join: Join, _ style: ViewStyle) -> LayoutNode? {
    if nodes.count <= 1 { return nodes.first }
    switch join {
    case .stack(let axis):
      return StackNode(
        axis == .vertical ? "VStack" : "HStack", along: axis, .center, distance: nil, nodes, style, context)
    case .layers(let alignment): return ZStackNode("ZStack", alignment, nodes, style, context)
    }
  }

  // MARK: Modifiers

  /// Operations on shapes, images and charts: they belong to the view and not around it.
  private static let operations: Set = [
    "fill", "stroke", "strokeBorder", "trim", "rotation", "scale", "size", "resizable", "renderingMode",
    "interpolation", "antialiased", "chartPlotStyle",
  ]

  /// Modifiers that change how a view is drawn and not its size.
  private static let effects: Set = [
    "opacity", "hidden", "blur", "brightness", "contrast", "saturation", "grayscale", "hueRotation", "colorInvert",
    "colorMultiply", "blendMode", "compositingGroup", "drawingGroup", "luminanceToAlpha", "shadow", "border",
    "clipped", "cornerRadius", "rotationEffect", "rotation3DEffect", "scaleEffect", "widgetAccentable",
    "widgetAccentedRenderingMode", "drawn",
  ]

  /// Modifiers that no picture shows.
  private static let invisible: Set = [
    "id", "animation", "transition", "contentTransition", "matchedGeometryEffect", "disabled", "allowsHitTesting",
    "contentShape", "redacted", "unredacted", "privacySensitive",
    "invalidatableContent", "widgetURL", "ignoresSafeArea", "allowsTightening", "preferredColorScheme",
    "controlWidgetActionHint", "controlWidgetStatus",
  ]

  private static func isWithoutEffect(_ modifier: ViewArchive.Modifier) -> Bool {
    invisible.contains(modifier.name) || modifier.name.hasPrefix("accessibility")
  }

  private func wrap(
    _ node: LayoutNode, _ modifier: ViewArchive.Modifier, _ style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let arguments = Arguments(of: modifier, context)
    switch modifier.name {
    case "padding", "safeAreaPadding":
      return arguments.insets.map { PaddingNode(node, $0, style) } ?? node
    // The margins of the system; the author's apply to views that scroll.
    case "contentMargins":
      return modifier.arguments["top"] == nil ? node : PaddingNode(node, arguments.edges, style)
    case "frame": return framed(node, arguments, style)
    case "fixedSize":
      let axes: [Axis?] = [
        arguments.isFalse("horizontal") ? nil : .horizontal, arguments.isFalse("vertical") ? nil : .vertical,
      ]
      return FixedSizeNode(node, Set(axes.compactMap { $0 }), style)
    case "aspectRatio", "scaledToFit", "scaledToFill":
      var ratio = arguments.number("ratio")
      if let own = ratio, own <= 0 { ratio = nil }
      let fills = modifier.name == "scaledToFill" || modifier.arguments["contentMode"] == "fill"
      return AspectRatioNode(node, ratio: ratio, fills: fills, style)
    case "layoutPriority": return OrderNode(node, priority: arguments.number("value") ?? 0, style)
    case "zIndex": return OrderNode(node, zIndex: arguments.number("value") ?? 0, style)
    case "gridCellColumns", "gridCellAnchor", "gridCellUnsizedAxes", "gridColumnAlignment":
      return gridCell(node, modifier.name, arguments, style)
    case "offset", "position":
      let place = Point(x: arguments.number("x") ?? 0, y: arguments.number("y") ?? 0)
      return MovedNode(node, to: place, isAbsolute: modifier.name == "position", style)
    case "background", "overlay", "mask", "clipShape", "containerShape":
      return layered(node, modifier, arguments, style, depth: depth)
    case "alignmentGuide": return aligned(node, modifier, arguments, style)
    case "containerBackground":
      if modifier.arguments["placement"] == "widget" {
        context.background += layers(of: modifier, arguments.alignment, style, depth: depth)
      }
      return node
    case _ where Self.effects.contains(modifier.name): return EffectNode(modifier, node, style)
    default:
      context.note(.modifierNotLaidOut, "." + modifier.name)
      return node
    }
  }

  private func aligned(
    _ node: LayoutNode, _ modifier: ViewArchive.Modifier, _ arguments: Arguments, _ style: ViewStyle
  ) -> LayoutNode {
    let guide = AlignmentGuide(named: arguments.string("guide") ?? "")
    let axis: Axis = arguments.string("axis") == "vertical" ? .vertical : .horizontal
    return AlignedNode(modifier, node, guide, axis, value: arguments.number("value"), style)
  }

  private func framed(_ node: LayoutNode, _ arguments: Arguments, _ style: ViewStyle) -> LayoutNode {
    let (width, height) = (arguments.length("width"), arguments.length("height"))
    if width != nil || height != nil {
      return FrameNode(node, width: width, height: height, arguments.alignment, style)
    }
    return FlexibleFrameNode(
      node, width: arguments.limits("Width"), height: arguments.limits("Height"), arguments.alignment, style)
  }

  private func layered(
    _ node: LayoutNode, _ modifier: ViewArchive.Modifier, _ arguments: Arguments, _ style: ViewStyle, depth: Int
  ) -> LayoutNode {
    DecoratedNode(
      modifier, node, layers(of: modifier, arguments.alignment, style, depth: depth), arguments.alignment, style)
  }

  /// The views of a modifier; a style fills the given shape, or a rectangle.
  private func layers(
    of modifier: ViewArchive.Modifier, _ alignment: Alignment, _ style: ViewStyle, depth: Int
  ) -> [LayoutNode] {
    guard let fill = modifier.arguments["style"] else {
      return joined(
        nodes(of: modifier.views, style, axis: nil, depth: depth), .layers(alignment), style
      ).map { [$0] } ?? []
    }
    var shape = modifier.views.first ?? ViewArchive("Rectangle")
    shape.modifiers.append(ViewArchive.Modifier("fill", ["style": fill]))
    return nodes(of: shape, style, axis: nil, depth: depth)
  }
}
