// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

// A widget that shows the values that its provider and its view receive from the system.

struct Ask: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Ask"

  @Parameter(title: "Word", default: "nothing") var word: String
}

struct FactsEntry: TimelineEntry {
  let date: Date
  let facts: [String]
  var relevance: TimelineEntryRelevance? { TimelineEntryRelevance(score: 7, duration: 60) }
}

struct FactsProvider: AppIntentTimelineProvider {
  func placeholder(in context: Context) -> FactsEntry { FactsEntry(date: .now, facts: ["a placeholder"]) }

  func snapshot(for configuration: Ask, in context: Context) async -> FactsEntry {
    FactsEntry(date: .now, facts: ["a snapshot", "preview \(context.isPreview)"])
  }

  func timeline(for configuration: Ask, in context: Context) async -> Timeline<FactsEntry> {
    let placed = (try? await WidgetCenter.shared.currentConfigurations()) ?? []
    let words = placed.map { info in
      "\(info.kind) \(info.family) \(info.widgetConfigurationIntent(of: Ask.self)?.word ?? "-")"
    }
    let notified = await withCheckedContinuation { continuation in
      WidgetCenter.shared.getCurrentConfigurations { continuation.resume(returning: (try? $0.get())?.count ?? -1) }
    }
    let size = "\(Int(context.displaySize.width)) x \(Int(context.displaySize.height))"
    let facts = [
      "asked for \(configuration.word)", "context \(context.family) \(size) preview \(context.isPreview)",
      "schemes \(context.environmentVariants.colorScheme?.count ?? 0)",
      "placed \(words.sorted().joined(separator: ", "))", "current \(notified)",
    ]
    return Timeline(entries: [FactsEntry(date: .now, facts: facts)], policy: .never)
  }
}

struct FactsView: View {
  @Environment(\.widgetFamily) private var family
  @Environment(\.widgetRenderingMode) private var mode
  @Environment(\.widgetContentMargins) private var margins
  @Environment(\.showsWidgetContainerBackground) private var showsBackground
  @Environment(\.showsWidgetLabel) private var showsLabel
  @Environment(\.levelOfDetail) private var detail
  let entry: FactsEntry

  var body: some View {
    VStack {
      ForEach(entry.facts, id: \.self) { Text(verbatim: $0) }
      Text(verbatim: "view \(family) \(mode) margins \(Int(margins.leading)) background \(showsBackground)")
      Text(verbatim: "label \(showsLabel) detail \(detail == .default ? "default" : "simplified")")
      Text(verbatim: "labelled").widgetLabel { Text(verbatim: "a label of views") }
      Text(verbatim: "marked").widgetAccentable().widgetCurvesContent().widgetLabel("label")
      Image(systemName: "star").widgetAccentedRenderingMode(.desaturated)
      AccessoryWidgetBackground()
    }
    .containerBackground(.background, for: .widget)
  }
}

struct FactsWidget: Widget {
  var body: some WidgetConfiguration {
    AppIntentConfiguration(kind: "Facts", intent: Ask.self, provider: FactsProvider()) { FactsView(entry: $0) }
      .supportedFamilies([.systemMedium, .systemSmall, .systemLarge, .accessoryRectangular, .accessoryCircular])
  }
}
