// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules

extension LayoutBuilder {
  /// `Chart`: its marks from their archives, with the views of its axes, its annotations and its legend. A hidden one is
  /// a rounded rectangle.
  func chart(
    _ view: ViewArchive, _ operations: [ViewArchive.Modifier], _ style: ViewStyle, depth: Int
  ) -> [LayoutNode] {
    if view.arguments["text"] != nil {
      let bar = ViewArchive(.shape(.roundedRectangle), ["cornerRadius": 8])
      let fill = ViewArchive.Modifier(.shape(.fill), ["style": .record(["color": "foreground", "opacity": 0.2])])
      return [FillingNode(bar, operations: [fill], style, context)]
    }
    let model = ChartModel(view)
    let styles = Dictionary(
      view.chartStyles.compactMap { entry in entry.style.map { (entry.category, $0) } }, uniquingKeysWith: { $1 })
    let label = style.chartLabel
    var axes: [ChartNode.AxisMarks] = []
    for dimension in ChartModel.Dimension.allCases {
      axes += view.children.filter { $0.isAxis(dimension) }.map { axis(dimension, $0, label, depth: depth) }
    }
    var legend: [ChartNode.LegendEntry] = []
    if view.arguments["legend"] != "hidden", model.marks.contains(where: { $0.styleCategory != nil }) {
      for category in model.categories {
        let nodes = nodes(of: .text(category), label, axis: nil, depth: depth)
        if let node = nodes.first { legend.append(ChartNode.LegendEntry(category: category, label: node)) }
      }
    }
    let plot = ChartPlotNode(model, styles: styles, axes: axes, style, context)
    var inner = self
    inner.plot = plot
    let views = operations.last { $0.name == .shape(.chartPlotStyle) }?.views ?? []
    let styledPlot = joined(inner.nodes(of: views, style, axis: nil, depth: depth), .layers(.center), style)
    return [
      ChartNode(
        view, plot, in: styledPlot ?? plot, annotations: annotations(model, style, depth: depth), legend: legend,
        style, context)
    ]
  }

  private func axis(
    _ dimension: ChartModel.Dimension, _ view: ViewArchive, _ style: ViewStyle, depth: Int
  ) -> ChartNode.AxisMarks {
    let position = view.arguments["position"]?.string
    var axis = ChartNode.AxisMarks(
      dimension: dimension, isAtStart: position == (dimension == .x ? "top" : "leading"), marks: [])
    axis.isAutomatic = view.arguments["values"] == "automatic"
    for child in view.children {
      guard let value = ChartValue(child.arguments["value"]) else { continue }
      var mark = ChartNode.AxisMark(value: value)
      for part in child.modifiers {
        switch part.name {
        case .chart(.gridLine): mark.gridLine = part.arguments
        case .chart(.tick): mark.tick = part.arguments
        case .chart(.valueLabel):
          mark.label = joined(
            nodes(of: part.views, style, axis: .vertical, depth: depth), .stack(.vertical), style)
          if case .bool(let isCentered) = part.arguments["centered"] { mark.isLabelCentered = isCentered }
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
        guard let node = joined(nodes, .stack(.vertical), style) else { continue }
        let arguments = Arguments(of: modifier, context)
        annotations.append(
          ChartNode.Annotation(
            mark: index, position: arguments.string("position") ?? "automatic", alignment: arguments.alignment,
            spacing: arguments.number("spacing") ?? ChartNode.Distance.label, node: node))
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
