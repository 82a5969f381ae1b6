// SPDX-License-Identifier: Apache-2.0

import Archive

/// `Chart`: it takes the proposal, and draws its marks in the plot that the axes and the legend leave. With
/// `chartPlotStyle` the plot has the size of its modifiers, and the axes and the legend are around it.
final class ChartNode: ViewNode {
  /// One value of an axis.
  struct AxisMark {
    var value: ChartValue
    var label: LayoutNode?
    /// The arguments of the parts that the author wants; `nil` without them.
    var gridLine: ArchivedArguments?
    var tick: ArchivedArguments?
    var isLabelCentered: Bool?
  }

  /// Marks at one edge of the plot.
  struct AxisMarks {
    var dimension: ChartModel.Dimension
    /// Whether the labels are at the top or at the leading edge.
    var isAtStart: Bool
    var marks: [AxisMark]
    /// Whether the system chooses the values, so that some may be left out.
    var isAutomatic = false

    /// The labels with their sizes without a proposal.
    func most(_ axis: Axis) -> Double { marks.compactMap { $0.label?.size(.ideal)[axis] }.max() ?? 0 }
  }

  /// A view beside a mark.
  struct Annotation {
    var mark: Int
    /// By the name of Apple's position.
    var position: String
    var alignment: Alignment
    var spacing: Double
    var node: LayoutNode
  }

  /// A category with its colour.
  struct LegendEntry {
    var category: String
    var label: LayoutNode
  }

  private let arguments: ArchivedArguments
  let plot: ChartPlotNode
  /// The plot within its modifiers; the plot itself without modifiers.
  let styledPlot: LayoutNode
  let annotations: [Annotation]
  let legend: [LegendEntry]

  /// In points. Ours: Apple publishes no numbers.
  enum Distance {
    static let label = 4.0
    static let tick = 4.0
    static let legend = 8.0
    static let swatch = 8.0
    static let entry = 12.0
  }

