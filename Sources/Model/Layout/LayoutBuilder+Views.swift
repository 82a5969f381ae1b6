// SPDX-License-Identifier: Apache-2.0

import Archive

extension LayoutBuilder {
  /// The nodes of a view without its modifiers.
  ///
  /// - Parameter operations: those on a shape or an image.
  func content(
    of view: ViewArchive, _ operations: [ViewArchive.Modifier], _ style: ViewStyle, axis: Axis?, depth: Int
  ) -> [LayoutNode] {
    switch view.name {
    case "EmptyView": return []
    case "Group", "Section": return nodes(of: view.children, style, axis: axis, depth: depth)
    case "Text": return [text(view, style)]
    case "Spacer":
      return [SpacerNode(least: Arguments(of: view, context).number("minLength"), along: axis, style, context)]
    case "Divider": return [DividerNode(across: axis ?? .vertical, style, context)]
    case "Image": return [ImageNode(view, operations: operations, style, context)]
    case "HStack", "LazyHStack": return [stack(view, .horizontal, style, depth)]
    case "VStack", "LazyVStack", "ContentUnavailableView": return [stack(view, .vertical, style, depth)]
    case "Grid": return [grid(view, style, depth: depth)]
    case "GridRow": return gridRow(view, style, depth: depth)
    case "LazyVGrid", "LazyHGrid": return [lazyGrid(view, style, depth: depth)]
    case "ZStack":
      let children = nodes(of: view.children, style, axis: nil, depth: depth)
      return [
        ZStackNode(
          view.name, Arguments(of: view, context).layerAlignment, children, arguments: view.arguments, style, context)
      ]
    case "GeometryReader", "Canvas", "CanvasItem": return sized(view, style, depth: depth)
    case "ViewThatFits":
      let children = nodes(of: view.children, style, axis: axis, depth: depth)
      return [FittingNode(Arguments(of: view, context).axes, children, style, context)]
    case "Label": return label(view, style, depth: depth)
    case "Link", "ToggleState": return contained(view, view.children, style, depth: depth)
    case "Button": return button(view, style, depth: depth)
    case "Toggle": return toggle(view, style, depth: depth)
    case "Gauge": return gauge(view, style, depth: depth)
    case "ProgressView": return progress(view, style, depth: depth)
    case "LabeledContent": return labeled(view, style, depth: depth)
    case "Chart": return chart(view, operations, style, depth: depth)
    case "ChartPlotContent" where plot != nil: return plot.map { [$0] } ?? []
    case _ where Self.fillings.contains(view.name):
      return [FillingNode(view, operations: operations, style, context)]
    case "UnsupportedView":
      context.note(.viewNotLaidOut, view.arguments["view"]?.string ?? view.name)
      return []
    default:
      context.note(.viewNotLaidOut, view.name)
      return []
    }
  }

  /// Views that take the size that is proposed to them.
  private static let fillings: Set = [
    "Color", "Rectangle", "RoundedRectangle", "UnevenRoundedRectangle", "Circle", "Ellipse", "Capsule",
    "ContainerRelativeShape", "Shape", "LinearGradient", "RadialGradient", "EllipticalGradient", "AngularGradient",
    "AccessoryWidgetBackground",
  ]

  /// A view whose content depends on its size.
  private func sized(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    let children = nodes(of: view.children, style, axis: nil, depth: depth)
    switch view.name {
    case "Canvas": return [CanvasNode(view, children, style, context)]
    case "CanvasItem":
      return joined(children, .layers(.center), style).map {
        [CanvasItemNode($0, Arguments(of: view, context), style)]
      } ?? []
    default: return [GeometryReaderNode(view, ZStackNode("ZStack", .topLeading, children, style, context), style)]
    }
  }

  private func stack(_ view: ViewArchive, _ axis: Axis, _ style: ViewStyle, _ depth: Int) -> LayoutNode {
    let arguments = Arguments(of: view, context)
    return StackNode(
      view.name, along: axis, arguments.guide(across: axis.other), distance: arguments.number("spacing"),
      nodes(of: view.children, style, axis: axis, depth: depth), arguments: view.arguments, style, context)
  }

  // MARK: Texts

  private func text(_ view: ViewArchive, _ style: ViewStyle) -> LayoutNode {
    var runs: [TextRun] = []
    collect(view, style, &runs, depth: 0)
    var left = context.limits.characters
    for index in runs.indices {
      let count = runs[index].text.count
      if count > left {
        context.note(.textTooLong, "\"\(runs[index].text.prefix(20))…\"")
        runs[index].text = String(runs[index].text.prefix(left))
      }
      left = max(0, left - count)
    }
    for run in runs { if let custom = run.style.resolvedFont.custom { context.note(.fontNotAvailable, custom) } }
    return TextNode(view.arguments.filter { $0.key != "text" }, runs, style, context)
  }

  /// The runs of a text; those of a sum of texts have their own styles.
  private func collect(_ view: ViewArchive, _ style: ViewStyle, _ runs: inout [TextRun], depth: Int) {
    guard depth < context.limits.depth else { return context.note(.tooDeep, view.name) }
    if view.name == "Image" {
      runs.append(TextRun(text: "", style: style, image: view.arguments))
      return
    }
    var words = view.arguments["text"]?.string ?? LiveText(view.arguments)?.description ?? ""
    if style.textCase == "uppercase" { words = words.uppercased() }
    if style.textCase == "lowercase" { words = words.lowercased() }
    if !words.isEmpty { runs.append(TextRun(text: words, style: style)) }
    for child in view.children {
      var own = style
      for modifier in child.modifiers.reversed() where !own.apply(modifier) {
        context.note(.modifierNotLaidOut, "." + modifier.name)
      }
      collect(child, own, &runs, depth: depth + 1)
    }
  }
}
