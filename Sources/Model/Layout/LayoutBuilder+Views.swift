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
    case .leaf(.emptyView): return []
    case .leaf(.text): return [text(view, style)]
    case .leaf(.image): return [ImageNode(view, operations: operations, style, context)]
    case .leaf(.spacer):
      return [SpacerNode(least: Arguments(of: view, context).number("minLength"), along: axis, style, context)]
    case .leaf(.divider): return [DividerNode(across: axis ?? .vertical, style, context)]
    case .leaf(.unsupportedView):
      context.note(.viewNotLaidOut, view.arguments["view"]?.string ?? view.name.rawValue)
      return []
    case .shape, .fill: return [FillingNode(view, operations: operations, style, context)]
    case .container(let name): return content(of: view, name, style, axis: axis, depth: depth)
    case .control(let name): return content(of: view, name, style, depth: depth)
    case .chart(.chart): return chart(view, operations, style, depth: depth)
    case .chart(.chartPlotContent) where plot != nil: return plot.map { [$0] } ?? []
    case .chart(.chartPlotContent), .chart(.axisMarks), .chart(.axisMark), .mark, .unknown:
      context.note(.viewNotLaidOut, view.name.rawValue)
      return []
    }
  }

  private func content(
    of view: ViewArchive, _ name: ContainerView, _ style: ViewStyle, axis: Axis?, depth: Int
  ) -> [LayoutNode] {
    func children(_ axis: Axis? = nil) -> [LayoutNode] { nodes(of: view.children, style, axis: axis, depth: depth) }
    switch name {
    case .group, .section: return children(axis)
    case .hStack, .lazyHStack: return [stack(view, .horizontal, style, depth)]
    case .vStack, .lazyVStack, .contentUnavailableView: return [stack(view, .vertical, style, depth)]
    case .zStack:
      let views = children()
      return [
        ZStackNode(
          view.name, Arguments(of: view, context).layerAlignment, views, arguments: view.arguments, style, context)
      ]
    case .grid: return [grid(view, style, depth: depth)]
    case .gridRow: return gridRow(view, style, depth: depth)
    case .lazyVGrid: return [lazyGrid(view, along: .vertical, style, depth: depth)]
    case .lazyHGrid: return [lazyGrid(view, along: .horizontal, style, depth: depth)]
    case .geometryReader:
      let content = ZStackNode(.container(.zStack), .topLeading, children(), style, context)
      return [GeometryReaderNode(view, content, style)]
    case .canvas: return [CanvasNode(view, children(), style, context)]
    case .canvasItem:
      return joined(children(), .layers(.center), style).map {
        [CanvasItemNode($0, Arguments(of: view, context), style)]
      } ?? []
    case .viewThatFits:
      return [FittingNode(Arguments(of: view, context).axes, children(axis), style, context)]
    }
  }

  private func content(of view: ViewArchive, _ name: ControlView, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    switch name {
    case .label: label(view, style, depth: depth)
    case .labeledContent: labeled(view, style, depth: depth)
    case .link, .toggleState: contained(view, view.children, style, depth: depth)
    case .button: button(view, style, depth: depth)
    case .toggle: toggle(view, style, depth: depth)
    case .gauge: gauge(view, style, depth: depth)
    case .progressView: progress(view, style, depth: depth)
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
    guard depth < context.limits.depth else { return context.note(.tooDeep, view.name.rawValue) }
    if view.name == .leaf(.image) {
      runs.append(TextRun(text: "", style: style, image: view.arguments))
      return
    }
    var words = view.arguments["text"]?.string ?? LiveText(view.arguments)?.description ?? ""
    if style.textCase == "uppercase" { words = words.uppercased() }
    if style.textCase == "lowercase" { words = words.lowercased() }
    if !words.isEmpty { runs.append(TextRun(text: words, style: style)) }
    for child in view.children {
      var own = style
      for modifier in child.modifiers.reversed() {
        if case .style(let name) = modifier.name {
          own.apply(name, modifier.arguments)
        } else {
          context.note(.modifierNotLaidOut, "." + modifier.name.rawValue)
        }
      }
      collect(child, own, &runs, depth: depth + 1)
    }
  }
}
