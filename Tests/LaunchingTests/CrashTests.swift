import Conversations
import Foundation
import Testing

@testable import Launching

private typealias Bench = LaunchBench
private let widget = Bench.widget
private let first = Bench.first

/// What becomes of a process that ends again and again, or has too much memory.
@Suite struct CrashTests {
  @Test(arguments: [Ending.signalled(signal: SIGSEGV), .exited(code: 0)])
  func `a process that crashes again at what it is wanted for is backed off: not at first, then 1 s, doubling`(
    ending: Ending
  ) {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    for (index, pause) in [0.0, 1, 2, 4].enumerated() {
      let life = Life(generation: UInt32(index + 1), pid: 5)
      _ = bench.take(.spawned(widget, life))
      _ = bench.take(.ready(widget, generation: life.generation))
      let ended = LaunchDecision.Answer.intent(.ended(widget, life, ending))
      let spawn = LaunchDecision.Answer.spawn(widget, reason: "timeline")
      #expect(bench.take(.exited(widget, life, ending)) == (pause == 0 ? [ended, spawn] : [ended]))
      guard pause > 0 else { continue }
      #expect(bench.process?.why == "\(ending); \(index + 1) failures in a row, left alone for \(Int(pause)) s")
      #expect(bench.decision.nextInstant(after: bench.now) == bench.now + pause)
      bench.now += pause
      #expect(bench.take(.instantCame) == [spawn])
    }
  }

  @Test func `a process that is killed again and again is spawned at once each time, and crashes are forgotten`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    for (number, signal) in [SIGSEGV, SIGKILL, SIGKILL, SIGSEGV].enumerated() {
      let life = Life(generation: UInt32(number + 1), pid: 5)
      _ = bench.take(.spawned(widget, life))
      _ = bench.take(.ready(widget, generation: life.generation))
      let answers = bench.take(.exited(widget, life, .signalled(signal: signal)))
      #expect(answers.last == .spawn(widget, reason: "timeline"))
    }
  }

  @Test func `a process over its memory limit is killed, and left alone a while also if it is wanted`() {
    var bench = Bench()
    bench.launch()
    let answers = bench.decision.take(.exceededMemory(widget, first, why: "too much"), now: bench.now)
    let dying = ProcessState(address: widget, generation: 1, state: "dying", why: "too much")
    #expect(answers == [.changed(dying), .signal(widget, generation: 1, signal: SIGKILL)])
    #expect(bench.take(.exceededMemory(widget, first, why: "too much")) == [])
    let end = bench.take(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(end == [.intent(.ended(widget, first, .evicted(why: "too much")))])
    #expect(bench.process?.why == "evicted: too much; left alone for 1 s")
    #expect(bench.decision.nextInstant(after: bench.now) == bench.now + 1)
    bench.now += 1
    #expect(bench.take(.instantCame) == [.spawn(widget, reason: "timeline")])
  }

  @Test func `evictions for memory are backed off like crashes on launch, until a life was suspended`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    for (index, pause) in [1.0, 2, 4].enumerated() {
      let life = Life(generation: UInt32(index + 1), pid: 5)
      _ = bench.take(.spawned(widget, life))
      _ = bench.take(.ready(widget, generation: life.generation))
      _ = bench.take(.exceededMemory(widget, life, why: "too much"))
      _ = bench.take(.exited(widget, life, .signalled(signal: SIGKILL)))
      #expect(bench.decision.nextInstant(after: bench.now) == bench.now + pause)
      bench.now += pause
      #expect(bench.take(.instantCame) == [.spawn(widget, reason: "timeline")])
    }
    #expect(bench.process?.failures == 3)
    let last = Life(generation: 4, pid: 5)
    _ = bench.take(.spawned(widget, last))
    _ = bench.take(.ready(widget, generation: 4))
    _ = bench.take(.released(widget, Assertion("timeline")))
    bench.now += 1
    _ = bench.take(.instantCame)
    _ = bench.take(.signalled(widget, generation: 4, signal: SIGSTOP))
    #expect(bench.process?.failures == 0)
  }

  @Test func `a life may be over its memory limit before the spawn is answered`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    let answers = bench.take(.exceededMemory(widget, first, why: "too much"))
    #expect(answers == [.signal(widget, generation: 1, signal: SIGKILL)])
    #expect(bench.take(.spawned(widget, first)) == [])
    #expect(bench.process?.state == .dying)
  }

  @Test func `what an older life had of memory is nothing to the next`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.exited(widget, first, .exited(code: 0)))
    #expect(bench.take(.exceededMemory(widget, first, why: "too much")) == [])
    _ = bench.take(.spawned(widget, Life(generation: 2, pid: 102)))
    #expect(bench.take(.exceededMemory(widget, first, why: "too much")) == [])
    #expect(bench.process?.life?.generation == 2)
  }
}
