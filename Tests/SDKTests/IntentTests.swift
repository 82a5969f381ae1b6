// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AppIntents
@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

/// Declaration, archiving and performance of an author's intents.
@Suite(.timeLimit(.minutes(1))) struct `An app intent` {
  @Test func `an app intent declares its parameters with title, type, default and options`() async {
    let declaration = await ChooseCity.declaration()
    #expect(declaration.title == "Choose a city")
    #expect(declaration.parameters.map(\.name) == ["city", "unit", "days", "label", "isDark"])
    #expect(declaration.parameters.map(\.title) == ["City", "Unit", "Days", "Label", "Dark"])
    #expect(declaration.parameters.map(\.type) == [.entity, .enum, .int, .string, .bool])
    #expect(declaration.parameters.map(\.isOptional) == [true, false, false, true, false])
    #expect(declaration.parameters.map(\.standard) == ["bern", "celsius", 3, nil, false])
    #expect(
      declaration.parameters.map { $0.options.map(\.title) } == [
        ["Bern", "Rome"], ["Degrees Celsius", "Degrees Fahrenheit"], [], ["short", "long"], [],
      ])
  }

  @Test(.rule("WIDGET-16"))
  func `an app intent's queries run when the user configures the widget, and not for its declaration`() async throws {
    let fixture = try await SDKFixture.serving { CityWidget().descriptions }
    let knownDeclaration = await ChooseCity.declaration(asking: nil)
    #expect(knownDeclaration.parameters.map(\.isAsked) == [true, false, false, true, false])
    #expect(knownDeclaration.parameters.map(\.standard) == [nil, "celsius", 3, nil, false])
    #expect(knownDeclaration.parameters.map(\.options.count) == [0, 2, 0, 0, 0])
    let asked = try await fixture.host.connection.request(
      DescribeIntent(widgetKind: "City", searches: ["city": "Par", "label": "no query"]), to: SDKFixture.widget)
    #expect(asked.parameters.map(\.options.count) == [3, 2, 0, 2, 0])
    #expect(asked.parameters[0].options.map(\.title) == ["Bern", "Rome", "Paris"])
    #expect(asked.parameters[0].standard == "bern")
  }

  @Test func `an app intent survives archiving and restoring of its parameters`() async throws {
    let values: [String: ArchivedValue] = ["city": "rome", "unit": "fahrenheit", "days": 5, "label": "long"]
    let intent = try await ChooseCity.restored(values)
    #expect(intent.city?.name == "Rome")
    #expect(intent.unit == .fahrenheit)
    #expect(intent.days == 5)
    #expect(intent.archivedParameters == values.merging(["isDark": false]) { $1 })
  }

  @Test(.rule("WIDGET-15")) func `an app intent without chosen values has its defaults`() async throws {
    let intent = try await ChooseCity.restored([:])
    #expect(intent.city?.name == "Bern")
    #expect(intent.label == nil)
  }

  @Test(.rule("WIDGET-15")) func `a switch without a chosen value and without a default is off`() {
    let intent = Switched()
    #expect(!intent.isOn)
    #expect(intent.isKnown == nil)
    intent.isOn = true
    #expect(intent.isOn)
  }

  @Test(.rule("WIDGET-18")) func `an app intent refuses a value of the wrong type for a parameter`() async {
    await #expect(throws: IntentRefusal.self) { try await ChooseCity.restored(["days": "many"]) }
  }

  @Test(.rule("WIDGET-19")) func `an app intent type is found by its archived name, also under another main module`() {
    #expect(intentType(named: "SDKTests.Outer.Inner") == Outer.Inner.self)
    #expect(Outer.Inner.archivedName == "SDKTests.Outer.Inner")
    #expect(intentType(named: "SDKTests.Unknown") == nil)
    #expect(intentType(named: "OfAnExtension.Outer.Inner", main: "SDKTests") == Outer.Inner.self)
    #expect(intentType(named: "") == nil)
  }

  @Test(.rule("WIDGET-19"))
  func `a private app intent is found by its archived name in the process that archived it`() {
    #expect(intentType(named: ChooseCity.archivedName) == ChooseCity.self)
  }

  @Test(.rule("WIDGET-20"))
  func `performing an app intent for the host sends its reload before the reply`() async throws {
    let fixture = try await SDKFixture.serving { [] }
    _ = try await fixture.host.connection.request(
      PerformIntent(intent: CountUp.archivedName, values: ["by": 4], placement: 1), to: SDKFixture.widget)
    #expect(CountUp.counted.withLock { $0[fixture.process.container] } == 4)
    #expect(await fixture.bus.sentEnvelopes.contains { $0.header.kind == ReloadTimelines.kind })
  }

  @Test(.rule("WIDGET-20")) func `an app intent that throws replies with intentFailed`() async throws {
    let fixture = try await SDKFixture.serving { [] }
    let error = await #expect(throws: BusError.self) {
      try await fixture.host.connection.request(
        PerformIntent(intent: Fails.archivedName, values: [:], placement: 1), to: SDKFixture.widget)
    }
    #expect(error?.code == .intentFailed)
  }

  @Test func `performing an undeclared app intent fails with unknownIntent and the remedy`() async throws {
    let fixture = try await SDKFixture.serving { [] }
    let error = await #expect(throws: BusError.self) {
      try await fixture.host.connection.request(
        PerformIntent(intent: "Unknown.Intent", values: [:], placement: 1), to: SDKFixture.widget)
    }
    #expect(error?.code == .unknownIntent)
    #expect(error?.message.contains("to the targets of both the app and the extension") == true)
  }

  @Test(.rule("WIDGET-18"))
  func `a configuration intent's values reach the provider's timeline, and invalid ones are refused`() async throws {
    let fixture = try await SDKFixture.serving { CityWidget().descriptions }
    let chosen: [String: ArchivedValue] = ["city": "rome", "days": 2]
    #expect(try await fixture.ask("City", configuration: chosen).entries.map(\.view.lines) == [["Rome"], ["Rome"]])
    #expect(try await fixture.ask("City", .snapshot).entries.map(\.view.lines) == [["Bern"]])
    #expect(try await fixture.ask("City", .placeholder).entries.map(\.view.lines) == [["a city"]])
    let error = await #expect(throws: BusError.self) { try await fixture.ask("City", configuration: ["days": "many"]) }
    #expect(error?.code == .badConfiguration)
  }

  @Test
  @MainActor func `a widget is declared with its configuration intent and its provider's recommendations`() async throws
  {
    let description = try #require(CityWidget().descriptions.first)
    #expect(description.declaration?.recommendations == [.init(description: "Rome for a day", values: rome)])
    #expect(await description.configuration?(nil).type == ChooseCity.archivedName)
  }

  @Test(.rule("WIDGET-14"))
  func `currentConfigurations returns each placement with its configured intent`() async throws {
    let fixture = try await SDKFixture.serving { [] }
    var placed = Placement(
      id: 1, bundle: "com.example.App.Widget", kind: "City", family: .systemMedium, location: .homeScreen,
      configuration: ["city": "rome"])
    placed.intent = ChooseCity.archivedName
    let placements = [placed]
    fixture.host.connection.onRequest(ListPlacements.self) { _, _ in ListPlacements.Reply(placements: placements) }
    let infos = try await fixture.process.asCurrent { try await WidgetCenter.shared.currentConfigurations() }
    #expect(infos.map(\.kind) == ["City"])
    #expect(infos.map(\.family) == [.systemMedium])
    let intent = infos.first?.widgetConfigurationIntent(of: ChooseCity.self)
    #expect(intent?.city?.id == "rome")
    let (received, tell) = AsyncStream.makeStream(of: Int.self)
    fixture.process.asCurrent {
      WidgetCenter.shared.getCurrentConfigurations { tell.yield((try? $0.get().count) ?? 0) }
    }
    #expect(await received.first { _ in true } == 1)
  }

  private var rome: [String: ArchivedValue] { ["city": "rome", "unit": "celsius", "days": 1, "isDark": false] }
}

