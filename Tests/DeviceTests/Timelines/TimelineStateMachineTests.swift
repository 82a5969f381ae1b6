// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let app = TimelineSamples.app
private let widget = TimelineSamples.widget
private let other = TimelineSamples.other
private let origin = TimelineSamples.origin

@Suite struct `Timeline requests` {
  @Test(.rule("TIMELINE-03")) func `a placement requests its placeholder once and then its timeline`() {
    var fixture = TimelineFixture()
    fixture.kindsReported(["Coffee"])
    #expect(fixture.place(1) == ["free 1 of 1: added, added", "want widget"])
    #expect(fixture.handle(.awake(widget)) == ["ask 1 Coffee placeholder"])
    let words = fixture.giveAll()
    #expect(words == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget"])
    fixture.reload()
    #expect(fixture.handle(.awake(widget)) == ["ask 1 Coffee timeline"])
  }

  @Test(
    .rule("TIMELINE-04"),
    arguments: [
      ("text-size", true), ("contrast", true), ("locale", true), ("time-zone", true), ("account", false),
      ("time", false),
    ])
  func `only settings that views read cause a new placeholder request, one for several changes`(
    setting: String, isAsked: Bool
  ) {
    var fixture = TimelineFixture.placed()
    fixture.handle(.systemChanged(setting, .none))
    let words = fixture.handle(.systemChanged(setting, .none))
    #expect(words == ["merged 2 of 1: system, newer-reload", "free 3 of 1: system, paid-before", "want widget"])
    let asked = fixture.giveAll().filter { $0.hasPrefix("ask") }
    #expect(asked == (isAsked ? ["ask 1 Coffee placeholder"] : []) + ["ask 1 Coffee timeline"])
    fixture.reload()
    #expect(fixture.giveAll().filter { $0.hasPrefix("ask") } == ["ask 1 Coffee timeline"])
  }

  @Test(.rule("TIMELINE-04"))
  func `a settings change during a placeholder request does not cause another one`() {
    var fixture = TimelineFixture()
    fixture.kindsReported(["Coffee"])
    fixture.place(1)
    fixture.handle(.awake(widget))
    fixture.handle(.systemChanged("text-size", .none))
    #expect(fixture.giveAll().filter { $0.hasPrefix("ask") } == ["ask 1 Coffee timeline"])
  }

  @Test func `a failed placeholder request keeps the previous placeholder, and the timeline is requested`() {
    var fixture = TimelineFixture.placed()
    fixture.handle(.systemChanged("text-size", .none))
    fixture.handle(.awake(widget))
    #expect(fixture.fail() == ["ask 1 Coffee timeline"])
    #expect(fixture.give() == ["shown 1: 0.0", "release widget"])
  }

