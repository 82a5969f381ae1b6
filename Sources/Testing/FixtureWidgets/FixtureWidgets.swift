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

/// `TRIAL_FIXTURE` selects another fixture; `TRIAL_WIDGETS` selects the widgets of the extension; `TRIAL_APP` the
/// containing app.
@main enum FixtureWidgets {
  static let environment = ProcessInfo.processInfo.environment

  @MainActor static func main() {
    switch environment["TRIAL_FIXTURE"] {
    case "views": FixtureViews.main()
    case "activities": FixtureActivities.main()
    case "pushes": FixturePushes.main()
    case nil: begin()
    case let name?: fatalError("TRIAL_FIXTURE: there is no fixture '\(name)'")
    }
  }

  @MainActor private static func begin() {
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

// A widget that draws its own private form and its own placeholder.

struct BalanceView: View {
  @Environment(\.redactionReasons) private var reasons
  @Environment(\.colorScheme) private var scheme

  var body: some View {
    VStack {
      if reasons.contains(.placeholder) {
        Text(verbatim: "loading \(scheme)").unredacted()
      } else if reasons.contains(.privacy) {
        Text(verbatim: "balance hidden \(scheme)")
      } else {
        Text(verbatim: "balance 12 \(scheme)")
      }
      Text(verbatim: "of Anna").privacySensitive()
    }
    .containerBackground(.background, for: .widget)
  }
}

struct BalanceWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Balance", provider: MomentProvider()) { _ in BalanceView() }
      .supportedFamilies([.systemSmall])
  }
}

/// Written before iOS 17: no background for the widget.
struct BareWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Bare", provider: MomentProvider()) { _ in
      Button(intent: Drink(cups: 1)) { Text(verbatim: "bare") }
    }
    .supportedFamilies([.systemSmall])
  }
}

/// Declares that its background cannot be removed.
struct BareKeptWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "BareKept", provider: MomentProvider()) { _ in Text(verbatim: "not removable") }
      .supportedFamilies([.systemSmall])
      .containerBackgroundRemovable(false)
  }
}

struct BareWidgets: WidgetBundle {
  var body: some Widget {
    BareWidget()
    BareKeptWidget()
  }
}
