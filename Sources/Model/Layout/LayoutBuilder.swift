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
      context.note(.tooDeep, view.name.rawValue)
      return []
    }
    // What the views of the next modifier inherit: from the modifiers around it.
    var style = outer
    var operations: [ViewArchive.Modifier] = []
    var modifiers: [(modifier: ViewArchive.Modifier, style: ViewStyle)] = []
    for modifier in view.modifiers.reversed() {
      switch modifier.name {
      case .style(let name): style.apply(name, modifier.arguments)
      case .shape: operations.insert(modifier, at: 0)
      case .accessibility, .silent: break
      case .unknown(let name) where name.hasPrefix("accessibility"): break
      case .layout, .layer, .effect, .color, .chart, .undrawn, .unknown: modifiers.insert((modifier, style), at: 0)
      }
    }
    var nodes = content(of: view, operations, style, axis: axis, depth: depth)
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
        .container(axis == .vertical ? .vStack : .hStack), along: axis, .center, distance: nil, nodes, style, context)
    case .layers(let alignment): return ZStackNode(.container(.zStack), alignment, nodes, style, context)
    }
  }

  // MARK: Modifiers

  private func wrap(
    _ node: LayoutNode, _ modifier: ViewArchive.Modifier, _ style: ViewStyle, depth: Int
  ) -> LayoutNode {
    switch modifier.name {
    case .layout(let name): return placed(node, name, modifier, style, depth: depth)
    case .layer(let name): return layered(node, name, modifier, style, depth: depth)
    case .effect(let name): return EffectNode(.effect(name), modifier, node, style)
    case .color(let name): return EffectNode(.color(name), modifier, node, style)
    case .chart, .undrawn, .unknown:
      context.note(.modifierNotLaidOut, "." + modifier.name.rawValue)
      return node
    // They are in the style, in the operations, or in no picture.
    case .style, .shape, .accessibility, .silent: return node
    }
  }

  private func placed(
    _ node: LayoutNode, _ name: LayoutModifier, _ modifier: ViewArchive.Modifier, _ style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let arguments = Arguments(of: modifier, context)
    func cell(_ traits: GridTraits?) -> LayoutNode {
      traits.map { GridCellNode(name.rawValue, node, $0, style) } ?? node
    }
    switch name {
    case .padding, .safeAreaPadding:
      return arguments.insets.map { PaddingNode(node, $0, style) } ?? node
    // The margins of the system; the author's apply to views that scroll.
    case .contentMargins:
      return modifier.arguments["top"] == nil ? node : PaddingNode(node, arguments.edges, style)
    case .frame: return framed(node, arguments, style)
    case .fixedSize:
      let axes: [Axis?] = [
        arguments.isFalse("horizontal") ? nil : .horizontal, arguments.isFalse("vertical") ? nil : .vertical,
      ]
      return FixedSizeNode(node, Set(axes.compactMap { $0 }), style)
    case .aspectRatio, .scaledToFit, .scaledToFill:
      var ratio = arguments.number("ratio")
      if let own = ratio, own <= 0 { ratio = nil }
      let fills = name == .scaledToFill || modifier.arguments["contentMode"] == "fill"
      return AspectRatioNode(node, ratio: ratio, fills: fills, style)
    case .layoutPriority: return OrderNode(node, priority: arguments.number("value") ?? 0, style)
    case .zIndex: return OrderNode(node, zIndex: arguments.number("value") ?? 0, style)
    case .gridCellColumns: return cell(gridColumns(arguments))
    case .gridCellAnchor: return cell(gridAnchor(arguments))
    case .gridCellUnsizedAxes: return cell(GridTraits(unsizedAxes: arguments.axes))
    case .gridColumnAlignment: return cell(GridTraits(columnAlignment: arguments.alignment.horizontal))
    case .offset, .position:
      let place = Point(x: arguments.number("x") ?? 0, y: arguments.number("y") ?? 0)
      return MovedNode(node, to: place, isAbsolute: name == .position, style)
    case .alignmentGuide: return aligned(node, modifier, arguments, style)
    case .containerBackground:
      if modifier.arguments["placement"] == "widget" {
        context.background += layers(of: modifier, arguments.alignment, style, depth: depth)
      }
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
    _ node: LayoutNode, _ name: LayerModifier, _ modifier: ViewArchive.Modifier, _ style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let alignment = Arguments(of: modifier, context).alignment
    return DecoratedNode(
      name, node, layers(of: modifier, alignment, style, depth: depth), alignment, arguments: modifier.arguments,
      style)
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
    var shape = modifier.views.first ?? ViewArchive(.shape(.rectangle))
    shape.modifiers.append(ViewArchive.Modifier(.shape(.fill), ["style": fill]))
    return nodes(of: shape, style, axis: nil, depth: depth)
  }
}
