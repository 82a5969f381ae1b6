// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import ActivityKit
@testable import AlarmKit
@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

private struct Tea: AlarmMetadata {
  var name: String
}

/// The case c02: the Live Activity of an alarm.
private struct AlarmActivity: Widget {
  var body: some WidgetConfiguration {
    ActivityConfiguration(for: AlarmAttributes<Tea>.self) { context in
      Text(context.attributes.metadata?.name ?? "").foregroundStyle(context.attributes.tintColor)
    } dynamicIsland: { context in
      DynamicIsland {
        DynamicIslandExpandedRegion(.center) { Text("alarm") }
      } compactLeading: {
        Text("a")
      } compactTrailing: {
        Text("b")
      } minimal: {
        Text("c")
      }
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct `An alarm` {
  private static let attributes = AlarmAttributes(
    presentation: AlarmPresentation(
      alert: .init(
        title: "Tea", stopButton: AlarmButton(text: "Stop", textColor: .white, systemImageName: "stop.fill"),
        secondaryButtonBehavior: .countdown),
      countdown: .init(title: "Brewing")),
    metadata: Tea(name: "Green"), tintColor: Color(red: 1, green: 0.5, blue: 0))

  @Test @MainActor func `has a Live Activity whose attributes are JSON`() throws {
    let data = try JSONEncoder().encode(Self.attributes)
    let decoded = try JSONDecoder().decode(AlarmAttributes<Tea>.self, from: data)
    #expect(decoded.metadata?.name == "Green" && decoded.tintColor == Self.attributes.tintColor)
    #expect(decoded.presentation == Self.attributes.presentation)
    let mode = AlarmPresentationState.Mode.alert(.init(time: .init(hour: 7, minute: 30)))
    let state = AlarmPresentationState(alarmID: UUID(), mode: mode)
    #expect(try JSONDecoder().decode(AlarmPresentationState.self, from: JSONEncoder().encode(state)) == state)
    _ = AlarmActivity().body
  }

  @Test(.rule("DIAGNOSIS-11")) func `is never scheduled, which is reported as not simulated`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    try await fixture.process.asCurrent { () async throws in
      #expect(try await AlarmManager.shared.requestAuthorization() == .denied)
      await #expect(throws: CocoaError.self) {
        try await AlarmManager.shared.schedule(
          id: UUID(), configuration: .timer(duration: 60, attributes: Self.attributes))
      }
      #expect(throws: CocoaError.self) { try AlarmManager.shared.cancel(id: UUID()) }
    }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(
      reported.map(\.subject) == [
        "AlarmManager.requestAuthorization", "AlarmManager.schedule", "AlarmManager.cancel",
      ])
  }
}
