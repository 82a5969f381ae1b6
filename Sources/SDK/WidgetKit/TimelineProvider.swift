// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
public import Foundation
import Messages
public import SwiftUI

/// Provides the timelines of a widget. Source: `WidgetKit.TimelineProvider`. The system calls it on a separate thread,
/// one call at a time for a kind (ours: Apple does not document the thread).
public protocol TimelineProvider {
  associatedtype Entry: TimelineEntry
  typealias Context = TimelineProviderContext
  /// A generic entry that is shown until another is available. Returns at once and contains no user data.
  func placeholder(in context: Self.Context) -> Self.Entry
  /// Provides an entry for transient situations such as the gallery.
  @preconcurrency func getSnapshot(in context: Self.Context, completion: @escaping @Sendable (Self.Entry) -> Void)
  /// Provides current and future entries. `completion` may be called at any time and on any thread. The first call
  /// counts.
  @preconcurrency func getTimeline(
    in context: Self.Context, completion: @escaping @Sendable (Timeline<Self.Entry>) -> Void)
  /// The times at which the widget is relevant. Only watchOS reads it.
  func relevance() async -> WidgetRelevance<Void>
}

extension TimelineProvider {
  public func relevance() async -> WidgetRelevance<Void> { WidgetRelevance([]) }
}

/// Provides the timelines of a configurable widget. Source: `WidgetKit.AppIntentTimelineProvider`.
public protocol AppIntentTimelineProvider {
  associatedtype Entry: TimelineEntry
  /// The configuration intent.
  associatedtype Intent: WidgetConfigurationIntent
  typealias Context = TimelineProviderContext
  /// Configurations for a device on which the user cannot configure widgets.
  func recommendations() -> [AppIntentRecommendation<Self.Intent>]
  /// A generic entry that is shown until another is available. Returns at once and contains no user data.
  func placeholder(in context: Self.Context) -> Self.Entry
  /// An entry for transient situations such as the gallery.
  @concurrent func snapshot(for configuration: Self.Intent, in context: Self.Context) async -> Self.Entry
  /// Current and future entries.
  @concurrent func timeline(for configuration: Self.Intent, in context: Self.Context) async -> Timeline<Self.Entry>
  /// The times at which the widget is relevant. Only watchOS reads it.
  func relevance() async -> WidgetRelevance<Self.Intent>
}

extension AppIntentTimelineProvider {
  public func recommendations() -> [AppIntentRecommendation<Intent>] { [] }
  public func relevance() async -> WidgetRelevance<Intent> { WidgetRelevance([]) }
}

/// A configuration that a provider recommends. Source: `WidgetKit.AppIntentRecommendation`.
public struct AppIntentRecommendation<Intent: WidgetConfigurationIntent> {
  let archived: RecommendedConfiguration

  public init(intent: Intent, description: Text) {
    self.init(intent, description.resolved(in: EnvironmentValues(language: .device)))
  }
  public init(intent: Intent, description: LocalizedStringKey) {
    self.init(intent: intent, description: Text(description))
  }
  /// Source: the macOS 27 SDK.
  @_disfavoredOverload public init(intent: Intent, description: LocalizedStringResource) {
    self.init(intent, description.resolved())
  }
  @_disfavoredOverload public init(intent: Intent, description: some StringProtocol) {
    self.init(intent, String(description))
  }

  private init(_ intent: Intent, _ description: String) {
    archived = RecommendedConfiguration(description: description, values: intent.archivedParameters)
  }
}

/// The context of a timeline request. Source: `WidgetKit.TimelineProviderContext`.
public struct TimelineProviderContext {
  /// The environments in which the views are built. Source: `TimelineProviderContext.EnvironmentVariants`.
  @dynamicMemberLookup public struct EnvironmentVariants {
    let all: [EnvironmentValues]

    /// The distinct values of all environments.
    public subscript<T>(dynamicMember keyPath: WritableKeyPath<EnvironmentValues, T>) -> [T]? { self[keyPath: keyPath] }
    /// The distinct values of all environments.
    public subscript<T>(keyPath keyPath: WritableKeyPath<EnvironmentValues, T>) -> [T]? {
      var values: [T] = []
      for environment in all where !values.contains(where: { isEqual($0, environment[keyPath: keyPath]) }) {
        values.append(environment[keyPath: keyPath])
      }
      return values
    }
  }

  /// The environments in which the views are built.
  public let environmentVariants: EnvironmentVariants
  public let family: WidgetFamily
  /// Whether the request is for the gallery.
  public let isPreview: Bool
  /// In points.
  public let displaySize: CGSize
}