struct City: AppEntity {
  static let typeDisplayRepresentation: TypeDisplayRepresentation = "City"
  static let defaultQuery = CityQuery()
  static let all = [City(id: "bern", name: "Bern"), City(id: "rome", name: "Rome")]
  let id: String
  let name: String
  var displayRepresentation: DisplayRepresentation { DisplayRepresentation(title: "\(name)", subtitle: "a city") }
}

struct CityQuery: EntityStringQuery {
  func entities(for identifiers: [String]) async throws -> [City] { knownCities.filter { identifiers.contains($0.id) } }
  func entities(matching string: String) async throws -> [City] { knownCities.filter { $0.name.contains(string) } }
  func suggestedEntities() async throws -> [City] { City.all }
  func defaultResult() async -> City? { City.all.first }
  private var knownCities: [City] { City.all + [City(id: "paris", name: "Paris")] }
}

private enum Unit: String, AppEnum {
  case celsius
  case fahrenheit
  static let typeDisplayRepresentation = TypeDisplayRepresentation(name: "Unit")
  static let caseDisplayRepresentations: [Unit: DisplayRepresentation] = [
    .celsius: "Degrees Celsius", .fahrenheit: DisplayRepresentation(title: "Degrees Fahrenheit"),
  ]
}

private struct Labels: DynamicOptionsProvider {
  func results() async throws -> [String] { ["short", "long"] }
}

