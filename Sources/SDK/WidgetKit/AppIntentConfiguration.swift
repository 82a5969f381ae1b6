// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
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
