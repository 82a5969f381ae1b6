// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

/// What a host receives of an author's controls.
@Suite(.timeLimit(.minutes(1))) struct `Controls of an extension` {
  @Test(.rule("CONTROL-02"))
  func `a control's value is asked for its timeline, and its preview for the gallery and until there is a value`()
    async throws
  {
    let fixture = try await SDKFixture.serving { Lamps().body.descriptions }
    let value = try await fixture.ask("Lamp", family: .control)
    #expect(value.entries.count == 1 && value.policy == .never)
    let view = try #require(value.entries.first?.view)
    #expect(view.name == .control(.toggle) && view.arguments[.isOn] == true && view.lines == ["Lamp", "lit"])
    #expect(view.modifiers.map(\.name.rawValue) == ["tint"])
    for purpose in [RequestTimeline.Purpose.snapshot, .placeholder] {
      #expect(try await fixture.ask("Lamp", purpose, family: .control).entries.map(\.view.lines) == [["Lamp", "dark"]])
    }
    let plain = try await fixture.ask("Plain", family: .control)
    #expect(plain.entries.map(\.view.lines) == [["Press"]])
    await fixture.process.settled()
    #expect(await fixture.sent(FaultNoticed.self).isEmpty, "a control has no container background")
  }

  @Test(.rule("DIAGNOSIS-11")) func `texts of a control that are not shown are reported once`() async throws {
    let fixture = try await SDKFixture.serving { Lamps().body.descriptions }
    for _ in 1...2 { _ = try await fixture.ask("Hint", family: .control) }
    await fixture.process.settled()
    let faults = await fixture.sent(FaultNoticed.self)
    #expect(faults.map(\.subject) == ["controlWidgetActionHint", "controlWidgetStatus"])
    #expect(faults.allSatisfy { $0.fault == .notSimulated })
  }

  @Test(.rule("CONTROL-03")) func `the intent of a control's toggle sets the opposite of its value`() async throws {
    let fixture = try await SDKFixture.serving { Lamps().body.descriptions }
    let view = try #require(try await fixture.ask("Lamp", family: .control).entries.first?.view)
    guard case .record(let intent)? = view.arguments[.intent], case .record(let values)? = intent[.parameters] else {
      Issue.record("no intent: \(view)")
      return
    }
    #expect(values.values["value"] == false)
  }

  @Test(.rule("CONTROL-02")) func `a value that throws fails the request with the author's error`() async throws {
    let fixture = try await SDKFixture.serving { Lamps().body.descriptions }
    let error = await #expect(throws: BusError.self) { try await fixture.ask("Broken", family: .control) }
    #expect(error?.message.contains("currentValue() of Broken threw") == true)
  }

  @Test(.rule("CONTROL-07")) func `a configurable control has the user's choice in its value and preview`() async throws
  {
    let fixture = try await SDKFixture.serving { Lamps().body.descriptions }
    let chosen = try await fixture.ask("Cup", family: .control, configuration: ["size": "large"])
    #expect(chosen.entries.map(\.view.lines) == [["now large"]])
    #expect(try await fixture.ask("Cup", .snapshot, family: .control).entries.map(\.view.lines) == [["soon small"]])
    #expect(try await fixture.ask("Size", family: .control).entries.map(\.view.lines) == [["small"]])
  }

  @Test(.rule("CONTROL-04", "CONTROL-06"))
  func `ControlCenter requests reloads of controls and lists them, and WidgetCenter widgets`() async throws {
    let fixture = try await SDKFixture.serving { [] }
    let placements = [
      (1, "Lamp", WidgetFamilyName.control), (2, "Cup", .control), (3, "Weather", .systemSmall),
    ].map { id, kind, family in
      var placement = Placement(
        id: id, bundle: "com.example.App.Widget", kind: kind, family: family, location: .homeScreen,
        configuration: ["size": "large"])
      placement.intent = CupSize.archivedName
      return placement
    }
    fixture.host.connection.onRequest(AskPushInfo.self) { _, _ in
      AskPushInfo.Reply(token: nil, controls: [1: "0aff"])
    }
    fixture.host.connection.onRequest(ListPlacements.self) { _, _ in ListPlacements.Reply(placements: placements) }
    let controls = try await fixture.process.asCurrent { try await ControlCenter.shared.currentControls() }
    #expect(controls.map(\.kind) == ["Lamp", "Cup"])
    #expect(controls.first?.configurationIntent(of: CupSize.self)?.size == "large")
    #expect(controls.map(\.pushInfo?.token) == [Data([10, 255]), nil])
    let widgets = try await fixture.process.asCurrent { try await WidgetCenter.shared.currentConfigurations() }
    #expect(widgets.map(\.kind) == ["Weather"])
    fixture.process.asCurrent {
      ControlCenter.shared.reloadAllControls()
      ControlCenter.shared.reloadControls(ofKind: "Lamp")
      WidgetCenter.shared.reloadAllTimelines()
    }
    await fixture.process.settled()
    let asked = try await fixture.bus.sentEnvelopes.filter { $0.header.kind == ReloadTimelines.kind }
      .map { try BodyCoding.decode(ReloadTimelines.self, from: $0.body) }
    #expect(
      Set(asked.map { "\($0.widgetKind ?? "all") \($0.areControls == true)" }) == [
        "all true", "Lamp true", "all false",
      ])
  }
}

