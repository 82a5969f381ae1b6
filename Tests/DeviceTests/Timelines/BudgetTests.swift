// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = TimelineSamples.app
private let widget = TimelineSamples.widget
private let origin = TimelineSamples.origin

@Suite struct `Reload budget` {
  private func policy(_ change: (inout BudgetPolicy) -> Void) -> BudgetPolicy {
    var policy = BudgetPolicy()
    change(&policy)
    return policy
  }

  @Test(.rule("BUDGET-05"), arguments: ReloadCause.allCases)
  func `reloads for causes that Apple exempts are free`(cause: ReloadCause) {
    var account = BudgetAccount(BudgetPolicy(), now: origin)
    let verdict = account.decide(cause, policy: BudgetPolicy(), situation: BudgetSituation(), now: origin)
    let costs: Set<ReloadCause> = [.policy, .app, .extension, .push]
    #expect(verdict.verdict == (costs.contains(cause) ? .granted : .free))
  }

  @Test(.rule("BUDGET-06"))
  func `reloads of a foreground app are free, and a delayed reload runs when the app enters the foreground`() {
    var fixture = TimelineFixture.placed()
    #expect(fixture.reload(app) == ["delayed 2 of 1: app, minimum-spacing"])
    #expect(fixture.handle(.inFront(app: app, true)) == ["free 2 of 1: app, app-in-foreground", "want widget"])
    fixture.giveAll()
    #expect(fixture.reload(app).first == "free 3 of 1: app, app-in-foreground")
    fixture.giveAll()
    fixture.handle(.inFront(app: app, false))
    #expect(fixture.reload(app) == ["delayed 4 of 1: app, minimum-spacing"])
  }

  @Test(.rule("BUDGET-17"), arguments: [0.0, 20])
  func `reloads of a foreground app are spaced by the foregroundSpacing of the budget, and stay free`(spacing: Double) {
    var fixture = TimelineFixture.placed(.init(), policy { $0.foregroundSpacing = spacing })
    fixture.handle(.inFront(app: app, true))
    fixture.pass(30)
    #expect(fixture.reload(app) == ["free 2 of 1: app, app-in-foreground", "want widget"])
    fixture.giveAll()
    fixture.pass(5)
    guard spacing > 0 else {
      #expect(fixture.reload(app) == ["free 3 of 1: app, app-in-foreground", "want widget"])
      return
    }
    #expect(fixture.reload(app) == ["delayed 3 of 1: app, foreground-spacing"])
    #expect(fixture.due == spacing - 5)
    #expect(fixture.next() == ["free 3 of 1: app, app-in-foreground", "want widget"])
    fixture.giveAll()
    #expect(fixture.reload(person).first == "free 4 of 1: operator, operator", "the user's reloads do not wait")
    fixture.giveAll()
    #expect(fixture.reload(app) == ["delayed 5 of 1: app, foreground-spacing"])
    fixture.handle(.inFront(app: app, false))
    #expect(fixture.next() == ["delayed 5 of 1: app, minimum-spacing"])
  }

  @Test(.rule("BUDGET-07"), arguments: AppActivity.allCases)
  func `reloads during a background activity of the app are free, and a delayed reload runs when it begins`(
    activity: AppActivity
  ) {
    var fixture = TimelineFixture.placed()
    #expect(fixture.reload(app) == ["delayed 2 of 1: app, minimum-spacing"])
    #expect(fixture.handle(.atWork([app: activity])) == ["free 2 of 1: app, \(activity.rule)", "want widget"])
    fixture.giveAll()
    fixture.handle(.atWork([:]))
    #expect(fixture.reload(app) == ["delayed 3 of 1: app, minimum-spacing"])
    var dear = TimelineFixture.placed(.init(), policy { $0.isFreeAtWork = false })
    dear.handle(.atWork([app: activity]))
    #expect(dear.reload(app) == ["delayed 2 of 1: app, minimum-spacing"])
  }

