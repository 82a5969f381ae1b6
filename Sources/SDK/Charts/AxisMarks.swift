// SPDX-License-Identifier: Apache-2.0

import Archive
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

  private init(_ values: AxisMarkValues, position: AxisMarkPosition, content: @escaping (AxisValue) -> Content) {
    groups = [AxisGroup(values: values, position: position, marks: content)]
  }

  public init(
    position: AxisMarkPosition = .automatic, values: AxisMarkValues = .automatic,
    @AxisMarkBuilder content: @escaping (AxisValue) -> Content
  ) {
    self.init(values, position: position, content: content)
  }
  public init(
    position: AxisMarkPosition = .automatic, values: AxisMarkValues = .automatic,
    @AxisMarkBuilder content: @escaping () -> Content
  ) {
    self.init(values, position: position) { _ in content() }
  }
  public init<Value: Plottable>(
    position: AxisMarkPosition = .automatic, values: [Value], @AxisMarkBuilder content: @escaping (AxisValue) -> Content
  ) {
    self.init(AxisMarkValues(choice: .given(values.map(\.chartValue))), position: position, content: content)
  }
  public init<Value: Plottable>(
    position: AxisMarkPosition = .automatic, values: [Value], @AxisMarkBuilder content: @escaping () -> Content
  ) {
    self.init(AxisMarkValues(choice: .given(values.map(\.chartValue))), position: position) { _ in content() }
  }
}

extension AxisMarks where Content == DefaultAxisMark {
  public init(
    position: AxisMarkPosition = .automatic, values: AxisMarkValues = .automatic, stroke: StrokeStyle? = nil
  ) {
    self.init(values, position: position) { DefaultAxisMark($0, stroke) }
  }
  public init<Value: Plottable>(
    position: AxisMarkPosition = .automatic, values: [Value], stroke: StrokeStyle? = nil
  ) {
    self.init(AxisMarkValues(choice: .given(values.map(\.chartValue))), position: position) {
      DefaultAxisMark($0, stroke)
    }
  }
  public init<F: FormatStyle>(
    format: F, position: AxisMarkPosition = .automatic, values: AxisMarkValues = .automatic,
    stroke: StrokeStyle? = nil
  ) where F.FormatInput: Plottable, F.FormatOutput == String {
    self.init(values, position: position) { DefaultAxisMark($0, stroke, label: AxisValueLabel(format: format)) }
  }
  public init<F: FormatStyle, Value: Plottable>(
    format: F, position: AxisMarkPosition = .automatic, values: [Value], stroke: StrokeStyle? = nil
  ) where F.FormatInput == Value, F.FormatOutput == String {
    self.init(AxisMarkValues(choice: .given(values.map(\.chartValue))), position: position) {
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

/// Source: `Charts.AxisMark`.
@MainActor @preconcurrency public protocol AxisMark {}

/// A mark of an axis that is archived.
@MainActor protocol ArchivedAxisMark: AxisMark {
  /// Returns the parts of the mark for one value: `gridLine`, `tick` and `valueLabel`.
  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive
    .Modifier]
}

extension ArchivingContext {
  /// Archives the parts of a mark of an axis.
  @MainActor func parts(
    of mark: any AxisMark, _ value: AxisValue
  ) throws(ArchiveRefusal) -> [ViewArchive.Modifier] {
    try (mark as? any ArchivedAxisMark)?.parts(of: value, in: self) ?? []
  }
}

/// Source: `Charts.AxisGridLine`.
nonisolated public struct AxisGridLine: ArchivedAxisMark {
  private let arguments: ArchivedArguments

  public init(centered: Bool? = nil, stroke: StrokeStyle? = nil) {
    arguments = [.centered: centered?.archived, .stroke: stroke?.archived]
  }

  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) -> [ViewArchive.Modifier] {
    [ViewArchive.Modifier(.chart(.gridLine), arguments)]
  }
}

/// Source: `Charts.AxisTick`. `length` is in points.
nonisolated public struct AxisTick: ArchivedAxisMark {
  private let arguments: ArchivedArguments

  public init(centered: Bool? = nil, length: CGFloat? = nil, stroke: StrokeStyle? = nil) {
    arguments = [.centered: centered?.archived, .length: length?.archived, .stroke: stroke?.archived]
  }

  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) -> [ViewArchive.Modifier] {
    [ViewArchive.Modifier(.chart(.tick), arguments)]
  }
}

/// Source: `Charts.AxisValueLabel`.
nonisolated public struct AxisValueLabel<Content: View>: ArchivedAxisMark {
  private let centered: Bool?
  private let content: (AxisValue) -> any View

  private init(_ centered: Bool?, _ content: @escaping (AxisValue) -> any View) {
    self.centered = centered
    self.content = content
  }

  public init(centered: Bool? = nil, @ViewBuilder content: @escaping () -> Content) {
    self.init(centered) { _ in content() }
  }

  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive
    .Modifier]
  {
    let view = context.environment.during { content(value) }
    let arguments: ArchivedArguments = [.centered: centered?.archived]
    return [ViewArchive.Modifier(.chart(.valueLabel), arguments, views: try context.children(of: view))]
  }
}

