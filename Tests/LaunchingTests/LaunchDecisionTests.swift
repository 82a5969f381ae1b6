import Conversations
import Foundation
import Testing
import Timekeeping

@testable import Launching

private typealias Bench = LaunchBench
private let agent = Bench.agent
private let widget = Bench.widget
private let first = Bench.first
private let origin = Bench.origin

@Suite struct LaunchDecisionTests {
  @Test func `a wanted process is spawned once, however often it is wanted`() {
    var bench = Bench()
    #expect(bench.take(.wanted(widget, Assertion("timeline"))) == [.spawn(widget, reason: "timeline")])
    #expect(bench.take(.wanted(widget, Assertion("events a"))) == [])
    #expect(bench.process?.state == .launching)
  }

  @Test func `nothing is spawned before the agent has said what it holds`() {
    var decision = LaunchDecision(agents: [widget: agent], suspendAfter: 1)
    #expect(decision.take(.wanted(widget, Assertion("timeline")), now: origin) == [])
    let child = ChildProcess(address: widget, generation: 3, pid: 7, isStopped: false)
    let answers = decision.take(.agentReported(agent, incarnation: UUID(), children: [child]), now: origin)
    #expect(!answers.contains { if case .spawn = $0 { true } else { false } })
    #expect(decision.processes[widget]?.life == Life(generation: 3, pid: 7))
  }

