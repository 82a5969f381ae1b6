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
      nodes = nodes.map { wrap($0, modifier: modifier, style: style, depth: depth) }
    }
    return nodes
  }

  /// The nodes of several views.
  func nodes(of views: [ViewArchive], _ style: ViewStyle, axis: Axis?, depth: Int) -> [LayoutNode] {
    views.flatMap { nodes(of: $0, style, axis: axis, depth: depth) }
  }

  /// One node for a list; `nil` for an empty list.
  func joined(_ nodes: [LayoutNode], join: Join, style: ViewStyle) -> LayoutNode? {
    if nodes.count <= 1 { return nodes.first }
    switch join {
    case .stack(let axis):
      return StackNode(
        .container(axis == .vertical ? .vStack : .hStack), along: axis, alignment: .center, distance: nil, nodes: nodes,
        style: style, context: context)
    case .layers(let alignment):
      return ZStackNode(.container(.zStack), alignment: alignment, children: nodes, style: style, context: context)
    }
  }

  // MARK: Modifiers

  private func wrap(
    _ node: LayoutNode, modifier: ViewArchive.Modifier, style: ViewStyle, depth: Int
  ) -> LayoutNode {
    switch modifier.name {
    case .layout(let name): return placed(node, name: name, modifier: modifier, style: style, depth: depth)
    case .layer(let name): return layered(node, name: name, modifier: modifier, style: style, depth: depth)
    case .effect(let name): return EffectNode(.effect(name), modifier: modifier, content: node, style: style)
    case .color(let name): return EffectNode(.color(name), modifier: modifier, content: node, style: style)
    case .chart, .undrawn, .unknown:
      context.note(.modifierNotLaidOut, "." + modifier.name.rawValue)
      return node
    // They are in the style, in the operations, or in no picture.
    case .style, .shape, .accessibility, .silent: return node
    }
  }

  private func placed(
    _ node: LayoutNode, name: LayoutModifier, modifier: ViewArchive.Modifier, style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let arguments = Arguments(of: modifier, context)
    func cell(_ traits: GridTraits?) -> LayoutNode {
      traits.map { GridCellNode(name.rawValue, content: node, traits: $0, style: style) } ?? node
    }
    switch name {
    case .padding, .safeAreaPadding:
      return arguments.insets.map { PaddingNode(node, insets: $0, style: style) } ?? node
    // The margins of the system; the author's apply to views that scroll.
    case .contentMargins:
      return modifier.arguments[.top] == nil ? node : PaddingNode(node, insets: arguments.edges, style: style)
    case .frame: return framed(node, arguments: arguments, style: style)
    case .fixedSize:
      let axes: [Axis?] = [
        arguments.isFalse(.horizontal) ? nil : .horizontal, arguments.isFalse(.vertical) ? nil : .vertical,
      ]
      return FixedSizeNode(node, axes: Set(axes.compactMap { $0 }), style: style)
    case .aspectRatio, .scaledToFit, .scaledToFill:
      var ratio = arguments.number(.ratio)
      if let own = ratio, own <= 0 { ratio = nil }
      let fills = name == .scaledToFill || modifier.arguments[.contentMode] == "fill"
      return AspectRatioNode(node, ratio: ratio, fills: fills, style)
    case .layoutPriority: return OrderNode(node, priority: arguments.number(.value) ?? 0, style)
    case .zIndex: return OrderNode(node, zIndex: arguments.number(.value) ?? 0, style)
    case .gridCellColumns: return cell(gridColumns(arguments))
    case .gridCellAnchor: return cell(gridAnchor(arguments))
    case .gridCellUnsizedAxes: return cell(GridTraits(unsizedAxes: arguments.axes))
    case .gridColumnAlignment: return cell(GridTraits(columnAlignment: arguments.alignment.horizontal))
    case .offset, .position:
      let place = Point(x: arguments.number(.x) ?? 0, y: arguments.number(.y) ?? 0)
      return MovedNode(node, to: place, isAbsolute: name == .position, style)
    case .alignmentGuide: return aligned(node, modifier: modifier, arguments: arguments, style: style)
    case .containerBackground:
      if modifier.arguments[.placement] == "widget" {
        context.background += layers(of: modifier, arguments.alignment, style, depth: depth)
      }
      return node
    }
  }

  private func aligned(
    _ node: LayoutNode, modifier: ViewArchive.Modifier, arguments: Arguments, style: ViewStyle
  ) -> LayoutNode {
    let guide = AlignmentGuide(named: arguments.string(.guide) ?? "")
    let axis: Axis = arguments.string(.axis) == "vertical" ? .vertical : .horizontal
    return AlignedNode(
      modifier, content: node, guide: guide, axis: axis, value: arguments.number(.value), style: style)
  }

  private func framed(_ node: LayoutNode, arguments: Arguments, style: ViewStyle) -> LayoutNode {
    let (width, height) = (arguments.length(.width), arguments.length(.height))
    if width != nil || height != nil {
      return FrameNode(node, width: width, height: height, alignment: arguments.alignment, style: style)
    }
    return FlexibleFrameNode(
      node, width: arguments.limits(least: .minWidth, ideal: .idealWidth, most: .maxWidth),
      height: arguments.limits(least: .minHeight, ideal: .idealHeight, most: .maxHeight),
      alignment: arguments.alignment,
      style: style)
  }

  private func layered(
    _ node: LayoutNode, name: LayerModifier, modifier: ViewArchive.Modifier, style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let alignment = Arguments(of: modifier, context).alignment
    return DecoratedNode(
      name, content: node, layers: layers(of: modifier, alignment, style, depth: depth), alignment: alignment,
      arguments: modifier.arguments,
      style: style)
  }

  /// The views of a modifier; a style fills the given shape, or a rectangle.
  private func layers(
    of modifier: ViewArchive.Modifier, _ alignment: Alignment, _ style: ViewStyle, depth: Int
  ) -> [LayoutNode] {
    guard let fill = modifier.arguments[.style] else {
      return joined(
        nodes(of: modifier.views, style, axis: nil, depth: depth), join: .layers(alignment), style: style
      ).map { [$0] } ?? []
    }
    var shape = modifier.views.first ?? ViewArchive(.shape(.rectangle))
    shape.modifiers.append(ViewArchive.Modifier(.shape(.fill), [.style: fill]))
    return nodes(of: shape, style, axis: nil, depth: depth)
  }
}

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
    case .leaf(.image): return [ImageNode(view, operations: operations, style: style, context: context)]
    case .leaf(.spacer):
      return [SpacerNode(least: Arguments(of: view, context).number(.minLength), along: axis, style, context)]
    case .leaf(.divider): return [DividerNode(across: axis ?? .vertical, style, context)]
    case .leaf(.unsupportedView):
      context.note(.viewNotLaidOut, view.arguments[.view]?.string ?? view.name.rawValue)
      return []
    case .shape, .fill: return [FillingNode(view, operations: operations, style: style, context: context)]
    case .container(let name): return content(of: view, name, style, axis: axis, depth: depth)
    case .control(let name): return content(of: view, name, style, depth: depth)
    case .chart(.chart): return chart(view, operations: operations, style: style, depth: depth)
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
    case .hStack, .lazyHStack: return [stack(view, axis: .horizontal, style: style, depth: depth)]
    case .vStack, .lazyVStack, .contentUnavailableView:
      return [stack(view, axis: .vertical, style: style, depth: depth)]
    case .zStack:
      let views = children()
      return [
        ZStackNode(
          view.name, alignment: Arguments(of: view, context).layerAlignment, children: views, arguments: view.arguments,
          style: style, context: context)
      ]
    case .grid: return [grid(view, style, depth: depth)]
    case .gridRow: return gridRow(view, style, depth: depth)
    case .lazyVGrid: return [lazyGrid(view, along: .vertical, style, depth: depth)]
    case .lazyHGrid: return [lazyGrid(view, along: .horizontal, style, depth: depth)]
    case .geometryReader:
      let content = ZStackNode(
        .container(.zStack), alignment: .topLeading, children: children(), style: style, context: context)
      return [GeometryReaderNode(view, content: content, style: style)]
    case .canvas: return [CanvasNode(view, layers: children(), style: style, context: context)]
    case .canvasItem:
      return joined(children(), join: .layers(.center), style: style).map {
        [CanvasItemNode($0, arguments: Arguments(of: view, context), style: style)]
      } ?? []
    case .viewThatFits:
      return [FittingNode(Arguments(of: view, context).axes, children: children(axis), style: style, context: context)]
    }
  }

  private func content(of view: ViewArchive, _ name: ControlView, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    switch name {
    case .label: label(view, style, depth: depth)
    case .labeledContent: labeled(view, style, depth: depth)
    case .link, .toggleState: contained(view, children: view.children, style: style, depth: depth)
    case .button: button(view, style, depth: depth)
    case .toggle: toggle(view, style, depth: depth)
    case .gauge: gauge(view, style, depth: depth)
    case .progressView: progress(view, style, depth: depth)
    }
  }

  private func stack(_ view: ViewArchive, axis: Axis, style: ViewStyle, depth: Int) -> LayoutNode {
    let arguments = Arguments(of: view, context)
    return StackNode(
      view.name, along: axis, alignment: arguments.guide(across: axis.other), distance: arguments.number(.spacing),
      nodes: nodes(of: view.children, style, axis: axis, depth: depth), arguments: view.arguments, style: style,
      context: context)
  }

  // MARK: Texts

  private func text(_ view: ViewArchive, _ style: ViewStyle) -> LayoutNode {
    var runs: [TextRun] = []
    collect(view, style: style, runs: &runs, depth: 0)
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
    return TextNode(view.arguments.without(.text), runs: runs, style: style, context: context)
  }

  /// The runs of a text; those of a sum of texts have their own styles.
  private func collect(_ view: ViewArchive, style: ViewStyle, runs: inout [TextRun], depth: Int) {
    guard depth < context.limits.depth else { return context.note(.tooDeep, view.name.rawValue) }
    if view.name == .leaf(.image) {
      runs.append(TextRun(text: "", style: style, image: view.arguments))
      return
    }
    var words = view.arguments[.text]?.string ?? LiveText(view.arguments)?.description ?? ""
    if style.textCase == "uppercase" { words = words.uppercased() }
    if style.textCase == "lowercase" { words = words.lowercased() }
    if !words.isEmpty { runs.append(TextRun(text: words, style: style)) }
    for child in view.children {
      var ownStyle = style
      for modifier in child.modifiers.reversed() {
        if case .style(let name) = modifier.name {
          ownStyle.apply(name, modifier.arguments)
        } else {
          context.note(.modifierNotLaidOut, "." + modifier.name.rawValue)
        }
      }
      collect(child, style: ownStyle, runs: &runs, depth: depth + 1)
    }
  }
}

