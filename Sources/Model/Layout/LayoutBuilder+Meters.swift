// SPDX-License-Identifier: Apache-2.0

import Archive

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
        nodes(of: labels[name] ?? [], style, axis: .horizontal, depth: depth), .stack(.horizontal), style)
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
      default: name = "linearCapacity"
      }
    }
    let node: LayoutNode
    switch name {
    case "accessoryCircular", "accessoryCircularCapacity":
      node = ring(view, value, isOpen: name == "accessoryCircular", style, depth: depth)
    case "accessoryLinear": node = markedBar(view, value, style, depth: depth)
    case "accessoryLinearCapacity", "linearCapacity":
      node = capacityBar(view, value, isAccessory: name != "linearCapacity", style, depth: depth)
    default: return contained(view, column: view.children, style, depth: depth)
    }
    return [ContainerNode(view, node, style)]
  }

  /// The views of an author's style, in a column.
  private func contained(
    _ view: ViewArchive, column children: [ViewArchive], _ style: ViewStyle, depth: Int
  ) -> [LayoutNode] {
    let nodes = nodes(of: children, style, axis: .vertical, depth: depth)
    return joined(nodes, .stack(.vertical), style).map { [ContainerNode(view, $0, style)] } ?? []
  }

  /// The ring of a gauge: at most 58 points wide outside of the accessory families.
  private func ring(
    _ view: ViewArchive, _ value: Double, isOpen: Bool, _ style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let most = context.family?.isAccessory == true ? Double.infinity : RingNode.usual
    let side = min(most, 72)
    let labels = meterLabels(
      view, label: style.inRing(size: side * (isOpen ? 0.18 : 0.32)), current: style.inRing(size: side * 0.34),
      bounds: style.inRing(size: side * 0.18), depth: depth)
    let ring = RingNode.Ring(
      value: value, isOpen: isOpen, hasMarker: isOpen, ideal: RingNode.usual, most: most, thickness: 0.1)
    if !isOpen { return RingNode(ring, centre: labels.current ?? labels.label, style, context) }
    let ends = [labels.least, labels.most].compactMap { $0 }
    return RingNode(
      ring, centre: labels.current, below: ends.isEmpty ? labels.label.map { [$0] } ?? [] : ends, style, context)
  }

  /// A bar with a marker in one row with the ends, or else with the label and the current value.
  private func markedBar(_ view: ViewArchive, _ value: Double, _ style: ViewStyle, depth: Int) -> LayoutNode {
    let small = style.orFont("footnote")
    let labels = meterLabels(view, label: small, current: small, bounds: small, depth: depth)
    let bar = BarNode(BarNode.Bar(value: value, hasMarker: true, height: 6), style, context)
    let row = [labels.least ?? labels.label, bar, labels.most ?? labels.current].compactMap { $0 }
    return StackNode(.container(.hStack), along: .horizontal, .center, distance: 4, row, style, context)
  }

  /// A bar that fills, with its ends beside it, the label above and the current value below.
  private func capacityBar(
    _ view: ViewArchive, _ value: Double, isAccessory: Bool, _ style: ViewStyle, depth: Int
  ) -> LayoutNode {
    let font = isAccessory ? style.orFont("footnote") : style
    let labels = meterLabels(view, label: font, current: font, bounds: font, depth: depth)
    let bar = BarNode(BarNode.Bar(value: value, hasMarker: false, height: 6), style, context)
    let row = [labels.least, bar, labels.most].compactMap { $0 }
    let middle =
      row.count == 1
      ? bar : StackNode(.container(.hStack), along: .horizontal, .center, distance: 4, row, style, context)
    return StackNode(
      .container(.vStack), along: .vertical, isAccessory ? .leading : .center, distance: 2,
      [labels.label, middle, labels.current].compactMap { $0 }, style, context)
  }

  // MARK: Progress

  /// `ProgressView`.
  func progress(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    let arguments = Arguments(of: view, context)
    var value: Double?
    if let given = arguments.number("value") {
      let total = arguments.number("total") ?? 1
      value = total > 0 ? (given / total).clamped(0, 1) : 0
    }
    var name = style.controlStyles[.progressViewStyle] ?? "automatic"
    if name == "automatic" { name = value == nil ? "circular" : "linear" }
    let node: LayoutNode
    switch name {
    case "linear": node = bar(view, value, style, depth: depth)
    case "circular": node = value.map { circle(view, $0, style, depth: depth) } ?? sign(view, style, depth: depth)
    default: return contained(view, column: view.children, style, depth: depth)
    }
    return [ContainerNode(view, node, style)]
  }

  /// The label, the bar, and the current value in a smaller font.
  private func bar(_ view: ViewArchive, _ value: Double?, _ style: ViewStyle, depth: Int) -> LayoutNode {
    var small = style.orFont("caption")
    if style.foreground.isEmpty { small.foreground = ["secondary"] }
    let labels = meterLabels(view, label: style, current: small, bounds: small, depth: depth)
    let bar = BarNode(BarNode.Bar(value: value, hasMarker: false, height: 4), style, context)
    return StackNode(
      .container(.vStack), along: .vertical, .leading, distance: 4,
      [labels.label, bar, labels.current].compactMap { $0 }, style, context)
  }

  /// A ring that takes the space, with the current value or else the label in its middle.
  private func circle(_ view: ViewArchive, _ value: Double, _ style: ViewStyle, depth: Int) -> LayoutNode {
    let inner = style.inRing(size: 20)
    let labels = meterLabels(view, label: inner, current: inner, bounds: inner, depth: depth)
    let ring = RingNode.Ring(
      value: value, isOpen: false, hasMarker: false, ideal: 20, most: .infinity, thickness: 0.1)
    return RingNode(ring, centre: labels.current ?? labels.label, style, context)
  }

  /// A sign for progress without a value, above its label.
  private func sign(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> LayoutNode {
    var small = style
    if style.foreground.isEmpty { small.foreground = ["secondary"] }
    let labels = meterLabels(view, label: small, current: small, bounds: small, depth: depth)
    let side = ["large", "extraLarge"].contains(style.controlStyles[.controlSize] ?? "") ? 37.0 : 20
    let sign = SpinnerNode(side: side, style, context)
    return StackNode(
      .container(.vStack), along: .vertical, .center, distance: nil, [sign, labels.label].compactMap { $0 }, style,
      context)
  }
}

/// The value of a gauge as a part of its range.
private struct GaugeValue {
  var fraction = 0.0

  init(_ view: ViewArchive, _ arguments: Arguments) {
    var (lower, upper) = (0.0, 1.0)
    if case .list(let bounds) = view.arguments["in"], bounds.count == 2 {
      (lower, upper) = (bounds[0].finite ?? 0, bounds[1].finite ?? 1)
    }
    guard let value = arguments.number("value"), upper > lower else { return }
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
    if font == nil { style.font = .record(["fixedSize": .number(size)]) }
    style.lines.limit = 1
    style.lines.minimumScale = min(style.lines.minimumScale, 0.3)
    style.lines.alignment = "center"
    return style
  }
}
