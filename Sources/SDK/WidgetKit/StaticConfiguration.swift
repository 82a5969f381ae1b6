// SPDX-License-Identifier: Apache-2.0

import Archive
import Messages
public import SwiftUI

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