private struct SetLamp: SetValueIntent {
  static let title: LocalizedStringResource = "Lamp"
  @Parameter(title: "On") var value: Bool
  func perform() async throws -> some IntentResult { .result() }
}

private struct Press: AppIntent {
  static let title: LocalizedStringResource = "Press"
  func perform() async throws -> some IntentResult { .result() }
}

private struct CupSize: ControlConfigurationIntent {
  static let title: LocalizedStringResource = "Size"
  @Parameter(title: "Size", default: "small") var size: String
}

private struct LampValue: ControlValueProvider {
  let previewValue = false
  func currentValue() async throws -> Bool { true }
}

private struct BrokenValue: ControlValueProvider {
  struct Dark: Error {}
  let previewValue = false
  func currentValue() async throws -> Bool { throw Dark() }
}

private struct CupValue: AppIntentControlValueProvider {
  func previewValue(configuration: CupSize) -> String { "soon \(configuration.size)" }
  func currentValue(configuration: CupSize) async throws -> String { "now \(configuration.size)" }
}

private struct LampControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Lamp", provider: LampValue()) { isLit in
      ControlWidgetToggle("Lamp", isOn: isLit, action: SetLamp()) { isOn in Text(isOn ? "lit" : "dark") }.tint(.red)
    }
  }
}

private struct BrokenControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Broken", provider: BrokenValue()) { isLit in
      ControlWidgetToggle(isOn: isLit, action: SetLamp()) { Text("Lamp") }
    }
  }
}

private struct PlainControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Plain") { ControlWidgetButton(action: Press()) { Text("Press") } }
  }
}

private struct HintControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Hint") {
      ControlWidgetButton(action: Press()) {
        Text("Press").controlWidgetStatus("Pressed").controlWidgetActionHint("Press")
      }
    }
  }
}

private struct CupControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    AppIntentControlConfiguration(kind: "Cup", provider: CupValue()) { text in
      ControlWidgetButton(action: Press()) { Text(text) }
    }
  }
}

private struct SizeControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    AppIntentControlConfiguration(kind: "Size", intent: CupSize.self) { intent in
      ControlWidgetButton(action: Press()) { Text(intent.size) }
    }
  }
}

private struct Lamps: WidgetBundle {
  var body: some Widget {
    LampControl()
    BrokenControl()
    PlainControl()
    HintControl()
    CupControl()
    SizeControl()
  }
}
