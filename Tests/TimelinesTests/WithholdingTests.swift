import Conversations
import Foundation
import MessageBus
import Testing
import Timekeeping

@testable import Timelines

/// What is owed to a placement whose extension's files a locked device closes.
@Suite(.timeLimit(.minutes(1))) struct `a withheld reload` {
  private static let locked = TimelineDecision.Event.withheld([widget: .locked])
  private static let unlocked = TimelineDecision.Event.withheld([:])

  @Test(arguments: [person, app, widget])
  func `a reload waits while no timeline could be stored, whoever asks, and is decided when one can`(asker: Address) {
    var bench = Bench.placed()
    bench.pass(3600)
    #expect(bench.take(Self.locked) == [])
    let cause = asker == person ? "operator" : asker == app ? "app" : "extension"
    #expect(bench.reload(asker) == ["delayed 2 of 1: \(cause), device-locked"])
    #expect(bench.decision.nextInstant == nil && !bench.decision.isBusy)
    #expect(bench.take(.inFront(app: app, true)) == [])
    #expect(bench.take(.awake(widget)) == [])
    bench.take(.inFront(app: app, false))
    #expect(bench.take(Self.locked) == [])
    let verdict = asker == person ? "free 2 of 1: operator, operator" : "granted 2 of 1: \(cause), budget"
    #expect(bench.take(Self.unlocked) == [verdict, "want widget"])
    #expect(bench.giveAll() == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget"])
  }

  @Test func `what the policy, a setting, a push or the placing asks for waits too`() {
    var bench = Bench.placed(policyOfTimeline: .after(origin + 3600))
    bench.take(Self.locked)
    #expect(bench.next() == ["delayed 2 of 1: policy, device-locked"])
    #expect(
      bench.take(.systemChanged("time", .none)) == [
        "merged 2 of 1: policy, newer-reload", "delayed 3 of 1: system, device-locked",
      ])
    #expect(bench.place(2) == ["delayed 4 of 2: added, device-locked"])
    let push = bench.take(.reloadOne(2, .push, Story(correlation: .push(1))))
    #expect(push.last == "push 1 at 2: delayed, device-locked")
    #expect(
      bench.take(.withheld([widget: .notUnlockedYet])) == [
        "delayed 3 of 1: system, before-first-unlock", "delayed 5 of 2: push, before-first-unlock",
        "push 1 at 2: delayed, before-first-unlock",
      ])
    #expect(bench.take(Self.unlocked).contains("free 3 of 1: system, system"))
  }

  @Test func `a reload that comes while the first one is withheld takes no place in the budget`() {
    var bench = Bench()
    bench.knows(["Coffee"])
    bench.take(Self.locked)
    #expect(bench.place(1) == ["delayed 1 of 1: added, device-locked"])
    #expect(bench.reload(app) == ["merged 1 of 1: added, newer-reload", "delayed 2 of 1: app, device-locked"])
    #expect(bench.take(Self.unlocked) == ["free 2 of 1: app, paid-before", "want widget"])
  }

  @Test func `one that waits for its payment is withheld when it can be paid`() {
    var bench = Bench.placed()
    #expect(bench.reload(widget) == ["delayed 2 of 1: extension, minimum-spacing"])
    #expect(bench.take(Self.locked) == [])
    #expect(bench.next() == ["delayed 2 of 1: extension, device-locked"])
    #expect(bench.take(Self.unlocked) == ["granted 2 of 1: extension, budget", "want widget"])
  }

  @Test func `one that is left alone after a failure is withheld when it is tried again`() {
    var bench = Bench.placed()
    bench.reload()
    bench.take(.awake(widget))
    bench.take(Self.locked)
    bench.fail()
    #expect(bench.take(Self.unlocked) == [], "it is left alone still")
    bench.take(Self.locked)
    #expect(bench.next() == ["delayed 2 of 1: operator, device-locked"])
    #expect(bench.take(Self.unlocked) == ["free 2 of 1: operator, paid-before", "want widget"])
  }

  @Test func `what was paid for before the device was locked waits too, and is not paid for again`() {
    var bench = Bench.placed()
    bench.pass(3600)
    #expect(bench.reload(widget) == ["granted 2 of 1: extension, budget", "want widget"])
    let balance = bench.decision.placements[1]?.account.balance
    #expect(bench.take(Self.locked) == ["delayed 2 of 1: extension, device-locked"])
    #expect(bench.take(.awake(widget)) == ["release widget"])
    #expect(
      bench.reload() == ["merged 2 of 1: extension, newer-reload", "delayed 3 of 1: operator, device-locked"])
    #expect(bench.take(Self.unlocked) == ["free 3 of 1: operator, paid-before", "want widget"])
    #expect(bench.decision.placements[1]?.account.balance == balance)
  }

  @Test func `what is being asked for when the device is locked is stored`() {
    var bench = Bench.placed()
    bench.reload()
    bench.place(2)
    bench.take(.awake(widget))
    #expect(bench.take(Self.locked) == ["delayed 3 of 2: added, device-locked"])
    #expect(bench.give() == ["shown 1: 0.0", "release widget"])
  }

  @Test func `the placeholder that is being asked for is, and the timeline waits`() {
    var bench = Bench()
    bench.knows(["Coffee"])
    bench.place(1)
    bench.take(.awake(widget))
    #expect(bench.take(Self.locked) == ["delayed 1 of 1: added, device-locked"])
    #expect(bench.giveAll() == ["release widget"])
    #expect(bench.take(Self.unlocked) == ["free 1 of 1: added, paid-before", "want widget"])
    #expect(bench.giveAll().first == "ask 1 Coffee timeline")
  }

  @Test func `an extension that dies while it is asked is not asked again on a locked device`() {
    var bench = Bench.placed()
    bench.reload()
    bench.take(.awake(widget))
    bench.take(Self.locked)
    #expect(
      bench.take(.lifeEnded(widget)) == [
        "stop widget", "delayed 2 of 1: operator, device-locked", "release widget",
      ])
    #expect(bench.take(Self.unlocked) == ["free 2 of 1: operator, paid-before", "want widget"])
  }

  @Test func `of an extension whose files are open is not`() {
    var bench = Bench.placed()
    bench.take(.withheld([other: .locked]))
    #expect(bench.reload() == ["free 2 of 1: operator, operator", "want widget"])
  }

  @Test func `a snapshot is asked for on a locked device too`() {
    var bench = Bench.placed()
    bench.take(Self.locked)
    #expect(bench.take(.snapshot(kind: "Coffee", family: nil, serial: 7)) == ["want widget"])
    #expect(bench.take(.awake(widget)) == ["ask 0 Coffee snapshot"])
  }

  @Test func `a reload is withheld over the host's death`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host()
    let process = try await scene.startExtension("95 mg")
    await keeper.awake(widget)
    _ = await scene.heard(TimelineStored.self)
    await keeper.withheld([widget: .locked])
    try await scene.reload("Coffee")
    #expect(try await keeper.list(ListBudget()).accounts.map(\.withheld) == [.locked])
    await scene.bus.disconnect(.host("iphone"))
    // The next host says that it is locked, as it was, and then that it is not.
    let second = try await scene.host(kinds: [], clock: HeldClock(origin + 86_400))
    await second.withheld([widget: .locked])
    await second.awake(widget)
    #expect(try await second.list(ListBudget()).entries.map(\.rule) == ["added", "device-locked"])
    await second.withheld([:])
    await second.awake(widget)
    _ = await scene.heard(TimelineStored.self, 2)
    #expect(try await second.list(ListBudget()).entries.map(\.rule) == ["added", "device-locked", "operator"])
    await process.leave()
  }
}
