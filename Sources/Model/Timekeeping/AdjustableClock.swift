// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Synchronization

/// The clock of a device. It runs from an origin at a rate, and can be held, continued, set, advanced and reset.
///
/// Each setting is saved before it takes effect, so that the clock is the same after a host restart. Calls that change
/// the clock must not overlap.
package final class AdjustableClock: ControllableClock {
  private struct State {
    var setting: ClockSetting
    var sleepers = Sleepers()
    /// Wakes the first sleeper while the clock runs. It may fire before that sleeper is due. One that was replaced fires
    /// too, with another number.
    var timer: (instant: Date, number: UInt64)?
    var lastTimer: UInt64 = 0
    /// Work that an advance waits for.
    var work: Set<ClockWork> = []
    var lastWork: UInt64 = 0
    /// Continuations that are resumed when `work` is empty.
    var waitingForWork: [CheckedContinuation<Void, Never>] = []

    mutating func begin() -> ClockWork {
      lastWork += 1
      work.insert(ClockWork(number: lastWork))
      return ClockWork(number: lastWork)
    }

    /// Returns the continuations to resume.
    mutating func end(_ ended: Set<ClockWork>) -> [CheckedContinuation<Void, Never>] {
      work.subtract(ended)
      guard work.isEmpty else { return [] }
      defer { waitingForWork = [] }
      return waitingForWork
    }
  }

  private let state: Mutex<State>
  private let patience: Duration
  private let executor: ServiceExecutor
  private let machine: @Sendable () -> Date
  private let saving: Mutex<@Sendable (ClockSetting) throws -> Void>
  private let show: @Sendable (ClockSetting) -> Void

  /// - Parameters:
  ///   - patience: the longest that an advance waits for work in progress, in machine time.
  ///   - executor: on which alarms begin their work, without a change of threads when their actor uses it too.
  ///   - machine: returns the machine's time.
  ///   - save: persists a setting for the next start of the host. If it throws, the change throws the same error and
  ///     the clock is unchanged.
  ///   - show: publishes a setting to the device's other processes, before sleepers here are woken. `init` calls it
  ///     once.
  package init(
    _ setting: ClockSetting, patience: Duration = .seconds(30), executor: ServiceExecutor = ServiceExecutor("clock"),
    machine: @escaping @Sendable () -> Date = { Date() },
    save: @escaping @Sendable (ClockSetting) throws -> Void = { _ in },
    show: @escaping @Sendable (ClockSetting) -> Void = { _ in }
  ) {
    state = Mutex(State(setting: setting))
    self.patience = patience
    self.executor = executor
    self.machine = machine
    saving = Mutex(save)
    self.show = show
    show(setting)
  }

  /// Replaces what persists a setting.
  package func persist(with save: @escaping @Sendable (ClockSetting) throws -> Void) { saving.withLock { $0 = save } }

  package var now: Date { setting.date(machine()) }
  package var setting: ClockSetting { state.withLock { $0.setting } }
  /// Seconds by which this clock is ahead of the machine's clock; negative when it is behind.
  package var offset: Double {
    let (setting, machine) = (setting, machine())
    // Return `ahead` where it is known: the difference of two dates is off by some nanoseconds.
    return setting.ahead ?? setting.date(machine).timeIntervalSince(machine)
  }

  // MARK: Sleepers

  package func wait(until instant: Date) async throws -> ClockWork {
    let id = state.withLock { $0.sleepers.newID() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let sleeper = Sleepers.Sleeper(instant: instant) { continuation.resume(with: $0) }
        state.withLock { state in
          // A later cancellation finds the sleeper by its id. An earlier one would not, so do not add the sleeper.
          if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
          add(sleeper, id, to: &state)
        }
      }
    } onCancel: {
      cancel(id)
    }
  }

  package func beginWork() -> ClockWork { state.withLock { $0.begin() } }

  package func endWork(_ work: ClockWork) { end([work]) }

  private func end(_ work: Set<ClockWork>) {
    for continuation in state.withLock({ $0.end(work) }) { continuation.resume() }
  }

  package func alarm(at instant: Date, _ work: @escaping @Sendable () async -> Void) -> ClockAlarm {
    let id = state.withLock { $0.sleepers.newID() }
    let tasks = TaskOwner(on: executor.taskExecutor)
    let sleeper = Sleepers.Sleeper(instant: instant) { [weak self] result in
      guard case .success(let own) = result else { return }
      tasks.start {
        await work()
        self?.endWork(own)
      }
    }
    state.withLock { add(sleeper, id, to: &$0) }
    return ClockAlarm(tasks: tasks) { [weak self] in self?.cancel(id) }
  }

  private func cancel(_ id: UInt64) {
    let sleeper = state.withLock { state in
      defer { setTimer(&state) }
      return state.sleepers.remove(id)
    }
    sleeper?.wake(.failure(CancellationError()))
  }

  private func add(_ sleeper: Sleepers.Sleeper, _ id: UInt64, to state: inout State) {
    state.sleepers.add(sleeper, id)
    wake(&state)
  }

  /// Wakes the sleepers whose date has been reached. They are resumed under the lock, but run on their own executors.
  private func wake(_ state: inout State) {
    for sleeper in state.sleepers.wake(at: state.setting.date(machine())) {
      sleeper.wake(.success(state.begin()))
    }
    setTimer(&state)
  }

  private func setTimer(_ state: inout State) {
    guard let next = state.sleepers.next, let pause = state.setting.machineSeconds(until: next, machine()) else {
      return
    }
    // A timer that fires earlier than needed sets the next one. That takes less than a new timer for each new sleeper.
    if let timer = state.timer, timer.instant <= next { return }
    state.lastTimer += 1
    let number = state.lastTimer
    state.timer = (next, number)
    // The machine's clock may be set in between, so check it at least once a minute.
    executor.post(after: .now() + min(max(pause, 0), 60)) { [weak self] in self?.timerFired(number) }
  }

  private func timerFired(_ number: UInt64) {
    state.withLock { state in
      guard state.timer?.number == number else { return }
      state.timer = nil
      wake(&state)
    }
  }

  // MARK: Changes

  /// Stops the clock at its current time.
  package func hold() throws { try set(setting.held(machine())) }

  /// Continues from the current time, at the clock's rate.
  package func run() throws { try set(setting.running(machine())) }

  /// Returns to the machine's time, at the machine's rate.
  package func reset() throws { try set(.running(ahead: 0)) }

  /// Sets the time to `date`. The clock stays held or running. When set forward, sleepers whose date has passed are
  /// woken at once, in order. When set back, sleepers keep their dates and so wait longer.
  package func set(to date: Date) throws { try set(setting.set(date, machine())) }

  /// Changes the rate from the current time on. For a held clock, the rate takes effect when it is continued.
  package func set(rate: Double) throws { try set(setting.rate(rate, machine())) }

  /// Advances the clock by `seconds`, held or not, from one sleeper's date to the next, in order.
  ///
  /// Before each step, and before it returns, it waits until all declared work has ended: the work of alarms, the work
  /// that `wait(until:)` returned, and work from `beginWork`, which may declare further work before it ends. It waits
  /// for nothing else. It stops waiting after `patience`, so that deadlines that end the work can be reached.
  ///
  /// - Parameter stepped: called after each step, before sleepers are woken by it.
  /// - Throws: the error of `save`, or `CancellationError`. The clock then stays at the end of the previous step.
  package func advance(by seconds: Double, stepped: () -> Void = {}) async throws {
    let end = setting.advanced(by: seconds)
    repeat {
      await waitForWork()
      try Task.checkCancellation()
      let next = state.withLock { $0.sleepers.next }
      try set(setting.advanced(to: next, atMost: end, machine: machine()), stepped)
    } while setting != end
    await waitForWork()
  }

  private func set(_ setting: ClockSetting, _ changed: () -> Void = {}) throws {
    try saving.withLock(\.self)(setting)
    state.withLock { state in
      state.setting = setting
      state.timer = nil
      show(setting)
    }
    changed()
    state.withLock { wake(&$0) }
  }

  /// Returns when no declared work is in progress. Ends the work that lasts longer than `patience`: at the latest when
  /// it has lasted twice as long.
  private func waitForWork() async {
    let first = state.withLock { $0.work }
    guard !first.isEmpty else { return }
    let giveUp = Task { [weak self, patience] in
      var outstanding = first
      while (try? await Task.sleep(for: patience)) != nil {
        guard let self else { return }
        end(outstanding)
        outstanding = state.withLock { $0.work }
      }
    }
    repeat { await untilWorkEnds() } while state.withLock { !$0.work.isEmpty }
    giveUp.cancel()
    await giveUp.value
  }

  /// When the task is cancelled, it ends the work.
  private func untilWorkEnds() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          if state.work.isEmpty { continuation.resume() } else { state.waitingForWork.append(continuation) }
        }
      }
    } onCancel: {
      end(state.withLock { $0.work })
    }
  }
}