  init(
    _ view: ViewArchive, plot: ChartPlotNode, in styledPlot: LayoutNode, annotations: [Annotation],
    legend: [LegendEntry], style: ViewStyle, context: LayoutContext
  ) {
    arguments = view.arguments
    self.plot = plot
    self.styledPlot = styledPlot
    self.annotations = annotations
    self.legend = legend
    super.init(.chart(.chart), style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let size = plot.size(proposal)
    guard styledPlot !== plot else { return size }
    let own = styledPlot.size(plotProposal(size))
    let width = own.width + margins.horizontal
    return Size(
      width: width, height: own.height + margins.vertical + legendHeight(legendRows(within: width)))
  }

  /// What the axes and the legend leave of a size.
  private func plotProposal(_ size: Size) -> Proposal {
    var rest = Size(
      width: max(0, size.width - margins.horizontal), height: max(0, size.height - margins.vertical))
    let width = styledPlot.size(Proposal(rest)).width + margins.horizontal
    rest.height = max(0, rest.height - legendHeight(legendRows(within: width)))
    return Proposal(rest)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let size = size(proposal)
    var view = placed([:], at: origin, size)
    if arguments[.closure] != nil { context.check(arguments, label: .size, size: size, name: name) }
    guard size.width.isFinite, size.height.isFinite, size.width > 0, size.height > 0 else { return [view] }
    let whole = Rect(origin: origin, size: size)
    let rows = legendRows(within: size.width)
    var rest = whole
    rest.size.height = max(0, whole.size.height - legendHeight(rows))
    view.children += placedLegend(rows, top: rest.maxY + Distance.legend, leading: whole.minX)
    let space = rest.inset(margins)
    let isStyled = styledPlot !== plot
    let placedPlot = styledPlot.place(
      at: space.origin, isStyled ? plotProposal(plot.size(proposal)) : Proposal(space.size))
    let frame = plot.frame ?? space
    let shapes = plot.shapes(in: frame)
    let parts = ChartAxisParts(shapes: shapes, plot: frame, bounds: whole, context: context)
    let axes = plot.axes.map { parts.thinned($0) }
    view.children += axes.flatMap { parts.lines(of: $0, areTicks: true) } + placedPlot
    view.children += axes.flatMap { parts.labels(of: $0) } + annotations.flatMap { place($0, shapes) }
    return [view]
  }

  /// The space of the labels around the plot.
  private var margins: Insets {
    var insets = Insets(0)
    for axis in plot.axes {
      let ticks = axis.marks.contains { $0.tick != nil } ? Distance.tick : 0
      let (width, height) = (axis.most(.horizontal), axis.most(.vertical))
      if axis.dimension == .x {
        let space = max(height > 0 ? height + Distance.label : 0, ticks)
        if axis.isAtStart { insets.top = max(insets.top, space) } else { insets.bottom = max(insets.bottom, space) }
      } else {
        let space = max(width > 0 ? width + Distance.label : 0, ticks)
        if axis.isAtStart {
          insets.leading = max(insets.leading, space)
        } else {
          insets.trailing = max(insets.trailing, space)
        }
        // The first and the last label are half outside of the plot.
        insets.top = max(insets.top, height / 2)
        insets.bottom = max(insets.bottom, height / 2)
      }
    }
    return insets
  }

  // MARK: Legend

  private struct LegendRow {
    var entries: [(entry: LegendEntry, size: Size)] = []
    var width = 0.0
    var height = 0.0
  }

  /// The entries in rows, as many in each as fit.
  private func legendRows(within width: Double) -> [LegendRow] {
    var rows: [LegendRow] = []
    for entry in legend {
      let ownSize = entry.label.size(Proposal(width: max(0, width - Distance.swatch - Distance.label), height: nil))
      let length = Distance.swatch + Distance.label + ownSize.width
      if rows.isEmpty || rows[rows.count - 1].width + Distance.entry + length > width + 0.01 {
        rows.append(LegendRow())
      }
      var row = rows[rows.count - 1]
      row.width += (row.entries.isEmpty ? 0 : Distance.entry) + length
      row.height = max(row.height, ownSize.height, Distance.swatch)
      row.entries.append((entry, ownSize))
      rows[rows.count - 1] = row
    }
    return rows
  }

  /// With the distance to the plot; 0 without a legend.
  private func legendHeight(_ rows: [LegendRow]) -> Double {
    guard !rows.isEmpty else { return 0 }
    return rows.map(\.height).reduce(0, +) + Double(rows.count - 1) * Distance.label + Distance.legend
  }

  private func placedLegend(_ rows: [LegendRow], top: Double, leading: Double) -> [PlacedView] {
    var views: [PlacedView] = []
    let shapes = plot.shapes(in: Rect(x: 0, y: 0, width: 0, height: 0))
    var top = top
    for row in rows {
      var x = leading
      for (entry, size) in row.entries {
        var swatch = PlacedView(
          kind: .view(.shape(.circle)), arguments: [:],
          frame: Rect(
            x: x, y: top + (row.height - Distance.swatch) / 2, width: Distance.swatch, height: Distance.swatch),
          style: style)
        swatch.operations = [ViewArchive.Modifier(.shape(.fill), [.style: shapes.paint(of: entry.category)])]
        views.append(swatch)
        x += Distance.swatch + Distance.label
        views += entry.label.place(at: Point(x: x, y: top + (row.height - size.height) / 2), Proposal(size))
        x += size.width + Distance.entry
      }
      top += row.height + Distance.label
    }
    return views
  }

  // MARK: Annotations

  private func place(_ annotation: Annotation, _ shapes: ChartMarkShapes) -> [PlacedView] {
    guard let anchor = shapes.anchor(annotation.mark) else { return [] }
    var position = annotation.position
    if position == "automatic" {
      let mark = shapes.model.marks[annotation.mark]
      let isNegative = (shapes.model.extents[annotation.mark]?.end ?? 0) < 0
      if mark.kind == .sector {
        position = "overlay"
      } else if mark.isVertical || mark.kind != .bar {
        position = isNegative ? "bottom" : "top"
      } else {
        position = isNegative ? "leading" : "trailing"
      }
    }
    let proposal = position == "overlay" && anchor.size.width > 0 ? Proposal(anchor.size) : Proposal.ideal
    let size = annotation.node.size(proposal)
    func aligned(_ axis: Axis) -> Double {
      let length = axis == .horizontal ? anchor.size.width : anchor.size.height
      let start = axis == .horizontal ? anchor.minX : anchor.minY
      let guide = annotation.alignment[axis]
      return start + guide.standard(in: length) - guide.standard(in: size[axis])
    }
    var place = Point(x: aligned(.horizontal), y: aligned(.vertical))
    if position == "overlay", shapes.model.marks[annotation.mark].kind == .sector,
      let middle = shapes.middle(annotation.mark)
    {
      place = Point(x: middle.x - size.width / 2, y: middle.y - size.height / 2)
    }
    let name = position.lowercased()
    if name.hasPrefix("top") { place.y = anchor.minY - annotation.spacing - size.height }
    if name.hasPrefix("bottom") { place.y = anchor.maxY + annotation.spacing }
    if name.hasSuffix("leading") { place.x = anchor.minX - annotation.spacing - size.width }
    if name.hasSuffix("trailing") { place.x = anchor.maxX + annotation.spacing }
    return annotation.node.place(at: place, proposal)
  }
}

extension LayoutBuilder {
  /// `Chart`: its marks from their archives, with the views of its axes, its annotations and its legend. A hidden one is
  /// a rounded rectangle.
  func chart(
    _ view: ViewArchive, operations: [ViewArchive.Modifier], style: ViewStyle, depth: Int
  ) -> [LayoutNode] {
    if view.arguments[.text] != nil {
      let bar = ViewArchive(.shape(.roundedRectangle), [.cornerRadius: 8])
      let fill = ViewArchive.Modifier(.shape(.fill), [.style: .record([.color: "foreground", .opacity: 0.2])])
      return [FillingNode(bar, operations: [fill], style: style, context: context)]
    }
    let model = ChartModel(view)
    let styles = Dictionary(
      view.chartStyles.compactMap { entry in entry.style.map { (entry.category, $0) } }, uniquingKeysWith: { $1 })
    let label = style.chartLabel
    var axes: [ChartNode.AxisMarks] = []
    for dimension in ChartModel.Dimension.allCases {
      axes += view.children.filter { $0.isAxis(dimension) }.map {
        axis(dimension, view: $0, style: label, depth: depth)
      }
    }
    var legend: [ChartNode.LegendEntry] = []
    if view.arguments[.legend] != "hidden", model.marks.contains(where: { $0.styleCategory != nil }) {
      for category in model.categories {
        let nodes = nodes(of: .text(category), label, axis: nil, depth: depth)
        if let node = nodes.first { legend.append(ChartNode.LegendEntry(category: category, label: node)) }
      }
    }
    let plot = ChartPlotNode(model, styles: styles, axes: axes, style: style, context: context)
    var inner = self
    inner.plot = plot
    let views = operations.last { $0.name == .shape(.chartPlotStyle) }?.views ?? []
    let styledPlot = joined(
      inner.nodes(of: views, style, axis: nil, depth: depth), join: .layers(.center), style: style)
    return [
      ChartNode(
        view, plot: plot, in: styledPlot ?? plot, annotations: annotations(model, style, depth: depth), legend: legend,
        style: style, context: context)
    ]
  }

