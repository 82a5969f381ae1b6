// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules

/// Source: `Charts.LineMark`.
nonisolated public struct LineMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  public init<X: Plottable, Y: Plottable>(x: PlottableValue<X>, y: PlottableValue<Y>) {
    archived = ViewArchive(.line, [.x: x.archived, .y: y.archived])
  }
  public init<X: Plottable, Y: Plottable, S: Plottable>(
    x: PlottableValue<X>, y: PlottableValue<Y>, series: PlottableValue<S>
  ) {
    archived = ViewArchive(.line, [.x: x.archived, .y: y.archived, .series: series.archived])
  }
}

/// Source: `Charts.AreaMark`.
nonisolated public struct AreaMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  public init<X: Plottable, Y: Plottable>(
    x: PlottableValue<X>, y: PlottableValue<Y>, stacking: MarkStackingMethod = .standard
  ) {
    archived = ViewArchive(.area, [.x: x.archived, .y: y.archived], ["stacking": stacking.archived])
  }
  public init<X: Plottable, Y: Plottable, S: Plottable>(
    x: PlottableValue<X>, y: PlottableValue<Y>, series: PlottableValue<S>, stacking: MarkStackingMethod = .standard
  ) {
    archived = ViewArchive(
      .area, [.x: x.archived, .y: y.archived, .series: series.archived], ["stacking": stacking.archived])
  }
  public init<X: Plottable, Y: Plottable>(x: PlottableValue<X>, yStart: PlottableValue<Y>, yEnd: PlottableValue<Y>) {
    archived = ViewArchive(.area, [.x: x.archived, .yStart: yStart.archived, .yEnd: yEnd.archived])
  }
  public init<X: Plottable, Y: Plottable, S: Plottable>(
    x: PlottableValue<X>, yStart: PlottableValue<Y>, yEnd: PlottableValue<Y>, series: PlottableValue<S>
  ) {
    archived = ViewArchive(
      .area, [.x: x.archived, .yStart: yStart.archived, .yEnd: yEnd.archived, .series: series.archived])
  }
  public init<X: Plottable, Y: Plottable>(xStart: PlottableValue<X>, xEnd: PlottableValue<X>, y: PlottableValue<Y>) {
    archived = ViewArchive(.area, [.xStart: xStart.archived, .xEnd: xEnd.archived, .y: y.archived])
  }
}