  @Test(.rule("TIMELINE-01"))
  func `an extension can reload its own timelines, an app those of its extensions and the user all`() {
    var fixture = TimelineFixture()
    #expect(fixture.reload(widget) == ["want widget"])
    #expect(fixture.reload(app) == ["want widget"])
    #expect(fixture.reload(person, nil) == ["want widget", "want other"])
    #expect(
      fixture.reload(.app("iphone", "com.none"), nil) == ["failed all: no widget extension belongs to app/com.none"])
  }

  @Test(.rule("TIMELINE-01"))
  func `an extension can reload the timelines of its app's other extensions without a provider loop`() {
    let second = Address.widgetExtension("iphone", "com.example.Coffee.Second")
    var stateMachine = TimelineStateMachine(extensions: [widget, second, other], apps: [app])
    func words(_ event: TimelineStateMachine.Event) -> [String] { stateMachine.handle(event, now: origin).map(\.words) }
    _ = words(.kindsReported(widget, ["Coffee": .systemSmall]))
    _ = words(.kindsReported(second, ["Tea": .systemSmall]))
    let placements = [(1, widget, "Coffee"), (2, second, "Tea")].map { id, address, kind in
      Placement(
        id: id, bundle: address.bundleIdentifier ?? "", kind: kind, family: .systemSmall, location: .homeScreen,
        configuration: [:])
    }
    for placement in placements { _ = words(.placed(placement, .none)) }
    #expect(stateMachine.targets(of: widget) == [second, widget])
    #expect(stateMachine.targets(of: other) == [other])
    _ = words(.reload(from: widget, kind: nil, isInside: true, .none))
    #expect(stateMachine.placements.all.mapValues { $0.pendingReload?.isInside } == [1: true, 2: false])
  }

  @Test func `a reload of a known kind launches only the extension that declares it`() {
    var fixture = TimelineFixture.placed()
    #expect(fixture.reload() == ["free 2 of 1: operator, operator", "want widget"])
  }

  @Test func `a reload requested before the kinds are known is merged with the first reload of the placement`() {
    var fixture = TimelineFixture()
    #expect(fixture.reload() == ["want widget", "want other"])
    fixture.kindsReported(["Coffee"])
    fixture.place(1)
    #expect(
      fixture.handle(.awake(widget)) == [
        "merged 1 of 1: added, newer-reload", "free 2 of 1: operator, paid-before", "want widget",
        "ask 1 Coffee placeholder",
      ])
    fixture.kindsReported(["Tea"], other)
    #expect(fixture.handle(.awake(other)) == ["release other"])
  }

  @Test func `a reload of an unknown kind fails and lists the known kinds`() {
    var fixture = TimelineFixture()
    fixture.reload(person, "Milk")
    fixture.kindsReported(["Coffee"])
    #expect(fixture.handle(.awake(widget)) == ["release widget"])
    fixture.kindsReported(["Tea"], other)
    #expect(
      fixture.handle(.awake(other)) == [
        "failed Milk: no widget is of kind Milk; there are: Coffee, Tea", "release other",
      ])
  }

  @Test func `a reload of a kind without a placement fails at once`() {
    var fixture = TimelineFixture.placed()
    fixture.kindsReported(["Coffee", "Tea"])
    fixture.kindsReported([], other)
    #expect(fixture.reload(person, "Tea") == ["failed Tea: no such widget is placed"])
  }

  @Test func `several placements are requested sequentially in the order of their numbers`() {
    var fixture = TimelineFixture.placed()
    fixture.place(3)
    fixture.place(2)
    let asked = fixture.giveAll().filter { $0.hasPrefix("ask") && $0.hasSuffix("timeline") }
    #expect(asked == ["ask 2 Coffee timeline", "ask 3 Coffee timeline"])
  }

  @Test(.rule("TIMELINE-19")) func `reloads requested while one is pending are merged into one`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    #expect(
      fixture.reload() == [
        "merged 2 of 1: operator, newer-reload", "free 3 of 1: operator, paid-before", "want widget",
      ])
    #expect(fixture.giveAll() == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget"])
  }

  @Test(.rule("TIMELINE-19")) func `a reload requested during a timeline request causes a second request`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    fixture.handle(.awake(widget))
    #expect(fixture.reload() == ["free 3 of 1: operator, operator"])
    #expect(fixture.give() == ["shown 1: 0.0", "ask 1 Coffee timeline"])
  }

  @Test(.rule("TIMELINE-19"))
  func `a reload requested during the placeholder request is merged with the free first reload`() {
    var fixture = TimelineFixture()
    fixture.kindsReported(["Coffee"])
    fixture.place(1)
    fixture.handle(.awake(widget))
    #expect(fixture.reload(app) == ["merged 1 of 1: added, newer-reload", "free 2 of 1: app, paid-before"])
    #expect(fixture.giveAll() == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget"])
  }

  @Test(.rule("TIMELINE-02")) func `each placement has its own configuration, and an edit causes a reload`() {
    var fixture = TimelineFixture.placed()
    let edited = fixture.placement(1, kind: "Coffee", configuration: ["size": "large"])
    #expect(fixture.handle(.edited(edited, .none)) == ["free 2 of 1: edited, edited", "want widget"])
    #expect(fixture.handle(.edited(edited, .none)) == [])
    fixture.handle(.awake(widget))
    #expect(fixture.stateMachine.outstanding[widget]?.placement.configuration == ["size": "large"])
  }

  @Test func `an event that reloads several placements wants their extension once, and it is asked in their order`() {
    var fixture = TimelineFixture.placed()
    for id in [3, 2] { fixture.place(id) }
    fixture.giveAll()
    #expect(
      fixture.reload() == [
        "free 4 of 1: operator, operator", "want widget", "free 5 of 2: operator, operator",
        "free 6 of 3: operator, operator",
      ])
    #expect(fixture.reload().filter { $0.hasPrefix("want") } == ["want widget"], "a later event wants it again")
    let questions = fixture.giveAll().filter { $0.hasPrefix("ask") }
    #expect(questions == (1...3).map { "ask \($0) Coffee timeline" })
  }

  @Test func `nothing is stored of a placement that is removed during its request`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    fixture.handle(.awake(widget))
    fixture.handle(.removed(1))
    #expect(fixture.give() == ["release widget"])
    #expect(fixture.stateMachine.placements.all.isEmpty && fixture.stateMachine.upcoming.isEmpty)
  }

  @Test func `a reload of a kind that its extension no longer declares fails and leaves nothing pending`() {
    var fixture = TimelineFixture.placed()
    fixture.kindsReported(["Tea"])
    fixture.reload()
    let words = fixture.handle(.awake(widget))
    #expect(words == ["failed Coffee: no widget is of kind Coffee; there are: Tea", "release widget"])
    #expect(fixture.stateMachine.nextInstant == nil)
  }

  @Test func `a snapshot is requested before pending timelines, from each extension that may declare its kind`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    fixture.handle(.snapshot(kind: "Coffee", family: nil, serial: 7))
    #expect(fixture.handle(.awake(widget)) == ["ask 0 Coffee snapshot"])
    #expect(fixture.fail() == ["no snapshot: it failed", "ask 1 Coffee timeline"])
    #expect(fixture.give() == ["shown 1: 0.0", "release widget"])
    #expect(fixture.handle(.snapshot(kind: "Tea", family: nil, serial: 8)) == ["want other"])
    fixture.kindsReported([], other)
    #expect(
      fixture.handle(.awake(other)) == ["no snapshot: no widget is of kind Tea; there are: Coffee", "release other"])
  }
}

