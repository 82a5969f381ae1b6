// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation
public import SwiftUI

/// Source: `Charts.ChartContent`.
@MainActor @preconcurrency public protocol ChartContent {
  associatedtype Body: ChartContent
  @ChartContentBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: ChartContent {}

extension ChartContent where Body == Never {
  /// Never called: the content is archived directly.
  public var body: Never { fatalError("\(Self.self) has no body") }
}

/// Content of a chart with its own representation in the archive.
@MainActor protocol ArchivedChartContent {
  /// Returns the marks, in order.
  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive]
}

extension ArchivingContext {
  /// Archives the marks of a content.
  @MainActor func marks(of content: any ChartContent) throws(ArchiveRefusal) -> [ViewArchive] {
    var inner = self
    try inner.descend(into: content)
    if let archived = content as? any ArchivedChartContent { return try archived.marks(in: inner) }
    return try inner.marks(of: inner.environment.during { content.body })
  }
}

/// A mark with its arguments.
protocol ArchivedMark: ArchivedChartContent {
  nonisolated var archived: ViewArchive { get }
}

extension ArchivedMark {
  @MainActor func marks(in context: ArchivingContext) -> [ViewArchive] { [archived] }
}

extension ViewArchive {
  /// A mark with its values by channel.
  init(
    _ kind: MarkView, values: ArchivedArguments, arguments: ArchivedArguments = [:]
  ) {
    self.init(.mark(kind), arguments.merging(values))
  }
}

/// Contents in order.
nonisolated public struct TupleChartContent<each Content: ChartContent>: ChartContent, ArchivedChartContent {
  public typealias Body = Never
  private let contents: [any ChartContent]

  init(_ content: repeat each Content) {
    var all: [any ChartContent] = []
    for one in repeat each content { all.append(one) }
    contents = all
  }

  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive] {
    var marks: [ViewArchive] = []
    for content in contents { marks += try context.marks(of: content) }
    return marks
  }
}

/// Content without marks.
nonisolated public struct EmptyChartContent: ChartContent, ArchivedChartContent, Sendable {
  public typealias Body = Never
  @MainActor func marks(in context: ArchivingContext) -> [ViewArchive] { [] }
}

/// Source: `Charts.AnyChartContent`.
nonisolated public struct AnyChartContent: ChartContent, ArchivedChartContent {
  public typealias Body = Never
  private let content: any ChartContent

  public init<C: ChartContent>(_ content: C) { self.content = content }
  public init<C: ChartContent>(erasing content: C) { self.content = content }

  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive] {
    try context.marks(of: content)
  }
}

/// Source: `Charts.BuilderConditional`.
nonisolated public struct BuilderConditional<TrueContent, FalseContent> {
  enum Branch {
    case first(TrueContent)
    case second(FalseContent)
  }

  let branch: Branch
}

extension BuilderConditional: ChartContent, ArchivedChartContent
where TrueContent: ChartContent, FalseContent: ChartContent {
  public typealias Body = Never

  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive] {
    switch branch {
    case .first(let content): try context.marks(of: content)
    case .second(let content): try context.marks(of: content)
    }
  }
}

extension Optional: ChartContent, ArchivedChartContent where Wrapped: ChartContent {
  public typealias Body = Never

  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive] {
    guard let self else { return [] }
    return try context.marks(of: self)
  }
}

/// Source: `Charts.Plot`. Its modifiers apply to each mark.
nonisolated public struct Plot<Content: ChartContent>: ChartContent, ArchivedChartContent {
  public typealias Body = Never
  private let content: Content

  public init(@ChartContentBuilder content: () -> Content) { self.content = content() }

  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive] {
    try context.marks(of: content)
  }
}

extension ForEach: ChartContent, ArchivedChartContent where Content: ChartContent {
  public typealias Body = Never

  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive] {
    var marks: [ViewArchive] = []
    for element in data { marks += try context.marks(of: context.environment.during { content(element) }) }
    return marks
  }
}

