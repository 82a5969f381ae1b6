// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget

@Suite(.timeLimit(.minutes(1))) struct `Significant location changes` {
  private let bundles: Set<String> = [widget.bundleIdentifier ?? ""]

  @Test(.rule("BUDGET-10"))
  func `a location change reloads visible widgets at once and others when they become visible, at no cost`() {
    var fixture = TimelineFixture.placed()
    fixture.place(2)
    fixture.giveAll()
    fixture.handle(.seen([1], isStandBy: false))
    #expect(fixture.handle(.moved(bundles: bundles, .none)) == ["free 3 of 1: location, location", "want widget"])
    fixture.giveAll()
    let balance = fixture.stateMachine.placements[2]?.account.balance
    // Two location changes cause one reload.
    fixture.handle(.moved(bundles: bundles, .none))
    fixture.giveAll()
    #expect(fixture.handle(.seen([1, 2], isStandBy: false)) == ["free 5 of 2: location, location", "want widget"])
    #expect(fixture.stateMachine.placements[2]?.account.balance == balance)
    fixture.giveAll()
    fixture.handle(.seen([1], isStandBy: false))
    #expect(fixture.handle(.seen([1, 2], isStandBy: false)).isEmpty)
  }

  @Test(.rule("BUDGET-10")) func `a location change does not reload widgets that do not use the location`() {
    var fixture = TimelineFixture.placed()
    #expect(fixture.handle(.moved(bundles: [], .none)).isEmpty)
    #expect(fixture.handle(.moved(bundles: ["org.other.Widget"], .none)).isEmpty)
    fixture.handle(.seen([], isStandBy: false))
    fixture.handle(.moved(bundles: ["org.other.Widget"], .none))
    #expect(fixture.handle(.seen([1], isStandBy: false)).isEmpty)
  }

  @Test(.rule("BUDGET-10")) func `a location change runs a delayed reload for free`() {
    var fixture = TimelineFixture.placed()
    fixture.handle(.seen([], isStandBy: false))
    fixture.handle(.moved(bundles: bundles, .none))
    fixture.reload(widget)
    #expect(
      fixture.handle(.seen([1], isStandBy: false)) == [
        "merged 2 of 1: extension, newer-reload", "free 3 of 1: location, location", "want widget",
      ])
  }

  @Test(.rule("BUDGET-10")) func `a pending location reload survives a host restart`() async throws {
    let fixture = try TimelineServiceFixture()
    let first = try await fixture.host(kinds: ["Coffee", "Tea"])
    await first.seen([2], isStandBy: false)
    let reply = try await first.moved(bundles)
    #expect(reply == MoveDevice.Reply(reloaded: [2], whenSeen: [1]))
    let second = try await fixture.host(kinds: [], clock: fixture.clock)
    #expect(await second.stateMachine.placements[1]?.hasMoved == true)
    await second.seen([1, 2], isStandBy: false)
    let pendingReload = try #require(await second.stateMachine.placements[1]?.pendingReload)
    #expect(pendingReload.reloadCause == .location && pendingReload.isPaid)
  }
}
