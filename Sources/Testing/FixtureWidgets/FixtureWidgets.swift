// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

// Widgets that differ only in their modifiers.

struct Moment: TimelineEntry {
  let date: Date
}

struct MomentProvider: TimelineProvider {
  func placeholder(in context: Context) -> Moment { Moment(date: Date(timeIntervalSince1970: 0)) }
  func getSnapshot(in context: Context, completion: @escaping (Moment) -> Void) { completion(Moment(date: Date())) }
  func getTimeline(in context: Context, completion: @escaping (Timeline<Moment>) -> Void) {
    completion(Timeline(entries: [Moment(date: Date())], policy: .never))
  }
}

extension View {
  /// With a background for the widget, so that the system shows the view.
  var backed: some View { containerBackground(.background, for: .widget) }
}

/// Shows the size for which it is laid out, and the margins that it reads.
struct SizeView: View {
  @Environment(\.widgetContentMargins) private var margins

  var body: some View {
    GeometryReader { geometry in
      Text(verbatim: "\(Int(geometry.size.width)) x \(Int(geometry.size.height)) margins \(Int(margins.leading))")
    }
  }
}

/// Shows its size without margins, and its size within the margins that it reads and restores.
struct RestoredMargins: View {
  @Environment(\.widgetContentMargins) private var margins

  var body: some View {
    ZStack {
      SizeView()
      SizeView().padding(margins)
    }
  }
}

/// Half of a row, with a column in it: each closure shows the size with which it is called last.
struct NestedReaders: View {
  var body: some View {
    HStack(spacing: 0) {
      Color.blue
      GeometryReader { outer in
        VStack(spacing: 0) {
          Text(verbatim: "outer \(Int(outer.size.width)) x \(Int(outer.size.height))").fixedSize()
          GeometryReader { inner in
            Text(verbatim: "inner \(Int(inner.size.width)) x \(Int(inner.size.height))")
          }
          .frame(width: outer.size.width / 2, height: outer.size.height / 4)
        }
      }
    }
  }
}

struct NestedReadersWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "NestedReaders", provider: MomentProvider()) { _ in NestedReaders().backed }
      .supportedFamilies([.systemSmall])
      .contentMarginsDisabled()
  }
}

struct TextNameWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "TextName", provider: MomentProvider()) { _ in Text("by a text").backed }
      .configurationDisplayName(Text("Name by a text"))
      .description(Text("Described by a text"))
      .supportedFamilies([.systemSmall])
  }
}

struct KeyNameWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "KeyName", provider: MomentProvider()) { _ in Text("by a key").backed }
      .configurationDisplayName("Name by a key")
      .description("Described by a key")
      .supportedFamilies([.systemMedium, .systemSmall])
  }
}

struct StringNameWidget: Widget {
  private let name = "Name by a string"
  private let text = "Described by a string".dropFirst(0)

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "StringName", provider: MomentProvider()) { _ in Text("by a string").backed }
      .configurationDisplayName(name)
      .description(text)
      .supportedFamilies([.systemSmall, .accessoryInline])
  }
}

/// Without a name, a description or families.
struct PlainWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Plain", provider: MomentProvider()) { _ in Text("plain").backed }
  }
}

struct MarginsWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Margins", provider: MomentProvider()) { _ in SizeView().ignoresSafeArea().backed }
      .configurationDisplayName(LocalizedStringResource("Name by a resource"))
      .description(LocalizedStringResource("Described by a resource"))
      .supportedFamilies([.systemSmall])
  }
}

struct NoMarginsWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "NoMargins", provider: MomentProvider()) { _ in RestoredMargins().backed }
      .supportedFamilies([.systemSmall])
      .contentMarginsDisabled()
  }
}

struct DisfavoredWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Disfavored", provider: MomentProvider()) { _ in Text("elsewhere").backed }
      .supportedFamilies([.systemSmall, .systemMedium])
      .disfavoredLocations([.homeScreen], for: [.systemSmall])
      .disfavoredLocations([.standBy, .lockScreen, .carPlay], for: [.systemSmall])
  }
}

struct Backdrop: View {
  var body: some View {
    Text("in front").containerBackground(for: .widget) { Color.blue }
  }
}

struct RemovableWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Removable", provider: MomentProvider()) { _ in Backdrop() }
      .supportedFamilies([.systemSmall, .accessoryCircular])
      .containerBackgroundRemovable()
  }
}

