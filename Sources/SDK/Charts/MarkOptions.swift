// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
import SwiftUI

/// Source: `Charts.MarkDimension`. Lengths are in points.
public struct MarkDimension: Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
  /// A kind and its number; `nil`: as the chart chooses.
  let archived: ArchivedValue?

  public static let automatic = MarkDimension(archived: nil)
  public static func fixed(_ value: CGFloat) -> MarkDimension {
    MarkDimension(archived: .record(["fixed": value.archived]))
  }
  public static func inset(_ value: CGFloat) -> MarkDimension {
    MarkDimension(archived: .record(["inset": value.archived]))
  }
  public static func ratio(_ value: CGFloat) -> MarkDimension {
    MarkDimension(archived: .record(["ratio": value.archived]))
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
  let arguments: [String: ArchivedValue]
  private init(_ name: String, _ arguments: [String: ArchivedValue] = [:]) {
    self.arguments = arguments.merging(["method": .string(name)]) { $1 }
  }

  public static let linear = InterpolationMethod("linear")
  public static let monotone = InterpolationMethod("monotone")
  public static let stepStart = InterpolationMethod("stepStart")
  public static let stepCenter = InterpolationMethod("stepCenter")
  public static let stepEnd = InterpolationMethod("stepEnd")
  public static let cardinal = InterpolationMethod("cardinal")
  public static func cardinal(tension: CGFloat) -> InterpolationMethod {
    InterpolationMethod("cardinal", ["tension": tension.archived])
  }
  public static let catmullRom = InterpolationMethod("catmullRom")
  public static func catmullRom(alpha: CGFloat) -> InterpolationMethod {
    InterpolationMethod("catmullRom", ["alpha": alpha.archived])
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
