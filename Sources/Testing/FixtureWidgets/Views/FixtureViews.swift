// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

struct CaffeineMoment: TimelineEntry {
  let date: Date
  let milligrams: Int
}

struct Moments: TimelineProvider {
  func placeholder(in context: Context) -> CaffeineMoment { CaffeineMoment(date: .now, milligrams: 0) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (CaffeineMoment) -> Void) {
    completion(CaffeineMoment(date: .now, milligrams: 180))
  }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<CaffeineMoment>) -> Void) {
    completion(Timeline(entries: [CaffeineMoment(date: .now, milligrams: 240)], policy: .never))
  }
}

/// A widget with most features of real ones.
struct CaffeineView: View {
  @Environment(\.widgetFamily) private var family
  @Environment(\.colorScheme) private var scheme
  let entry: CaffeineMoment

  var body: some View {
    VStack(alignment: .leading, spacing: 6) {
      Label("Caffeine", systemImage: "cup.and.saucer.fill").font(.caption).foregroundStyle(.secondary)
      Text("\(entry.milligrams) mg").font(.system(.title, design: .rounded)).bold().privacySensitive()
      Gauge(value: Double(entry.milligrams), in: 0...400) { Text("today") }.gaugeStyle(.accessoryLinearCapacity)
      if family != .systemSmall {
        HStack {
          Text(entry.date, style: .time)
          Spacer()
          Button("One more", intent: Drink(cups: 1)).buttonStyle(.borderedProminent)
        }
      }
    }
    .padding()
    .containerBackground(for: .widget) {
      LinearGradient(
        colors: scheme == .dark ? [.black, .brown] : [.white, .orange], startPoint: .top, endPoint: .bottom)
    }
  }
}

struct Caffeine: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Caffeine", provider: Moments()) { CaffeineView(entry: $0) }
      .configurationDisplayName("Caffeine")
      .supportedFamilies([.systemMedium, .systemSmall])
  }
}

/// Contains a view that a widget cannot show.
struct Scrolling: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Scrolling", provider: Moments()) { entry in
      VStack {
        Text("above")
        ScrollView { Text("within") }
      }
      .containerBackground(.background, for: .widget)
    }
    .supportedFamilies([.systemSmall])
  }
}

struct FixtureViews: WidgetBundle {
  var body: some Widget {
    Caffeine()
    Scrolling()
    Living()
    Pictured()
    Huge()
    Charted()
  }
}

// A widget that changes on the screen between its timelines.

private var hasMilk: Bool { UserDefaults.standard.bool(forKey: "milk") }

struct ToggleMilk: AppIntent {
  static let title: LocalizedStringResource = "Toggle milk"

  func perform() async throws -> some IntentResult {
    UserDefaults.standard.set(!hasMilk, forKey: "milk")
    return .result()
  }
}

/// Its parameter has no value.
struct Count: AppIntent {
  static let title: LocalizedStringResource = "Count"
  @Parameter(title: "Cups") var cups: Int

  func perform() async throws -> some IntentResult {
    UserDefaults.standard.set(cups, forKey: "cups")
    return .result()
  }
}

struct Living: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Living", provider: Moments()) { entry in
      VStack {
        Text(entry.date, style: .relative)
        Toggle("with milk", isOn: hasMilk, intent: ToggleMilk())
        Button("Count", intent: Count())
      }
      .containerBackground(.background, for: .widget)
    }
    .supportedFamilies([.systemSmall])
  }
}

// Widgets that show images and colours of the bundle, and an image of the group folder. Their names are those of the
// test's asset catalog.

struct PicturedView: View {
  private var shared: UIImage? {
    FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.Gallery")
      .flatMap { UIImage(contentsOfFile: $0.appendingPathComponent("shared.png").path) }
  }

  var body: some View {
    VStack(spacing: 2) {
      HStack {
        Image("Cup")
        Image("Cup").resizable().scaledToFit().frame(height: 40)
        Image("Food/Tea").foregroundStyle(.green)
      }
      if let shared { Image(uiImage: shared).resizable().frame(width: 25, height: 25) }
      Image("loose")
      Image("Broken")
      Image("Nowhere")
      Text("Brand").foregroundStyle(Color("Brand"))
    }
    .overlay(alignment: .bottomTrailing) {
      HStack(spacing: 4) {
        Image("Mark").font(.system(size: 20, weight: .heavy)).foregroundStyle(.red)
        Image("Badge")
      }
    }
    .containerBackground(Color("Paper"), for: .widget)
  }
}

struct Pictured: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Pictured", provider: Moments()) { _ in PicturedView() }
      .supportedFamilies([.systemSmall])
  }
}

/// Shows an image that is larger than a widget may have.
struct Huge: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Huge", provider: Moments()) { _ in
      Image("Huge").containerBackground(.background, for: .widget)
    }
    .supportedFamilies([.systemSmall])
  }
}
