// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules

/// `Chart`: it takes the proposal, and draws its marks in the plot that the axes and the legend leave. With
/// `chartPlotStyle` the plot has the size of its modifiers, and the axes and the legend are around it.
final class ChartNode: ViewNode {
  /// One value of an axis.
  struct AxisMark {
    var value: ChartValue
    var label: LayoutNode?
    /// The arguments of the parts that the author wants; `nil` without them.
    var gridLine: [String: ArchivedValue]?
    var tick: [String: ArchivedValue]?
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

  private let arguments: [String: ArchivedValue]
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
    _ view: ViewArchive, _ plot: ChartPlotNode, in styledPlot: LayoutNode, annotations: [Annotation],
    legend: [LegendEntry], _ style: ViewStyle, _ context: LayoutContext
  ) {
    arguments = view.arguments
    self.plot = plot
    self.styledPlot = styledPlot
    self.annotations = annotations
    self.legend = legend
    super.init(.chart(.chart), style, context)
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
    if arguments["closure"] != nil { context.check(arguments, "size", size, name) }
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
      let own = entry.label.size(Proposal(width: max(0, width - Distance.swatch - Distance.label), height: nil))
      let length = Distance.swatch + Distance.label + own.width
      if rows.isEmpty || rows[rows.count - 1].width + Distance.entry + length > width + 0.01 {
        rows.append(LegendRow())
      }
      var row = rows[rows.count - 1]
      row.width += (row.entries.isEmpty ? 0 : Distance.entry) + length
      row.height = max(row.height, own.height, Distance.swatch)
      row.entries.append((entry, own))
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
        swatch.operations = [ViewArchive.Modifier(.shape(.fill), ["style": shapes.paint(of: entry.category)])]
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
