// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules
public import Foundation
public import SwiftUI

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
  private let arguments: [String: ArchivedValue?]

  public init(centered: Bool? = nil, stroke: StrokeStyle? = nil) {
    arguments = ["centered": centered?.archived, "stroke": stroke?.archived]
  }

  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) -> [ViewArchive.Modifier] {
    [ViewArchive.Modifier(.chart(.gridLine), arguments.compactMapValues { $0 })]
  }
}

/// Source: `Charts.AxisTick`. `length` is in points.
nonisolated public struct AxisTick: ArchivedAxisMark {
  private let arguments: [String: ArchivedValue?]

  public init(centered: Bool? = nil, length: CGFloat? = nil, stroke: StrokeStyle? = nil) {
    arguments = ["centered": centered?.archived, "length": length?.archived, "stroke": stroke?.archived]
  }

  @MainActor func parts(of value: AxisValue, in context: ArchivingContext) -> [ViewArchive.Modifier] {
    [ViewArchive.Modifier(.chart(.tick), arguments.compactMapValues { $0 })]
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
    let arguments = centered.map { ["centered": $0.archived] } ?? [:]
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
      if part.views.isEmpty, let style = modifier.arguments["style"], part.arguments["style"] == nil {
        part.arguments["style"] = style
      }
      return part
    }
  }
}

extension AxisMark {
  nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some AxisMark {
    StyledAxisMark(
      content: self, modifier: ViewArchive.Modifier(.style(.foregroundStyle), ["style": style.archived(in: .current)]))
  }
  nonisolated public func font(_ font: Font?) -> some AxisMark {
    StyledAxisMark(
      content: self, modifier: ViewArchive.Modifier(.style(.font), font.map { ["font": $0.archived] } ?? [:]))
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
