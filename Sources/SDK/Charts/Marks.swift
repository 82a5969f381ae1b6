// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
import SwiftUI

/// Source: `Charts.BarMark`.
nonisolated public struct BarMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  private init(
    _ values: ArchivedArguments, width: MarkDimension = .automatic,
    height: MarkDimension = .automatic, stacking: MarkStackingMethod = .standard
  ) {
    archived = ViewArchive(
      .bar, values: values,
      arguments: [.width: width.archived, .height: height.archived, .stacking: stacking.archived])
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

/// Source: `Charts.LineMark`.
nonisolated public struct LineMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  public init<X: Plottable, Y: Plottable>(x: PlottableValue<X>, y: PlottableValue<Y>) {
    archived = ViewArchive(.line, values: [.x: x.archived, .y: y.archived])
  }
  public init<X: Plottable, Y: Plottable, S: Plottable>(
    x: PlottableValue<X>, y: PlottableValue<Y>, series: PlottableValue<S>
  ) {
    archived = ViewArchive(.line, values: [.x: x.archived, .y: y.archived, .series: series.archived])
  }
}

/// Source: `Charts.AreaMark`.
nonisolated public struct AreaMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  public init<X: Plottable, Y: Plottable>(
    x: PlottableValue<X>, y: PlottableValue<Y>, stacking: MarkStackingMethod = .standard
  ) {
    archived = ViewArchive(.area, values: [.x: x.archived, .y: y.archived], arguments: [.stacking: stacking.archived])
  }
  public init<X: Plottable, Y: Plottable, S: Plottable>(
    x: PlottableValue<X>, y: PlottableValue<Y>, series: PlottableValue<S>, stacking: MarkStackingMethod = .standard
  ) {
    archived = ViewArchive(
      .area, values: [.x: x.archived, .y: y.archived, .series: series.archived],
      arguments: [.stacking: stacking.archived])
  }
  public init<X: Plottable, Y: Plottable>(x: PlottableValue<X>, yStart: PlottableValue<Y>, yEnd: PlottableValue<Y>) {
    archived = ViewArchive(.area, values: [.x: x.archived, .yStart: yStart.archived, .yEnd: yEnd.archived])
  }
  public init<X: Plottable, Y: Plottable, S: Plottable>(
    x: PlottableValue<X>, yStart: PlottableValue<Y>, yEnd: PlottableValue<Y>, series: PlottableValue<S>
  ) {
    archived = ViewArchive(
      .area, values: [.x: x.archived, .yStart: yStart.archived, .yEnd: yEnd.archived, .series: series.archived])
  }
  public init<X: Plottable, Y: Plottable>(xStart: PlottableValue<X>, xEnd: PlottableValue<X>, y: PlottableValue<Y>) {
    archived = ViewArchive(.area, values: [.xStart: xStart.archived, .xEnd: xEnd.archived, .y: y.archived])
  }
}

/// Source: `Charts.PointMark`.
nonisolated public struct PointMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  public init<X: Plottable, Y: Plottable>(x: PlottableValue<X>, y: PlottableValue<Y>) {
    archived = ViewArchive(.point, values: [.x: x.archived, .y: y.archived])
  }
  /// At the middle of the height of the plot.
  public init<X: Plottable>(x: PlottableValue<X>) { archived = ViewArchive(.point, values: [.x: x.archived]) }
  /// At the middle of the width of the plot.
  public init<Y: Plottable>(y: PlottableValue<Y>) { archived = ViewArchive(.point, values: [.y: y.archived]) }
}

/// Source: `Charts.RuleMark`.
nonisolated public struct RuleMark: ChartContent, ArchivedMark {
  public typealias Body = Never
  let archived: ViewArchive

  /// Over the height of the plot.
  public init<X: Plottable>(x: PlottableValue<X>) { archived = ViewArchive(.rule, values: [.x: x.archived]) }
  public init<X: Plottable, Y: Plottable>(x: PlottableValue<X>, yStart: PlottableValue<Y>, yEnd: PlottableValue<Y>) {
    archived = ViewArchive(.rule, values: [.x: x.archived, .yStart: yStart.archived, .yEnd: yEnd.archived])
  }
  /// Over the width of the plot.
  public init<Y: Plottable>(y: PlottableValue<Y>) { archived = ViewArchive(.rule, values: [.y: y.archived]) }
  public init<X: Plottable, Y: Plottable>(xStart: PlottableValue<X>, xEnd: PlottableValue<X>, y: PlottableValue<Y>) {
    archived = ViewArchive(.rule, values: [.xStart: xStart.archived, .xEnd: xEnd.archived, .y: y.archived])
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
      .sector, values: [.angle: angle.archived],
      arguments: [
        .innerRadius: innerRadius.archived, .outerRadius: outerRadius.archived,
        .angularInset: angularInset?.archived,
      ])
  }
}