  private func axis(
    _ dimension: ChartModel.Dimension, view: ViewArchive, style: ViewStyle, depth: Int
  ) -> ChartNode.AxisMarks {
    let position = view.arguments[.position]?.string
    var axis = ChartNode.AxisMarks(
      dimension: dimension, isAtStart: position == (dimension == .x ? "top" : "leading"), marks: [])
    axis.isAutomatic = view.arguments[.values] == "automatic"
    for child in view.children {
      guard let value = ChartValue(child.arguments[.value]) else { continue }
      var mark = ChartNode.AxisMark(value: value)
      for part in child.modifiers {
        switch part.name {
        case .chart(.gridLine): mark.gridLine = part.arguments
        case .chart(.tick): mark.tick = part.arguments
        case .chart(.valueLabel):
          mark.label = joined(
            nodes(of: part.views, style, axis: .vertical, depth: depth), join: .stack(.vertical), style: style)
          if case .bool(let isCentered) = part.arguments[.centered] { mark.isLabelCentered = isCentered }
        case .chart(.annotation), .chart(.symbol), .chart(.symbolSize), .chart(.lineStyle),
          .chart(.interpolationMethod), .style, .shape, .layout, .layer, .effect, .color, .accessibility, .silent,
          .undrawn, .unknown:
          context.note(.modifierNotLaidOut, "." + part.name.rawValue)
        }
      }
      axis.marks.append(mark)
    }
    return axis
  }

