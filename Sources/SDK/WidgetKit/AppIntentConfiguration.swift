// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
import AuthorRuntime
public import Intents
import Messages
public import SwiftUI

/// A widget that the user can configure. Source: `WidgetKit.AppIntentConfiguration`.
@MainActor @preconcurrency
public struct AppIntentConfiguration<Intent: WidgetConfigurationIntent, Content: View>: WidgetConfiguration, Sendable {
  private let declaration: WidgetDeclaration
  private let source: TimelineSource

  /// - Parameters:
  ///   - kind: the author's name of the widget, which reloads refer to.
  ///   - intent: the intent whose parameters the user can set.
  ///   - provider: provides the timelines.
  ///   - content: the view of an entry.
  @MainActor @preconcurrency public init<Provider: AppIntentTimelineProvider>(
    kind: String, intent: Intent.Type = Intent.self, provider: Provider,
    @ViewBuilder content: @escaping (Provider.Entry) -> Content
  ) where Intent == Provider.Intent {
    var declaration = WidgetDeclaration(kind: kind)
    declaration.provider = "\(Provider.self)"
    declaration.recommendations = provider.recommendations().map(\.archived)
    self.declaration = declaration
    source = TimelineSource(
      kind: kind, provider: declaration.provider, ask: asking(provider), read: { GivenTimeline($0, content) })
  }

  public var body: Never { fatalError("AppIntentConfiguration has no body") }

  public func _describe(in holder: _DescriptionHolder) {
    holder.description.declaration = declaration
    holder.description.timeline = { [source] in try await source.timeline($0) }
    holder.description.configuration = declaring(Intent.self)
  }
}

/// Not a closure of the main actor: the author's code runs on other threads.
nonisolated func declaring<Intent: AppIntent>(
  _ intent: Intent.Type
) -> @Sendable (DescribeIntent?) async -> IntentDeclaration {
  { await Intent.declaration(asking: $0?.searches, chosen: $0?.chosen ?? [:]) }
}

nonisolated private func asking<Provider: AppIntentTimelineProvider>(_ provider: Provider) -> TimelineSource.Ask {
  // Used by one task at a time, which the source's queue starts.
  nonisolated(unsafe) let provider = provider
  // The same: it captures only the provider.
  nonisolated(unsafe) let give: (RequestTimeline, TimelineProviderContext) async throws -> Any = { request, context in
    // Used only by this request.
    nonisolated(unsafe) let context = context
    let intent = try await Provider.Intent.restored(request.configuration)
    return switch request.purpose {
    case .timeline: await provider.timeline(for: intent, in: context)
    case .snapshot, .placeholder: await provider.snapshot(for: intent, in: context)
    }
  }
  return { request, context, done in
    if request.purpose == .placeholder { return done(provider.placeholder(in: context)) }
    // Used only by this request.
    nonisolated(unsafe) let context = context
    Task {
      do {
        done(try await give(request, context))
      } catch {
        done(BusError(.badConfiguration, "\(request.widgetKind): \(error)"))
      }
    }
  }
}

/// A widget that the user cannot configure. Source: `WidgetKit.StaticConfiguration`.
@MainActor @preconcurrency
public struct StaticConfiguration<Content: View>: WidgetConfiguration, Sendable {
  private let declaration: WidgetDeclaration
  private let source: TimelineSource

  /// - Parameters:
  ///   - kind: the author's name of the widget, which reloads refer to.
  ///   - provider: provides the timelines.
  ///   - content: the view of an entry.
  @MainActor @preconcurrency public init<Provider: TimelineProvider>(
    kind: String, provider: Provider, @ViewBuilder content: @escaping (Provider.Entry) -> Content
  ) {
    var declaration = WidgetDeclaration(kind: kind)
    declaration.provider = "\(Provider.self)"
    self.declaration = declaration
    source = TimelineSource(
      kind: kind, provider: declaration.provider,
      ask: { request, context, done in
        switch request.purpose {
        case .placeholder: done(provider.placeholder(in: context))
        case .snapshot: provider.getSnapshot(in: context, completion: erasing(done))
        case .timeline: provider.getTimeline(in: context, completion: erasing(done))
        }
      },
      read: { GivenTimeline($0, content) })
  }

  public var body: Never { fatalError("StaticConfiguration has no body") }

  public func _describe(in holder: _DescriptionHolder) {
    holder.description.declaration = declaration
    holder.description.timeline = { [source] in try await source.timeline($0) }
  }
}

