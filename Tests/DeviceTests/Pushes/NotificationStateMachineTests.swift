// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = PushSamples.app
private let widget = PushSamples.widget

/// A state machine. Its actions are returned as text.
private struct NotificationFixture {
  var stateMachine: NotificationStateMachine

  init(placed: [Int] = [1, 2], open: [NotificationStateMachine.Open] = []) {
    stateMachine = NotificationStateMachine(device: device, open: open)
    place(placed)
  }

  mutating func place(_ ids: [Int]) {
    stateMachine.placements = [
      widgetsKey: Dictionary(uniqueKeysWithValues: ids.map { ($0, "Cups") }), controlKey(8): [8: "Door"],
      controlKey(9): [9: "Door"],
    ]
  }

  @discardableResult
  mutating func handle(_ event: NotificationStateMachine.Event) -> [String] { stateMachine.handle(event).map(\.words) }

  @discardableResult
  mutating func report(_ push: Int, placement: Int, outcome: ReloadOutcome) -> [String] {
    handle(.reported(PlacementReloadReport(push: .push(push), placement: placement, outcome: outcome)))
  }

  /// Returns a fixture with a push whose reloads have begun.
  static func begun(_ push: Int = 1) -> NotificationFixture {
    var fixture = NotificationFixture()
    fixture.handle(.received(notification(push)))
    fixture.report(push, placement: 1, outcome: .pending)
    return fixture
  }
}

@Suite struct `Widget push notifications` {
  @Test func `a widget push reloads all placements with a push handler and ends when each has its timeline`() {
    var fixture = NotificationFixture()
    #expect(fixture.handle(.received(notification(1))) == ["reload 1"])
    #expect(fixture.stateMachine.outstanding(.push(1)) == [1, 2])
    #expect(
      fixture.report(1, placement: 1, outcome: .pending) == ["1 reloading: placement 1 (Cups), placement 2 (Cups)"])
    #expect(fixture.report(1, placement: 1, outcome: .pending) == [])
    #expect(fixture.report(1, placement: 1, outcome: .stored) == ["1 reloaded: placement 1 (Cups)"])
    #expect(fixture.report(1, placement: 1, outcome: .stored) == [])
    #expect(fixture.report(1, placement: 2, outcome: .stored) == ["1 reloaded: placement 2 (Cups)"])
    #expect(fixture.stateMachine.open.isEmpty)
  }

  @Test func `the output of a widget push has the placements that are to be reloaded`() {
    var fixture = NotificationFixture()
    #expect(
      fixture.stateMachine.handle(.received(notification(1))) == [.asks(.reload(.push(1), placements: [1, 2]))])
  }

  @Test(
    .rule("PUSH-12"),
    arguments: [
      #"{"aps":{}}"#, #"{"aps":{"content-changed":false}}"#, #"{"aps":{"content-changed":"true"}}"#,
      #"{"aps":{"content-changed":1}}"#, #"{"content-changed":true}"#, "{}", "news", "",
    ])
  func `a widget push without content-changed reloads nothing and reports the reason`(payload: String) {
    var fixture = NotificationFixture()
    let words = fixture.handle(.received(notification(1, type: .widgets, payload: payload)))
    #expect(words == ["1 noContentChanged: its payload has no \"content-changed\": true in aps: it reloads nothing"])
    #expect(fixture.stateMachine.open.isEmpty)
  }

  @Test(
    .rule("PUSH-11"),
    arguments: [
      #"{"aps":{"content-changed":true}}"#, "{\n    \"aps\": {\n        \"content-changed\": true,     \n    }\n}",
      #"{"aps":{"content-changed":true,"alert":{"title":"x"}},"more":[1,2]}"#,
    ])
  func `a widget push with content-changed reloads, also in the format of Apple's sample`(payload: String) {
    var fixture = NotificationFixture()
    #expect(fixture.handle(.received(notification(1, type: .widgets, payload: payload))) == ["reload 1"])
  }

  @Test func `a widget push without a matching placement reports that there is no widget`() {
    var fixture = NotificationFixture(placed: [])
    #expect(
      fixture.handle(.received(notification(1))) == [
        "1 noWidget: no widget of com.example.Coffee with a push handler is placed"
      ])
  }

  @Test(.rule("PUSH-14")) func `a widget push whose reloads have not begun is superseded by a newer one`() {
    var fixture = NotificationFixture()
    fixture.handle(.received(notification(1)))
    let words = fixture.handle(.received(notification(2)))
    #expect(words.first?.hasPrefix("1 supersededOnDevice: by 00000000") == true)
    #expect(words.last == "reload 2")
    #expect(fixture.report(1, placement: 1, outcome: .pending) == [])
  }

  @Test func `a widget push whose reloads have begun continues beside a newer one and reports superseded placements`() {
    var fixture = NotificationFixture.begun()
    #expect(fixture.handle(.received(notification(2))) == ["reload 2"])
    #expect(fixture.report(1, placement: 1, outcome: .superseded) == ["1 supersededOnDevice: at placement 1 (Cups)"])
    #expect(fixture.report(1, placement: 2, outcome: .stored) == ["1 reloaded: placement 2 (Cups)"])
    #expect(fixture.stateMachine.open.map(\.id.short) == ["2"])
  }

  @Test func `a widget push reports the budget rule that delays or refuses its reload`() {
    var fixture = NotificationFixture.begun()
    let until = Date(timeIntervalSince1970: 1_000_000_300)
    #expect(
      fixture.report(1, placement: 1, outcome: .delayed(rule: "minimum-spacing", until: until)) == [
        "1 budget: placement 1 (Cups) waits until 2001-09-09T01:51:40Z: minimum-spacing"
      ])
    #expect(
      fixture.report(1, placement: 2, outcome: .refused(rule: "no-reloads")) == [
        "1 budget: placement 2 (Cups) is refused: no-reloads"
      ])
    #expect(fixture.report(1, placement: 1, outcome: .stored) == ["1 reloaded: placement 1 (Cups)"])
    #expect(fixture.stateMachine.open.isEmpty)
  }

  @Test func `a widget push waits for the retry of a failed reload unless that is given up`() {
    var fixture = NotificationFixture.begun()
    #expect(
      fixture.report(1, placement: 1, outcome: .failed("it died")) == ["1 reloadFailed: placement 1 (Cups): it died"])
    #expect(fixture.stateMachine.outstanding(.push(1)) == [1, 2])
    #expect(
      fixture.report(1, placement: 1, outcome: .gaveUp("no kind")) == ["1 reloadFailed: placement 1 (Cups): no kind"])
    #expect(fixture.stateMachine.outstanding(.push(1)) == [2])
  }

  @Test func `a widget push ends when its widgets are removed`() {
    var fixture = NotificationFixture.begun()
    fixture.report(1, placement: 1, outcome: .stored)
    fixture.place([1])
    #expect(fixture.handle(.placed) == ["1 noWidget: removed before the reload"])
  }
}

