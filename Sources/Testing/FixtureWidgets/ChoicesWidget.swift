// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

// A widget whose options come from the author's queries.

struct Station: AppEntity {
  static let typeDisplayRepresentation: TypeDisplayRepresentation = "Station"
  static let defaultQuery = StationQuery()
  let id: Int
  let name: String
  var displayRepresentation: DisplayRepresentation { DisplayRepresentation(title: "\(name)") }
}

struct StationQuery: EntityStringQuery {
  private static let all = [
    Station(id: 1, name: "Central"), Station(id: 2, name: "Harbour"), Station(id: 3, name: "Hill"),
  ]

  func entities(for identifiers: [Int]) async throws -> [Station] {
    Self.all.filter { identifiers.contains($0.id) }
  }
  func entities(matching string: String) async throws -> [Station] {
    Self.all.filter { $0.name.lowercased().contains(string.lowercased()) }
  }
  func suggestedEntities() async throws -> [Station] {
    // A hanging query blocks only the configuration of the widget.
    if ProcessInfo.processInfo.environment["TRIAL_QUERY"] == "hangs" { try await Task.sleep(for: .seconds(3600)) }
    return [Self.all[0]]
  }
  func defaultResult() async -> Station? { Self.all[0] }
}

/// The options grow by one with each query.
struct Lines: DynamicOptionsProvider {
  func results() async throws -> [String] {
    let asked = UserDefaults.standard.integer(forKey: "lines") + 1
    UserDefaults.standard.set(asked, forKey: "lines")
    return (1...asked).map { "Line \($0)" }
  }
  func defaultResult() async -> String? { "Line 1" }
}

/// The options depend on the chosen station, and are in sections.
struct Platforms: DynamicOptionsProvider {
  @IntentParameterDependency<ChooseStation>(\.$station) private var chosen

  func results() async throws -> ItemCollection<Int> {
    ItemCollection {
      ItemSection("\(chosen?.station.name ?? "no station") north") {
        Item(1, title: "Platform 1", subtitle: "by the river")
        Item(2, title: "Platform 2")
      }
      ItemSection("South") { 3 }
    }
  }
}

struct ChooseStation: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Choose a station"

  @Parameter(title: "Station") var station: Station
  @Parameter(title: "Line", optionsProvider: Lines()) var line: String
  @Parameter(title: "Platform", optionsProvider: Platforms()) var platform: Int?
}

struct ChoicesProvider: AppIntentTimelineProvider {
  func placeholder(in context: Context) -> CityEntry { CityEntry(date: .now, text: "a placeholder of a station") }
  func snapshot(for configuration: ChooseStation, in context: Context) async -> CityEntry { entry(configuration) }
  func timeline(for configuration: ChooseStation, in context: Context) async -> Timeline<CityEntry> {
    if ProcessInfo.processInfo.environment["TRIAL_TIMELINE"] == "hangs" { try? await Task.sleep(for: .seconds(3600)) }
    return Timeline(entries: [entry(configuration)], policy: .never)
  }

  private func entry(_ configuration: ChooseStation) -> CityEntry {
    CityEntry(date: .now, text: "\(configuration.line) from \(configuration.station.name)")
  }
}

struct ChoicesWidget: Widget {
  var body: some WidgetConfiguration {
    AppIntentConfiguration(kind: "Choices", intent: ChooseStation.self, provider: ChoicesProvider()) { entry in
      Text(entry.text).unredacted().backed
    }
    .supportedFamilies([.systemSmall])
  }
}

/// The system sets `value`.
struct SetMilk: SetValueIntent {
  static let title: LocalizedStringResource = "Set milk"

  @Parameter(title: "With milk") var value: Bool

  func perform() async throws -> some IntentResult & ReturnsValue<Bool> {
    UserDefaults.standard.set(value, forKey: "milk")
    return .result(value: value)
  }
}

struct MilkProvider: TimelineProvider {
  func placeholder(in context: Context) -> CityEntry { CityEntry(date: .now, text: "") }
  func getSnapshot(in context: Context, completion: @escaping (CityEntry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(in context: Context, completion: @escaping (Timeline<CityEntry>) -> Void) {
    let milk = UserDefaults.standard.bool(forKey: "milk") ? "with milk" : "black"
    completion(Timeline(entries: [CityEntry(date: .now, text: milk)], policy: .never))
  }
}

struct MilkWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Milk", provider: MilkProvider()) { entry in
      VStack {
        Text(entry.text)
        Toggle("Milk", isOn: entry.text == "with milk", intent: SetMilk())
      }
      .backed
    }
    .supportedFamilies([.systemSmall])
  }
}