extension TimelineProviderContext {
  /// The context of a request of the host.
  init(_ request: RequestTimeline) {
    let environment = request.environment
    self.init(
      environmentVariants: EnvironmentVariants(
        all: ColorSchemeName.allCases.map { EnvironmentValues(environment, $0) }),
      family: WidgetFamily(environment.family), isPreview: environment.isPreview,
      displaySize: CGSize(width: environment.width, height: environment.height))
  }
}

private func isEqual<T>(_ first: T, _ second: T) -> Bool {
  func compare<E: Equatable>(_ first: E) -> Bool { first == second as? E }
  return (first as? any Equatable).map { compare($0) } ?? false
}

/// The content of a widget from a date on. Source: `WidgetKit.TimelineEntry`.
public protocol TimelineEntry {
  /// The earliest date at which it is shown.
  var date: Date { get }
  /// The entry's relevance, for Smart Stacks.
  var relevance: TimelineEntryRelevance? { get }
}

extension TimelineEntry {
  public var relevance: TimelineEntryRelevance? { nil }
}

/// An entry's relevance compared with other entries of the same provider. Source: `WidgetKit.TimelineEntryRelevance`.
public struct TimelineEntryRelevance: Codable, Hashable {
  /// Only compared with other scores of the same provider. Not relevant if 0 or less.
  public var score: Float
  /// In seconds. 0: until the next entry with a relevance.
  public var duration: TimeInterval

  public init(score: Float, duration: TimeInterval = 0.0) {
    self.score = score
    self.duration = duration
  }
}

/// The earliest date of the next timeline request. Source: `WidgetKit.TimelineReloadPolicy`.
public struct TimelineReloadPolicy: Equatable, Sendable {
  let policy: ReloadPolicy

  /// After the last entry's date.
  public static let atEnd = TimelineReloadPolicy(policy: .atEnd)
  /// Only when `WidgetCenter` requests it.
  public static let never = TimelineReloadPolicy(policy: .never)
  /// After a date.
  public static func after(_ date: Date) -> TimelineReloadPolicy { TimelineReloadPolicy(policy: .after(date)) }
}

/// Entries and a reload policy. Source: `WidgetKit.Timeline`.
public struct Timeline<EntryType: TimelineEntry> {
  public let entries: [EntryType]
  public let policy: TimelineReloadPolicy

  public init(entries: [EntryType], policy: TimelineReloadPolicy) {
    self.entries = entries
    self.policy = policy
  }
}

/// The relevance of a widget. Source: `WidgetKit.WidgetRelevance`; accepted, but only the Smart Stack of watchOS reads
/// it.
public struct WidgetRelevance<Configuration> {
  private let attributes: [WidgetRelevanceAttribute<Configuration>]

  public init(_ attributes: [WidgetRelevanceAttribute<Configuration>]) { self.attributes = attributes }
}

/// A time or place at which a widget is relevant. Source: `WidgetKit.WidgetRelevanceAttribute`.
public struct WidgetRelevanceAttribute<Configuration> {
  private let configuration: Configuration?
  private let context: RelevantContext?
  private let group: WidgetRelevanceGroup
}

extension WidgetRelevanceAttribute where Configuration == Void {
  public init(context: RelevantContext) { self.init(configuration: nil, context: context, group: .automatic) }
  /// Relevant as part of a group.
  public init(group: WidgetRelevanceGroup) { self.init(configuration: nil, context: nil, group: group) }
}

extension WidgetRelevanceAttribute where Configuration: WidgetConfigurationIntent {
  public init(configuration: Configuration, context: RelevantContext) {
    self.init(configuration: configuration, context: context, group: .automatic)
  }
  /// One configuration, relevant as part of a group.
  public init(configuration: Configuration, group: WidgetRelevanceGroup) {
    self.init(configuration: configuration, context: nil, group: group)
  }
}

/// Widgets of which the system suggests one. Source: `WidgetKit.WidgetRelevanceGroup`.
public struct WidgetRelevanceGroup: Hashable, Sendable {
  private let name: String

  /// A group of the author's.
  public static func named(_ name: String) -> WidgetRelevanceGroup { WidgetRelevanceGroup(name: name) }
  public static let ungrouped = WidgetRelevanceGroup(name: "ungrouped")
  /// A group that the system chooses.
  public static let automatic = WidgetRelevanceGroup(name: "automatic")
}

/// A time of relevance. Source: `RelevanceKit.RelevantContext`, which AppIntents exports.
public struct RelevantContext: Sendable {
  private let interval: DateInterval?

  public static func date(from start: Date, to end: Date) -> RelevantContext {
    RelevantContext(interval: DateInterval(start: start, end: max(start, end)))
  }
  public static func date(_ date: Date) -> RelevantContext {
    RelevantContext(interval: DateInterval(start: date, duration: 0))
  }
}