  private func annotations(_ model: ChartModel, _ style: ViewStyle, depth: Int) -> [ChartNode.Annotation] {
    var annotations: [ChartNode.Annotation] = []
    for (index, mark) in model.marks.enumerated() {
      for modifier in mark.modifiers where modifier.name == .chart(.annotation) {
        let nodes = nodes(of: modifier.views, style, axis: .vertical, depth: depth)
        guard let node = joined(nodes, join: .stack(.vertical), style: style) else { continue }
        let arguments = Arguments(of: modifier, context)
        annotations.append(
          ChartNode.Annotation(
            mark: index, position: arguments.string(.position) ?? "automatic", alignment: arguments.alignment,
            spacing: arguments.number(.spacing) ?? ChartNode.Distance.label, node: node))
      }
    }
    return annotations
  }
}

extension ViewStyle {
  /// The style of labels of axes and legends. Ours: Apple publishes neither the font nor the colour.
  fileprivate var chartLabel: ViewStyle {
    var style = self
    style.font = "caption2"
    style.foreground = ["secondary"]
    style.lines.limit = 1
    return style
  }
}

/// `ChartPlotContent`: the grid lines and the marks of a chart. It takes the proposal. The modifiers of `chartPlotStyle`
/// are around it.
final class ChartPlotNode: ViewNode {
  let model: ChartModel
  /// The author's styles of categories.
  let styles: [String: ArchivedValue]
  let axes: [ChartNode.AxisMarks]
  /// Where it was placed last.
  private(set) var frame: Rect?

  init(
    _ model: ChartModel, styles: [String: ArchivedValue], axes: [ChartNode.AxisMarks], style: ViewStyle,
    context: LayoutContext
  ) {
    self.model = model
    self.styles = styles
    self.axes = axes
    super.init(.chart(.chartPlotContent), style: style, context: context)
  }

  func shapes(in plot: Rect) -> ChartMarkShapes {
    ChartMarkShapes(model: model, styles: styles, plot: plot, style: style, isMirrored: context.isRightToLeft)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    Size(width: proposal.width ?? FillingNode.standard, height: proposal.height ?? FillingNode.standard)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let plot = Rect(origin: origin, size: size(proposal))
    frame = plot
    let shapes = shapes(in: plot)
    let parts = ChartAxisParts(shapes: shapes, plot: plot, bounds: plot, context: context)
    var view = placed([:], at: origin, plot.size)
    view.children = axes.flatMap { parts.lines(of: parts.thinned($0), areTicks: false) } + shapes.views
    return [view]
  }
}

/// The grid lines, the ticks and the labels of an axis.
struct ChartAxisParts {
  let shapes: ChartMarkShapes
  let plot: Rect
  /// Of the whole chart.
  let bounds: Rect
  let context: LayoutContext

  // MARK: Values

  /// The axis with every second or third value, and so on, if the system chose the values and their labels would overlap.
  /// The extension chose them for the widget's size, and the plot may be smaller.
  func thinned(_ axis: ChartNode.AxisMarks) -> ChartNode.AxisMarks {
    guard axis.isAutomatic, axis.marks.count > 2 else { return axis }
    let direction = axis.dimension == .x ? Axis.horizontal : .vertical
    let places = axis.marks.compactMap { shapes.model.place($0.value, axis.dimension) }
      .map { shapes.distance($0, axis.dimension) }
    guard let first = places.first, let last = places.last else { return axis }
    let distance = abs(last - first) / Double(places.count - 1)
    let space = max(axis.most(direction) + 4, direction == .vertical ? Self.leastHeight : 0)
    guard distance > 0, space > distance else { return axis }
    // Steps of 1, 2 or 5 times a power of ten, so that the values are still round.
    let every = Self.steps.first { Double($0) * distance >= space } ?? axis.marks.count
    // Zero is kept.
    let zero = axis.marks.firstIndex { $0.value == .number(0) } ?? 0
    var axis = axis
    axis.marks = axis.marks.enumerated().filter { ($0.offset - zero).isMultiple(of: every) }.map(\.element)
    return axis
  }

  private static let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

  /// Between two values of a vertical axis, in points. Ours: Apple publishes no number.
  private static let leastHeight = 20.0

  // MARK: Lines

