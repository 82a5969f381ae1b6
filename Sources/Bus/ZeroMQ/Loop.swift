// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc
import Synchronization

/// One thread that sleeps in `poll`. It owns all sockets that are created on it, and is the serial and the task
/// executor of the actors that use them.
///
/// In one turn it receives up to 256 messages from each readable socket and calls its handlers, runs the jobs that were
/// posted or enqueued before, fires the timers that are due, and sleeps. An idle loop does not wake up. Work on the
/// loop must be short and never block.
///
/// An actor runs on the loop when it declares
/// `nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }`.
package final class Loop: SerialExecutor, TaskExecutor {
  private enum Work: Sendable {
    case posted(@Sendable () -> Void)
    case job(UnownedJob)
  }

  private enum Phase {
    /// The thread polls.
    case running
    /// The thread closes the sockets and runs the remaining jobs.
    case stopping
    /// No thread runs.
    case stopped
    /// A thread runs the jobs of tasks that outlived the loop, and nothing else.
    case finishing
  }

  private struct Inbox {
    var phase = Phase.running
    var work: [Work] = []
    var isAsleep = false
    /// Whether the timer of `postSoon` is running.
    var isTimerSet = false
    var thread: pthread_t?
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let name: String
  private let inbox = Mutex(Inbox())
  private let wakeDescriptor: Int32
  private let timerDescriptor: Int32
  private let currentThread = Atomic<UInt>(0)
  private let timerIDs = Atomic<UInt64>(0)
  // Accessed on the loop's thread only: `confined` is the single accessor and checks the thread.
  private nonisolated(unsafe) let loopState: LoopState

  /// Starts the thread. `ps -L` shows the first 15 bytes of the name. Without a thread or a descriptor the process
  /// traps with the reason.
  package init(name: String) {
    self.name = name
    wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    precondition(wakeDescriptor >= 0, "eventfd for \(name): \(String(cString: strerror(errno)))")
    timerDescriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
    precondition(timerDescriptor >= 0, "timerfd for \(name): \(String(cString: strerror(errno)))")
    loopState = LoopState(wakeDescriptor: wakeDescriptor, timerDescriptor: timerDescriptor)
    let thread = startThread(name: name, detached: false) { self.run() }
    inbox.withLock { $0.thread = thread }
  }

  deinit {
    close(wakeDescriptor)
    close(timerDescriptor)
  }

  // MARK: Any thread

  /// Runs a job on the loop, in the order of posting. A burst costs one write to an eventfd, and no write while the
  /// loop is awake. After `stop()` was called the job is dropped.
  package func post(_ job: @escaping @Sendable () -> Void) {
    let mustWake = inbox.withLock { box -> Bool in
      guard box.phase == .running else { return false }
      box.work.append(.posted(job))
      defer { box.isAsleep = false }
      return box.isAsleep
    }
    if mustWake { wake() }
  }

  /// Runs a job on the loop, in the order of posting, when the loop wakes for another reason, and after 2 ms at the latest.
  /// A burst of such jobs wakes the thread once. After `stop()` was called the job is dropped.
  package func postSoon(_ job: @escaping @Sendable () -> Void) {
    let mustSet = inbox.withLock { box -> Bool in
      guard box.phase == .running else { return false }
      box.work.append(.posted(job))
      guard box.isAsleep, !box.isTimerSet else { return false }
      box.isTimerSet = true
      return true
    }
    guard mustSet else { return }
    var limit = itimerspec()
    limit.it_value.tv_nsec = 2_000_000
    timerfd_settime(timerDescriptor, 0, &limit, nil)
  }

  /// True on the loop's thread.
  package var isCurrent: Bool { currentThread.load(ordering: .relaxed) == pthread_self() }

  /// Starts a task whose code runs on the loop unless an actor isolates it, and returns to the loop cheaply after each
  /// await.
  @discardableResult
  package func task(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    return Task(executorPreference: self, operation: operation)
  }

  /// Calls `action` on the loop after the duration, rounded up to a whole millisecond. Timers fire in the order of
  /// their deadlines, then of their creation. `stop()` drops them.
  @discardableResult
  package func after(_ duration: Duration, _ action: @escaping @Sendable () -> Void) -> TimerID {
    let id = TimerID(raw: timerIDs.add(1, ordering: .relaxed).newValue)
    let (now, delay) = (monotonicNanoseconds(), duration.nanoseconds)
    let deadline = delay > .max - now ? .max : now + delay
    if isCurrent {
      confined.timers.insert(id, deadline: deadline, action)
    } else {
      post { self.confined.timers.insert(id, deadline: deadline, action) }
    }
    return id
  }

  /// Cancels a timer if this is called on the loop before it fires; otherwise has no effect.
  package func cancel(_ timer: TimerID) {
    if isCurrent, confined.timers.remove(timer) { return }
    // A timer that another thread created may still be queued for insertion; this is queued behind it.
    post { _ = self.confined.timers.remove(timer) }
  }

  /// Runs the jobs posted before, closes all sockets with the linger of their options, ends the thread and waits for
  /// it. Idempotent. May be called from a task on the loop: tasks that outlive it still run to completion.
  package func stop() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let (isOver, mustWake) = inbox.withLock { box -> (Bool, Bool) in
        guard box.phase == .running || box.phase == .stopping else { return (true, false) }
        box.phase = .stopping
        box.waiters.append(continuation)
        defer { box.isAsleep = false }
        return (false, box.isAsleep)
      }
      if mustWake { wake() }
      if isOver { continuation.resume() }
    }
    let thread = inbox.withLock { box in
      defer { box.thread = nil }
      return box.thread
    }
    if let thread { pthread_join(thread, nil) }
  }

  // MARK: Executor

  /// Enqueues a job of an actor or a task. Accepted even after `stop()`, since the task would otherwise hang forever.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (mustWake, mustStart) = inbox.withLock { box -> (Bool, Bool) in
      box.work.append(.job(job))
      let mustStart = box.phase == .stopped
      if mustStart { box.phase = .finishing }
      defer { box.isAsleep = false }
      return (box.isAsleep, mustStart)
    }
    if mustWake { wake() }
    if mustStart { startThread(name: name, detached: true) { self.finish() } }
  }

  /// Makes `assumeIsolated` sound in handlers, which are not called by an actor's job.
  package func checkIsolated() { precondition(isCurrent, "not on the thread of the loop \(name)") }

  package func isIsolatingCurrentContext() -> Bool? { isCurrent }

  // MARK: The thread

  /// The state confined to the thread. Traps elsewhere.
  var confined: LoopState {
    precondition(isCurrent, "a socket or timer of the loop \(name) was touched on another thread")
    return loopState
  }

  private func wake() {
    // A full counter (EAGAIN) wakes the poll as well.
    while eventfd_write(wakeDescriptor, 1) == -1, errno == EINTR {}
  }

  private func run() {
    currentThread.store(pthread_self(), ordering: .relaxed)
    var work: [Work] = []
    while true {
      let (phase, maySleep) = inbox.withLock { box -> (Phase, Bool) in
        box.isAsleep = box.phase == .running && box.work.isEmpty
        return (box.phase, box.isAsleep)
      }
      guard phase == .running else { break }
      loopState.poll(maySleep: maySleep)
      let hasTimerFired = loopState.takeTimer()
      inbox.withLock { box in
        box.isAsleep = false
        if hasTimerFired { box.isTimerSet = false }
      }
      loopState.serveSockets()
      runWork(&work)
      loopState.fireTimers()
    }
    runWork(&work)
    loopState.closeAll()
    finish()
  }

  /// Runs jobs until the queue is empty, then marks the loop as stopped.
  private func finish() {
    currentThread.store(pthread_self(), ordering: .relaxed)
    var work: [Work] = []
    var waiters: [CheckedContinuation<Void, Never>]?
    while waiters == nil {
      runWork(&work)
      waiters = inbox.withLock { box in
        guard box.work.isEmpty else { return nil }
        box.phase = .stopped
        currentThread.store(0, ordering: .relaxed)
        defer { box.waiters = [] }
        return box.waiters
      }
    }
    for waiter in waiters ?? [] { waiter.resume() }
  }

  /// Runs the jobs that were queued at the call. Later jobs wait for the next turn, so that the sockets are served in
  /// between.
  private func runWork(_ work: inout [Work]) {
    inbox.withLock { swap(&$0.work, &work) }
    for item in work {
      switch item {
      case .posted(let job): job()
      case .job(let job):
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
    }
    work.removeAll(keepingCapacity: true)
  }
}
