import Conversations
public import SwiftUI

/// A widget that a person cannot configure. Source: `WidgetKit.StaticConfiguration`.
@MainActor @preconcurrency
public struct StaticConfiguration<Content: View>: WidgetConfiguration, DescribedConfiguration, Sendable {
  private let kind: String
  private let timeline: @Sendable (RequestTimeline) async throws -> RequestTimeline.Reply

  /// A configuration.
  ///
  /// - Parameters:
  ///   - kind: the author's name of the widget, by which it is reloaded.
  ///   - provider: says when the widget shows what.
  ///   - content: the view of an entry.
  @MainActor @preconcurrency public init<Provider: TimelineProvider>(
    kind: String, provider: Provider, @ViewBuilder content: @escaping (Provider.Entry) -> Content
  ) {
    self.kind = kind
    let source = TimelineSource(
      kind: kind,
      getTimeline: { context, done in provider.getTimeline(in: context, completion: erasing(done)) },
      getSnapshot: { context, done in provider.getSnapshot(in: context, completion: erasing(done)) },
      read: { given in
        if let entry = given as? Provider.Entry {
          return ReadTimeline(entries: [(entry.date, content(entry))], policy: .never)
        }
        guard let timeline = given as? Timeline<Provider.Entry> else { return nil }
        return ReadTimeline(
          entries: timeline.entries.map { ($0.date, content($0)) }, policy: timeline.policy.policy)
      })
    timeline = { await source.timeline($0) }
  }

  /// There is none.
  public var body: Never { fatalError("StaticConfiguration has no body") }

  package func describe(_ description: inout WidgetDescription) {
    description.kind = kind
    description.timeline = timeline
  }
}