/// The sleepers of a clock and their dates: a plain value. The caller wakes the sleepers that it returns.
package struct Sleepers {
  /// One sleeper.
  package struct Sleeper {
    /// The date at which the sleeper is woken.
    package let instant: Date
    /// Receives the work that begins with the wake, or the error that ends the sleep early. Must not call the clock.
    package let wake: @Sendable (Result<ClockWork, any Error>) -> Void

    /// Creates a sleeper that has not been added.
    package init(instant: Date, wake: @escaping @Sendable (Result<ClockWork, any Error>) -> Void) {
      self.instant = instant
      self.wake = wake
    }
  }

  private var sleeping: [UInt64: Sleeper] = [:]
  private var lastID: UInt64 = 0

  /// Creates a value without sleepers.
  package init() {}

  /// The first date at which a sleeper is due.
  package var next: Date? { sleeping.values.lazy.map(\.instant).min() }

  /// A new name for a sleeper.
  package mutating func newID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Adds a sleeper.
  ///
  /// - Parameter id: the name of the sleeper for `remove`, from `newID`.
  package mutating func add(_ sleeper: Sleeper, _ id: UInt64) { sleeping[id] = sleeper }

  /// Removes and returns a sleeper; `nil` when it was woken or removed before.
  package mutating func remove(_ id: UInt64) -> Sleeper? { sleeping.removeValue(forKey: id) }

  /// Removes and returns the sleepers that are due: the earliest first, and at the same date in the order of their names.
  package mutating func wake(at now: Date) -> [Sleeper] {
    let due = sleeping.filter { $0.value.instant <= now }
    for id in due.keys { sleeping[id] = nil }
    return due.sorted { ($0.value.instant, $0.key) < ($1.value.instant, $1.key) }.map(\.value)
  }
}

