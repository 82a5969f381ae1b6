// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules

/// Source: `Charts.BarMark`.
nonisolated public struct BarMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  private init(
    _ values: [ChartMark.Channel: ArchivedValue], width: MarkDimension = .automatic,
    height: MarkDimension = .automatic, stacking: MarkStackingMethod = .standard
  ) {
    archived = ViewArchive(
      .bar, values, ["width": width.archived, "height": height.archived, "stacking": stacking.archived])
  }

  public init<X: Plottable, Y: Plottable>(
    x: PlottableValue<X>, y: PlottableValue<Y>, width: MarkDimension = .automatic, height: MarkDimension = .automatic,
    stacking: MarkStackingMethod = .standard
  ) {
    self.init([.x: x.archived, .y: y.archived], width: width, height: height, stacking: stacking)
  }
  public init<X: Plottable, Y: Plottable>(
    x: PlottableValue<X>, yStart: PlottableValue<Y>, yEnd: PlottableValue<Y>, width: MarkDimension = .automatic
  ) {
    self.init([.x: x.archived, .yStart: yStart.archived, .yEnd: yEnd.archived], width: width)
  }
  public init<X: Plottable, Y: Plottable>(
    xStart: PlottableValue<X>, xEnd: PlottableValue<X>, y: PlottableValue<Y>, height: MarkDimension = .automatic
  ) {
    self.init([.xStart: xStart.archived, .xEnd: xEnd.archived, .y: y.archived], height: height)
  }
  /// One bar along x, which fills the height of the plot.
  public init<X: Plottable>(x: PlottableValue<X>, stacking: MarkStackingMethod = .standard) {
    self.init([.x: x.archived], stacking: stacking)
  }
  /// One bar along y, which fills the width of the plot.
  public init<Y: Plottable>(y: PlottableValue<Y>, stacking: MarkStackingMethod = .standard) {
    self.init([.y: y.archived], stacking: stacking)
  }
}
