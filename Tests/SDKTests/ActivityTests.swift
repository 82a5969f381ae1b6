// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import ActivityKit
@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

private struct Ride: ActivityAttributes {
  struct ContentState: Codable, Hashable {
    var minutes: Int
  }
  var rider: String
}

private struct RideWidget: Widget {
  var body: some WidgetConfiguration {
    ActivityConfiguration(for: Ride.self) { context in
      FamilyView(text: "\(context.attributes.rider) \(context.state.minutes)\(context.isStale ? " late" : "")")
        .activityBackgroundTint(.indigo)
    } dynamicIsland: { context in
      DynamicIsland {
        DynamicIslandExpandedRegion(.leading) { Text(verbatim: "lead") }
        regions(context.state.minutes)
      } compactLeading: {
        Text(verbatim: "L")
      } compactTrailing: {
        Text(verbatim: "T")
      } minimal: {
        Text(verbatim: "M")
      }
      .keylineTint(.indigo).widgetURL(URL(string: "ride://1")).contentMargins(.top, 3, for: .expanded)
    }
    .supplementalActivityFamilies([.small])
  }

  @DynamicIslandExpandedContentBuilder
  private func regions(_ minutes: Int) -> DynamicIslandExpandedContent<some View> {
    DynamicIslandExpandedRegion(.bottom, priority: 1) { Text(verbatim: "\(minutes)") }
    DynamicIslandExpandedRegion(.bottom) { Text(verbatim: "more").dynamicIsland(verticalPlacement: .belowIfTooWide) }
  }
}

private struct FamilyView: View {
  @Environment(\.activityFamily) private var family
  @Environment(\.colorScheme) private var scheme
  let text: String
  var body: some View { Text(verbatim: family == .small ? "small" : "\(text) \(scheme)") }
}

