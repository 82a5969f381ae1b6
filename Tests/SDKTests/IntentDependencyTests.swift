// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import SwiftUI
@testable import WidgetKit

/// Options that depend on the values of other parameters.
@Suite(.timeLimit(.minutes(1))) struct `A parameter dependency` {
  @Test(.rule("WIDGET-25"))
  func `a parameter dependency has the values chosen so far, the user's texts and the defaults`() async throws {
    #expect(await rooms(chosen: ["house": "mill"]) == ["mill on floor 0"])
    #expect(await rooms(chosen: ["house": "mill", "floor": 2]) == ["mill on floor 2"])
    #expect(await rooms(["house": "The farm"], chosen: ["floor": 1]) == ["farm on floor 1"])
    #expect(await rooms(["floor": "3"]) == ["barn on floor 3"])
    // A value that is not accepted counts as not chosen.
    #expect(await rooms(chosen: ["house": "mill", "floor": "many"]) == ["mill on floor 0"])
  }

  @Test(.rule("WIDGET-25"))
  func `a parameter dependency is nil without a value, for another intent, and when nothing is configured`()
    async throws
  {
    #expect(await Rooms().results() == ["no house"])
    #expect(await ChooseBed.declaration().parameters.last?.options.map(\.title) == ["no house"])
    #expect(await ChooseGuest.declaration().parameters.last?.options.map(\.title) == ["no guest"])
    let chosen = await ChooseGuest.declaration(chosen: ["guest": "Ann"])
    #expect(chosen.parameters.last?.options.map(\.title) == ["Ann"])
  }

  @Test(.rule("WIDGET-25"))
  func `a query finds an entity by the values of the parameters before it, also for a timeline`() async throws {
    let values: [String: ArchivedValue] = ["house": "mill", "key": "mill-1"]
    #expect(try await ChooseRoom.restored(values).key?.id == "mill-1")
    #expect(try await ChooseRoom.restored(["house": "farm", "key": "mill-1"]).key?.id == nil)
  }

  @Test(.rule("WIDGET-25"))
  func `the host's question for the options has the values chosen so far`() async throws {
    let fixture = try await SDKFixture.serving { RoomWidget().descriptions }
    let asked = try await fixture.host.connection.request(
      DescribeIntent(widgetKind: "Room", searches: ["room": "x"], chosen: ["house": "farm"]), to: SDKFixture.widget)
    #expect(asked.parameters.first { $0.name == "room" }?.options.map(\.title) == ["farm on floor 0"])
  }

  private func rooms(_ searches: [String: String] = [:], chosen: [String: ArchivedValue] = [:]) async -> [String]? {
    let declaration = await ChooseRoom.declaration(asking: searches, chosen: chosen)
    return declaration.parameters.first { $0.name == "room" }?.options.map(\.title)
  }
}

private enum House: String, AppEnum {
  case mill, farm, barn
  static let typeDisplayRepresentation: TypeDisplayRepresentation = "House"
  static let caseDisplayRepresentations: [House: DisplayRepresentation] = [.farm: "The farm"]
}

private struct Rooms: DynamicOptionsProvider {
  @IntentParameterDependency<ChooseRoom>(\.$house, \.$floor) private var chosen

  func results() async -> [String] {
    guard let chosen else { return ["no house"] }
    return ["\(chosen.house.rawValue) on floor \(chosen.floor)"]
  }
}

private struct Key: AppEntity {
  static let typeDisplayRepresentation: TypeDisplayRepresentation = "Key"
  static let defaultQuery = KeyQuery()
  let id: String
  var displayRepresentation: DisplayRepresentation { "\(id)" }
}

private struct KeyQuery: EntityQuery {
  @IntentParameterDependency<ChooseRoom>(\.$house) var chosen

  func entities(for identifiers: [String]) async throws -> [Key] {
    identifiers.filter { $0.hasPrefix(chosen?.house.rawValue ?? "no house") }.map { Key(id: $0) }
  }
}

private struct ChooseRoom: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Choose a room"

  @Parameter(title: "Room", optionsProvider: Rooms()) var room: String?
  @Parameter(title: "House", default: .barn) var house: House?
  @Parameter(title: "Floor", default: 0) var floor: Int
  @Parameter(title: "Key") var key: Key?
}

/// Another intent with the same provider.
private struct ChooseBed: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Choose a bed"
  @Parameter(title: "Room", optionsProvider: Rooms()) var room: String?
}

private struct Guests: DynamicOptionsProvider {
  @IntentParameterDependency<ChooseGuest> var chosen: IntentProjection<ChooseGuest>?

  init() { _chosen = IntentParameterDependency(\.$guest) }
  func results() async throws -> [String] { [chosen?.guest ?? "no guest"] }
}

private struct ChooseGuest: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Choose a guest"
  @Parameter(title: "Guest") var guest: String?
  @Parameter(title: "With", optionsProvider: Guests()) var companion: String?
}

private struct RoomEntry: TimelineEntry {
  let date: Date
}

private struct RoomProvider: AppIntentTimelineProvider {
  func placeholder(in context: Context) -> RoomEntry { RoomEntry(date: .now) }
  func snapshot(for configuration: ChooseRoom, in context: Context) async -> RoomEntry { RoomEntry(date: .now) }
  func timeline(for configuration: ChooseRoom, in context: Context) async -> Timeline<RoomEntry> {
    Timeline(entries: [RoomEntry(date: .now)], policy: .never)
  }
}

private struct RoomWidget: Widget {
  var body: some WidgetConfiguration {
    AppIntentConfiguration(kind: "Room", intent: ChooseRoom.self, provider: RoomProvider()) { _ in Text("room") }
  }
}
