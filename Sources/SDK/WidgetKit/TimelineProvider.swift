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
