// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget
private let origin = TimelineSamples.origin

@Suite struct `StandBy reloads` {
  private static let begins = TimelineStateMachine.Event.seen([1], isStandBy: true)
  private static let ends = TimelineStateMachine.Event.seen([1], isStandBy: false)

  private func policy(_ change: (inout BudgetPolicy) -> Void) -> BudgetPolicy {
    var policy = BudgetPolicy()
    change(&policy)
    return policy
  }

  @Test(.rule("BUDGET-11"), arguments: [900.0, 60])
  func `StandBy reloads its widgets for free at the configured interval, and other places do not`(every: Double) {
    var fixture = TimelineFixture.placed(.init(), policy { $0.standByEvery = every })
    #expect(fixture.due == nil)
    #expect(fixture.handle(Self.begins) == [])
    for reload in 2...4 {
      #expect(fixture.due == every)
      #expect(fixture.next() == ["free \(reload) of 1: standBy, standBy", "want widget"])
      #expect(fixture.due == nil, "the reload is pending")
      fixture.giveAll()
    }
    fixture.handle(Self.ends)
    #expect(fixture.due == nil)
  }

  @Test(.rule("BUDGET-11")) func `StandBy reloads a timeline at once that is older than the interval`() {
    var fixture = TimelineFixture.placed()
    fixture.pass(7200)
    #expect(fixture.handle(Self.begins) == ["free 2 of 1: standBy, standBy", "want widget"])
  }

  @Test func `StandBy does not delay the dates of other placements`() {
    var fixture = TimelineFixture.placed(policyOfTimeline: .after(origin + 600))
    fixture.place(2)
    fixture.giveAll(.after(origin + 300))
    fixture.handle(.seen([2], isStandBy: true))
    #expect(fixture.due == 300)
    #expect(fixture.next().first?.contains("of 2: policy") == true)
    #expect(fixture.due == 300, "the placement that is not in StandBy")
    #expect(fixture.next().first?.contains("of 1: policy") == true)
  }

  @Test func `StandBy requests no reloads when the policy has no interval`() {
    var fixture = TimelineFixture.placed(.init(), policy { $0.standByEvery = nil })
    fixture.pass(7200)
    #expect(fixture.handle(Self.begins) == [])
    #expect(fixture.due == nil)
  }

  @Test(.rule("BUDGET-11")) func `StandBy runs a delayed reload, but waits for the retry after a failure`() {
    var fixture = TimelineFixture.placed(.init(), policy { $0.minimumSpacing = 86_400 })
    fixture.handle(Self.begins)
    #expect(fixture.reload(widget) == ["delayed 2 of 1: extension, minimum-spacing"])
    #expect(fixture.due == 900)
    #expect(
      fixture.next() == ["merged 2 of 1: extension, newer-reload", "free 3 of 1: standBy, standBy", "want widget"])
    fixture.handle(.awake(widget))
    fixture.fail()
    #expect(fixture.next() == ["free 3 of 1: standBy, tried-again", "want widget"])
  }

  @Test func `StandBy keeps its interval when the policy charges for its reloads`() {
    func priced(_ change: (inout BudgetPolicy) -> Void) -> TimelineFixture {
      var fixture = TimelineFixture.placed(
        .init(),
        policy {
          $0.freeCauses.remove(.standBy)
          change(&$0)
        })
      fixture.handle(Self.begins)
      return fixture
    }
    var fixture = priced { $0.perDay = 0 }
    #expect(fixture.next() == ["refused 2 of 1: standBy, no-reloads"])
    #expect(fixture.due == 900)
    var dear = priced { $0.minimumSpacing = 86_400 }
    #expect(dear.next() == ["delayed 2 of 1: standBy, minimum-spacing"])
    #expect(dear.due == 900)
  }

  @Test func `StandBy requests no reload of a missing kind, and only one on a locked device`() {
    var renamed = TimelineFixture.placed()
    renamed.kindsReported(["Tea"])
    renamed.handle(Self.begins)
    #expect(renamed.due == nil)
    var locked = TimelineFixture.placed()
    locked.handle(.withheld([widget: .locked]))
    locked.handle(Self.begins)
    #expect(locked.next() == ["delayed 2 of 1: standBy, device-locked"])
    #expect(locked.due == nil)
  }
}