/// Work in progress. An advance of the clock waits until it ends.
package struct ClockWork: Hashable, Sendable {
  let number: UInt64
}

/// Work that is scheduled for a date.
package struct ClockAlarm: Sendable {
  private let tasks: TaskOwner
  private let onCancel: @Sendable () -> Void

  /// - Parameters:
  ///   - tasks: runs the work.
  ///   - onCancel: prevents that the work begins.
  package init(tasks: TaskOwner, onCancel: @escaping @Sendable () -> Void) {
    self.tasks = tasks
    self.onCancel = onCancel
  }

  /// Cancels the work unless it has begun.
  package func cancel() { onCancel() }

  /// Cancels the work, also when it has begun, and returns when none is running. The work itself must not call it.
  package func end() async {
    onCancel()
    await tasks.end()
  }
}

/// A clock that can be held and advanced. Services read the time only from this protocol, never from the system clock,
/// so that the user or a test controls it. The device's clock has the device's time. The push server's clock, and the
/// clock of limits on the author's code, have machine time; only tests hold these.
package protocol ControllableClock: Sendable {
  /// The device's time.
  var now: Date { get }

  /// Returns when `instant` is reached; at once when it is past.
  ///
  /// - Returns: work that has begun. An advance of the clock continues only after the caller has ended it, so that the
  ///   callers continue in the order of their dates.
  /// - Throws: `CancellationError` when the waiting task is cancelled before `instant`.
  func wait(until instant: Date) async throws -> ClockWork

  /// Runs `work` at `instant` unless it is cancelled before. An advance of the clock continues only after `work` has
  /// returned. The alarm is set when this returns, so an advance cannot skip it, as it could skip a task that has not
  /// begun to wait.
  func alarm(at instant: Date, _ work: @escaping @Sendable () async -> Void) -> ClockAlarm

  /// Stops advances of the clock until `endWork`. For work that continues after an alarm's work has returned, such as a
  /// request that awaits another process's reply.
  func beginWork() -> ClockWork

  /// Ends the work. A second call has no effect.
  func endWork(_ work: ClockWork)
}

extension ControllableClock {
  /// Returns when `instant` is reached; at once when it is past. An advance of the clock does not wait for what the
  /// caller does then: it waits for declared work only, which is an alarm, `wait(until:)` and `beginWork`.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled before `instant`.
  package func sleep(until instant: Date) async throws { endWork(try await wait(until: instant)) }
}

extension TaskOwner {
  /// Starts a task that an advance of the clock waits for.
  ///
  /// - Returns: the task, to cancel it early; `nil` when none was started.
  @discardableResult
  package func start(
    holding clock: any ControllableClock, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never>? {
    let held = clock.beginWork()
    let task = start {
      await work()
      clock.endWork(held)
    }
    if task == nil { clock.endWork(held) }
    return task
  }
}