/// `Label`, `Button`, `Toggle` and `LabeledContent` in the system's styles. A style of the author is laid out as its
/// views.
extension LayoutBuilder {
  /// The views of a control by the label to which each belongs. The archive names the labels where they are not the
  /// first ones in order, with one view each.
  func labels(of view: ViewArchive, _ names: [String]) -> [String: [ViewArchive]] {
    var foundViews: [String: [ViewArchive]] = [:]
    var givenNames: [String?] = []
    if case .list(let list) = view.arguments[.labels], list.count == view.children.count {
      givenNames = list.map(\.string)
    }
    for (index, child) in view.children.enumerated() {
      let name = givenNames.indices.contains(index) ? givenNames[index] : names[min(index, names.count - 1)]
      foundViews[name ?? names[0], default: []].append(child)
    }
    return foundViews
  }

  /// A view that contains views in a row, and has their size.
  private func contained(_ view: ViewArchive, children: [ViewArchive], style: ViewStyle, depth: Int) -> [LayoutNode] {
    let nodes = nodes(of: children, style, axis: .horizontal, depth: depth)
    return joined(nodes, join: .stack(.horizontal), style: style).map {
      [ContainerNode(view, content: $0, style: style)]
    } ?? []
  }

  /// `Label`: the icon before the title. With a style of the author it has the views of that style.
  func label(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    let name = style.controlStyles[.labelStyle] ?? "automatic"
    guard ["automatic", "iconOnly", "titleOnly", "titleAndIcon"].contains(name) else {
      return nodes(of: view.children, style, axis: nil, depth: depth)
    }
    let labels = labels(of: view, ["icon", "title"])
    let icon = name == "titleOnly" ? [] : labels["icon"] ?? []
    let title = name == "iconOnly" ? [] : labels["title"] ?? []
    let nodes = nodes(of: icon + title, style, axis: .horizontal, depth: depth)
    return [
      StackNode(
        view.name, along: .horizontal, alignment: .firstTextBaseline, distance: nil, nodes: nodes, style: style,
        context: context)
    ]
  }