@Suite struct `Control push notifications` {
  private func push(_ number: Int, to control: Int, _ payload: String = #"{"aps":{"content-changed":true}}"#)
    -> NotificationStateMachine.Event
  { .received(notification(number, type: .controls, payload: payload, use: .control(control))) }

  @Test(.rule("CONTROL-11")) func `a control push reloads its control only`() {
    var fixture = NotificationFixture()
    #expect(fixture.stateMachine.handle(push(1, to: 9)) == [.asks(.reload(.push(1), placements: [9]))])
    #expect(fixture.report(1, placement: 9, outcome: .pending) == ["1 reloading: placement 9 (Door)"])
    #expect(fixture.report(1, placement: 9, outcome: .stored) == ["1 reloaded: placement 9 (Door)"])
    #expect(fixture.stateMachine.open.isEmpty)
  }

  @Test(.rule("CONTROL-11")) func `a control push without content-changed reloads nothing`() {
    var fixture = NotificationFixture()
    #expect(fixture.handle(push(1, to: 9, #"{"aps":{}}"#)).first?.hasPrefix("1 noContentChanged") == true)
  }

  @Test(.rule("CONTROL-11")) func `a control push supersedes those of the same control, and no others`() {
    var fixture = NotificationFixture()
    fixture.handle(.received(notification(1)))
    fixture.handle(push(2, to: 8))
    fixture.handle(push(3, to: 9))
    #expect(fixture.handle(push(4, to: 9)).first?.hasPrefix("3 supersededOnDevice") == true)
    #expect(fixture.stateMachine.open.map(\.id.short) == ["1", "2", "4"])
    var second = NotificationFixture(open: fixture.stateMachine.open)
    #expect(second.handle(.began([])).sorted() == ["reload 1", "reload 2", "reload 4"])
  }

  @Test func `a control push reports that its control is not placed, or was removed before the reload`() {
    var fixture = NotificationFixture()
    #expect(fixture.handle(push(1, to: 7)) == ["1 noWidget: control 7 of com.example.Coffee is not placed"])
    fixture.handle(push(2, to: 9))
    fixture.stateMachine.placements[controlKey(9)] = nil
    #expect(fixture.handle(.placed) == ["2 noWidget: removed before the reload"])
  }
}

@Suite struct `Widget pushes across a host restart` {
  @Test func `a widget push whose reloads had not begun starts again after a host restart`() {
    var first = NotificationFixture()
    first.handle(.received(notification(1)))
    var second = NotificationFixture(open: first.stateMachine.open)
    #expect(second.handle(.began([])) == ["reload 1"])
  }

  @Test func `after a host restart, a widget push receives missed reports and reloads only the other placements`() {
    var second = NotificationFixture(open: NotificationFixture.begun().stateMachine.open)
    let report = PlacementReloadReport(push: .push(1), placement: 1, outcome: .stored)
    #expect(second.handle(.began([report])) == ["1 reloaded: placement 1 (Cups)", "reload 1"])
    #expect(second.stateMachine.outstanding(.push(1)) == [2])
  }

