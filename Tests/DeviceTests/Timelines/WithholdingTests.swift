// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let app = TimelineSamples.app
private let widget = TimelineSamples.widget
private let other = TimelineSamples.other
private let origin = TimelineSamples.origin

/// Reloads of placements whose extension cannot access its files while the device is locked.
@Suite(.timeLimit(.minutes(1))) struct `Withheld reloads` {
  private static let locked = TimelineStateMachine.Event.withheld([widget: .locked])
  private static let unlocked = TimelineStateMachine.Event.withheld([:])

  @Test(.rule("GALLERY-29"), arguments: [person, app, widget])
  func `a reload from any source is withheld while the device is locked and runs after the unlock`(asker: Address) {
    var fixture = TimelineFixture.placed()
    fixture.pass(3600)
    #expect(fixture.handle(Self.locked) == [])
    let cause = asker == person ? "operator" : asker == app ? "app" : "extension"
    #expect(fixture.reload(asker) == ["delayed 2 of 1: \(cause), device-locked"])
    #expect(fixture.stateMachine.nextInstant == nil && !fixture.stateMachine.isBusy)
    #expect(fixture.handle(.inFront(app: app, true)) == [])
    #expect(fixture.handle(.awake(widget)) == [])
    fixture.handle(.inFront(app: app, false))
    #expect(fixture.handle(Self.locked) == [])
    let verdict = asker == person ? "free 2 of 1: operator, operator" : "granted 2 of 1: \(cause), budget"
    #expect(fixture.handle(Self.unlocked) == [verdict, "want widget"])
    #expect(fixture.giveAll() == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget"])
  }

  @Test func `reloads by policy, setting, placement and push are withheld on a locked device`() {
    var fixture = TimelineFixture.placed(policyOfTimeline: .after(origin + 3600))
    fixture.handle(Self.locked)
    #expect(fixture.next() == ["delayed 2 of 1: policy, device-locked"])
    #expect(
      fixture.handle(.systemChanged("time", .none)) == [
        "merged 2 of 1: policy, newer-reload", "delayed 3 of 1: system, device-locked",
      ])
    #expect(fixture.place(2) == ["delayed 4 of 2: added, device-locked"])
    let push = fixture.handle(.reloadOne(2, .push, MessageContext(correlation: .push(1))))
    #expect(push.last == "push 1 at 2: delayed, device-locked")
    #expect(
      fixture.handle(.withheld([widget: .notUnlockedYet])) == [
        "delayed 3 of 1: system, before-first-unlock", "delayed 5 of 2: push, before-first-unlock",
        "push 1 at 2: delayed, before-first-unlock",
      ])
    #expect(fixture.handle(Self.unlocked).contains("free 3 of 1: system, system"))
  }

  @Test func `a reload requested while the first one is withheld is merged into it at no cost`() {
    var fixture = TimelineFixture()
    fixture.kindsReported(["Coffee"])
    fixture.handle(Self.locked)
    #expect(fixture.place(1) == ["delayed 1 of 1: added, device-locked"])
    #expect(fixture.reload(app) == ["merged 1 of 1: added, newer-reload", "delayed 2 of 1: app, device-locked"])
    #expect(fixture.handle(Self.unlocked) == ["free 2 of 1: app, paid-before", "want widget"])
  }

  @Test func `a reload that waits for the budget is withheld when it comes due on a locked device`() {
    var fixture = TimelineFixture.placed()
    #expect(fixture.reload(widget) == ["delayed 2 of 1: extension, minimum-spacing"])
    #expect(fixture.handle(Self.locked) == [])
    #expect(fixture.next() == ["delayed 2 of 1: extension, device-locked"])
    #expect(fixture.handle(Self.unlocked) == ["granted 2 of 1: extension, budget", "want widget"])
  }

  @Test func `a failed reload is withheld when its retry is due on a locked device`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    fixture.handle(.awake(widget))
    fixture.handle(Self.locked)
    fixture.fail()
    #expect(fixture.handle(Self.unlocked) == [], "the back-off has not ended")
    fixture.handle(Self.locked)
    #expect(fixture.next() == ["delayed 2 of 1: operator, device-locked"])
    #expect(fixture.handle(Self.unlocked) == ["free 2 of 1: operator, paid-before", "want widget"])
  }

  @Test(.rule("GALLERY-29"))
  func `a reload that was paid before the lock is withheld and not paid again after the unlock`() {
    var fixture = TimelineFixture.placed()
    fixture.pass(3600)
    #expect(fixture.reload(widget) == ["granted 2 of 1: extension, budget", "want widget"])
    let balance = fixture.stateMachine.placements[1]?.account.balance
    #expect(fixture.handle(Self.locked) == ["delayed 2 of 1: extension, device-locked"])
    #expect(fixture.handle(.awake(widget)) == ["release widget"])
    #expect(
      fixture.reload() == ["merged 2 of 1: extension, newer-reload", "delayed 3 of 1: operator, device-locked"])
    #expect(fixture.handle(Self.unlocked) == ["free 3 of 1: operator, paid-before", "want widget"])
    #expect(fixture.stateMachine.placements[1]?.account.balance == balance)
  }

  @Test(.rule("GALLERY-29")) func `a timeline that is being requested when the device locks is stored`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    fixture.place(2)
    fixture.handle(.awake(widget))
    #expect(fixture.handle(Self.locked) == ["delayed 3 of 2: added, device-locked"])
    #expect(fixture.give() == ["shown 1: 0.0", "release widget"])
  }

  @Test func `a placeholder request completes on a locked device, and the timeline is withheld`() {
    var fixture = TimelineFixture()
    fixture.kindsReported(["Coffee"])
    fixture.place(1)
    fixture.handle(.awake(widget))
    #expect(fixture.handle(Self.locked) == ["delayed 1 of 1: added, device-locked"])
    #expect(fixture.giveAll() == ["release widget"])
    #expect(fixture.handle(Self.unlocked) == ["free 1 of 1: added, paid-before", "want widget"])
    #expect(fixture.giveAll().first == "ask 1 Coffee timeline")
  }

  @Test(.rule("GALLERY-29")) func `an extension that exits during a request is not asked again on a locked device`() {
    var fixture = TimelineFixture.placed()
    fixture.reload()
    fixture.handle(.awake(widget))
    fixture.handle(Self.locked)
    #expect(
      fixture.handle(.instanceEnded(widget)) == [
        "stop widget", "delayed 2 of 1: operator, device-locked", "release widget",
      ])
    #expect(fixture.handle(Self.unlocked) == ["free 2 of 1: operator, paid-before", "want widget"])
  }

  @Test func `the locked files of one extension do not withhold the reloads of another`() {
    var fixture = TimelineFixture.placed()
    fixture.handle(.withheld([other: .locked]))
    #expect(fixture.reload() == ["free 2 of 1: operator, operator", "want widget"])
  }

  @Test(.rule("GALLERY-31")) func `a snapshot is requested on a locked device`() {
    var fixture = TimelineFixture.placed()
    fixture.handle(Self.locked)
    #expect(fixture.handle(.snapshot(kind: "Coffee", family: nil, serial: 7)) == ["want widget"])
    #expect(fixture.handle(.awake(widget)) == ["ask 0 Coffee snapshot"])
  }

  @Test(.rule("GALLERY-29")) func `a withheld reload survives a host restart`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    let process = try await fixture.startExtension("95 mg")
    await service.awake(widget)
    _ = await fixture.received(TimelineStored.self)
    await service.withheld([widget: .locked])
    try await fixture.reload("Coffee")
    #expect(try await service.list(ListBudget()).accounts.map(\.withheld) == [.locked])
    await fixture.bus.disconnect(.host("iphone"))
    // The next host process reports the lock, as before, and then the unlock.
    let second = try await fixture.host(kinds: [], clock: ManualClock(origin + 86_400))
    await second.withheld([widget: .locked])
    await second.awake(widget)
    #expect(try await second.list(ListBudget()).entries.map(\.rule) == ["added", "device-locked"])
    await second.withheld([:])
    await second.awake(widget)
    _ = await fixture.received(TimelineStored.self, 2)
    #expect(try await second.list(ListBudget()).entries.map(\.rule) == ["added", "device-locked", "operator"])
    await process.leave()
  }
}
