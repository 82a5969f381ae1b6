import Conversations
import Foundation
import GRDB
import Testing
import Timekeeping

@testable import Launching

private let agent = Address.agent("iphone", 1)
private let app = Address.app("iphone", "com.example.App")
private let first = Life(generation: 1, pid: 101)
private let second = Life(generation: 2, pid: 102)
private let origin = Date(timeIntervalSince1970: 1_000_000_000)

/// A decision about an app that a person has opened.
private struct Bench {
  var decision = LaunchDecision(agents: [app: agent], suspendAfter: 1)

  init() {
    _ = decision.take(.agentReported(agent, incarnation: UUID(), children: []), now: origin)
    _ = take(.wanted(app, .foreground))
    _ = take(.spawned(app, first))
    _ = take(.ready(app, generation: 1))
  }

  mutating func take(_ event: LaunchDecision.Event) -> [LaunchDecision.Answer] {
    decision.take(event, now: origin).filter { if case .changed = $0 { false } else { true } }
  }

  var process: LaunchDecision.Process? { decision.processes[app] }
}

@Suite struct `what a person does to an app` {
  private let kill = LaunchDecision.Answer.signal(app, generation: 1, signal: SIGKILL)
  private let crashed = LaunchDecision.Answer.intent(.ended(app, first, .signalled(signal: SIGKILL)))
  private func ended(_ why: String) -> LaunchDecision.Answer { .intent(.ended(app, first, .evicted(why: why))) }
  private let death = LaunchDecision.Event.exited(app, first, .signalled(signal: SIGKILL))

  @Test func `an app that a person ends is killed and not started for its events`() {
    var bench = Bench()
    #expect(bench.take(.quit(app)) == [kill])
    #expect(bench.take(.wanted(app, Assertion("events a"))) == [])
    #expect(bench.take(death) == [ended("ended by a person")])
    #expect(bench.take(.wanted(app, Assertion("events b"))) == [])
    #expect(bench.process?.state == .absent)
  }

  @Test func `it is started when a person opens it, and then for its events too`() {
    var bench = Bench()
    _ = bench.take(.quit(app))
    _ = bench.take(death)
    _ = bench.take(.wanted(app, Assertion("events a")))
    #expect(bench.take(.wanted(app, .foreground)) == [.spawn(app, reason: "events a, foreground")])
    #expect(bench.process?.isQuit == false)
  }

  @Test func `it is started when a person touches a control whose intent it performs`() {
    var bench = Bench()
    _ = bench.take(.quit(app))
    _ = bench.take(death)
    #expect(bench.take(.wanted(app, .interaction)) == [.spawn(app, reason: "interaction")])
    #expect(bench.process?.isQuit == false)
  }

  @Test func `an app that plays goes on behind the front, and is not started again for that when it dies`() {
    var bench = Bench()
    _ = bench.take(.wanted(app, .activity))
    _ = bench.take(.released(app, .foreground))
    #expect(bench.decision.nextInstant(after: origin) == nil)
    #expect(bench.take(death) == [crashed])
    #expect(bench.process?.state == .absent && bench.process?.assertions == [])
  }

  @Test func `one that is opened while it dies lives again`() {
    var bench = Bench()
    _ = bench.take(.quit(app))
    #expect(bench.take(.wanted(app, .foreground)) == [])
    #expect(bench.take(death) == [ended("ended by a person"), .spawn(app, reason: "foreground")])
  }

  @Test func `an app that crashes in front is not started again`() {
    var bench = Bench()
    #expect(bench.take(death) == [crashed])
    #expect(bench.process?.state == .absent)
  }

  @Test func `one that is just being started is killed as soon as its life is known`() {
    var bench = Bench()
    _ = bench.take(death)
    _ = bench.take(.wanted(app, .foreground))
    #expect(bench.take(.quit(app)) == [])
    #expect(bench.take(.spawned(app, second)) == [.signal(app, generation: 2, signal: SIGKILL)])
  }

  @Test func `what is held back is killed, and is over when its agent says so`() {
    var bench = Bench()
    _ = bench.take(.wanted(app, Assertion("events a")))
    #expect(bench.take(.heldBack(app, why: "updated")) == [kill])
    #expect(!bench.decision.isOver(app))
    #expect(bench.take(death) == [ended("updated")])
    #expect(bench.decision.isOver(app))
    #expect(bench.take(.letGo(app)) == [.spawn(app, reason: "events a")])
  }

  @Test func `nobody knows that it is over before its agent was heard`() {
    var decision = LaunchDecision(agents: [app: agent], suspendAfter: 1)
    #expect(!decision.isOver(app))
    _ = decision.take(.heldBack(app, why: "updated"), now: origin)
    let child = ChildProcess(address: app, generation: 1, pid: 101, isStopped: true)
    let answers = decision.take(.agentReported(agent, incarnation: UUID(), children: [child]), now: origin)
    #expect(answers.contains(kill))
    #expect(!decision.isOver(app))
  }

  @Test func `that a person ended it is known over the host's death`() throws {
    let store = try LaunchStore(DatabaseQueue())
    var bench = Bench()
    let before = bench.decision
    _ = bench.take(.quit(app))
    try store.save(bench.decision, since: before)
    #expect(try store.processes()[app]?.isQuit == true)
  }
}
