// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules
public import Foundation
import SwiftUI

/// Source: `Charts.PointMark`.
nonisolated public struct PointMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  public init<X: Plottable, Y: Plottable>(x: PlottableValue<X>, y: PlottableValue<Y>) {
    archived = ViewArchive(.point, [.x: x.archived, .y: y.archived])
  }
  /// At the middle of the height of the plot.
  public init<X: Plottable>(x: PlottableValue<X>) { archived = ViewArchive(.point, [.x: x.archived]) }
  /// At the middle of the width of the plot.
  public init<Y: Plottable>(y: PlottableValue<Y>) { archived = ViewArchive(.point, [.y: y.archived]) }
}

/// Source: `Charts.RuleMark`.
nonisolated public struct RuleMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  /// Over the height of the plot.
  public init<X: Plottable>(x: PlottableValue<X>) { archived = ViewArchive(.rule, [.x: x.archived]) }
  public init<X: Plottable, Y: Plottable>(x: PlottableValue<X>, yStart: PlottableValue<Y>, yEnd: PlottableValue<Y>) {
    archived = ViewArchive(.rule, [.x: x.archived, .yStart: yStart.archived, .yEnd: yEnd.archived])
  }
  /// Over the width of the plot.
  public init<Y: Plottable>(y: PlottableValue<Y>) { archived = ViewArchive(.rule, [.y: y.archived]) }
  public init<X: Plottable, Y: Plottable>(xStart: PlottableValue<X>, xEnd: PlottableValue<X>, y: PlottableValue<Y>) {
    archived = ViewArchive(.rule, [.xStart: xStart.archived, .xEnd: xEnd.archived, .y: y.archived])
  }
}

/// Source: `Charts.SectorMark`.
nonisolated public struct SectorMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  /// - Parameter angularInset: in points.
  public init<Angle: Plottable>(
    angle: PlottableValue<Angle>, innerRadius: MarkDimension = .automatic, outerRadius: MarkDimension = .automatic,
    angularInset: CGFloat? = nil
  ) {
    archived = ViewArchive(
      .sector, [.angle: angle.archived],
      [
        "innerRadius": innerRadius.archived, "outerRadius": outerRadius.archived,
        "angularInset": angularInset?.archived,
      ])
  }
}