@Suite struct `Failed reloads` {
  @Test(.rule("TIMELINE-21"), arguments: [0, 1])
  func `an extension that exits during a request is asked again for the configured number of retries`(retries: Int) {
    var settings = TimelineSettings()
    settings.retriesAfterExit = retries
    var fixture = TimelineFixture.placed(settings)
    fixture.reload()
    for _ in 0..<retries {
      fixture.handle(.awake(widget))
      #expect(fixture.handle(.instanceEnded(widget)) == ["stop widget", "want widget"])
    }
    fixture.handle(.awake(widget))
    let words = fixture.handle(.instanceEnded(widget))
    #expect(words.first == "stop widget" && words.last == "release widget")
    #expect(words[1].hasPrefix("failed Coffee: the extension exited"))
    #expect(fixture.due == 60)
  }

  @Test(.rule("TIMELINE-22"), arguments: [60.0, 10])
  func `a failed reload is retried after a pause that grows up to its limit`(first: Double) {
    var settings = TimelineSettings()
    settings.backoff = Backoff(first: first, limit: 3 * first)
    var fixture = TimelineFixture.placed(settings)
    fixture.reload()
    for pause in [first, 2 * first, 3 * first, 3 * first] {
      fixture.handle(.awake(widget))
      #expect(fixture.fail() == ["failed Coffee: it failed", "release widget"])
      #expect(fixture.due == pause)
      #expect(fixture.next() == ["free 2 of 1: operator, tried-again", "want widget"])
    }
    fixture.giveAll()
    #expect(fixture.stateMachine.nextInstant == nil)
    #expect(fixture.stateMachine.placements[1]?.lastFailure == nil)
  }

  @Test(.rule("TIMELINE-23"))
  func `a reload requested by the user, the app or the extension does not wait for the back-off`() {
    for source in [person, app, widget] {
      var fixture = TimelineFixture.placed()
      fixture.handle(.inFront(app: app, true))
      fixture.reload()
      fixture.handle(.awake(widget))
      fixture.fail()
      #expect(fixture.reload(source).last == "want widget", "\(source)")
    }
  }

  @Test(.rule("TIMELINE-23")) func `a reload caused by a system setting waits for the back-off`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    fixture.handle(.awake(widget))
    fixture.fail()
    fixture.pass(10)
    #expect(
      fixture.handle(.systemChanged("time", .none)) == [
        "merged 2 of 1: operator, newer-reload", "delayed 3 of 1: system, back-off",
      ])
    #expect(fixture.due == 50)
  }

  @Test func `an extension that exceeds the deadline is halted and then asked for its next pending reload`() throws {
    var fixture = TimelineFixture.placed()
    fixture.place(2)
    fixture.giveAll()
    fixture.reload()
    fixture.handle(.awake(widget))
    let providerRequest = try #require(fixture.stateMachine.outstanding[widget])
    #expect(
      fixture.handle(.overran(providerRequest, limit: 30)) == [
        "stop widget",
        "failed Coffee: no timeline within 30 s: the extension is suspended, and the last timeline stays",
        "halt widget", "want widget",
      ])
    #expect(fixture.handle(.awake(widget)) == ["ask 2 Coffee timeline"])
  }

  @Test func `an extension that exits before its request is awaited without blocking the clock`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    #expect(fixture.stateMachine.isBusy)
    #expect(fixture.handle(.instanceEnded(widget)) == [])
    #expect(!fixture.stateMachine.isBusy)
    #expect(fixture.handle(.awake(widget)) == ["ask 1 Coffee timeline"])
    #expect(fixture.stateMachine.isBusy)
  }
}