struct KeptWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Kept", provider: MomentProvider()) { _ in Backdrop() }
      .supportedFamilies([.systemSmall, .accessoryCircular])
      .containerBackgroundRemovable(false)
  }
}

enum City: String, AppEnum {
  case london, paris

  static let typeDisplayRepresentation: TypeDisplayRepresentation = "City"
  static let caseDisplayRepresentations: [City: DisplayRepresentation] = [.london: "London", .paris: "Paris"]
}

struct SelectCity: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Select City"

  @Parameter(title: "City", default: .london) var city: City
  @Parameter(title: "Days", default: 3) var days: Int
}

struct CityEntry: TimelineEntry {
  let date: Date
  let text: String
}

struct CityProvider: AppIntentTimelineProvider {
  func placeholder(in context: Context) -> CityEntry { CityEntry(date: .now, text: "a city") }
  func snapshot(for configuration: SelectCity, in context: Context) async -> CityEntry { entry(configuration) }
  func timeline(for configuration: SelectCity, in context: Context) async -> Timeline<CityEntry> {
    Timeline(entries: [entry(configuration)], policy: .never)
  }

  private func entry(_ configuration: SelectCity) -> CityEntry {
    CityEntry(date: .now, text: "\(configuration.city.rawValue) for \(configuration.days) days")
  }
}

struct CityWidget: Widget {
  var body: some WidgetConfiguration {
    AppIntentConfiguration(kind: "City", intent: SelectCity.self, provider: CityProvider()) { Text($0.text).backed }
      .supportedFamilies([.systemSmall])
      .promptsForUserConfiguration()
  }
}

struct Drink: AppIntent {
  static let title: LocalizedStringResource = "Drink"

  @Parameter(title: "Cups", default: 1) var cups: Int

  init() {}
  init(cups: Int) { self.cups = cups }

  func perform() async throws -> some IntentResult {
    let count = UserDefaults.standard.integer(forKey: "cups")
    UserDefaults.standard.set(count + cups, forKey: "cups")
    return .result()
  }
}

struct TouchProvider: TimelineProvider {
  func placeholder(in context: Context) -> CityEntry { CityEntry(date: .now, text: "no cups") }
  func getSnapshot(in context: Context, completion: @escaping (CityEntry) -> Void) {
    completion(CityEntry(date: .now, text: "some cups"))
  }
  func getTimeline(in context: Context, completion: @escaping (Timeline<CityEntry>) -> Void) {
    let cups = UserDefaults.standard.integer(forKey: "cups")
    completion(Timeline(entries: [CityEntry(date: .now, text: "\(cups) cups")], policy: .never))
  }
}

struct TouchWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Touch", provider: TouchProvider()) { entry in
      VStack {
        Text(entry.text).privacySensitive()
        Button(intent: Drink(cups: 2)) { Text("Drink") }
        Link("More", destination: URL(string: "trial://more") ?? URL(filePath: "/"))
      }
      .widgetURL(URL(string: "trial://touch"))
      .backed
    }
    .supportedFamilies([.systemMedium])
  }
}

struct ModifiedWidgets: WidgetBundle {
  var body: some Widget {
    TextNameWidget()
    KeyNameWidget()
    StringNameWidget()
    PlainWidget()
    MarginsWidget()
    NoMarginsWidget()
    NestedReadersWidget()
    DisfavoredWidget()
    RemovableWidget()
    KeptWidget()
    CityWidget()
    TouchWidget()
    FactsWidget()
    ChoicesWidget()
    MilkWidget()
    TextsWidget()
    NothingWidget()
    MilkControl()
    if #available(iOS 18.0, *) {
      GatedWidget()
    }
  }
}

/// `TRIAL_WIDGETS` selects the widgets of the extension; `TRIAL_APP` selects the containing app.
@main enum FixtureWidgets {
  static let environment = ProcessInfo.processInfo.environment

  @MainActor static func main() {
    if environment["TRIAL_APP"] != nil { return WidgetsApp.main() }
    switch environment["TRIAL_WIDGETS"] {
    case "touched": TouchedWidgets.main()
    case "renamed": RenamedWidget.main()
    case "settings": SettingsWidget.main()
    case "private": BalanceWidget.main()
    case "bare": BareWidgets.main()
    case "device": DeviceWidget.main()
    case "controls": ControlsBundle.main()
    default: ModifiedWidgets.main()
    }
  }
}
