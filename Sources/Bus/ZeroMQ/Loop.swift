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

/// An object with ZeroMQ sockets that a loop serves and retains until it is closed. Confined to the loop's thread.
protocol Polled: AnyObject {
  /// One descriptor per socket, constant: readable when ZeroMQ has events for the socket. It is edge-triggered, and any
  /// later call on the socket may have consumed the edge; `hasMore` detects this.
  var descriptors: [Int32] { get }
  /// Whether there is something to serve that no descriptor reports. Throws `ETERM`.
  func hasMore() throws(ZMQError) -> Bool
  /// Receives what is available. May close this or any other socket of the loop.
  func serve()
  func closeAtStop()
}

/// The state of a loop's thread: sockets, timers and the list for `poll`.
///
/// `zmq_poll` is not used: it queries every socket twice in every turn, at two system calls each. Here only the sockets
/// that were used are queried.
final class LoopState {
  var timers = Timers()
  private var polled: [any Polled] = []
  private var isChanged = true
  /// The wake and timer descriptors, then the descriptors of `collected`; `counts` holds the number of each.
  private var items: [pollfd] = []
  private var collected: [any Polled] = []
  private var counts: [Int] = []
  /// For each of `collected`, whether it has something to serve.
  private var isDue: [Bool] = []
  private let wakeDescriptor: Int32
  private let timerDescriptor: Int32

  init(wakeDescriptor: Int32, timerDescriptor: Int32) {
    self.wakeDescriptor = wakeDescriptor
    self.timerDescriptor = timerDescriptor
  }

  func add(_ new: any Polled) {
    polled.append(new)
    isChanged = true
  }

  func remove(_ old: any Polled) {
    polled.removeAll { $0 === old }
    isChanged = true
  }

  /// Waits for a socket, a wake-up or a timer; without `maySleep` it returns at once.
  func poll(maySleep: Bool) {
    // ZeroMQ does not signal what arrived before the first query.
    let isNew = isChanged
    if isNew { collect() }
    do throws(ZMQError) {
      for (index, one) in collected.enumerated() { isDue[index] = try one.hasMore() || isNew }
    } catch {
      // A context was terminated under open sockets (ETERM): they are unusable.
      return closeSockets()
    }
    let timeout = maySleep && !isDue.contains(true) ? millisecondsToNextTimer() : 0
    guard Glibc.poll(&items, nfds_t(items.count), timeout) == -1 else { return }
    precondition(errno == EINTR, "poll: \(String(cString: strerror(errno)))")
    for index in items.indices { items[index].revents = 0 }
  }

  /// Returns whether the timer had fired before the last `poll`.
  func takeTimer() -> Bool {
    guard items[1].revents != 0 else { return false }
    var count: UInt64 = 0
    _ = read(timerDescriptor, &count, MemoryLayout.size(ofValue: count))
    return true
  }

  func serveSockets() {
    if items[0].revents != 0 {
      var count: eventfd_t = 0
      _ = eventfd_read(wakeDescriptor, &count)
    }
    // The list of this turn is fixed: when handlers open or close sockets, `isChanged` rebuilds it for the next turn.
    var start = 2
    for (index, one) in collected.enumerated() {
      let end = start + counts[index]
      if isDue[index] || items[start..<end].contains(where: { $0.revents != 0 }) { one.serve() }
      start = end
    }
  }

  func fireTimers() {
    guard timers.nextDeadline() != nil else { return }
    let now = monotonicNanoseconds()
    while let action = timers.takeDue(now) { action() }
  }

  func closeAll() {
    timers.removeAll()
    closeSockets()
  }

  private func closeSockets() {
    for one in polled { one.closeAtStop() }
    polled = []
    isChanged = true
  }

