// SPDX-License-Identifier: Apache-2.0

import Combine
import CoreLocation
import Foundation
import Intents
import SwiftUI
import WidgetKit
import os

// A widget with the modules that only some authors import: the log, Combine, the location, and an intent of an
// `.intentdefinition`, whose class is written as it is generated.

private let logger = Logger(subsystem: "com.example.Modules", category: "timeline")

enum Unit: Int, Sendable {
  case unknown = 0
  case celsius = 1
  case fahrenheit = 2
}

final class ChooseCityIntent: INIntent {
  var unit: Unit {
    get { _value("unit") ?? .unknown }
    set { _set("unit", newValue) }
  }
  var city: String? {
    get { _value("city") }
    set { _set("city", newValue) }
  }
  override class var _definition: _INDefinition {
    _INDefinition(
      title: "Choose a city",
      parameters: [
        _INParameter("city", title: "City", .string, standard: .string("Bern")),
        _INParameter(
          "unit", title: "Unit",
          .enumeration(
            [("unknown", "unknown", 0), ("celsius", "Degrees Celsius", 1), ("fahrenheit", "Degrees Fahrenheit", 2)],
            { Unit(rawValue: $0) }), standard: .string("celsius")),
      ])
  }
}

final class Weather: ObservableObject {
  @Published var degrees = 0
}

struct ModuleEntry: TimelineEntry {
  var date = Date()
  var text = ""
}

/// Asks for the location, and completes with it.
final class LocationQuestion: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private let done: (String) -> Void
  /// Keeps the question until it is answered.
  private var ownQuestion: LocationQuestion?

  init(_ done: @escaping (String) -> Void) {
    self.done = done
    super.init()
    ownQuestion = self
    manager.delegate = self
    manager.requestLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    let place = locations[0]
    CLGeocoder().reverseGeocodeLocation(place) { placemarks, _ in
      self.answer(placemarks?.first?.locality ?? "\(place.coordinate.latitude)")
    }
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    answer((error as? CLError)?.code == .denied ? "denied" : "unknown")
  }
  private func answer(_ text: String) {
    done(text)
    ownQuestion = nil
  }
}

struct ModuleProvider: IntentTimelineProvider {
  func placeholder(in context: Context) -> ModuleEntry { ModuleEntry() }
  func getSnapshot(
    for configuration: ChooseCityIntent, in context: Context, completion: @escaping (ModuleEntry) -> Void
  ) {
    completion(placeholder(in: context))
  }
  func getTimeline(
    for configuration: ChooseCityIntent, in context: Context,
    completion: @escaping @Sendable (Timeline<ModuleEntry>) -> Void
  ) {
    let weather = Weather()
    var seen: [Int] = []
    let cancellable = weather.$degrees.map { $0 * 2 }.sink { seen.append($0) }
    weather.degrees = 21
    cancellable.cancel()
    let foundText = "\(configuration.city ?? "nowhere") \(configuration.unit) \(seen)"
    logger.error(
      "the weather of \(configuration.city ?? "nowhere", privacy: .public): \(21.5, format: .fixed(precision: 1))")
    DispatchQueue.main.async {
      _ = LocationQuestion { place in
        completion(Timeline(entries: [ModuleEntry(text: "\(foundText) at \(place)")], policy: .never))
      }
    }
  }
}

/// `TRIAL_FIXTURE` selects another fixture; `TRIAL_ONLY=Plain` selects widgets that use none of the modules.
@main enum FixtureModules {
  @MainActor static func main() throws {
    let environment = ProcessInfo.processInfo.environment
    switch environment["TRIAL_FIXTURE"] {
    case "models": ReadingWidget.main()
    case "store": try FixtureStore.main()
    case nil where environment["TRIAL_ONLY"] == "Plain": PlainWidgets.main()
    case nil: ModuleWidgets.main()
    case let name?: fatalError("TRIAL_FIXTURE: there is no fixture '\(name)'")
    }
  }
}

struct ModuleWidgets: WidgetBundle {
  var body: some Widget {
    ModuleWidget()
    DayWidget()
    TripActivity()
  }
}

struct ModuleWidget: Widget {
  var body: some WidgetConfiguration {
    IntentConfiguration(kind: "Modules", intent: ChooseCityIntent.self, provider: ModuleProvider()) { entry in
      Text(verbatim: entry.text).containerBackground(.background, for: .widget)
    }
    .configurationDisplayName("Modules")
  }
}

/// Five widgets that use WidgetKit and SwiftUI alone, as in `FixtureTimelines`: `scripts/bench --only spawn` compares
/// the start of the two, so that the modules are the only difference.
struct PlainWidgets: WidgetBundle {
  var body: some Widget {
    PlainWidget(kind: "Hourly")
    PlainWidget(kind: "Quarters")
    PlainWidget(kind: "AtEnd")
    PlainWidget(kind: "Single")
    PlainWidget(kind: "Never")
  }
}

struct PlainWidget: Widget {
  var kind = ""
  init() {}
  init(kind: String) { self.kind = kind }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: kind, provider: PlainProvider()) { entry in
      Text(verbatim: entry.text).containerBackground(.background, for: .widget)
    }
  }
}

struct PlainProvider: TimelineProvider {
  func placeholder(in context: Context) -> ModuleEntry { ModuleEntry() }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (ModuleEntry) -> Void) {
    completion(ModuleEntry())
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<ModuleEntry>) -> Void) {
    completion(Timeline(entries: [ModuleEntry()], policy: .never))
  }
}
