// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing

@testable import ZeroMQ

@Suite(.timeLimit(.minutes(1)))
struct LoopTests {
  /// An actor on the loop that leaves the loop and resumes on it.
  actor Resident {
    let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    init(_ loop: Loop) { self.loop = loop }

    @concurrent static func elsewhere(_ loop: Loop) async -> Bool { loop.isCurrent }

    func visit() async -> [Bool] {
      var seen = [loop.isCurrent]
      seen.append(await Self.elsewhere(loop))
      seen.append(loop.isCurrent)
      await withCheckedContinuation { continuation in Task.detached { continuation.resume() } }
      seen.append(loop.isCurrent)
      return seen
    }

    func assumed() -> Bool { loop.isCurrent }
  }

  @Test func `an actor on the loop runs on the loop and resumes on it after each await`() async throws {
    try await withLoop { _, loop in
      #expect(!loop.isCurrent)
      #expect(await Resident(loop).visit() == [true, false, true, true])
    }
  }

  @Test func `a task of the loop runs on the loop, and a posted job may assume an actor's isolation`() async throws {
    try await withLoop { _, loop in
      let (seen, sink) = AsyncStream<Bool>.makeStream()
      await loop.task { sink.yield(loop.isCurrent) }.value
      let isOfTask = try await seen.next()
      #expect(isOfTask)
      let resident = Resident(loop)
      loop.post { sink.yield(resident.assumeIsolated { $0.assumed() }) }
      let isOfJob = try await seen.next()
      #expect(isOfJob)
    }
  }

  @Test func `posted jobs run in order, whether the loop sleeps or not`() async throws {
    try await withLoop { _, loop in
      let (seen, sink) = AsyncStream<Int>.makeStream()
      for number in 0..<5_000 { loop.post { sink.yield(number) } }
      var expected = 0
      for await number in seen {
        #expect(number == expected)
        expected += 1
        if expected == 5_000 { break }
      }
      // The next job runs whether the loop sleeps again or not.
      loop.post { sink.yield(-1) }
      let last = try await seen.next()
      #expect(last == -1)
    }
  }

  @Test func `a job that is posted soon runs in order, with the next one or by itself`() async throws {
    try await withLoop { _, loop in
      let (seen, sink) = AsyncStream<Int>.makeStream()
      for number in 0..<300 {
        // The loop sleeps between some of them.
        if number % 100 == 99 { await loop.task {}.value }
        if number % 7 == 0 { loop.post { sink.yield(number) } } else { loop.postSoon { sink.yield(number) } }
      }
      var expected = 0
      for await number in seen {
        #expect(number == expected)
        expected += 1
        if expected == 300 { break }
      }
    }
  }

  @Test func `a job that is posted soon runs without another reason`() async throws {
    try await withLoop { _, loop in
      for _ in 0..<5 {
        await loop.task {}.value
        await withCheckedContinuation { continuation in loop.postSoon { continuation.resume() } }
      }
    }
  }

  @Test func `timers are due in the order of their deadlines, then of their creation`() {
    var timers = Timers()
    let fired = Mutex<[String]>([])
    for (raw, deadline, name) in [(1, 30, "fourth"), (2, 10, "first"), (3, 20, "second"), (4, 20, "third")] {
      timers.insert(TimerID(raw: UInt64(raw)), deadline: UInt64(deadline)) { fired.withLock { $0.append(name) } }
    }
    while let action = timers.takeDue(30) { action() }
    #expect(fired.withLock { $0 } == ["first", "second", "third", "fourth"])
  }

  /// Of two timers with equal durations the later one fires later, however long the thread is preempted between them.
  @Test func `timers fire on the loop and in order, whichever thread set them`() async throws {
    try await withLoop { _, loop in
      let (fired, sink) = AsyncStream<String>.makeStream()
      loop.after(.milliseconds(10)) { sink.yield("first \(loop.isCurrent)") }
      loop.after(.milliseconds(10)) { sink.yield("second \(loop.isCurrent)") }
      loop.post {
        loop.after(.milliseconds(10)) { sink.yield("third \(loop.isCurrent)") }
        loop.after(.milliseconds(10)) { sink.finish() }
      }
      var seen: [String] = []
      for await name in fired { seen.append(name) }
      #expect(seen == ["first true", "second true", "third true"])
    }
  }

  @Test func `a timer never fires early`() async throws {
    try await withLoop { _, loop in
      let begin = SuspendingClock.now
      await withCheckedContinuation { continuation in loop.after(.milliseconds(7)) { continuation.resume() } }
      #expect(SuspendingClock.now - begin >= .milliseconds(7))
    }
  }

  @Test func `a cancelled timer does not fire, whichever thread cancelled it`() async throws {
    try await withLoop { _, loop in
      let (fired, sink) = AsyncStream<String>.makeStream()
      // The loop is blocked until the first timer is cancelled.
      let cancelled = DispatchSemaphore(value: 0)
      loop.post { _ = cancelled.wait(timeout: .now() + 60) }
      let outside = loop.after(.milliseconds(5)) { sink.yield("cancelled outside") }
      loop.cancel(outside)
      cancelled.signal()
      loop.post {
        let inside = loop.after(.milliseconds(5)) { sink.yield("cancelled inside") }
        loop.cancel(inside)
      }
      loop.after(.milliseconds(20)) {
        sink.yield("kept")
        sink.finish()
      }
      var seen: [String] = []
      for await name in fired { seen.append(name) }
      #expect(seen == ["kept"])
    }
  }

  @Test func `cancelled timers are removed from the timer queue`() {
    var timers = Timers()
    for raw in 1...1_000 { timers.insert(TimerID(raw: UInt64(raw)), deadline: UInt64(2_000 - raw)) {} }
    let removed = (1...999).filter { timers.remove(TimerID(raw: UInt64($0))) }
    let isRemovedTwice = timers.remove(TimerID(raw: 5))
    let (next, early, due, rest) =
      (timers.nextDeadline(), timers.takeDue(999), timers.takeDue(1_000), timers.nextDeadline())
    #expect(removed.count == 999)
    #expect(!isRemovedTwice)
    #expect(next == 1_000)
    #expect(early == nil)
    #expect(due != nil)
    #expect(rest == nil)
  }

  @Test func `the loop may be stopped twice and from its own task, which runs to its end`() async throws {
    let loop = Loop(name: "test-loop")
    let context = try Context()
    let station = try await SocketFixture(context, kind: .router, on: loop)
    _ = try await station.bind()
    await loop.task {
      await loop.stop()
      await loop.stop()
    }.value
    await loop.task { await Task.yield() }.value
    await context.terminate()
  }

  @Test func `a job that is posted after the loop stopped is dropped, and an actor's call still runs`() async throws {
    let loop = Loop(name: "test-loop")
    await loop.stop()
    let ran = Atomic(false)
    loop.post { ran.store(true, ordering: .relaxed) }
    #expect(await Resident(loop).visit() == [true, false, true, true])
    let hasRun = ran.load(ordering: .relaxed)
    #expect(!hasRun)
  }
}