  @Test(.rule("BUDGET-09"), arguments: [0.0, 30])
  func `reloads right after the user opens the app from its widget wait for the configured time`(
    pause: Double
  ) {
    var fixture = TimelineFixture.placed(.init(), policy { $0.afterOpenedFromWidget = pause })
    #expect(fixture.reload(app) == ["delayed 2 of 1: app, minimum-spacing"])
    fixture.handle(.openedFromWidget(app: app))
    #expect(
      fixture.handle(.inFront(app: app, true)).first == "free 2 of 1: app, app-in-foreground",
      "requested before the app was opened")
    fixture.giveAll()
    fixture.pass(10)
    guard pause > 0 else {
      #expect(fixture.reload(app) == ["free 3 of 1: app, app-in-foreground", "want widget"])
      return
    }
    #expect(fixture.reload(app) == ["delayed 3 of 1: app, opened-from-widget"])
    #expect(fixture.due == pause - 10)
    #expect(fixture.next() == ["free 3 of 1: app, app-in-foreground", "want widget"])
    fixture.giveAll()
    #expect(fixture.reload(app) == ["free 4 of 1: app, app-in-foreground", "want widget"])
    fixture.giveAll()
    fixture.handle(.openedFromWidget(app: app))
    #expect(fixture.reload(person).first == "free 5 of 1: operator, operator", "other sources do not wait")
  }

  @Test(.rule("BUDGET-04"), arguments: [300.0, 60])
  func `reloads of one placement are spaced by the configured minimum`(spacing: Double) {
    var fixture = TimelineFixture.placed(.init(), policy { $0.minimumSpacing = spacing })
    #expect(fixture.reload(widget) == ["delayed 2 of 1: extension, minimum-spacing"])
    #expect(fixture.due == spacing)
    #expect(fixture.next() == ["granted 2 of 1: extension, budget", "want widget"])
  }

  @Test(.rule("BUDGET-14", "BUDGET-15", "BUDGET-16"))
  func `developer mode lifts the budget, except for reloads that the provider itself requests`() {
    var settings = TimelineSettings()
    settings.developerMode = true
    var fixture = TimelineFixture.placed(settings)
    #expect(fixture.reload(widget) == ["free 2 of 1: extension, developer-mode", "want widget"])
    fixture.handle(.awake(widget))
    #expect(fixture.reload(widget, isInside: true) == ["delayed 3 of 1: extension, asked-by-its-own-provider"])
  }

  @Test(.rule("BUDGET-01"), arguments: [40.0, 55, 70, 72])
  func `the budget grants the configured number of reloads per day`(perDay: Double) {
    let policy = policy {
      $0.perDay = perDay
      $0.initial = 0
      $0.learningDays = 0
      $0.minimumSpacing = 0
    }
    #expect(reloads(inADayOf: policy) == Int(perDay))
  }

  @Test func `a credit lets the balance fall below 0 by so many reloads`() {
    let policy = policy {
      $0.credit = 2
      $0.minimumSpacing = 0
    }
    var account = BudgetAccount(policy, now: origin)
    let verdicts = (0..<8).map { _ in
      account.decide(.app, policy: policy, situation: BudgetSituation(), now: origin).verdict
    }
    #expect(verdicts == Array(repeating: .granted, count: 7) + [.delayed])
    #expect(account.balance == -2)
  }

  @Test func `a policy without a daily limit grants each reload that the minimum spacing allows`() {
    #expect(reloads(inADayOf: policy { $0.perDay = nil }) == 288)
  }

  /// Counts the granted reloads of an extension that requests one every minute, from midnight on.
  private func reloads(inADayOf policy: BudgetPolicy) -> Int {
    let midnight = Date(timeIntervalSince1970: 1_000_080_000)
    var account = BudgetAccount(policy, now: midnight)
    return (1...1440).count { minute in
      let now = midnight + Double(minute) * 60
      return account.decide(.extension, policy: policy, situation: BudgetSituation(), now: now).verdict == .granted
    }
  }

  @Test(.rule("BUDGET-01", "BUDGET-03"))
  func `the budget accrues in the daytime hours of the user's time zone`() throws {
    let policy = policy { $0.initial = 0 }
    // 02:00
    let night = Date(timeIntervalSince1970: 1_000_087_200)
    var account = BudgetAccount(policy, now: night)
    let verdict = account.decide(.policy, policy: policy, situation: BudgetSituation(), now: night)
    #expect(verdict.verdict == .delayed && verdict.rule == "budget")
    let until = try #require(verdict.until)
    #expect((4 * 3600...5 * 3600).contains(until.timeIntervalSince(night)))
    #expect(account.decide(.policy, policy: policy, situation: BudgetSituation(), now: until).verdict == .granted)
    let ahead = self.policy {
      $0.initial = 0
      $0.utcOffset = 10
    }
    var elsewhere = BudgetAccount(ahead, now: night)
    let there = try #require(elsewhere.decide(.policy, policy: ahead, situation: BudgetSituation(), now: night).until)
    #expect(there.timeIntervalSince(night) < 3600)
  }

  @Test(.rule("SETTING-08"), arguments: [("GMT", 4), ("Australia/Sydney", 0), ("America/New_York", 9)])
  func `the budget's day is that of the device's time zone, also with summer time`(zone: String, hours: Int) throws {
    // 02:00 in GMT, 12:00 in Sydney, 22:00 of the day before in New York.
    let policy = policy {
      $0.initial = 0
      $0.perDay = 6
      $0.learningDays = 0
      $0.timeZone = TimeZone(identifier: zone) ?? .gmt
    }
    let night = Date(timeIntervalSince1970: 1_000_087_200)
    var account = BudgetAccount(policy, now: night)
    let until = try #require(account.decide(.policy, policy: policy, situation: BudgetSituation(), now: night).until)
    let waited = until.timeIntervalSince(night) / 3600
    #expect(Int(waited) >= hours && Int(waited) <= hours + 4, "\(waited)")
  }

  @Test(.rule("SETTING-08")) func `a change of the time zone counts what accrued before by the former zone`() throws {
    var fixture = TimelineFixture.placed(.init(), policy { $0.initial = 0 })
    fixture.pass(3600)
    let before = fixture
    fixture.handle(.timeZone(try #require(TimeZone(identifier: "Asia/Tokyo"))))
    #expect(fixture.stateMachine.policy.timeZone.identifier == "Asia/Tokyo")
    var account = try #require(before.stateMachine.placements[1]?.account)
    account.accrue(before.stateMachine.policy, now: fixture.now)
    #expect(fixture.stateMachine.placements[1]?.account == account && account.balance > 0)
  }

  @Test(.rule("BUDGET-02"))
  func `the budget accrues more slowly for an unseen widget and faster in the learning period`() throws {
    let seen = policy {
      $0.initial = 0
      $0.learningDays = 0
    }
    var account = BudgetAccount(seen, now: origin)
    let usual = try #require(account.decide(.policy, policy: seen, situation: BudgetSituation(), now: origin).until)
    account.see(isSeen: false, policy: seen, now: origin - 86_400)
    let unseen = try #require(account.decide(.policy, policy: seen, situation: BudgetSituation(), now: origin).until)
    #expect(abs(unseen.timeIntervalSince(origin) / usual.timeIntervalSince(origin) - 4) < 0.1)
    let learning = policy { $0.initial = 0 }
    #expect(learning.learningDays == 3 && learning.learningFactor == 1.25)
    func wait(_ age: Double) throws -> Double {
      var young = BudgetAccount(learning, now: origin - age)
      return try #require(young.decide(.policy, policy: learning, situation: BudgetSituation(), now: origin).until)
        .timeIntervalSince(origin)
    }
    #expect(abs(usual.timeIntervalSince(origin) / (try wait(0)) - 1.25) < 0.01)
  }

  @Test(.rule("BUDGET-03")) func `a reload is refused when the policy never grants any`() {
    var fixture = TimelineFixture.placed(.init(), policy { $0.perDay = 0 })
    fixture.pass(3600)
    #expect(fixture.reload(widget) == ["refused 2 of 1: extension, no-reloads"])
    #expect(fixture.stateMachine.nextInstant == nil)
  }

  @Test(.rule("BUDGET-01"))
  func `a window grants no more reloads than accrue in a day, even with a higher balance`() throws {
    let policy = policy {
      $0.perDay = 2
      $0.initial = 10
      $0.learningDays = 0
    }
    var account = BudgetAccount(policy, now: origin)
    for hour in 0..<2 {
      let verdict = account.decide(
        .app, policy: policy, situation: BudgetSituation(), now: origin + Double(hour) * 3600)
      #expect(verdict.verdict == .granted)
    }
    let third = account.decide(.app, policy: policy, situation: BudgetSituation(), now: origin + 7200)
    #expect(third == BudgetVerdict(.delayed, "window", until: origin + 86_400))
  }

  @Test(.rule("BUDGET-13"), arguments: [(6.0, true), (24, false)])
  func `a widget that becomes visible is reloaded for free when it is older than the configured age`(
    staleAfter: Double, isFree: Bool
  ) {
    var fixture = TimelineFixture.placed(
      .init(),
      policy {
        $0.staleAfter = staleAfter
        $0.minimumSpacing = 86_400
      })
    fixture.handle(.seen([], isStandBy: false))
    fixture.reload(widget)
    fixture.pass(7 * 3600)
    let words = fixture.handle(.seen([1], isStandBy: false))
    #expect(words.contains("free 3 of 1: stale, stale") == isFree)
  }

  @Test func `the same events produce the same ledger`() {
    func ledger() -> [String] {
      var fixture = TimelineFixture.placed(policyOfTimeline: .after(origin + 600))
      for id in 2...5 { fixture.place(id) }
      var words = fixture.giveAll(.after(origin + 600))
      while fixture.now < origin + 86_400 {
        words += fixture.next()
        words += fixture.giveAll(.after(fixture.now + 420))
      }
      return words
    }
    let first = ledger()
    #expect(first == ledger())
    #expect(first.count > 500)
  }
}
