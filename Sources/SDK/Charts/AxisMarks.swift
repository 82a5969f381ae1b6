// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules
public import Foundation
public import SwiftUI

/// Source: `Charts.AxisMarkPosition`.
public struct AxisMarkPosition: Sendable {
  let name: String
  public static let automatic = AxisMarkPosition(name: "automatic")
  public static let leading = AxisMarkPosition(name: "leading")
  public static let trailing = AxisMarkPosition(name: "trailing")
  public static let top = AxisMarkPosition(name: "top")
  public static let bottom = AxisMarkPosition(name: "bottom")
}

/// Source: `Charts.AxisMarkValues`.
public struct AxisMarkValues: Sendable {
  enum Choice: Sendable {
    case automatic(desired: Int?)
    case step(Double)
    case dates(DateTicks, Calendar?)
    case given([ChartValue])
  }

  let choice: Choice

  public static let automatic = AxisMarkValues(choice: .automatic(desired: nil))
  public static func automatic(desiredCount: Int?) -> AxisMarkValues {
    AxisMarkValues(choice: .automatic(desired: desiredCount))
  }
  public static func stride<P: Plottable & BinaryFloatingPoint>(by stepSize: P) -> AxisMarkValues {
    AxisMarkValues(choice: .step(Double(stepSize)))
  }
  /// `calendar` is that of the environment, if it is `nil`.
  public static func stride(
    by component: Calendar.Component, count: Int = 1, calendar: Calendar? = nil
  ) -> AxisMarkValues {
    AxisMarkValues(choice: .dates(DateTicks(unit: component, count: count), calendar))
  }
}

/// Source: `Charts.AxisValue`.
public struct AxisValue {
  public let index: Int
  public let count: Int
  let value: ChartValue
  /// Between dates; `nil` for other values.
  let unit: Calendar.Component?
  let isHorizontal: Bool

  /// The value as a type; `nil` if the type does not have it.
  public func `as`<P: Plottable>(_ type: P.Type = P.self) -> P? { P(value) }
}

/// Source: `Charts.AxisContent`.
public protocol AxisContent {}

/// A content of an axis that is archived.
protocol ArchivedAxisContent: AxisContent {
  var groups: [AxisGroup] { get }
}

/// The marks of an axis for some of its values.
struct AxisGroup {
  var values: AxisMarkValues
  var position: AxisMarkPosition
  var marks: (AxisValue) -> any AxisMark
}

/// Source: `Charts.AxisMarks`.
public struct AxisMarks<Content: AxisMark>: ArchivedAxisContent {
  let groups: [AxisGroup]

  private init(_ values: AxisMarkValues, _ position: AxisMarkPosition, _ content: @escaping (AxisValue) -> Content) {
    groups = [AxisGroup(values: values, position: position, marks: content)]
  }

  public init(
    position: AxisMarkPosition = .automatic, values: AxisMarkValues = .automatic,
    @AxisMarkBuilder content: @escaping (AxisValue) -> Content
  ) {
    self.init(values, position, content)
  }
  public init(
    position: AxisMarkPosition = .automatic, values: AxisMarkValues = .automatic,
    @AxisMarkBuilder content: @escaping () -> Content
  ) {
    self.init(values, position) { _ in content() }
  }
  public init<Value: Plottable>(
    position: AxisMarkPosition = .automatic, values: [Value], @AxisMarkBuilder content: @escaping (AxisValue) -> Content
  ) {
    self.init(AxisMarkValues(choice: .given(values.map(\.chartValue))), position, content)
  }
  public init<Value: Plottable>(
    position: AxisMarkPosition = .automatic, values: [Value], @AxisMarkBuilder content: @escaping () -> Content
  ) {
    self.init(AxisMarkValues(choice: .given(values.map(\.chartValue))), position) { _ in content() }
  }
}

extension AxisMarks where Content == DefaultAxisMark {
  public init(
    position: AxisMarkPosition = .automatic, values: AxisMarkValues = .automatic, stroke: StrokeStyle? = nil
  ) {
    self.init(values, position) { DefaultAxisMark($0, stroke) }
  }
  public init<Value: Plottable>(
    position: AxisMarkPosition = .automatic, values: [Value], stroke: StrokeStyle? = nil
  ) {
    self.init(AxisMarkValues(choice: .given(values.map(\.chartValue))), position) { DefaultAxisMark($0, stroke) }
  }
  public init<F: FormatStyle>(
    format: F, position: AxisMarkPosition = .automatic, values: AxisMarkValues = .automatic,
    stroke: StrokeStyle? = nil
  ) where F.FormatInput: Plottable, F.FormatOutput == String {
    self.init(values, position) { DefaultAxisMark($0, stroke, label: AxisValueLabel(format: format)) }
  }
  public init<F: FormatStyle, Value: Plottable>(
    format: F, position: AxisMarkPosition = .automatic, values: [Value], stroke: StrokeStyle? = nil
  ) where F.FormatInput == Value, F.FormatOutput == String {
    self.init(AxisMarkValues(choice: .given(values.map(\.chartValue))), position) {
      DefaultAxisMark($0, stroke, label: AxisValueLabel(format: format))
    }
  }
}

/// Contents of one axis in order.
public struct TupleAxisContent: ArchivedAxisContent {
  let groups: [AxisGroup]

  init(_ contents: [any AxisContent]) {
    groups = contents.flatMap { ($0 as? any ArchivedAxisContent)?.groups ?? [] }
  }
}

extension Optional: AxisContent, ArchivedAxisContent where Wrapped: AxisContent {
  var groups: [AxisGroup] { flatMap { $0 as? any ArchivedAxisContent }?.groups ?? [] }
}

/// Source: `Charts.AxisContentBuilder`.
@resultBuilder public struct AxisContentBuilder {
  public static func buildExpression<Content: AxisContent>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: AxisContent>(_ content: repeat each Content) -> TupleAxisContent {
    var contents: [any AxisContent] = []
    for one in repeat each content { contents.append(one) }
    return TupleAxisContent(contents)
  }
  public static func buildIf<Content: AxisContent>(_ content: Content?) -> Content? { content }
  public static func buildEither<Content: AxisContent>(first: Content) -> TupleAxisContent { TupleAxisContent([first]) }
  public static func buildEither<Content: AxisContent>(second: Content) -> TupleAxisContent {
    TupleAxisContent([second])
  }
}