private struct ChooseCity: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Choose a city"
  static let description = IntentDescription("What the widget shows.")

  @Parameter(title: "City") var city: City?
  @Parameter(title: "Unit", default: .celsius) var unit: Unit
  @Parameter(title: "Days", default: 3, controlStyle: .stepper, inclusiveRange: (1, 7)) var days: Int
  @Parameter(title: "Label", optionsProvider: Labels()) var label: String?
  @Parameter(title: "Dark", default: false) var isDark: Bool

  static var parameterSummary: some ParameterSummary {
    Summary("Show \(\.$city) in \(\.$unit)") {
      \.$days
      \.$label
    }
  }
}

enum Outer {
  struct Inner: AppIntent {
    static let title: LocalizedStringResource = "Inner"
    func perform() async throws -> some IntentResult { .result() }
  }
}

private struct CountUp: AppIntent {
  static let counted = Mutex<[String: Int]>([:])
  static let title: LocalizedStringResource = "Count up"
  @Parameter(title: "By") var by: Int

  init() {}
  init(by: Int) { self.by = by }

  func perform() async throws -> some IntentResult & ReturnsValue<Int> {
    let container = HostedProcess.current?.container ?? ""
    CountUp.counted.withLock { $0[container, default: 0] += by }
    WidgetCenter.shared.reloadAllTimelines()
    return .result(value: by)
  }
}

private struct Fails: AppIntent {
  struct Failure: Error {}
  static let title: LocalizedStringResource = "Fails"
  private func fail() throws { throw Failure() }
  func perform() async throws -> some IntentResult {
    try fail()
    return .result()
  }
}

private struct CityEntry: TimelineEntry {
  let date: Date
  let name: String
}

private struct CityProvider: AppIntentTimelineProvider {
  func recommendations() -> [AppIntentRecommendation<ChooseCity>] {
    let intent = ChooseCity()
    intent.city = City.all.last
    intent.days = 1
    return [AppIntentRecommendation(intent: intent, description: "Rome for a day")]
  }
  func placeholder(in context: Context) -> CityEntry { CityEntry(date: Date(), name: "a city") }
  func snapshot(for configuration: ChooseCity, in context: Context) async -> CityEntry {
    CityEntry(date: Date(), name: configuration.city?.name ?? "no city")
  }
  func timeline(for configuration: ChooseCity, in context: Context) async -> Timeline<CityEntry> {
    let entries = (0..<configuration.days).map {
      CityEntry(date: Date(timeIntervalSince1970: Double($0)), name: configuration.city?.name ?? "no city")
    }
    return Timeline(entries: entries, policy: .atEnd)
  }
}

private struct CityWidget: Widget {
  var body: some WidgetConfiguration {
    AppIntentConfiguration(kind: "City", intent: ChooseCity.self, provider: CityProvider()) { entry in
      Text(verbatim: entry.name)
    }
  }
}

private struct Switched: AppIntent {
  static let title: LocalizedStringResource = "Switched"
  @Parameter(title: "On") var isOn: Bool
  @Parameter(title: "Known") var isKnown: Bool?
  func perform() async throws -> some IntentResult { .result() }
}

private struct Migrated: CustomIntentMigratedAppIntent {
  static let title: LocalizedStringResource = "Migrated"
  static let intentClassName = "PourIntent"
  @Parameter(title: "Cups", default: 2) var cups: Int
  func perform() async throws -> some IntentResult { .result() }
}

@Suite(.timeLimit(.minutes(1))) struct `The intent of a placed widget` {
  @Test func `values are restored for their own type, also of another module, and for the type that replaces it`() {
    let ownName = Migrated.archivedName
    let elsewhere = "Elsewhere." + ownName.split(separator: ".").dropFirst().joined(separator: ".")
    for name in [ownName, elsewhere, "App.PourIntent"] {
      #expect(Migrated.restoredBlocking(["cups": .number(3)], of: name)?.cups == 3, "\(name)")
    }
    for name in [nil, Switched.archivedName, "App.Pour", "Migrated"] {
      #expect(Migrated.restoredBlocking(["cups": .number(3)], of: name) == nil, "\(name ?? "none")")
    }
  }
}
