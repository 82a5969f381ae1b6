import Archive
import Conversations
import Foundation
import Testing

@testable import Timelines

@Suite struct `the budget` {
  private func policy(_ change: (inout BudgetPolicy) -> Void) -> BudgetPolicy {
    var policy = BudgetPolicy()
    change(&policy)
    return policy
  }

  @Test(arguments: ReloadCause.allCases)
  func `costs nothing for what Apple exempts`(cause: ReloadCause) {
    var account = BudgetAccount(BudgetPolicy(), now: origin)
    let verdict = account.decide(cause, BudgetPolicy(), BudgetSituation(), now: origin)
    let costs: Set<ReloadCause> = [.policy, .app, .extension, .push]
    #expect(verdict.verdict == (costs.contains(cause) ? .granted : .free))
  }

  @Test func `costs nothing while the app is in front, and what waited comes when it does`() {
    var bench = Bench.placed()
    #expect(bench.reload(app) == ["delayed 2 of 1: app, minimum-spacing"])
    #expect(bench.take(.inFront(app: app, true)) == ["free 2 of 1: app, app-in-foreground", "want widget"])
    bench.giveAll()
    #expect(bench.reload(app).first == "free 3 of 1: app, app-in-foreground")
    bench.giveAll()
    bench.take(.inFront(app: app, false))
    #expect(bench.reload(app) == ["delayed 4 of 1: app, minimum-spacing"])
  }

  @Test(arguments: AppActivity.allCases)
  func `costs nothing while the app is at work behind the front, and what waited comes when it begins`(
    activity: AppActivity
  ) {
    var bench = Bench.placed()
    #expect(bench.reload(app) == ["delayed 2 of 1: app, minimum-spacing"])
    #expect(bench.take(.atWork([app: activity])) == ["free 2 of 1: app, \(activity.rule)", "want widget"])
    bench.giveAll()
    bench.take(.atWork([:]))
    #expect(bench.reload(app) == ["delayed 3 of 1: app, minimum-spacing"])
    var dear = Bench.placed(.init(), policy { $0.isFreeAtWork = false })
    dear.take(.atWork([app: activity]))
    #expect(dear.reload(app) == ["delayed 2 of 1: app, minimum-spacing"])
  }

  @Test(arguments: [0.0, 30])
  func `lets what an app asks for right after a person opened it from the widget wait so long as the policy says`(
    pause: Double
  ) {
    var bench = Bench.placed(.init(), policy { $0.afterOpenedFromWidget = pause })
    #expect(bench.reload(app) == ["delayed 2 of 1: app, minimum-spacing"])
    bench.take(.openedFromWidget(app: app))
    #expect(bench.take(.inFront(app: app, true)).first == "free 2 of 1: app, app-in-foreground", "it was asked before")
    bench.giveAll()
    bench.pass(10)
    guard pause > 0 else {
      #expect(bench.reload(app) == ["free 3 of 1: app, app-in-foreground", "want widget"])
      return
    }
    #expect(bench.reload(app) == ["delayed 3 of 1: app, opened-from-widget"])
    #expect(bench.due == pause - 10)
    #expect(bench.next() == ["free 3 of 1: app, app-in-foreground", "want widget"])
    bench.giveAll()
    #expect(bench.reload(app) == ["free 4 of 1: app, app-in-foreground", "want widget"])
    bench.giveAll()
    bench.take(.openedFromWidget(app: app))
    #expect(bench.reload(person).first == "free 5 of 1: operator, operator", "nobody else waits for it")
  }

  @Test(arguments: [300.0, 60])
  func `keeps reloads of a placement apart`(spacing: Double) {
    var bench = Bench.placed(.init(), policy { $0.minimumSpacing = spacing })
    #expect(bench.reload(widget) == ["delayed 2 of 1: extension, minimum-spacing"])
    #expect(bench.due == spacing)
    #expect(bench.next() == ["granted 2 of 1: extension, budget", "want widget"])
  }

  @Test func `lifts all in developer mode, but for a provider that reloads itself`() {
    var settings = TimelineSettings()
    settings.developerMode = true
    var bench = Bench.placed(settings)
    #expect(bench.reload(widget) == ["free 2 of 1: extension, developer-mode", "want widget"])
    bench.take(.awake(widget))
    #expect(bench.reload(widget, isInside: true) == ["delayed 3 of 1: extension, asked-by-its-own-provider"])
  }