extension ForEach where ID == Data.Element.ID, Content: ChartContent, Data.Element: Identifiable {
  nonisolated public init(_ data: Data, @ChartContentBuilder content: @escaping (Data.Element) -> Content) {
    self.init(data: data, content: content)
  }
}

extension ForEach where Content: ChartContent {
  nonisolated public init(
    _ data: Data, id: KeyPath<Data.Element, ID>, @ChartContentBuilder content: @escaping (Data.Element) -> Content
  ) {
    self.init(data: data, content: content)
  }
}

extension ForEach where Data == Range<Int>, ID == Int, Content: ChartContent {
  nonisolated public init(_ data: Range<Int>, @ChartContentBuilder content: @escaping (Int) -> Content) {
    self.init(data: data, content: content)
  }
}

/// Source: `Charts.ChartContentBuilder`. It has no arrays, as Apple's.
@resultBuilder public struct ChartContentBuilder {
  public static func buildExpression<Content: ChartContent>(_ content: Content) -> Content { content }
  public static func buildBlock() -> EmptyChartContent { EmptyChartContent() }
  public static func buildBlock<Content: ChartContent>(_ content: Content) -> Content { content }
  @_disfavoredOverload public static func buildBlock<each Content: ChartContent>(
    _ content: repeat each Content
  ) -> TupleChartContent<repeat each Content> {
    TupleChartContent(repeat each content)
  }
  public static func buildIf<Content: ChartContent>(_ content: Content?) -> Content? { content }
  public static func buildEither<TrueContent: ChartContent, FalseContent: ChartContent>(
    first: TrueContent
  ) -> BuilderConditional<TrueContent, FalseContent> {
    BuilderConditional(branch: .first(first))
  }
  public static func buildEither<TrueContent: ChartContent, FalseContent: ChartContent>(
    second: FalseContent
  ) -> BuilderConditional<TrueContent, FalseContent> {
    BuilderConditional(branch: .second(second))
  }
  public static func buildLimitedAvailability<Content: ChartContent>(_ content: Content) -> AnyChartContent {
    AnyChartContent(content)
  }
}

/// A content whose marks have one more modifier each.
nonisolated struct ModifiedChartContent<Content: ChartContent>: ChartContent, ArchivedChartContent {
  typealias Body = Never

  let content: Content
  let name: ModifierName
  let arguments: ArchivedArguments
  let views: () -> [any View]

  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive] {
    var archives: [ViewArchive] = []
    for view in context.environment.during(views) { archives.append(try context.archive(of: view)) }
    let modifier = ViewArchive.Modifier(name, arguments, views: archives)
    return try context.marks(of: content).map { mark in
      var mark = mark
      mark.modifiers.append(modifier)
      return mark
    }
  }
}

// Source of all: `Charts.ChartContent` of the iOS 18 SDK.
extension ChartContent {
  nonisolated private func modified(
    _ name: ModifierName, _ arguments: ArchivedArguments, views: @escaping () -> [any View] = { [] }
  ) -> some ChartContent {
    ModifiedChartContent(content: self, name: name, arguments: arguments, views: views)
  }

  nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some ChartContent {
    modified(.style(.foregroundStyle), [.style: style.archived(in: .current)])
  }
  /// Gives each category its own style.
  nonisolated public func foregroundStyle<D: Plottable>(by value: PlottableValue<D>) -> some ChartContent
  where D.PrimitivePlottable == String {
    modified(.style(.foregroundStyle), [.by: value.archived])
  }
  /// `opacity` is from 0 to 1.
  nonisolated public func opacity(_ opacity: Double) -> some ChartContent {
    modified(.effect(.opacity), [.opacity: opacity.archived])
  }
  /// `radius` is in points.
  nonisolated public func cornerRadius(_ radius: CGFloat, style: RoundedCornerStyle = .continuous) -> some ChartContent
  {
    modified(.effect(.cornerRadius), [.radius: radius.archived, .style: style == .continuous ? nil : style.archived])
  }
  nonisolated public func interpolationMethod(_ method: InterpolationMethod) -> some ChartContent {
    modified(.chart(.interpolationMethod), method.arguments)
  }
  nonisolated public func lineStyle(_ style: StrokeStyle) -> some ChartContent {
    modified(.chart(.lineStyle), [.style: style.archived])
  }
  nonisolated public func symbol(_ symbol: BasicChartSymbolShape) -> some ChartContent {
    modified(.chart(.symbol), [.symbol: .string(symbol.name)])
  }
  /// `area` is in square points.
  nonisolated public func symbolSize(_ area: CGFloat) -> some ChartContent {
    modified(.chart(.symbolSize), [.area: area.archived])
  }
  nonisolated public func symbolSize(_ size: CGSize) -> some ChartContent {
    modified(.chart(.symbolSize), [.size: size.archived])
  }
  /// Puts the marks of different categories at one place beside each other.
  nonisolated public func position<P: Plottable>(by value: PlottableValue<P>) -> some ChartContent
  where P.PrimitivePlottable == String {
    modified(.layout(.position), [.by: value.archived])
  }
  nonisolated public func zIndex(_ value: Double) -> some ChartContent {
    modified(.layout(.zIndex), [.value: value.archived])
  }
  /// `spacing` is in points.
  nonisolated public func annotation<C: View>(
    position: AnnotationPosition = .automatic, alignment: Alignment = .center, spacing: CGFloat? = nil,
    @ViewBuilder content: @escaping () -> C
  ) -> some ChartContent {
    modified(
      .chart(.annotation),
      [.position: .string(position.name), .alignment: alignment.archived, .spacing: spacing?.archived]
    ) { [content()] }
  }

  nonisolated public func accessibilityLabel(_ label: Text) -> some ChartContent {
    modified(.accessibility(.label), [.label: .string(label.resolved(in: .current))])
  }
  nonisolated public func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some ChartContent {
    accessibilityLabel(Text(labelKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some ChartContent {
    modified(.accessibility(.label), [.label: .string(String(label))])
  }
  nonisolated public func accessibilityValue(_ value: Text) -> some ChartContent {
    modified(.accessibility(.value), [.value: .string(value.resolved(in: .current))])
  }
  nonisolated public func accessibilityValue(_ valueKey: LocalizedStringKey) -> some ChartContent {
    accessibilityValue(Text(valueKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityValue<S: StringProtocol>(_ value: S) -> some ChartContent {
    modified(.accessibility(.value), [.value: .string(String(value))])
  }
  nonisolated public func accessibilityIdentifier(_ identifier: String) -> some ChartContent {
    modified(.accessibility(.identifier), [.identifier: .string(identifier)])
  }
  nonisolated public func accessibilityHidden(_ hidden: Bool) -> some ChartContent {
    modified(.accessibility(.hidden), [.hidden: .bool(hidden)])
  }
}

/// The plot of a chart: its grid lines and marks, without axes and legend. Source: `Charts.ChartPlotContent`.
nonisolated public struct ChartPlotContent: View, ArchivedView, Sendable {
  public typealias Body = Never
  package func archive(in context: ArchivingContext) -> ViewArchive { ViewArchive(.chart(.chartPlotContent)) }
}

extension View {
  /// Puts the modifiers of the author around the plot of each chart in this view. Source: `SwiftUI.View` in Charts.
  nonisolated public func chartPlotStyle<Content: View>(
    @ViewBuilder content: @escaping (ChartPlotContent) -> Content
  ) -> some View {
    transformEnvironment(\.chart) { $0.plotStyle = content }
  }
}

extension ChartSettings {
  /// What the author puts around the plot, as a modifier of the archived chart.
  @MainActor func archivedPlotStyle(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive.Modifier] {
    guard let plotStyle else { return [] }
    let plot = context.environment.during { plotStyle(ChartPlotContent()) }
    return [ViewArchive.Modifier(.shape(.chartPlotStyle), views: [try context.archive(of: plot)])]
  }
}