  /// `LabeledContent`: the label at the leading edge, the content at the trailing one.
  private func labeled(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    var nodes = nodes(of: view.children, style, axis: .horizontal, depth: depth)
    nodes.insert(SpacerNode(least: nil, along: .horizontal, style, context), at: min(1, nodes.count))
    return [
      StackNode(
        view.name, along: .horizontal, alignment: .firstTextBaseline, distance: nil, nodes: nodes, style: style,
        context: context)
    ]
  }

  // MARK: Buttons

  /// `Button`: its label, in a shape where the style has one.
  func button(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    var look: ButtonLook
    switch style.controlStyles[.buttonStyle] ?? "automatic" {
    case "automatic", "bordered": look = .bordered
    case "borderedProminent": look = .prominent
    case "borderless": look = .borderless
    default: return contained(view, children: view.children, style: style, depth: depth)
    }
    if view.arguments[.role] == "destructive" { look.tint = "red" }
    return button(view, children: view.children, look: look, style: style, depth: depth)
  }

  private func button(
    _ view: ViewArchive, children: [ViewArchive], look: ButtonLook, style: ViewStyle, depth: Int
  ) -> [LayoutNode] {
    let metrics = ButtonMetrics(style.controlStyles[.controlSize] ?? "regular")
    var inner = style
    if look.isFilled {
      inner.foreground = ["white"]
    } else if style.foreground.isEmpty || look.tint != nil {
      inner.foreground = [look.tint ?? "tint"]
    }
    if style.font == nil, let font = metrics.font { inner.font = .string(font) }
    let nodes = nodes(of: children, inner, axis: .horizontal, depth: depth)
    guard let label = joined(nodes, join: .stack(.horizontal), style: inner) else { return [] }
    guard look.hasShape else { return [ContainerNode(view, content: label, style: style)] }
    var content: LayoutNode = PaddingNode(label, insets: metrics.insets, style: style)
    let border = style.controlStyles[.buttonBorderShape] ?? "automatic"
    if border == "circle" {
      content = SquareNode(PaddingNode(label, insets: Insets(metrics.insets.top), style: style), style)
    }
    let shape = FillingNode(
      metrics.shape(border, isFilled: look.isFilled),
      operations: [ViewArchive.Modifier(.shape(.fill), [.style: look.fill(style)])], style: style, context: context)
    return [
      ContainerNode(
        view, content: DecoratedNode(.background, content: content, layers: [shape], alignment: .center, style: style),
        style: style)
    ]
  }

