import Archive
import Conversations
import Foundation
import Testing

@testable import Timelines

/// What Timelines makes of widget pushes. "Spaced" is a budget whose reloads need not be apart.
@Suite struct `a widget push at a placement` {
  private static let spaced: BudgetPolicy = {
    var policy = BudgetPolicy()
    policy.minimumSpacing = 0
    return policy
  }()

  private func bench(_ policy: BudgetPolicy = spaced, dates: [Double] = [0]) -> Bench {
    Bench.placed(TimelineSettings(), policy, dates: dates)
  }

  @Test func `is paid from the budget, and stored with the timeline that was asked for after it`() {
    var bench = bench()
    #expect(bench.push(1) == ["granted 2 of 1: push, budget", "want widget", "push 1 at 1: owed"])
    #expect(bench.giveAll() == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget", "push 1 at 1: stored"])
  }

  @Test func `is taken once, while it is owed and when its timeline is stored`() {
    var bench = bench()
    bench.push(1)
    #expect(bench.push(1) == [])
    bench.giveAll()
    #expect(bench.push(1) == [])
    #expect(bench.decision.pushes[1]?.map(\.state) == [.stored])
  }

  @Test func `waits as long as the budget says, by its rule`() {
    var bench = bench(BudgetPolicy())
    let words = bench.push(1)
    #expect(words == ["delayed 2 of 1: push, minimum-spacing", "push 1 at 1: delayed, minimum-spacing"])
    #expect(bench.next() == ["granted 2 of 1: push, budget", "want widget", "push 1 at 1: owed"])
    #expect(bench.giveAll().last == "push 1 at 1: stored")
  }

  @Test func `is refused where no budget pays`() {
    var policy = Self.spaced
    policy.perDay = 0
    var bench = bench(policy)
    #expect(bench.push(1) == ["refused 2 of 1: push, no-reloads", "push 1 at 1: refused, no-reloads"])
  }

  @Test func `costs nothing in developer mode`() {
    var settings = TimelineSettings()
    settings.developerMode = true
    var bench = Bench.placed(settings)
    #expect(bench.push(1).first == "free 2 of 1: push, developer-mode")
  }

  @Test func `takes the place of one that was not asked for, and the newer timeline stands for both`() {
    var bench = bench()
    bench.push(1)
    let words = bench.push(2)
    #expect(
      words == [
        "merged 2 of 1: push, newer-reload", "free 3 of 1: push, paid-before", "want widget", "push 1 at 1: superseded",
        "push 2 at 1: owed",
      ])
    #expect(bench.giveAll().last == "push 2 at 1: stored")
  }

  @Test func `that comes while the extension is asked for an earlier one is asked for again`() {
    var bench = bench()
    bench.push(1)
    bench.take(.awake(widget))
    #expect(bench.push(2).last == "push 2 at 1: owed")
    #expect(bench.give() == ["shown 1: 0.0", "ask 1 Coffee timeline", "push 1 at 1: stored"])
    #expect(bench.give().last == "push 2 at 1: stored")
  }

  @Test func `is done by another's reload that stands for it`() {
    var bench = bench()
    bench.push(1)
    bench.reload()
    #expect(bench.giveAll().last == "push 1 at 1: stored")
  }

  @Test func `fails when its reload does, and is stored when that is tried again`() {
    var bench = bench()
    bench.push(1)
    bench.take(.awake(widget))
    #expect(bench.fail().last == "push 1 at 1: failed, it failed")
    bench.next()
    #expect(bench.giveAll().last == "push 1 at 1: stored")
  }

  @Test func `comes to nothing when the kind is gone`() {
    var bench = bench()
    bench.push(1)
    bench.knows(["Tea"])
    #expect(bench.take(.awake(widget)).last?.hasPrefix("push 1 at 1: gave up, ") == true)
  }

  @Test func `leaves the policy's own next reload to come`() {
    var bench = bench()
    bench.push(1)
    bench.giveAll(.after(bench.now + 3600))
    bench.pass(10)
    bench.push(2)
    bench.giveAll(.after(bench.now + 3600))
    #expect(bench.due == 3600)
    #expect(bench.next().first == "granted 4 of 1: policy, budget")
  }

  @Test func `is remembered over the host's death`() throws {
    var bench = bench()
    bench.push(1)
    bench.giveAll()
    let placed = try #require(bench.decision.placements[1])
    let kept = try BodyCoding.decode(Placed.self, from: Array(BodyCoding.data(placed)))
    #expect(kept == placed)
    #expect(kept.knows(push: .push(1)))
  }
}

extension Bench {
  @discardableResult
  fileprivate mutating func push(_ number: Int, at placement: Int = 1) -> [String] {
    take(.reloadOne(placement, .push, Story(correlation: .push(number))))
  }
}