extension GivenTimeline {
  /// Reads a timeline or an entry of a provider; `nil` for any other type.
  init?<Entry: TimelineEntry>(_ givenEntry: Any, _ content: @escaping (Entry) -> some View) {
    let entries: [Entry]
    switch givenEntry {
    case let entry as Entry: (entries, policy) = ([entry], .never)
    case let timeline as Timeline<Entry>: (entries, policy) = (timeline.entries, timeline.policy.policy)
    default: return nil
    }
    self.entries = entries.count
    entry = { entries[$0] }
    view = { content(entries[$0]) }
  }
}

/// A widget that the user can configure with an intent of an `.intentdefinition`. Source:
/// `WidgetKit.IntentConfiguration`.
@MainActor @preconcurrency
public struct IntentConfiguration<Intent: INIntent, Content: View>: WidgetConfiguration,
  Sendable
{
  private let declaration: WidgetDeclaration
  private let source: TimelineSource

  /// - Parameters:
  ///   - kind: the author's name of the widget, which reloads refer to.
  ///   - intent: the intent whose parameters the user can set.
  ///   - provider: provides the timelines.
  ///   - content: the view of an entry.
  @MainActor @preconcurrency public init<Provider: IntentTimelineProvider>(
    kind: String, intent: Intent.Type, provider: Provider, @ViewBuilder content: @escaping (Provider.Entry) -> Content
  ) where Intent == Provider.Intent {
    var declaration = WidgetDeclaration(kind: kind)
    declaration.provider = "\(Provider.self)"
    declaration.recommendations = provider.recommendations().map(\.archived)
    self.declaration = declaration
    source = TimelineSource(
      kind: kind, provider: declaration.provider,
      ask: { request, context, done in
        if request.purpose == .placeholder { return done(provider.placeholder(in: context)) }
        let intent: Intent
        do {
          intent = try Intent.restored(request.configuration)
        } catch {
          return done(BusError(.badConfiguration, "\(request.widgetKind): \(error)"))
        }
        if request.purpose == .timeline {
          provider.getTimeline(for: intent, in: context, completion: erasing(done))
        } else {
          provider.getSnapshot(for: intent, in: context, completion: erasing(done))
        }
      },
      read: { GivenTimeline($0, content) })
  }

  public var body: Never { fatalError("IntentConfiguration has no body") }

  public func _describe(in holder: _DescriptionHolder) {
    holder.description.declaration = declaration
    holder.description.timeline = { [source] in try await source.timeline($0) }
    holder.description.configuration = declaringIntent(Intent.self)
  }
}

/// Not a closure of the main actor: the author's code runs on other threads.
nonisolated private func declaringIntent<Intent: INIntent>(
  _ intent: Intent.Type
) -> @Sendable (DescribeIntent?) async -> IntentDeclaration {
  { _ in Intent.archivedDeclaration }
}

/// Provides the timelines of a configurable widget. Source: `WidgetKit.IntentTimelineProvider`.
public protocol IntentTimelineProvider {
  associatedtype Entry: TimelineEntry
  /// The configuration intent, of an `.intentdefinition`.
  associatedtype Intent: INIntent
  typealias Context = TimelineProviderContext
  /// Configurations for a device on which the user cannot configure widgets.
  func recommendations() -> [IntentRecommendation<Self.Intent>]
  /// A generic entry that is shown until another is available. Returns at once and contains no user data.
  func placeholder(in context: Self.Context) -> Self.Entry
  /// Provides an entry for transient situations such as the gallery.
  @preconcurrency func getSnapshot(
    for configuration: Self.Intent, in context: Self.Context, completion: @escaping @Sendable (Self.Entry) -> Void)
  /// Provides current and future entries. `completion` may be called at any time and on any thread. The first call
  /// counts.
  @preconcurrency func getTimeline(
    for configuration: Self.Intent, in context: Self.Context,
    completion: @escaping @Sendable (Timeline<Self.Entry>) -> Void)
}

extension IntentTimelineProvider {
  public func recommendations() -> [IntentRecommendation<Intent>] { [] }
}

/// A configuration that a provider recommends. Source: `WidgetKit.IntentRecommendation`.
public struct IntentRecommendation<Intent: INIntent> {
  let archived: RecommendedConfiguration

  public init(intent: Intent, description: Text) {
    self.init(intent, description.resolved(in: EnvironmentValues(language: .device)))
  }
  public init(intent: Intent, description: LocalizedStringKey) {
    self.init(intent: intent, description: Text(description))
  }
  @_disfavoredOverload public init(intent: Intent, description: some StringProtocol) {
    self.init(intent, String(description))
  }

  private init(_ intent: Intent, _ description: String) {
    archived = RecommendedConfiguration(description: description, values: intent.archivedParameters)
  }
}