  // MARK: Toggles

  /// `Toggle` in its current state, of the two that are archived.
  func toggle(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    var children = view.children
    if let state = children.first(where: {
      $0.name == .control(.toggleState) && $0.arguments[.isOn] == view.arguments[.isOn]
    }) {
      children = state.children
    }
    let isOn = view.arguments[.isOn] == true
    switch style.controlStyles[.toggleStyle] ?? "automatic" {
    case "automatic", "switch":
      if style.controlStyles[.labelsHidden] != nil { children = [] }
      var nodes = nodes(of: children, style, axis: .horizontal, depth: depth)
      if !nodes.isEmpty { nodes.append(SpacerNode(least: nil, along: .horizontal, style, context)) }
      nodes.append(SwitchNode(isOn: isOn, style, context))
      let row = StackNode(
        .container(.hStack), along: .horizontal, alignment: .center, distance: nil, nodes: nodes, style: style,
        context: context)
      return [ContainerNode(view, content: row, style: style)]
    case "button":
      return button(view, children: children, look: isOn ? .prominent : .invisible, style: style, depth: depth)
    default: return contained(view, children: children, style: style, depth: depth)
    }
  }
}

/// How a button is drawn.
struct ButtonLook {
  /// Whether the shape has the tint and the label is white.
  var isFilled = false
  var hasShape = true
  /// Whether the shape is drawn.
  var isVisible = true
  /// The tint of a role.
  var tint: ArchivedValue?