  @Test(arguments: [40.0, 55, 70, 72])
  func `gives so many in a day as the policy says`(perDay: Double) {
    let policy = policy {
      $0.perDay = perDay
      $0.initial = 0
      $0.learningDays = 0
      $0.minimumSpacing = 0
    }
    #expect(reloads(inADayOf: policy) == Int(perDay))
  }

  @Test func `gives what is asked for where there is none`() {
    #expect(reloads(inADayOf: policy { $0.perDay = nil }) == 288)
  }

  /// An extension that asks every minute, from midnight on.
  private func reloads(inADayOf policy: BudgetPolicy) -> Int {
    let midnight = Date(timeIntervalSince1970: 1_000_080_000)
    var account = BudgetAccount(policy, now: midnight)
    return (1...1440).count { minute in
      let now = midnight + Double(minute) * 60
      return account.decide(.extension, policy, BudgetSituation(), now: now).verdict == .granted
    }
  }

  @Test func `accrues in the hours of the person's day`() throws {
    let policy = policy { $0.initial = 0 }
    // 02:00
    let night = Date(timeIntervalSince1970: 1_000_087_200)
    var account = BudgetAccount(policy, now: night)
    let verdict = account.decide(.policy, policy, BudgetSituation(), now: night)
    #expect(verdict.verdict == .delayed && verdict.rule == "budget")
    let until = try #require(verdict.until)
    #expect((4 * 3600...5 * 3600).contains(until.timeIntervalSince(night)))
    #expect(account.decide(.policy, policy, BudgetSituation(), now: until).verdict == .granted)
    let ahead = self.policy {
      $0.initial = 0
      $0.utcOffset = 10
    }
    var elsewhere = BudgetAccount(ahead, now: night)
    let there = try #require(elsewhere.decide(.policy, ahead, BudgetSituation(), now: night).until)
    #expect(there.timeIntervalSince(night) < 3600)
  }

  @Test func `pays less for what nobody sees, and more while the system learns`() throws {
    let seen = policy {
      $0.initial = 0
      $0.learningDays = 0
    }
    var account = BudgetAccount(seen, now: origin)
    let usual = try #require(account.decide(.policy, seen, BudgetSituation(), now: origin).until)
    account.see(false, seen, now: origin - 86_400)
    let unseen = try #require(account.decide(.policy, seen, BudgetSituation(), now: origin).until)
    #expect(abs(unseen.timeIntervalSince(origin) / usual.timeIntervalSince(origin) - 4) < 0.1)
    let learning = policy { $0.initial = 0 }
    var young = BudgetAccount(learning, now: origin)
    #expect(try #require(young.decide(.policy, learning, BudgetSituation(), now: origin).until) < usual)
  }

  @Test func `refuses what no reload is ever paid for`() {
    var bench = Bench.placed(.init(), policy { $0.perDay = 0 })
    bench.pass(3600)
    #expect(bench.reload(widget) == ["refused 2 of 1: extension, no-reloads"])
    #expect(bench.decision.nextInstant == nil)
  }

  @Test func `spends no more in its window than it accrues in a day`() throws {
    let policy = policy {
      $0.perDay = 2
      $0.initial = 10
      $0.learningDays = 0
    }
    var account = BudgetAccount(policy, now: origin)
    for hour in 0..<2 {
      let verdict = account.decide(.app, policy, BudgetSituation(), now: origin + Double(hour) * 3600)
      #expect(verdict.verdict == .granted)
    }
    let third = account.decide(.app, policy, BudgetSituation(), now: origin + 7200)
    #expect(third == BudgetVerdict(.delayed, "window", until: origin + 86_400))
  }

  @Test(arguments: [(6.0, true), (24, false)])
  func `is passed over when a rarely seen widget is looked at`(staleAfter: Double, isFree: Bool) {
    var bench = Bench.placed(
      .init(),
      policy {
        $0.staleAfter = staleAfter
        $0.minimumSpacing = 86_400
      })
    bench.take(.seen([], isStandBy: false))
    bench.reload(widget)
    bench.pass(7 * 3600)
    let words = bench.take(.seen([1], isStandBy: false))
    #expect(words.contains("free 3 of 1: stale, stale") == isFree)
  }

  @Test func `comes to the same from the same events`() {
    func ledger() -> [String] {
      var bench = Bench.placed(policyOfTimeline: .after(origin + 600))
      for id in 2...5 { bench.place(id) }
      var words = bench.giveAll(.after(origin + 600))
      while bench.now < origin + 86_400 {
        words += bench.next()
        words += bench.giveAll(.after(bench.now + 420))
      }
      return words
    }
    let first = ledger()
    #expect(first == ledger())
    #expect(first.count > 500)
  }
}