  private func collect() {
    isChanged = false
    items = [wakeDescriptor, timerDescriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    collected = polled
    isDue = Array(repeating: false, count: collected.count)
    counts.removeAll(keepingCapacity: true)
    for one in polled {
      let descriptors = one.descriptors
      items += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      counts.append(descriptors.count)
    }
  }

  private func millisecondsToNextTimer() -> Int32 {
    guard let deadline = timers.nextDeadline() else { return -1 }
    let now = monotonicNanoseconds()
    guard deadline > now else { return 0 }
    // Rounded up: if rounded down, the poll would return early and spin through the last millisecond.
    return Int32(min((deadline - now - 1) / 1_000_000 + 1, UInt64(Int32.max)))
  }
}

extension Duration {
  /// Whole nanoseconds; 0 for a negative duration, the maximum for an overflow.
  var nanoseconds: UInt64 {
    guard self > .zero else { return 0 }
    let (seconds, attoseconds) = components
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowOfSum) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || overflowOfSum ? .max : sum
  }

  /// Whole milliseconds as ZeroMQ expects them, rounded up; 0 for a negative duration.
  var milliseconds: Int32 { Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)) }
}

/// Identifies a timer of a loop for cancellation.
package struct TimerID: Hashable, Sendable {
  let raw: UInt64
}

/// The timers of one loop: a binary heap ordered by deadline, then by creation. The heap entry of a cancelled timer
/// stays until it reaches the top or until such entries are the majority.
struct Timers {
  private struct Entry {
    let deadline: UInt64
    let id: TimerID
    func isBefore(_ other: Entry) -> Bool { (deadline, id.raw) < (other.deadline, other.id.raw) }
  }

  private var heap: [Entry] = []
  /// By the number of the timer: a key of another type would cost each process a search for its conformance.
  private var actions: [UInt64: @Sendable () -> Void] = [:]

  /// Adds a timer with a deadline in nanoseconds of the monotonic clock.
  mutating func insert(_ id: TimerID, deadline: UInt64, _ action: @escaping @Sendable () -> Void) {
    actions[id.raw] = action
    push(Entry(deadline: deadline, id: id))
  }

  /// False when the timer has fired, was cancelled, or was not inserted yet.
  mutating func remove(_ id: TimerID) -> Bool {
    guard actions.removeValue(forKey: id.raw) != nil else { return false }
    if heap.count > 64, heap.count > 2 * actions.count {
      let live = heap.filter { actions[$0.id.raw] != nil }
      heap.removeAll(keepingCapacity: true)
      for entry in live { push(entry) }
    }
    return true
  }

  mutating func removeAll() {
    heap = []
    actions = [:]
  }

  /// The deadline of the next active timer.
  mutating func nextDeadline() -> UInt64? {
    while let top = heap.first {
      if actions[top.id.raw] != nil { return top.deadline }
      pop()
    }
    return nil
  }

  /// Removes and returns the next timer whose deadline is not after `now`.
  mutating func takeDue(_ now: UInt64) -> (@Sendable () -> Void)? {
    guard let deadline = nextDeadline(), deadline <= now, let id = heap.first?.id else { return nil }
    pop()
    return actions.removeValue(forKey: id.raw)
  }

  private mutating func push(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func pop() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var first = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[first]) {
        first = child
      }
      guard first != parent else { return }
      heap.swapAt(parent, first)
      parent = first
    }
  }
}

/// Starts a thread. A process cannot work without its threads, so failure traps with the reason.
@discardableResult
func startThread(name: String, detached: Bool, _ body: @escaping @Sendable () -> Void) -> pthread_t {
  final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
  let start = Unmanaged.passRetained(Start(name: name, body: body))
  var thread = pthread_t()
  let code = pthread_create(
    &thread, nil,
    { argument in
      guard let argument else { return nil }
      let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
      // Linux keeps 15 characters of a thread's name and rejects longer ones.
      _ = String(decoding: start.name.utf8.prefix(15), as: UTF8.self).withCString {
        pthread_setname_np(pthread_self(), $0)
      }
      start.body()
      return nil
    }, start.toOpaque())
  precondition(code == 0, "pthread_create for \(name): \(String(cString: strerror(code)))")
  if detached { pthread_detach(thread) }
  return thread
}

/// Nanoseconds of the clock that `poll` uses. It keeps running while the process is stopped.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