  static let bordered = ButtonLook()
  static let prominent = ButtonLook(isFilled: true)
  static let borderless = ButtonLook(hasShape: false)
  /// A shape without a colour.
  static let invisible = ButtonLook(isVisible: false)

  /// The colour of the shape: that of the tint, a trace of it, or the system's fill where the author set no tint.
  func fill(_ style: ViewStyle) -> ArchivedValue {
    guard isVisible else { return "clear" }
    if isFilled { return tint ?? "tint" }
    guard let own = tint ?? style.tint else { return .record([.color: "fill", .opacity: 0.6]) }
    return .record([.color: own, .opacity: 0.15])
  }
}

/// The sizes of a bordered button. Source of the margins: `UIButton.Configuration`, as developers measured it.
struct ButtonMetrics {
  /// Around the label, in points.
  let insets: Insets
  /// A text style in place of the inherited font; `nil`: none.
  let font: String?
  private let radius: Double

  /// - Parameter size: the name of a `ControlSize`.
  init(_ size: String) {
    switch size {
    case "mini": (insets, font, radius) = (Insets(top: 4, leading: 8, bottom: 4, trailing: 8), "footnote", 6)
    case "small": (insets, font, radius) = (Insets(top: 5, leading: 10, bottom: 5, trailing: 10), "subheadline", 7)
    case "large", "extraLarge":
      (insets, font, radius) = (Insets(top: 15, leading: 20, bottom: 15, trailing: 20), nil, 12)
    default: (insets, font, radius) = (Insets(top: 7, leading: 12, bottom: 7, trailing: 12), nil, 8)
    }
  }

  /// The shape behind the label.
  ///
  /// - Parameter border: the name of a `ButtonBorderShape`, with the radius after a space.
  func shape(_ border: String, isFilled: Bool) -> ViewArchive {
    var arguments: ArchivedArguments = isFilled ? [.isFilledControl: true] : [:]
    let words = border.split(separator: " ").map(String.init)
    switch words.first {
    case "capsule": return ViewArchive(.shape(.capsule), arguments)
    case "circle": return ViewArchive(.shape(.circle), arguments)
    default:
      arguments[.cornerRadius] = .number(words.count > 1 ? Double(words[1]) ?? radius : radius)
      return ViewArchive(.shape(.roundedRectangle), arguments)
    }
  }
}

/// `Gauge` and `ProgressView` in the system's styles. A style of the author is laid out as its views.
extension LayoutBuilder {
  /// The labels of a gauge or of a progress view; each may be missing.
  private struct MeterLabels {
    var label: LayoutNode?
    var current: LayoutNode?
    var least: LayoutNode?
    var most: LayoutNode?
  }

  private func meterLabels(
    _ view: ViewArchive, label style: ViewStyle, current: ViewStyle, bounds: ViewStyle, depth: Int
  ) -> MeterLabels {
    let labels = labels(of: view, ["label", "currentValueLabel", "minimumValueLabel", "maximumValueLabel"])
    func node(_ name: String, _ style: ViewStyle) -> LayoutNode? {
      joined(
        nodes(of: labels[name] ?? [], style, axis: .horizontal, depth: depth), join: .stack(.horizontal), style: style)
    }
    let isHidden = style.controlStyles[.labelsHidden] != nil
    return MeterLabels(
      label: isHidden ? nil : node("label", style), current: node("currentValueLabel", current),
      least: node("minimumValueLabel", bounds), most: node("maximumValueLabel", bounds))
  }

