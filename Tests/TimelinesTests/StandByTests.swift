import Conversations
import Foundation
import Testing

@testable import Timelines

@Suite struct `StandBy` {
  private static let begins = TimelineDecision.Event.seen([1], isStandBy: true)
  private static let ends = TimelineDecision.Event.seen([1], isStandBy: false)

  private func policy(_ change: (inout BudgetPolicy) -> Void) -> BudgetPolicy {
    var policy = BudgetPolicy()
    change(&policy)
    return policy
  }

  @Test(arguments: [900.0, 60])
  func `asks by itself for what it shows, free, so often as the policy says, and elsewhere nobody does`(every: Double) {
    var bench = Bench.placed(.init(), policy { $0.standByEvery = every })
    #expect(bench.due == nil)
    #expect(bench.take(Self.begins) == [])
    for reload in 2...4 {
      #expect(bench.due == every)
      #expect(bench.next() == ["free \(reload) of 1: standBy, standBy", "want widget"])
      #expect(bench.due == nil, "it is owed")
      bench.giveAll()
    }
    bench.take(Self.ends)
    #expect(bench.due == nil)
  }

  @Test func `asks by itself at once for what is older than that`() {
    var bench = Bench.placed()
    bench.pass(7200)
    #expect(bench.take(Self.begins) == ["free 2 of 1: standBy, standBy", "want widget"])
  }

  @Test func `asks for nothing by itself where the policy says none`() {
    var bench = Bench.placed(.init(), policy { $0.standByEvery = nil })
    bench.pass(7200)
    #expect(bench.take(Self.begins) == [])
    #expect(bench.due == nil)
  }

  @Test func `brings what waits for its payment, and waits for what is tried again`() {
    var bench = Bench.placed(.init(), policy { $0.minimumSpacing = 86_400 })
    bench.take(Self.begins)
    #expect(bench.reload(widget) == ["delayed 2 of 1: extension, minimum-spacing"])
    #expect(bench.due == 900)
    #expect(
      bench.next() == ["merged 2 of 1: extension, newer-reload", "free 3 of 1: standBy, standBy", "want widget"])
    bench.take(.awake(widget))
    bench.fail()
    #expect(bench.next() == ["free 3 of 1: standBy, tried-again", "want widget"])
  }

  @Test func `asks no oftener where a policy's file says that it costs`() {
    func priced(_ change: (inout BudgetPolicy) -> Void) -> Bench {
      var bench = Bench.placed(
        .init(),
        policy {
          $0.freeCauses.remove(.standBy)
          change(&$0)
        })
      bench.take(Self.begins)
      return bench
    }
    var bench = priced { $0.perDay = 0 }
    #expect(bench.next() == ["refused 2 of 1: standBy, no-reloads"])
    #expect(bench.due == 900)
    var dear = priced { $0.minimumSpacing = 86_400 }
    #expect(dear.next() == ["delayed 2 of 1: standBy, minimum-spacing"])
    #expect(dear.due == 900)
  }

  @Test func `asks nothing of an extension that has the kind no longer, and once on a locked device`() {
    var renamed = Bench.placed()
    renamed.knows(["Tea"])
    renamed.take(Self.begins)
    #expect(renamed.due == nil)
    var locked = Bench.placed()
    locked.take(.withheld([widget: .locked]))
    locked.take(Self.begins)
    #expect(locked.next() == ["delayed 2 of 1: standBy, device-locked"])
    #expect(locked.due == nil)
  }
}