  @Test func `after a host restart, a widget push ends when all its timelines were stored`() {
    var second = NotificationFixture(open: NotificationFixture.begun().stateMachine.open)
    let reports = [1, 2].map { PlacementReloadReport(push: .push(1), placement: $0, outcome: .stored) }
    #expect(second.handle(.began(reports)).count == 2)
    #expect(second.stateMachine.open.isEmpty)
  }

  @Test func `after a host restart, a newer push supersedes an older one where that has no pending reload`() {
    var first = NotificationFixture.begun()
    first.handle(.received(notification(2)))
    var second = NotificationFixture(open: first.stateMachine.open)
    let report = PlacementReloadReport(push: .push(1), placement: 1, outcome: .pending)
    #expect(second.handle(.began([report])) == ["reload 2", "1 supersededOnDevice: at placement 2 (Cups)"])
    #expect(second.stateMachine.outstanding(.push(1)) == [1])
  }
}

private let alert = #"{"aps":{"alert":"Coffee"}}"#
private let background = #"{"aps":{"content-available":1}}"#

@Suite struct `Pushes to the app` {
  @Test(.rule("PUSH-20"))
  func `an alert push goes to a foreground app, and wakes the app only with content-available`() {
    var fixture = NotificationFixture()
    #expect(fixture.handle(.received(notification(1, type: .alert, payload: alert))) == ["offer 1"])
    let both = #"{"aps":{"alert":"Coffee","content-available":1}}"#
    #expect(fixture.handle(.received(notification(2, type: .alert, payload: both))) == ["offer 2, waking"])
  }

  @Test func `an alert push that is only shown is handled as shown`() {
    var fixture = NotificationFixture()
    fixture.handle(.received(notification(1, type: .alert, payload: alert)))
    #expect(fixture.handle(.closed(.push(1), .handled, "shown")).first == "1 handled: shown")
    #expect(fixture.stateMachine.open.isEmpty)
  }

  @Test func `a background push wakes the app and is handled with the result of its completion handler`() {
    var fixture = NotificationFixture()
    #expect(fixture.handle(.received(notification(1, type: .background, payload: background))) == ["offer 1, waking"])
    #expect(fixture.handle(.awake(app)) == [])
    fixture.handle(.expect(.push(1)))
    #expect(fixture.handle(.awake(app)) == ["ask \(app.short) 1"])
    #expect(fixture.handle(.awake(app)) == [])
    #expect(
      fixture.handle(.answered(.push(1), ReceiveNotification.Reply(result: .newData))) == [
        "1 handled: newData", "release \(app.short)",
      ])
  }

  @Test(.rule("PUSH-21")) func `a background push without content-available is discarded`() {
    var fixture = NotificationFixture()
    let words = fixture.handle(.received(notification(1, type: .background, payload: alert)))
    #expect(words.first?.hasPrefix("1 discarded: a background push wakes the app only with") == true)
  }

  @Test func `a push of an unsupported type is discarded with the name of its type`() {
    var fixture = NotificationFixture()
    let words = fixture.handle(.received(notification(1, type: .voip, payload: alert)))
    #expect(words.first == "1 discarded: nothing on this device receives pushes of type voip")
  }

  @Test(.rule("PUSH-22")) func `an app that does not call the completion handler of a push is terminated`() {
    var fixture = NotificationFixture()
    fixture.handle(.received(notification(1, type: .background, payload: background)))
    fixture.handle(.expect(.push(1)))
    fixture.handle(.awake(app))
    #expect(
      fixture.handle(.overran(.push(1))) == [
        "1 handled: the completion handler was not called within 30 s: the app is terminated", "release \(app.short)",
        "evict \(app.short)",
      ])
  }

  @Test(.rule("PUSH-23")) func `a push is delivered again after the app exits, and discarded after the second exit`() {
    var fixture = NotificationFixture()
    fixture.handle(.received(notification(1, type: .background, payload: background)))
    fixture.handle(.expect(.push(1)))
    fixture.handle(.awake(app))
    #expect(fixture.handle(.instanceEnded(app)) == ["offer 1, waking"])
    fixture.handle(.expect(.push(1)))
    #expect(fixture.handle(.awake(app)) == ["ask \(app.short) 1"])
    #expect(
      fixture.handle(.instanceEnded(app)).first == "1 discarded: the app exited twice while it handled the notification"
    )
  }

  @Test func `a push to a force-quit app is discarded`() {
    var fixture = NotificationFixture()
    fixture.handle(.received(notification(1, type: .background, payload: background)))
    #expect(fixture.handle(.closed(.push(1), .discarded, "force-quit")).first == "1 discarded: force-quit")
  }

  @Test func `a push to the app is delivered again after a host restart`() {
    var first = NotificationFixture()
    first.handle(.received(notification(1, type: .background, payload: background)))
    var second = NotificationFixture(open: first.stateMachine.open)
    #expect(second.handle(.began([])) == [])
    #expect(second.handle(.resumed(.push(1))) == ["offer 1, waking"])
  }
}