  /// The grid lines, which are below the marks, or the ticks.
  func lines(of axis: ChartNode.AxisMarks, areTicks: Bool) -> [PlacedView] {
    axis.marks.enumerated().compactMap { index, mark in
      guard let arguments = areTicks ? mark.tick : mark.gridLine,
        let place = place(index, axis, isCentered: arguments[.centered] == true), (-0.001...1.001).contains(place)
      else { return nil }
      return line(at: shapes.distance(place, axis.dimension), axis, arguments, isTick: areTicks)
    }
  }

  private func line(
    at distance: Double, _ axis: ChartNode.AxisMarks, _ arguments: ArchivedArguments, isTick: Bool
  ) -> PlacedView? {
    let length = max(0, arguments[.length]?.finite ?? ChartNode.Distance.tick)
    var (start, end) = axis.dimension == .x ? (plot.minY, plot.maxY) : (plot.minX, plot.maxX)
    if isTick { (start, end) = axis.isAtStart ? (start - length, start) : (end, end + length) }
    var outline = OutlineMaker()
    outline.move(to: axis.dimension == .x ? Point(x: distance, y: start) : Point(x: start, y: distance))
    outline.line(to: axis.dimension == .x ? Point(x: distance, y: end) : Point(x: end, y: distance))
    guard let frame = outline.bounds else { return nil }
    // Ours: Apple publishes no width.
    var stroke: ArchivedArguments = [.lineWidth: 0.5]
    if case .record(let own) = arguments[.stroke] { stroke = own }
    stroke[.style] = arguments[.style] ?? "separator"
    var view = PlacedView(
      kind: .view(.shape(.path)), arguments: [.path: outline.archived(in: frame, isMirrored: context.isRightToLeft)],
      frame: frame, style: shapes.style)
    view.operations = [ViewArchive.Modifier(.shape(.stroke), stroke)]
    return view
  }

  // MARK: Labels

  /// The labels that do not overlap others and fit into the chart.
  func labels(of axis: ChartNode.AxisMarks) -> [PlacedView] {
    let direction = axis.dimension == .x ? Axis.horizontal : .vertical
    let (least, most) =
      direction == .horizontal ? (bounds.minX, bounds.maxX) : (bounds.minY, bounds.maxY)
    var candidates: [(start: Double, size: Size, node: LayoutNode)] = []
    for (index, mark) in axis.marks.enumerated() {
      guard let node = mark.label else { continue }
      let isDate = if case .date = mark.value { true } else { false }
      guard let place = place(index, axis, isCentered: mark.isLabelCentered ?? false), (-0.001...1.001).contains(place)
      else { continue }
      let (size, distance) = (node.size(.ideal), shapes.distance(place, axis.dimension))
      // A date begins at its line, unless the author centres it in its unit.
      let isLeading = isDate && axis.dimension == .x && mark.isLabelCentered == nil
      var start = isLeading ? distance : distance - size[direction] / 2
      if isLeading, start + size[direction] > most + 1, !candidates.isEmpty { continue }
      start = max(least, min(start, most - size[direction]))
      candidates.append((start, size, node))
    }
    var views: [PlacedView] = []
    var takenRanges: [ClosedRange<Double>] = []
    for (start, size, node) in candidates {
      // A little space between two labels.
      let range = (start - 1)...(start + size[direction] + 1)
      if takenRanges.contains(where: { $0.overlaps(range) }) { continue }
      takenRanges.append(range)
      views += node.place(at: origin(start, size: size, axis: axis), .ideal)
    }
    return views
  }

  private func origin(_ start: Double, size: Size, axis: ChartNode.AxisMarks) -> Point {
    let gap = ChartNode.Distance.label
    if axis.dimension == .x {
      return Point(x: start, y: axis.isAtStart ? plot.minY - gap - size.height : plot.maxY + gap)
    }
    return Point(x: axis.isAtStart ? plot.minX - gap - size.width : plot.maxX + gap, y: start)
  }

  /// The place of a value, or the middle between it and the next one.
  private func place(_ index: Int, _ axis: ChartNode.AxisMarks, isCentered: Bool) -> Double? {
    guard let place = shapes.model.place(axis.marks[index].value, axis.dimension) else { return nil }
    guard isCentered, axis.marks[index].value.category == nil else { return place }
    let next = axis.marks.indices.contains(index + 1) ? axis.marks[index + 1].value : nil
    return (place + (next.flatMap { shapes.model.place($0, axis.dimension) } ?? 1)) / 2
  }
}
