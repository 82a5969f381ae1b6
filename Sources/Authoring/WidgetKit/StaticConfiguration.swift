import Archive
import Conversations
public import SwiftUI

/// A widget that a person cannot configure. Source: `WidgetKit.StaticConfiguration`.
@MainActor @preconcurrency
public struct StaticConfiguration<Content: View>: WidgetConfiguration, DescribedConfiguration, Sendable {
  private let declaration: WidgetDeclaration
  private let source: TimelineSource

  /// A configuration.
  ///
  /// - Parameters:
  ///   - kind: the author's name of the widget, by which it is reloaded.
  ///   - provider: says when the widget shows what.
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

  /// There is none.
  public var body: Never { fatalError("StaticConfiguration has no body") }

  package func describe(_ description: inout WidgetDescription) {
    description.declaration = declaration
    description.timeline = { [source] in try await source.timeline($0) }
  }
}

extension GivenTimeline {
  /// What a provider gave: a timeline or an entry; `nil` for anything else.
  init?<Entry: TimelineEntry>(_ given: Any, _ content: @escaping (Entry) -> some View) {
    let entries: [Entry]
    switch given {
    case let entry as Entry: (entries, policy) = ([entry], .never)
    case let timeline as Timeline<Entry>: (entries, policy) = (timeline.entries, timeline.policy.policy)
    default: return nil
    }
    self.entries = entries.count
    entry = { entries[$0] }
    view = { content(entries[$0]) }
  }
}