/// Source: `Charts.MarkDimension`. Lengths are in points.
public struct MarkDimension: Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
  /// A kind and its number; `nil`: as the chart chooses.
  let archived: ArchivedValue?

  public static let automatic = MarkDimension(archived: nil)
  public static func fixed(_ value: CGFloat) -> MarkDimension {
    MarkDimension(archived: .record([.fixed: value.archived]))
  }
  public static func inset(_ value: CGFloat) -> MarkDimension {
    MarkDimension(archived: .record([.inset: value.archived]))
  }
  public static func ratio(_ value: CGFloat) -> MarkDimension {
    MarkDimension(archived: .record([.ratio: value.archived]))
  }

  private init(archived: ArchivedValue?) { self.archived = archived }
  public init(floatLiteral value: Double) { self = .fixed(value) }
  public init(integerLiteral value: Int) { self = .fixed(CGFloat(value)) }
}

/// Source: `Charts.MarkStackingMethod`.
public struct MarkStackingMethod: Sendable {
  let name: String
  public static let standard = MarkStackingMethod(name: "standard")
  public static let normalized = MarkStackingMethod(name: "normalized")
  public static let center = MarkStackingMethod(name: "center")
  public static let unstacked = MarkStackingMethod(name: "unstacked")

  /// `nil` for the default.
  var archived: ArchivedValue? { name == "standard" ? nil : .string(name) }
}

/// Source: `Charts.InterpolationMethod`.
public struct InterpolationMethod: Sendable {
  let arguments: ArchivedArguments
  private init(_ name: String, _ arguments: ArchivedArguments = [:]) {
    self.arguments = arguments.merging([.method: .string(name)])
  }

  public static let linear = InterpolationMethod("linear")
  public static let monotone = InterpolationMethod("monotone")
  public static let stepStart = InterpolationMethod("stepStart")
  public static let stepCenter = InterpolationMethod("stepCenter")
  public static let stepEnd = InterpolationMethod("stepEnd")
  public static let cardinal = InterpolationMethod("cardinal")
  public static func cardinal(tension: CGFloat) -> InterpolationMethod {
    InterpolationMethod("cardinal", [.tension: tension.archived])
  }
  public static let catmullRom = InterpolationMethod("catmullRom")
  public static func catmullRom(alpha: CGFloat) -> InterpolationMethod {
    InterpolationMethod("catmullRom", [.alpha: alpha.archived])
  }
}

/// Source: `Charts.BasicChartSymbolShape`.
public struct BasicChartSymbolShape: Sendable {
  let name: String
  public static let circle = BasicChartSymbolShape(name: "circle")
  public static let square = BasicChartSymbolShape(name: "square")
  public static let triangle = BasicChartSymbolShape(name: "triangle")
  public static let diamond = BasicChartSymbolShape(name: "diamond")
  public static let pentagon = BasicChartSymbolShape(name: "pentagon")
  public static let plus = BasicChartSymbolShape(name: "plus")
  public static let cross = BasicChartSymbolShape(name: "cross")
  public static let asterisk = BasicChartSymbolShape(name: "asterisk")
}

/// Source: `Charts.AnnotationPosition`.
public struct AnnotationPosition: Sendable {
  let name: String
  public static let automatic = AnnotationPosition(name: "automatic")
  public static let overlay = AnnotationPosition(name: "overlay")
  public static let top = AnnotationPosition(name: "top")
  public static let bottom = AnnotationPosition(name: "bottom")
  public static let leading = AnnotationPosition(name: "leading")
  public static let trailing = AnnotationPosition(name: "trailing")
  public static let topLeading = AnnotationPosition(name: "topLeading")
  public static let topTrailing = AnnotationPosition(name: "topTrailing")
  public static let bottomLeading = AnnotationPosition(name: "bottomLeading")
  public static let bottomTrailing = AnnotationPosition(name: "bottomTrailing")
}