  @Test func `a process is handed things when it is ready and not before`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    #expect(bench.take(.spawned(widget, first)) == [])
    #expect(bench.take(.ready(widget, generation: 1)) == [.intent(.awake(widget, first, woken: true))])
  }

  @Test func `ready may come before the answer to the spawn`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    #expect(bench.take(.ready(widget, generation: 1)) == [])
    #expect(bench.take(.spawned(widget, first)) == [.intent(.awake(widget, first, woken: true))])
  }

  @Test func `an exit that comes before the answer to the spawn ends that life`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    let answers = bench.take(.exited(widget, first, .exited(code: 1)))
    #expect(answers == [.intent(.ended(widget, first, .exited(code: 1)))])
    #expect(bench.take(.spawned(widget, first)) == [])
    #expect(bench.process?.life == nil)
  }

  @Test func `a running process that is wanted once more was not woken`() {
    var bench = Bench()
    bench.launch()
    #expect(bench.take(.wanted(widget, Assertion("events a"))) == [.intent(.awake(widget, first, woken: false))])
  }

  @Test(arguments: [1.0, 7])
  func `a process with nothing to do is stopped after a while, and continued when it is wanted`(pause: Double) {
    var bench = Bench(suspendAfter: pause)
    bench.launch()
    #expect(bench.take(.released(widget, Assertion("timeline"))) == [])
    #expect(bench.decision.nextInstant(after: bench.now) == origin + pause)
    bench.now += pause
    #expect(bench.take(.instantCame) == [.signal(widget, generation: 1, signal: SIGSTOP)])
    _ = bench.take(.signalled(widget, generation: 1, signal: SIGSTOP))
    #expect(bench.process?.state == .suspended)
    #expect(bench.take(.wanted(widget, Assertion("events a"))) == [.signal(widget, generation: 1, signal: SIGCONT)])
    let answers = bench.take(.signalled(widget, generation: 1, signal: SIGCONT))
    #expect(answers == [.intent(.awake(widget, first, woken: true))])
  }

  @Test func `a process that is wanted while it is being stopped is continued, and only then handed things`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.released(widget, Assertion("timeline")))
    bench.now += 1
    _ = bench.take(.instantCame)
    #expect(bench.take(.wanted(widget, Assertion("events a"))) == [])
    let answers = bench.take(.signalled(widget, generation: 1, signal: SIGSTOP))
    #expect(answers == [.intent(.suspended(widget, first)), .signal(widget, generation: 1, signal: SIGCONT)])
  }

  @Test func `a stop that was not answered counts as carried out: a list cannot say that it never will be`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.released(widget, Assertion("timeline")))
    bench.now += 1
    #expect(bench.take(.instantCame) == [.signal(widget, generation: 1, signal: SIGSTOP)])
    let silence = BusError(.deadline, "no answer", isDefinite: false)
    #expect(
      bench.take(.signalFailed(widget, generation: 1, signal: SIGSTOP, silence))
        == [.intent(.suspended(widget, first))])
    #expect(bench.process?.state == .suspended)
    #expect(
      bench.take(.wanted(widget, Assertion("timeline"))) == [.signal(widget, generation: 1, signal: SIGCONT)])
  }

  @Test func `the end of a life is told even when the next one begins at once`() {
    var bench = Bench()
    bench.launch()
    let answers = bench.decision.take(
      .agentReported(agent, incarnation: UUID(), children: []), now: bench.now)
    let told = answers.compactMap { if case .changed(let state) = $0 { state } else { nil } }
    #expect(told.map(\.state) == ["absent", "launching"])
    #expect(told.first?.why == Ending.lostWithAgent.description)
    #expect(told.first?.generation == 1)
  }

  @Test func `a killed process that is wanted is spawned at once`() {
    var bench = Bench()
    bench.launch()
    let answers = bench.take(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(
      answers == [
        .intent(.ended(widget, first, .signalled(signal: SIGKILL))), .spawn(widget, reason: "timeline"),
      ])
  }

  @Test func `a stopped process that is killed stays absent until it is wanted`() {
    var bench = Bench()
    bench.launch()
    bench.sleepAndSuspend()
    let answers = bench.take(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(answers == [.intent(.ended(widget, first, .signalled(signal: SIGKILL)))])
    #expect(bench.process?.state == .absent)
    #expect(bench.take(.wanted(widget, Assertion("events a"))) == [.spawn(widget, reason: "events a")])
  }

  @Test(arguments: [(1.0, 60.0), (3, 10)])
  func `crashes on launch are backed off: 1 s, doubling to 60 s`(first: Double, most: Double) {
    var bench = Bench(backoff: Backoff(first: first, limit: most))
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    for (index, pause) in [1.0, 2, 4, 8, 16, 32, 64, 128].map({ min(first * $0, most) }).enumerated() {
      let life = Life(generation: UInt32(index + 1), pid: 5)
      _ = bench.take(.spawned(widget, life))
      let answers = bench.take(.exited(widget, life, .exited(code: 1)))
      #expect(answers == [.intent(.ended(widget, life, .exited(code: 1)))])
      let times = index == 0 ? "" : "\(index + 1) failures in a row, "
      #expect(bench.process?.why == "exit code 1 before it was ready; \(times)left alone for \(Int(pause)) s")
      #expect(bench.decision.nextInstant(after: bench.now) == bench.now + pause)
      bench.now += pause
      #expect(bench.take(.instantCame) == [.spawn(widget, reason: "timeline")])
    }
  }

  @Test func `a launch that failed is remembered with its cause until one succeeds`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    _ = bench.take(.spawnFailed(widget, BusError(.noSuchExecutable, "no Weather")))
    #expect(bench.process?.launchFailure?.code == .noSuchExecutable)
    #expect(bench.process?.launchFailure?.message == "\(widget.short) cannot be started: no Weather")
    bench.now += 1
    _ = bench.take(.instantCame)
    #expect(bench.process?.state == .launching)
    #expect(bench.process?.launchFailure != nil, "it has not succeeded yet")
    let life = Life(generation: 1, pid: 5)
    _ = bench.take(.spawned(widget, life))
    _ = bench.take(.exited(widget, life, .exited(code: 127), report: "/bin/Weather: no libnope.so"))
    let failure = bench.process?.launchFailure
    #expect(failure?.code == .endedAtLaunch)
    #expect(
      failure?.message == "\(widget.short) ended before it was ready, with exit code 127: /bin/Weather: no libnope.so")
    bench.now += 2
    _ = bench.take(.instantCame)
    _ = bench.take(.spawned(widget, Life(generation: 2, pid: 6)))
    _ = bench.take(.ready(widget, generation: 2))
    #expect(bench.process?.launchFailure == nil)
  }

  @Test(arguments: [Ending.signalled(signal: SIGKILL), .lostWithAgent, .exited(code: 0)])
  func `a kill from outside and the end of the agent are no launches that failed`(ending: Ending) {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    _ = bench.take(.spawned(widget, first))
    _ = bench.take(.exited(widget, first, ending))
    #expect((bench.process?.launchFailure != nil) == (ending == .exited(code: 0)))
  }

  @Test func `a launch that failed is tried again at once when a person asks, if it is wanted`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    _ = bench.take(.spawnFailed(widget, BusError(.notStarted, "no")))
    #expect(bench.take(.tryAgain(widget)) == [.spawn(widget, reason: "timeline")])
    _ = bench.take(.spawnFailed(widget, BusError(.notStarted, "no")))
    _ = bench.take(.released(widget, Assertion("timeline")))
    #expect(bench.take(.tryAgain(widget)).isEmpty)
  }

  @Test func `an exit that is told again says nothing new`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(bench.take(.exited(widget, first, .signalled(signal: SIGKILL))) == [])
  }

  @Test func `the children of a dead agent are lost when the new one comes without them`() {
    var bench = Bench()
    bench.launch()
    let answers = bench.take(.agentReported(agent, incarnation: UUID(), children: []))
    #expect(
      answers == [.intent(.ended(widget, first, .lostWithAgent)), .spawn(widget, reason: "timeline")])
  }

  @Test func `an agent that is the same keeps the exit of a child that it no longer lists`() {
    var bench = Bench()
    bench.launch()
    #expect(bench.take(.agentReported(agent, incarnation: bench.incarnation, children: [])) == [])
    #expect(bench.process?.life == first)
  }

  @Test func `a spawn that may have happened is settled by the agent's list`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    let lost = BusError(.deadline, "no answer", isDefinite: false)
    #expect(bench.take(.spawnFailed(widget, lost)) == [.list(agent: agent)])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    #expect(bench.take(.agentReported(agent, incarnation: bench.incarnation, children: [child])) == [])
    #expect(bench.process?.life == first)
  }

  @Test func `a spawn that did not happen is asked for again`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    _ = bench.take(.spawnFailed(widget, BusError(.deadline, "no answer", isDefinite: false)))
    #expect(bench.take(.agentReported(agent, incarnation: bench.incarnation, children: [])) == [.pause(widget)])
    #expect(bench.take(.wanted(widget, Assertion("events a"))) == [])
    // Not of the device's time, which may be held.
    #expect(bench.take(.pauseEnded(widget)) == [.spawn(widget, reason: "events a, timeline")])
  }

  @Test func `an evicted process is killed, and launched again only if somebody still wants it`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.released(widget, Assertion("timeline")))
    let answers = bench.take(.evicted(widget, generation: 1, why: "late"))
    #expect(answers == [.signal(widget, generation: 1, signal: SIGKILL)])
    #expect(bench.process?.state == .dying)
    #expect(bench.take(.evicted(widget, generation: 1, why: "late")) == [])
    #expect(
      bench.take(.exited(widget, first, .signalled(signal: SIGKILL)))
        == [.intent(.ended(widget, first, .evicted(why: "late")))])
    #expect(bench.process?.lastEnding == .evicted(why: "late"))
    #expect(bench.process?.why == "evicted: late")
  }

  @Test func `a process that ended by itself while it was being evicted says how`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.evicted(widget, generation: 1, why: "late"))
    let answers = bench.take(.exited(widget, first, .exited(code: 0)))
    #expect(answers.first == .intent(.ended(widget, first, .exited(code: 0))))
    #expect(answers.last == .spawn(widget, reason: "timeline"))
  }

  @Test func `a kill that failed is repeated when the agent still holds the life`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.exceededMemory(widget, first, why: "too much"))
    let absent = BusError(.unreachable, "no agent")
    let failed = bench.take(.signalFailed(widget, generation: 1, signal: SIGKILL, absent))
    #expect(failed == [.list(agent: agent)])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let answers = bench.take(.agentReported(agent, incarnation: bench.incarnation, children: [child]))
    #expect(answers == [.signal(widget, generation: 1, signal: SIGKILL)])
  }

  @Test func `a process whose agent could not be told to continue it is continued after a pause of the machine's time`()
  {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.released(widget, Assertion("timeline")))
    bench.now += 1
    _ = bench.take(.instantCame)
    _ = bench.take(.signalled(widget, generation: 1, signal: SIGSTOP))
    let go = LaunchDecision.Answer.signal(widget, generation: 1, signal: SIGCONT)
    #expect(bench.take(.wanted(widget, Assertion("events a"))) == [go])
    let absent = BusError(.unreachable, "no agent")
    let failed = bench.take(.signalFailed(widget, generation: 1, signal: SIGCONT, absent))
    #expect(failed == [.pause(widget), .list(agent: agent)])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: true)
    #expect(bench.take(.agentReported(agent, incarnation: bench.incarnation, children: [child])) == [])
    #expect(bench.decision.nextInstant(after: bench.now) == nil)
    #expect(bench.take(.pauseEnded(widget)) == [go])
  }

  @Test func `an app that dies in front is not brought back`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, .foreground))
    _ = bench.take(.spawned(widget, first))
    _ = bench.take(.ready(widget, generation: 1))
    let answers = bench.take(.exited(widget, first, .signalled(signal: SIGSEGV)))
    #expect(answers == [.intent(.ended(widget, first, .signalled(signal: SIGSEGV)))])
  }

  @Test func `a process that is wanted while its stop fails is handed things when the agent says that it runs`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.released(widget, Assertion("timeline")))
    bench.now += 1
    #expect(bench.take(.instantCame) == [.signal(widget, generation: 1, signal: SIGSTOP)])
    #expect(bench.take(.wanted(widget, Assertion("events a"))) == [])
    let absent = BusError(.unreachable, "no agent")
    let failed = bench.take(.signalFailed(widget, generation: 1, signal: SIGSTOP, absent))
    #expect(failed == [.list(agent: agent)])
    // Nothing is due for a process that somebody wants: an instant of the past would be due for ever.
    #expect(bench.decision.nextInstant(after: bench.now) == nil)
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let answers = bench.take(.agentReported(agent, incarnation: bench.incarnation, children: [child]))
    #expect(answers == [.intent(.awake(widget, first, woken: false))])
  }

  @Test func `a late answer to an older spawn says nothing of the one that is under way`() {
    var bench = Bench()
    _ = bench.take(.wanted(widget, Assertion("timeline")))
    _ = bench.take(.ready(widget, generation: 1))
    let answers = bench.take(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(answers.last == .spawn(widget, reason: "timeline"))
    #expect(bench.take(.spawned(widget, first)) == [])
    let refused = BusError(.alreadyRunning, "it lives")
    #expect(bench.take(.spawnFailed(widget, refused)) == [.list(agent: agent)])
    #expect(bench.process?.state == .absent)
  }

  @Test func `a life that the agent never named is asked for when it says that it is ready`() {
    var bench = Bench()
    #expect(bench.take(.ready(widget, generation: 1)) == [.list(agent: agent)])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let answers = bench.take(.agentReported(agent, incarnation: bench.incarnation, children: [child]))
    #expect(answers == [.intent(.awake(widget, first, woken: true))])
    #expect(bench.process?.state == .running)
  }

  @Test func `a process that is halted is stopped at once, in the middle of what it does`() {
    var bench = Bench()
    bench.launch()
    let stop = LaunchDecision.Answer.signal(widget, generation: 1, signal: SIGSTOP)
    #expect(bench.take(.halted(widget, Assertion("timeline"))) == [stop])
    let stopped = bench.take(.signalled(widget, generation: 1, signal: SIGSTOP))
    #expect(stopped == [.intent(.suspended(widget, first))])
  }

  @Test func `a process that somebody else wants is not halted`() {
    var bench = Bench()
    bench.launch()
    _ = bench.take(.wanted(widget, Assertion("events a")))
    #expect(bench.take(.halted(widget, Assertion("timeline"))) == [])
    #expect(bench.process?.state == .running)
  }
}
