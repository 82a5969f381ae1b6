public import AppIntents
import Archive
import Conversations
public import Foundation
public import SwiftUI

/// Says when a widget shows what. Source: `WidgetKit.TimelineProvider`. The system calls it on a thread of its own, one
/// call at a time for a kind (ours: Apple names no thread).
public protocol TimelineProvider {
  /// What the widget shows at a date.
  associatedtype Entry: TimelineEntry
  /// What a timeline is asked for.
  typealias Context = TimelineProviderContext
  /// What is shown while there is nothing else, at once and without a person's data.
  func placeholder(in context: Self.Context) -> Self.Entry
  /// Gives an entry for a moment such as the gallery.
  @preconcurrency func getSnapshot(in context: Self.Context, completion: @escaping @Sendable (Self.Entry) -> Void)
  /// Gives entries for now and later. `completion` may be called at any time and on any thread; its first call counts.
  @preconcurrency func getTimeline(
    in context: Self.Context, completion: @escaping @Sendable (Timeline<Self.Entry>) -> Void)
  /// When the widget matters: read by watchOS alone.
  func relevance() async -> WidgetRelevance<Void>
}

extension TimelineProvider {
  /// Never more than else.
  public func relevance() async -> WidgetRelevance<Void> { WidgetRelevance([]) }
}

/// Says when a widget shows what a person chose for it. Source: `WidgetKit.AppIntentTimelineProvider`.
public protocol AppIntentTimelineProvider {
  /// What the widget shows at a date.
  associatedtype Entry: TimelineEntry
  /// What a person can choose.
  associatedtype Intent: WidgetConfigurationIntent
  /// What a timeline is asked for.
  typealias Context = TimelineProviderContext
  /// Configurations for a device on which a person cannot make one.
  func recommendations() -> [AppIntentRecommendation<Self.Intent>]
  /// What is shown while there is nothing else, at once and without a person's data.
  func placeholder(in context: Self.Context) -> Self.Entry
  /// An entry for a moment such as the gallery.
  @concurrent func snapshot(for configuration: Self.Intent, in context: Self.Context) async -> Self.Entry
  /// Entries for now and later.
  @concurrent func timeline(for configuration: Self.Intent, in context: Self.Context) async -> Timeline<Self.Entry>
  /// When the widget matters: read by watchOS alone.
  func relevance() async -> WidgetRelevance<Self.Intent>
}

extension AppIntentTimelineProvider {
  /// None.
  public func recommendations() -> [AppIntentRecommendation<Intent>] { [] }
  /// Never more than else.
  public func relevance() async -> WidgetRelevance<Intent> { WidgetRelevance([]) }
}

/// A configuration that a provider recommends. Source: `WidgetKit.AppIntentRecommendation`.
public struct AppIntentRecommendation<Intent: WidgetConfigurationIntent> {
  let archived: IntentRecommendation

  /// A recommendation.
  public init(intent: Intent, description: Text) {
    self.init(intent, description.resolved(in: EnvironmentValues(language: .device)))
  }
  /// A recommendation.
  public init(intent: Intent, description: LocalizedStringKey) {
    self.init(intent: intent, description: Text(description))
  }
  /// A recommendation. Source: the macOS 27 SDK.
  @_disfavoredOverload public init(intent: Intent, description: LocalizedStringResource) {
    self.init(intent, description.resolved())
  }
  /// A recommendation.
  @_disfavoredOverload public init(intent: Intent, description: some StringProtocol) {
    self.init(intent, String(description))
  }

  private init(_ intent: Intent, _ description: String) {
    archived = IntentRecommendation(description: description, values: intent.archivedParameters)
  }
}

/// What a timeline is asked for. Source: `WidgetKit.TimelineProviderContext`.
public struct TimelineProviderContext {
  /// The environments that the views are made in. Source: `TimelineProviderContext.EnvironmentVariants`.
  @dynamicMemberLookup public struct EnvironmentVariants {
    let all: [EnvironmentValues]

    /// All values that a view may read, each once.
    public subscript<T>(dynamicMember keyPath: WritableKeyPath<EnvironmentValues, T>) -> [T]? { self[keyPath: keyPath] }
    /// All values that a view may read, each once.
    public subscript<T>(keyPath keyPath: WritableKeyPath<EnvironmentValues, T>) -> [T]? {
      var values: [T] = []
      for environment in all where !values.contains(where: { isEqual($0, environment[keyPath: keyPath]) }) {
        values.append(environment[keyPath: keyPath])
      }
      return values
    }
  }

  /// The environments that the views are made in.
  public let environmentVariants: EnvironmentVariants
  /// The family of the widget.
  public let family: WidgetFamily
  /// Whether it is for the gallery.
  public let isPreview: Bool
  /// Points.
  public let displaySize: CGSize
}

extension TimelineProviderContext {
  /// What the host asks for.
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
