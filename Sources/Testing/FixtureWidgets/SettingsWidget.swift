// SPDX-License-Identifier: Apache-2.0

import SwiftUI
import WidgetKit

// A widget that shows the settings of the device, as its provider and its view read them.

struct SettingsProvider: TimelineProvider {
  func placeholder(in context: Context) -> CityEntry { CityEntry(date: .now, text: "a placeholder") }
  func getSnapshot(in context: Context, completion: @escaping (CityEntry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(in context: Context, completion: @escaping (Timeline<CityEntry>) -> Void) {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "HH:mm"
    let hour = formatter.string(from: Date(timeIntervalSince1970: 0))
    let text = "\(Locale.current.identifier) \(TimeZone.current.identifier) \(hour)"
    completion(Timeline(entries: [CityEntry(date: .now, text: text)], policy: .never))
  }
}

struct SettingsView: View {
  @Environment(\.dynamicTypeSize) private var size
  @Environment(\.legibilityWeight) private var weight
  @Environment(\.colorSchemeContrast) private var contrast
  @Environment(\.colorScheme) private var scheme
  @Environment(\.accessibilityReduceMotion) private var motion
  @Environment(\.accessibilityReduceTransparency) private var transparency
  @Environment(\.accessibilityDifferentiateWithoutColor) private var color
  @Environment(\.accessibilityVoiceOverEnabled) private var voice
  @Environment(\.locale) private var locale
  @Environment(\.calendar) private var calendar
  @Environment(\.timeZone) private var timeZone
  @Environment(\.layoutDirection) private var direction
  let entry: CityEntry

  var body: some View {
    VStack {
      Text(verbatim: "size \(size)")
      Text(verbatim: "bold \(weight == .bold)")
      Text(verbatim: "contrast \(contrast)")
      Text(verbatim: "motion \(motion) transparency \(transparency) color \(color) voice \(voice)")
      Text(verbatim: "scheme \(scheme)")
      Text(verbatim: "locale \(locale.identifier) \(direction)")
      Text(verbatim: "zone \(timeZone.identifier) \(calendar.timeZone.identifier)")
      Text(verbatim: "process \(entry.text)")
    }
    .containerBackground(.background, for: .widget)
  }
}

struct SettingsWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Settings", provider: SettingsProvider()) { SettingsView(entry: $0) }
      .configurationDisplayName("Texts")
      .supportedFamilies([.systemLarge])
  }
}