  // MARK: Gauges

  /// `Gauge`.
  func gauge(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    let value = GaugeValue(view, Arguments(of: view, context)).fraction
    var name = style.controlStyles[.gaugeStyle] ?? "automatic"
    if name == "automatic" {
      switch context.family {
      case .accessoryCircular, .accessoryCorner: name = "accessoryCircular"
      case .accessoryRectangular, .accessoryInline: name = "accessoryLinear"
      case .systemSmall, .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait, .control, .none:
        name = "linearCapacity"
      }
    }
    let node: LayoutNode
    switch name {
    case "accessoryCircular", "accessoryCircularCapacity":
      node = ring(view, value: value, isOpen: name == "accessoryCircular", style: style, depth: depth)
    case "accessoryLinear": node = markedBar(view, value: value, style: style, depth: depth)
    case "accessoryLinearCapacity", "linearCapacity":
      node = capacityBar(view, value: value, isAccessory: name != "linearCapacity", style: style, depth: depth)
    default: return contained(view, column: view.children, style, depth: depth)
    }
    return [ContainerNode(view, content: node, style: style)]
  }

  /// The views of an author's style, in a column.
  private func contained(
    _ view: ViewArchive, column children: [ViewArchive], _ style: ViewStyle, depth: Int
  ) -> [LayoutNode] {
    let nodes = nodes(of: children, style, axis: .vertical, depth: depth)
    return joined(nodes, join: .stack(.vertical), style: style).map { [ContainerNode(view, content: $0, style: style)] }
      ?? []
  }

  /// The ring of a gauge: at most 58 points wide outside of the accessory families.
  private func ring(
    _ view: ViewArchive, value: Double, isOpen: Bool, style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let most = context.family?.isAccessory == true ? Double.infinity : RingNode.usual
    let side = min(most, 72)
    let labels = meterLabels(
      view, label: style.inRing(size: side * (isOpen ? 0.18 : 0.32)), current: style.inRing(size: side * 0.34),
      bounds: style.inRing(size: side * 0.18), depth: depth)
    let ring = RingNode.Ring(
      value: value, isOpen: isOpen, hasMarker: isOpen, ideal: RingNode.usual, most: most, thickness: 0.1)
    if !isOpen { return RingNode(ring, centre: labels.current ?? labels.label, style: style, context: context) }
    let ends = [labels.least, labels.most].compactMap { $0 }
    return RingNode(
      ring, centre: labels.current, below: ends.isEmpty ? labels.label.map { [$0] } ?? [] : ends, style: style,
      context: context)
  }

  /// A bar with a marker in one row with the ends, or else with the label and the current value.
  private func markedBar(_ view: ViewArchive, value: Double, style: ViewStyle, depth: Int) -> LayoutNode {
    let small = style.orFont("footnote")
    let labels = meterLabels(view, label: small, current: small, bounds: small, depth: depth)
    let bar = BarNode(BarNode.Bar(value: value, hasMarker: true, height: 6), style: style, context: context)
    let row = [labels.least ?? labels.label, bar, labels.most ?? labels.current].compactMap { $0 }
    return StackNode(
      .container(.hStack), along: .horizontal, alignment: .center, distance: 4, nodes: row, style: style,
      context: context)
  }

  /// A bar that fills, with its ends beside it, the label above and the current value below.
  private func capacityBar(
    _ view: ViewArchive, value: Double, isAccessory: Bool, style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let font = isAccessory ? style.orFont("footnote") : style
    let labels = meterLabels(view, label: font, current: font, bounds: font, depth: depth)
    let bar = BarNode(BarNode.Bar(value: value, hasMarker: false, height: 6), style: style, context: context)
    let row = [labels.least, bar, labels.most].compactMap { $0 }
    let middle =
      row.count == 1
      ? bar
      : StackNode(
        .container(.hStack), along: .horizontal, alignment: .center, distance: 4, nodes: row, style: style,
        context: context)
    return StackNode(
      .container(.vStack), along: .vertical, alignment: isAccessory ? .leading : .center, distance: 2,
      nodes: [labels.label, middle, labels.current].compactMap { $0 }, style: style, context: context)
  }

