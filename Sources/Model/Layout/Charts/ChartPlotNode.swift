// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules

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
    _ model: ChartModel, styles: [String: ArchivedValue], axes: [ChartNode.AxisMarks], _ style: ViewStyle,
    _ context: LayoutContext
  ) {
    self.model = model
    self.styles = styles
    self.axes = axes
    super.init(.chart(.chartPlotContent), style, context)
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
