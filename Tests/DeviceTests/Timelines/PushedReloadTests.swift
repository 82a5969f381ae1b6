// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget

/// Reloads by widget pushes. `spaced` is a budget without a minimum spacing.
@Suite struct `Widget pushes at a placement` {
  private static let spaced: BudgetPolicy = {
    var policy = BudgetPolicy()
    policy.minimumSpacing = 0
    return policy
  }()

  private func fixture(_ policy: BudgetPolicy = spaced, dates: [Double] = [0]) -> TimelineFixture {
    TimelineFixture.placed(TimelineSettings(), policy, dates: dates)
  }

  @Test func `a pushed reload is paid from the budget and completes with the next timeline`() {
    var fixture = fixture()
    #expect(fixture.push(1) == ["granted 2 of 1: push, budget", "want widget", "push 1 at 1: pending"])
    #expect(fixture.giveAll() == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget", "push 1 at 1: stored"])
  }

  @Test(.rule("PUSH-15")) func `a repeated push has no effect, before and after its timeline is stored`() {
    var fixture = fixture()
    fixture.push(1)
    #expect(fixture.push(1) == [])
    fixture.giveAll()
    #expect(fixture.push(1) == [])
    #expect(fixture.stateMachine.reports.map(\.outcome) == [.stored])
  }

  @Test func `a pushed reload waits for the minimum spacing of the budget`() {
    var fixture = fixture(BudgetPolicy())
    let words = fixture.push(1)
    #expect(words == ["delayed 2 of 1: push, minimum-spacing", "push 1 at 1: delayed, minimum-spacing"])
    #expect(fixture.next() == ["granted 2 of 1: push, budget", "want widget", "push 1 at 1: pending"])
    #expect(fixture.giveAll().last == "push 1 at 1: stored")
  }

  @Test func `a pushed reload is refused when the policy grants no reloads`() {
    var policy = Self.spaced
    policy.perDay = 0
    var fixture = fixture(policy)
    #expect(fixture.push(1) == ["refused 2 of 1: push, no-reloads", "push 1 at 1: refused, no-reloads"])
  }

  @Test(.rule("BUDGET-15", "PUSH-13")) func `a pushed reload is free in developer mode`() {
    var settings = TimelineSettings()
    settings.developerMode = true
    var fixture = TimelineFixture.placed(settings)
    #expect(fixture.push(1).first == "free 2 of 1: push, developer-mode")
  }

  @Test(.rule("PUSH-14"))
  func `a newer push supersedes a pending push and takes over its paid reload`() {
    var fixture = fixture()
    fixture.push(1)
    let words = fixture.push(2)
    #expect(
      words == [
        "merged 2 of 1: push, newer-reload", "free 3 of 1: push, paid-before", "want widget", "push 1 at 1: superseded",
        "push 2 at 1: pending",
      ])
    #expect(fixture.giveAll().last == "push 2 at 1: stored")
  }

  @Test func `a push that arrives during the request for an earlier push causes a second request`() {
    var fixture = fixture()
    fixture.push(1)
    fixture.handle(.awake(widget))
    #expect(fixture.push(2).last == "push 2 at 1: pending")
    #expect(fixture.give() == ["shown 1: 0.0", "ask 1 Coffee timeline", "push 1 at 1: stored"])
    #expect(fixture.give().last == "push 2 at 1: stored")
  }

  /// Found by the search `pushes.hosts`: the first push had no result forever.
  @Test(arguments: [false, true])
  func `a push whose request ended with the host is served by the reload that is pending`(isPush: Bool) {
    var fixture = fixture()
    fixture.push(1)
    fixture.handle(.awake(widget))
    if isPush { fixture.push(2) } else { fixture.reload() }
    #expect(fixture.restart().contains("push 1 at 1: superseded") == isPush)
    #expect(fixture.giveAll().last == "push \(isPush ? 2 : 1) at 1: stored")
  }

  @Test func `a reload from another source completes a pending push`() {
    var fixture = fixture()
    fixture.push(1)
    fixture.reload()
    #expect(fixture.giveAll().last == "push 1 at 1: stored")
  }

  @Test func `a pushed reload fails with its request and is stored when the retry succeeds`() {
    var fixture = fixture()
    fixture.push(1)
    fixture.handle(.awake(widget))
    #expect(fixture.fail().last == "push 1 at 1: failed, it failed")
    fixture.next()
    #expect(fixture.giveAll().last == "push 1 at 1: stored")
  }

  @Test func `a pushed reload is given up when the extension no longer declares the kind`() {
    var fixture = fixture()
    fixture.push(1)
    fixture.kindsReported(["Tea"])
    #expect(fixture.handle(.awake(widget)).last?.hasPrefix("push 1 at 1: gave up, ") == true)
  }

  @Test(.rule("PUSH-16")) func `a pushed reload does not cancel the next reload of the timeline policy`() {
    var fixture = fixture()
    fixture.push(1)
    fixture.giveAll(.after(fixture.now + 3600))
    fixture.pass(10)
    fixture.push(2)
    fixture.giveAll(.after(fixture.now + 3600))
    #expect(fixture.due == 3600)
    #expect(fixture.next().first == "granted 4 of 1: policy, budget")
  }

  @Test func `an encoded placement contains its completed pushes`() throws {
    var fixture = fixture()
    fixture.push(1)
    fixture.giveAll()
    let placed = try #require(fixture.stateMachine.placements[1])
    let kept = try BodyCoding.decode(PlacementState.self, from: Array(BodyCoding.data(placed)))
    #expect(kept == placed)
    #expect(kept.knows(push: .push(1)))
  }
}

extension TimelineFixture {
  /// The next host has what is in the database.
  fileprivate mutating func restart() -> [String] {
    var next = TimelineStateMachine(extensions: stateMachine.extensions, policy: stateMachine.policy)
    for (id, placed) in stateMachine.placements.all { next.restore(placed, stateMachine.upcoming[id] ?? []) }
    next.restore(kinds: stateMachine.kinds, [], lastReload: stateMachine.lastReload, lastLine: stateMachine.lastLine)
    stateMachine = next
    return handle(.began)
  }

  @discardableResult
  fileprivate mutating func push(_ number: Int, at placement: Int = 1) -> [String] {
    handle(.reloadOne(placement, .push, MessageContext(correlation: .push(number))))
  }
}