extension AxisValueLabel where Content == Text {
  /// Numbers as in the region, dates by their calendar unit.
  public init(centered: Bool? = nil) { self.init(centered) { Text(verbatim: $0.description(in: .current)) } }
  public init(_ titleKey: LocalizedStringKey, centered: Bool? = nil) { self.init(centered) { _ in Text(titleKey) } }
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, centered: Bool? = nil) {
    let title = String(title)
    self.init(centered) { _ in Text(verbatim: title) }
  }
  public init<F: FormatStyle>(format: F, centered: Bool? = nil)
  where F.FormatInput: Plottable, F.FormatOutput == String {
    self.init(centered) { value in
      let environment = EnvironmentValues.current
      guard let input = value.as(F.FormatInput.self) else { return Text(verbatim: value.description(in: environment)) }
      return Text(verbatim: format.locale(environment.locale).format(input))
    }
  }
}

extension AxisValue {
  /// The value as the system writes it.
  fileprivate func description(in environment: EnvironmentValues) -> String {
    switch value {
    case .category(let name): return name
    case .number(let number):
      return number.formatted(.number.precision(.fractionLength(0...6)).locale(environment.locale))
    case .date(let seconds):
      var style = Date.FormatStyle(locale: environment.locale, timeZone: environment.timeZone)
      switch unit {
      case .second: style = style.hour().minute().second()
      case .minute: style = style.hour().minute()
      case .hour: style = style.hour()
      case .month, .quarter: style = style.month(.abbreviated)
      case .year: style = style.year()
      default: style = style.month(.abbreviated).day()
      }
      return Date(timeIntervalSince1970: seconds).formatted(style)
    }
  }
}

/// The marks that an axis has without a content of the author.
nonisolated public struct DefaultAxisMark: ArchivedAxisMark {
  private let marks: [any AxisMark]

  /// A category has a label only, and an axis of numbers or dates has lines too.
  init(_ value: AxisValue, _ stroke: StrokeStyle? = nil, label: any AxisMark = AxisValueLabel()) {
    let isCategory = value.value.category != nil
    if isCategory, stroke == nil {
      marks = [label]
    } else {
      marks = [AxisGridLine(stroke: stroke)] + (value.isHorizontal ? [AxisTick(stroke: stroke)] : []) + [label]
    }
  }

  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive
    .Modifier]
  {
    var parts: [ViewArchive.Modifier] = []
    for mark in marks { parts += try context.parts(of: mark, value) }
    return parts
  }
}

/// Marks of one value in order.
nonisolated public struct TupleAxisMark: ArchivedAxisMark {
  private let marks: [any AxisMark]

  init(_ marks: [any AxisMark]) { self.marks = marks }

  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive
    .Modifier]
  {
    var parts: [ViewArchive.Modifier] = []
    for mark in marks { parts += try context.parts(of: mark, value) }
    return parts
  }
}

extension Optional: AxisMark, ArchivedAxisMark where Wrapped: AxisMark {
  @MainActor func parts(
    of value: AxisValue, in context: ArchivingContext
  ) throws(ArchiveRefusal) -> [ViewArchive.Modifier] {
    guard let self else { return [] }
    return try context.parts(of: self, value)
  }
}

/// A mark whose lines and texts have a style or a font.
nonisolated struct StyledAxisMark<Content: AxisMark>: ArchivedAxisMark {
  let content: Content
  let modifier: ViewArchive.Modifier

  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive
    .Modifier]
  {
    try context.parts(of: content, value).map { part in
      var part = part
      for index in part.views.indices { part.views[index].modifiers.append(modifier) }
      if part.views.isEmpty, let style = modifier.arguments[.style], part.arguments[.style] == nil {
        part.arguments[.style] = style
      }
      return part
    }
  }
}

extension AxisMark {
  nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some AxisMark {
    StyledAxisMark(
      content: self, modifier: ViewArchive.Modifier(.style(.foregroundStyle), [.style: style.archived(in: .current)]))
  }
  nonisolated public func font(_ font: Font?) -> some AxisMark {
    StyledAxisMark(
      content: self, modifier: ViewArchive.Modifier(.style(.font), [.font: font?.archived]))
  }
}

/// Source: `Charts.AxisMarkBuilder`.
@resultBuilder public struct AxisMarkBuilder {
  public static func buildExpression<Content: AxisMark>(_ content: Content) -> Content { content }
  public static func buildBlock<Content: AxisMark>(_ content: Content) -> Content { content }
  @_disfavoredOverload public static func buildBlock<each Content: AxisMark>(
    _ content: repeat each Content
  ) -> TupleAxisMark {
    var marks: [any AxisMark] = []
    for one in repeat each content { marks.append(one) }
    return TupleAxisMark(marks)
  }
  public static func buildIf<Content: AxisMark>(_ content: Content?) -> Content? { content }
  public static func buildEither<Content: AxisMark>(first: Content) -> TupleAxisMark { TupleAxisMark([first]) }
  public static func buildEither<Content: AxisMark>(second: Content) -> TupleAxisMark { TupleAxisMark([second]) }
}