// Other elements of a bundle.

/// Declares nothing.
struct NothingWidget: Widget {
  var body: some WidgetConfiguration { EmptyWidgetConfiguration() }
}

struct GatedWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Gated", provider: MomentProvider()) { _ in Text("in if #available").backed }
      .supportedFamilies([.systemSmall])
  }
}

struct MilkControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "MilkControl") {
      ControlWidgetButton(action: Drink(cups: 1)) { Text("Drink") }
    }
    .displayName("Milk, by a control")
    .description("A control beside widgets")
  }
}

// Controls for Control Center, beside one widget.

private let lampKey = "lamp"

/// Turns the lamp on or off.
struct SetLamp: SetValueIntent {
  static let title: LocalizedStringResource = "Lamp"
  @Parameter(title: "On") var value: Bool

  func perform() async throws -> some IntentResult {
    UserDefaults.standard.set(value, forKey: lampKey)
    print("the lamp is \(value ? "lit" : "dark")")
    return .result()
  }
}

struct LampProvider: ControlValueProvider {
  let previewValue = false
  func currentValue() async throws -> Bool { UserDefaults.standard.bool(forKey: lampKey) }
}

/// A toggle with a value.
struct LampControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Lamp", provider: LampProvider()) { isLit in
      ControlWidgetToggle("Lamp", isOn: isLit, action: SetLamp()) { isOn in Text(isOn ? "lit" : "dark") }
        .tint(.yellow)
    }
    .displayName("The lamp")
    .description("Turns the lamp on and off")
  }
}

/// The size of a cup.
struct CupConfiguration: ControlConfigurationIntent {
  static let title: LocalizedStringResource = "Cup"
  @Parameter(title: "Size", default: "small") var size: String
}

struct CupProvider: AppIntentControlValueProvider {
  func previewValue(configuration: CupConfiguration) -> String { "a \(configuration.size) cup" }
  func currentValue(configuration: CupConfiguration) async throws -> String {
    "\(UserDefaults.standard.integer(forKey: "cups")) \(configuration.size) cups"
  }
}

/// A button with a value and a configuration.
struct CupControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    AppIntentControlConfiguration(kind: "Cup", provider: CupProvider()) { text in
      ControlWidgetButton(action: Drink(cups: 2)) { Text(text) }
    }
    .displayName("A cup")
  }
}

/// Lights the lamp from outside its control, and prints what is placed.
struct TellControls: AppIntent {
  static let title: LocalizedStringResource = "Tell"

  func perform() async throws -> some IntentResult {
    UserDefaults.standard.set(true, forKey: lampKey)
    ControlCenter.shared.reloadControls(ofKind: "Lamp")
    let controls = try await ControlCenter.shared.currentControls()
    let cup = controls.first { $0.kind == "Cup" }?.configurationIntent(of: CupConfiguration.self)
    let widgets = try await WidgetCenter.shared.currentConfigurations()
    print("controls \(controls.map(\.kind)) of \(cup?.size ?? "no") size, widgets \(widgets.map(\.kind))")
    return .result()
  }
}

struct TellControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Tell") { ControlWidgetButton(action: TellControls()) { Text("Tell") } }
  }
}

/// Needs an unlocked device.
struct OpenSafe: AppIntent {
  static let title: LocalizedStringResource = "Open"
  static let authenticationPolicy = IntentAuthenticationPolicy.requiresAuthentication
  func perform() async throws -> some IntentResult { .result() }
}

struct SafeControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Safe") { ControlWidgetButton(action: OpenSafe()) { Text("Open") } }
  }
}

struct BlockedControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Blocked") {
      ControlWidgetButton(action: Drink(cups: 1)) { Text("Drink") }.disabled(true)
    }
  }
}

/// Its intent opens the app with a URL.
struct VisitControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Visit") { ControlWidgetButton(action: Visit()) { Text("Visit") } }
  }
}

struct ControlsBundle: WidgetBundle {
  var body: some Widget {
    TouchWidget()
    LampControl()
    CupControl()
    TellControl()
    SafeControl()
    BlockedControl()
    VisitControl()
  }
}
