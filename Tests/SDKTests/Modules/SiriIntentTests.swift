// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Intents
import MessageBus
import Messages
import Testing

@testable import SwiftUI
@testable import WidgetKit

/// As it is generated from an `.intentdefinition`.
private enum SiriUnit: Int {
  case unknown = 0
  case celsius = 1
}

private final class SiriCity: INObject {}

private final class SiriCityIntent: INIntent {
  var unit: SiriUnit {
    get { _value("unit") ?? .unknown }
    set { _set("unit", newValue) }
  }
  var city: SiriCity? {
    get { _value("city") }
    set { _set("city", newValue) }
  }
  var days: NSNumber? {
    get { _value("days") }
    set { _set("days", newValue) }
  }
  override class var _definition: _INDefinition {
    _INDefinition(
      title: "Choose a city",
      parameters: [
        _INParameter("city", title: "City", .object(SiriCity.self)),
        _INParameter(
          "unit", title: "Unit",
          .enumeration([("unknown", "unknown", 0), ("celsius", "Degrees", 1)], { SiriUnit(rawValue: $0) }),
          standard: .string("celsius")),
        _INParameter("days", title: "Days", .integer, standard: .number(3)),
        _INParameter("inner", title: "Inner", .boolean, isConfigurable: false),
      ])
  }
}

private struct SiriCityProvider: IntentTimelineProvider {
  func placeholder(in context: Context) -> SiriEntry { SiriEntry(text: "a placeholder") }
  func getSnapshot(for configuration: SiriCityIntent, in context: Context, completion: @escaping (SiriEntry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(
    for configuration: SiriCityIntent, in context: Context, completion: @escaping (Timeline<SiriEntry>) -> Void
  ) {
    let text = "\(configuration.city?.identifier ?? "none") \(configuration.unit) \(configuration.days ?? 0)"
    completion(Timeline(entries: [SiriEntry(text: text)], policy: .never))
  }
  func recommendations() -> [IntentRecommendation<SiriCityIntent>] {
    let intent = SiriCityIntent()
    intent.city = SiriCity(identifier: "rome", display: "Rome")
    return [IntentRecommendation(intent: intent, description: "Rome")]
  }
}

private struct SiriEntry: TimelineEntry {
  var date = Date(timeIntervalSince1970: 0)
  var text: String
}

@Suite(.timeLimit(.minutes(1))) @MainActor struct `An intent of a definition` {
  private func description() throws -> WidgetDescription {
    var description = WidgetDescription()
    IntentConfiguration(kind: "City", intent: SiriCityIntent.self, provider: SiriCityProvider()) {
      Text(verbatim: $0.text)
    }
    .add(to: &description)
    return description
  }

  @Test func `its parameters are declared with title, type, default and options`() async throws {
    let declaration = try #require(await description().configuration?(nil))
    #expect(declaration.title == "Choose a city")
    #expect(declaration.parameters.map(\.name) == ["city", "unit", "days"])
    #expect(declaration.parameters.map(\.type) == [.string, .enum, .int])
    #expect(declaration.parameters.map(\.standard) == [nil, "celsius", 3])
    #expect(declaration.parameters[1].options.map(\.title) == ["Degrees"])
    let recommended = try #require(try description().declaration?.recommendations.first)
    #expect(recommended.values == ["city": "rome"])
  }

  @Test func `its values are restored, and a value of another type is refused`() throws {
    let intent = try SiriCityIntent.restored(["city": "rome", "days": 5])
    #expect(intent.city?.identifier == "rome")
    #expect(intent.unit == .celsius)
    #expect(intent.days == 5)
    #expect(intent.archivedParameters == ["city": "rome", "unit": "celsius", "days": 5])
    #expect(throws: INValueRefusal.self) { try SiriCityIntent.restored(["unit": "kelvin"]) }
  }
}
