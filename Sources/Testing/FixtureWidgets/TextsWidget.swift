// SPDX-License-Identifier: Apache-2.0

import SwiftUI
import WidgetKit

// A widget with localised texts.

struct TextsEntry: TimelineEntry {
  let date: Date
  let texts: [String]
}

struct TextsProvider: TimelineProvider {
  func placeholder(in context: Context) -> TextsEntry { TextsEntry(date: .now, texts: []) }
  func getSnapshot(in context: Context, completion: @escaping (TextsEntry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(in context: Context, completion: @escaping (Timeline<TextsEntry>) -> Void) {
    let value: String.LocalizationValue = "\(3) of \("ten")"
    let resource = LocalizedStringResource("greeting", defaultValue: "Good day")
    let texts = [
      String(localized: "greeting", defaultValue: "Good day"), String(localized: resource), String(localized: value),
      String(localized: "\(1) mugs"), String(localized: "\(3) mugs"), String(localized: "\(1234) mugs"),
      Locale.current.identifier, Locale.preferredLanguages.first ?? "", 1234.5.formatted(),
      Date(timeIntervalSince1970: 0).formatted(Date.FormatStyle(date: .long, time: .omitted, timeZone: .gmt)),
    ]
    completion(Timeline(entries: [TextsEntry(date: .now, texts: texts)], policy: .never))
  }
}

struct TextsWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Texts", provider: TextsProvider()) { entry in
      VStack { ForEach(entry.texts, id: \.self) { Text(verbatim: $0) } }.backed
    }
    .configurationDisplayName("Texts")
    .description(LocalizedStringResource("What the device's language makes of texts"))
    .supportedFamilies([.systemLarge])
  }
}
