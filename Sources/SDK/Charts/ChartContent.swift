// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules
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
    _ kind: MarkView, _ values: [ChartMark.Channel: ArchivedValue], _ arguments: [String: ArchivedValue?] = [:]
  ) {
    let channels = Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    self.init(.mark(kind), given: arguments.merging(channels) { $1 })
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
