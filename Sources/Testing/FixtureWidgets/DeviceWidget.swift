// SPDX-License-Identifier: Apache-2.0

import SwiftUI
import WidgetKit

// A widget that shows what the process reads of the device by functions that WidgetLab replaces: user defaults, texts,
// the locale and the clock. deploy/test-sdk compares it with the same one that is linked with the SDK.

struct DeviceProvider: TimelineProvider {
  func placeholder(in context: Context) -> TextsEntry { TextsEntry(date: .now, texts: []) }
  func getSnapshot(in context: Context, completion: @escaping (TextsEntry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(in context: Context, completion: @escaping (Timeline<TextsEntry>) -> Void) {
    let group = UserDefaults(suiteName: FixtureWidgets.environment["TRIAL_GROUP"])
    let texts = [
      "name \(group?.string(forKey: "name") ?? "unknown")", "cups \(UserDefaults.standard.integer(forKey: "cups"))",
      NSLocalizedString("greeting", value: "Good day", comment: ""), String(localized: "\(3) mugs"),
      "locale \(Locale.current.identifier)", "clock \(Date().formatted(.iso8601))",
    ]
    completion(Timeline(entries: [TextsEntry(date: .now, texts: texts)], policy: .never))
  }
}

struct DeviceWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Device", provider: DeviceProvider()) { entry in
      VStack { ForEach(entry.texts, id: \.self) { Text(verbatim: $0) } }.backed
    }
    .supportedFamilies([.systemLarge])
  }
}