/// Live Activities in an author's process, with a host that the test controls.
@Suite(.timeLimit(.minutes(1))) struct `Live Activities in a process` {
  private static let environment = WidgetEnvironment(family: .systemMedium, width: 371, height: 160)

  private static func question(_ state: String, stale: Bool = false) -> ArchiveActivity {
    ArchiveActivity(
      id: "a", attributesType: "Ride", attributes: #"{"rider":"Ada"}"#, state: state, isStale: stale,
      environment: environment)
  }

  @Test func `an extension declares its attributes and archives each part of each presentation`() async throws {
    let fixture = try await SDKFixture.serving { RideWidget().descriptions }
    #expect(
      fixture.process.declaredActivities == [
        ActivityDeclaration(attributesType: "Ride", supplementalFamilies: ["small"])
      ])
    let views = try await fixture.host.connection.request(
      Self.question(#"{"minutes":5}"#, stale: true), to: SDKFixture.widget)
    let texts = Dictionary(uniqueKeysWithValues: views.items.map { ($0.part, $0.form.view.lines) })
    #expect(
      texts == [
        .lockScreen: ["Ada 5 late light"], .small: ["small"], .compactLeading: ["L"], .compactTrailing: ["T"],
        .minimal: ["M"], .expandedLeading: ["lead"], .expandedBottom: ["5", "more"],
      ])
    #expect(views[.lockScreen]?.darkView?.lines == ["Ada 5 late dark"])
    #expect(views[.lockScreen]?.view.modifiers.map(\.name.rawValue) == ["activityBackgroundTint"])
    #expect(views.keylineTint == "indigo" && views.islandURL == "ride://1")
    #expect(views.margins?["expanded"] == WidgetEnvironment.Insets(top: 3, leading: 16, bottom: 16, trailing: 16))
  }

  @Test func `a content that is no JSON of the author's type is refused with its reason`() async throws {
    let fixture = try await SDKFixture.serving { RideWidget().descriptions }
    do {
      _ = try await fixture.host.connection.request(Self.question(#"{"hours":5}"#), to: SDKFixture.widget)
      Issue.record("it was archived")
    } catch {
      #expect(error.code == .badActivityContent && error.message.contains("ContentState"), "\(error)")
    }
  }

  @Test func `an app sees the activities that the host tells, and a process without ActivityKit asks for none`()
    async throws
  {
    let fixture = try SDKFixture(SDKFixture.app)
    var record = ActivityRecord(
      number: 1, id: "a", app: "com.example.App", attributesType: "Ride", attributes: #"{"rider":"Ada"}"#,
      content: ActivityContentRecord(state: #"{"minutes":5}"#), startedAt: Date(timeIntervalSince1970: 0))
    let first = AppActivities(revision: 1, activities: [record], startTokens: ["Ride": "00ff"])
    fixture.host.connection.onRequest(ListActivities.self) { _, _ in first }
    try await fixture.host.start()
    try await fixture.announce()
    _ = await fixture.bus.first { $0.header.kind == ProcessReady.kind.answered(.ok) }
    #expect(await !fixture.bus.sentEnvelopes.contains { $0.header.kind == ListActivities.kind })

    let foundMinutes = await fixture.blocking { Activity<Ride>.activities.map(\.content.state.minutes) }
    #expect(foundMinutes == [5])
    let states = fixture.process.asCurrent { Activity<Ride>.activities.first?.activityStateUpdates }
    let contents = fixture.process.asCurrent { Activity<Ride>.activities.first?.contentUpdates }
    var state = try #require(states).makeAsyncIterator()
    var content = try #require(contents).makeAsyncIterator()
    #expect(await state.next() == .active)
    #expect(await content.next()?.state.minutes == 5)

    record.phase = .ended
    record.content = ActivityContentRecord(state: #"{"minutes":6}"#)
    try await fixture.host.connection.deliver(
      ActivitiesChanged(AppActivities(revision: 3, activities: [record])), to: SDKFixture.app)
    #expect(await state.next() == .ended)
    #expect(await content.next()?.state.minutes == 6)
    // An older state arrives late.
    try await fixture.host.connection.deliver(ActivitiesChanged(first), to: SDKFixture.app)
    try await fixture.host.connection.deliver(ActivitiesChanged(AppActivities(revision: 4)), to: SDKFixture.app)
    #expect(await state.next() == .dismissed)
    #expect(await state.next() == nil)
  }

  @Test(arguments: [
    (BusError.Code.activitiesDenied, ActivityAuthorizationError.denied), (.appNotVisible, .visibility),
    (.activityTooLarge, .attributesTooLarge), (.tooManyActivities, .targetMaximumExceeded),
    (.deadline, .persistenceFailure),
  ])
  func `a refused request throws Apple's error`(code: BusError.Code, expected: ActivityAuthorizationError) async throws
  {
    let fixture = try SDKFixture(SDKFixture.app)
    fixture.host.connection.onRequest(ListActivities.self) { _, _ in AppActivities() }
    fixture.host.connection.onRequest(RequestActivity.self) { _, _ in throw BusError(code, "refused") }
    try await fixture.host.start()
    try await fixture.announce()
    let error = await fixture.blocking { () -> ActivityAuthorizationError? in
      do {
        _ = try Activity.request(
          attributes: Ride(rider: "Ada"), content: ActivityContent(state: .init(minutes: 5), staleDate: nil))
        return nil
      } catch {
        return error as? ActivityAuthorizationError
      }
    }
    #expect(error == expected)
  }

  @Test(.rule("ACTIVITY-17")) func `a push type without the entitlement throws the error that a phone throws`()
    async throws
  {
    let fixture = try SDKFixture(SDKFixture.app)
    fixture.host.connection.onRequest(ListActivities.self) { _, _ in AppActivities() }
    fixture.host.connection.onRequest(RequestActivity.self) { _, _ in throw BusError(.noPushEntitlement, "refused") }
    try await fixture.host.start()
    try await fixture.announce()
    let error = await fixture.blocking { () -> String in
      do {
        _ = try Activity.request(
          attributes: Ride(rider: "Ada"), content: ActivityContent(state: .init(minutes: 5), staleDate: nil),
          pushType: .token)
        return "none"
      } catch {
        let error = error as NSError
        return "\(error.domain) \(error.code)"
      }
    }
    #expect(error == "com.apple.ActivityKit.ActivityInput 0")
  }
}