  // MARK: Progress

  /// `ProgressView`.
  func progress(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    let arguments = Arguments(of: view, context)
    var value: Double?
    if let given = arguments.number(.value) {
      let total = arguments.number(.total) ?? 1
      value = total > 0 ? (given / total).clamped(0, 1) : 0
    }
    var name = style.controlStyles[.progressViewStyle] ?? "automatic"
    if name == "automatic" { name = value == nil ? "circular" : "linear" }
    let node: LayoutNode
    switch name {
    case "linear": node = bar(view, value: value, style: style, depth: depth)
    case "circular":
      node = value.map { circle(view, value: $0, style: style, depth: depth) } ?? sign(view, style, depth: depth)
    default: return contained(view, column: view.children, style, depth: depth)
    }
    return [ContainerNode(view, content: node, style: style)]
  }

  /// The label, the bar, and the current value in a smaller font.
  private func bar(_ view: ViewArchive, value: Double?, style: ViewStyle, depth: Int) -> LayoutNode {
    var small = style.orFont("caption")
    if style.foreground.isEmpty { small.foreground = ["secondary"] }
    let labels = meterLabels(view, label: style, current: small, bounds: small, depth: depth)
    let bar = BarNode(BarNode.Bar(value: value, hasMarker: false, height: 4), style: style, context: context)
    return StackNode(
      .container(.vStack), along: .vertical, alignment: .leading, distance: 4,
      nodes: [labels.label, bar, labels.current].compactMap { $0 }, style: style, context: context)
  }

  /// A ring that takes the space, with the current value or else the label in its middle.
  private func circle(_ view: ViewArchive, value: Double, style: ViewStyle, depth: Int) -> LayoutNode {
    let inner = style.inRing(size: 20)
    let labels = meterLabels(view, label: inner, current: inner, bounds: inner, depth: depth)
    let ring = RingNode.Ring(
      value: value, isOpen: false, hasMarker: false, ideal: 20, most: .infinity, thickness: 0.1)
    return RingNode(ring, centre: labels.current ?? labels.label, style: style, context: context)
  }

  /// A sign for progress without a value, above its label.
  private func sign(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> LayoutNode {
    var small = style
    if style.foreground.isEmpty { small.foreground = ["secondary"] }
    let labels = meterLabels(view, label: small, current: small, bounds: small, depth: depth)
    let side = ["large", "extraLarge"].contains(style.controlStyles[.controlSize] ?? "") ? 37.0 : 20
    let sign = SpinnerNode(side: side, style, context)
    return StackNode(
      .container(.vStack), along: .vertical, alignment: .center, distance: nil,
      nodes: [sign, labels.label].compactMap { $0 }, style: style,
      context: context)
  }
}

/// The value of a gauge as a part of its range.
private struct GaugeValue {
  var fraction = 0.0

  init(_ view: ViewArchive, _ arguments: Arguments) {
    var (lower, upper) = (0.0, 1.0)
    if case .list(let bounds) = view.arguments[.in], bounds.count == 2 {
      (lower, upper) = (bounds[0].finite ?? 0, bounds[1].finite ?? 1)
    }
    guard let value = arguments.number(.value), upper > lower else { return }
    let found = (value - lower) / (upper - lower)
    fraction = found.isFinite ? found.clamped(0, 1) : 0
  }
}

extension ViewStyle {
  /// The style with a text style as its font, unless the author set one.
  fileprivate func orFont(_ name: String) -> ViewStyle {
    var style = self
    if font == nil { style.font = .string(name) }
    return style
  }

  /// The style of a label within a ring: one line that becomes smaller, unless the author set a font.
  fileprivate func inRing(size: Double) -> ViewStyle {
    var style = self
    if font == nil { style.font = .record([.fixedSize: .number(size)]) }
    style.lines.limit = 1
    style.lines.minimumScale = min(style.lines.minimumScale, 0.3)
    style.lines.alignment = "center"
    return style
  }
}
