import Conversations
import Foundation
import Testing

@testable import Timelines

@Suite(.timeLimit(.minutes(1))) struct `a significant change of location` {
  private let bundles: Set<String> = [widget.bundleIdentifier ?? ""]

  @Test func `reloads at once what is seen, and the rest when it is seen next, and costs nothing`() {
    var bench = Bench.placed()
    bench.place(2)
    bench.giveAll()
    bench.take(.seen([1], isStandBy: false))
    #expect(bench.take(.moved(bundles: bundles, .none)) == ["free 3 of 1: location, location", "want widget"])
    bench.giveAll()
    let balance = bench.decision.placements[2]?.account.balance
    // Moved twice, it is reloaded once.
    bench.take(.moved(bundles: bundles, .none))
    bench.giveAll()
    #expect(bench.take(.seen([1, 2], isStandBy: false)) == ["free 5 of 2: location, location", "want widget"])
    #expect(bench.decision.placements[2]?.account.balance == balance)
    bench.giveAll()
    bench.take(.seen([1], isStandBy: false))
    #expect(bench.take(.seen([1, 2], isStandBy: false)).isEmpty)
  }

  @Test func `is nothing to widgets that do not want the location`() {
    var bench = Bench.placed()
    #expect(bench.take(.moved(bundles: [], .none)).isEmpty)
    #expect(bench.take(.moved(bundles: ["org.other.Widget"], .none)).isEmpty)
    bench.take(.seen([], isStandBy: false))
    bench.take(.moved(bundles: ["org.other.Widget"], .none))
    #expect(bench.take(.seen([1], isStandBy: false)).isEmpty)
  }

  @Test func `brings free what waited for the budget`() {
    var bench = Bench.placed()
    bench.take(.seen([], isStandBy: false))
    bench.take(.moved(bundles: bundles, .none))
    bench.reload(widget)
    #expect(
      bench.take(.seen([1], isStandBy: false)) == [
        "merged 2 of 1: extension, newer-reload", "free 3 of 1: location, location", "want widget",
      ])
  }

  @Test func `is owed over the host's death`() async throws {
    let scene = try KeeperScene()
    let first = try await scene.host(kinds: ["Coffee", "Tea"])
    await first.seen([2], isStandBy: false)
    let told = try await first.moved(bundles)
    #expect(told == MoveDevice.Reply(reloaded: [2], whenSeen: [1]))
    let second = try await scene.host(kinds: [], clock: scene.clock)
    #expect(await second.decision.placements[1]?.hasMoved == true)
    await second.seen([1, 2], isStandBy: false)
    let owed = try #require(await second.decision.placements[1]?.owed)
    #expect(owed.because == .location && owed.isPaid)
  }
}
