package import Foundation
import Synchronization

/// The clock of a device: it goes from an origin at a rate, and can be held, let go, set, advanced and reset.
///
/// Each setting is saved before anybody sees it, so that the next life of the host has the same clock. The changes are made
/// one after the other: no call begins before the one before has returned.
package final class AdjustableClock: DeviceClock {
  private struct State {
    var setting: ClockSetting
    var sleepers = Sleepers()
    /// Wakes the first sleeper while the clock runs.
    var timer: (instant: Date, task: Task<Void, Never>)?
    /// What is waited for before the clock is advanced.
    var work: Set<ClockWork> = []
    var lastWork: UInt64 = 0
    /// Who waits until there is no such work.
    var settling: [CheckedContinuation<Void, Never>] = []
    /// Who waits until somebody sleeps, and until when that one may sleep.
    var watching: [(limit: Date, continuation: CheckedContinuation<Void, Never>)] = []

    mutating func begin() -> ClockWork {
      lastWork += 1
      work.insert(ClockWork(number: lastWork))
      return ClockWork(number: lastWork)
    }

    /// Whom to resume.
    mutating func end(_ ended: Set<ClockWork>) -> [CheckedContinuation<Void, Never>] {
      work.subtract(ended)
      guard work.isEmpty else { return [] }
      defer { settling = [] }
      return settling
    }
  }

  private let state: Mutex<State>
  private let patience: Duration
  private let machine: @Sendable () -> Date
  private let save: @Sendable (ClockSetting) throws -> Void
  private let show: @Sendable (ClockSetting) -> Void

  /// - Parameters:
  ///   - patience: how long, by the machine's clock, an advance waits for what is under way.
  ///   - machine: the machine's time.
  ///   - save: keeps a setting for the next life; what it throws, the change throws, and the clock stays as it was.
  ///   - show: tells the device's other processes, before anybody here is woken by it; at once, with how it begins.
  package init(
    _ setting: ClockSetting, patience: Duration = .seconds(30), machine: @escaping @Sendable () -> Date = { Date() },
    save: @escaping @Sendable (ClockSetting) throws -> Void = { _ in },
    show: @escaping @Sendable (ClockSetting) -> Void = { _ in }
  ) {
    state = Mutex(State(setting: setting))
    self.patience = patience
    self.machine = machine
    self.save = save
    self.show = show
    show(setting)
  }

  package var now: Date { setting.date(machine()) }
  package var setting: ClockSetting { state.withLock { $0.setting } }
  /// Seconds that it is ahead of the machine's clock; negative when behind.
  package var offset: Double {
    let (setting, machine) = (setting, machine())
    // Not by the difference of two times where none is needed: it would be some nanoseconds off.
    return setting.ahead ?? setting.date(machine).timeIntervalSince(machine)
  }

  // MARK: Sleeping

  package func sleep(until instant: Date) async throws { try await wait(until: instant, hasWork: false) }

  package func sleep(until instant: Date, then work: @Sendable () async -> Void) async throws {
    let own = try await wait(until: instant, hasWork: true)
    await work()
    if let own { endWork(own) }
  }

  package func beginWork() -> ClockWork { state.withLock { $0.begin() } }

  package func endWork(_ work: ClockWork) { end([work]) }

  private func end(_ work: Set<ClockWork>) {
    for continuation in state.withLock({ $0.end(work) }) { continuation.resume() }
  }

  @discardableResult
  private func wait(until instant: Date, hasWork: Bool) async throws -> ClockWork? {
    let id = UUID()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let sleeper = Sleepers.Sleeper(instant: instant, hasWork: hasWork) { continuation.resume(with: $0) }
        state.withLock { state in
          // Who is cancelled later is found among the sleepers; who was cancelled before must not come among them.
          if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
          add(sleeper, id, to: &state)
        }
      }
    } onCancel: {
      cancel(id)
    }
  }

  package func alarm(at instant: Date, _ work: @escaping @Sendable () async -> Void) -> ClockAlarm {
    let id = UUID()
    let sleeper = Sleepers.Sleeper(instant: instant, hasWork: true) { [weak self] result in
      guard case .success(let own?) = result else { return }
      Task {
        await work()
        self?.endWork(own)
      }
    }
    state.withLock { add(sleeper, id, to: &$0) }
    return ClockAlarm { [weak self] in self?.cancel(id) }
  }

  private func cancel(_ id: UUID) {
    let sleeper = state.withLock { state in
      defer { setTimer(&state) }
      return state.sleepers.remove(id)
    }
    sleeper?.wake(.failure(CancellationError()))
  }

  private func add(_ sleeper: Sleepers.Sleeper, _ id: UUID, to state: inout State) {
    state.sleepers.add(sleeper, id)
    wake(&state)
    for watcher in state.watching where sleeper.instant <= watcher.limit { watcher.continuation.resume() }
    state.watching.removeAll { sleeper.instant <= $0.limit }
  }

  /// Wakes whose instant has come. Resumed under the lock: who is woken runs on an executor, and not here.
  private func wake(_ state: inout State) {
    for sleeper in state.sleepers.wake(at: state.setting.date(machine())) {
      sleeper.wake(.success(sleeper.hasWork ? state.begin() : nil))
    }
    setTimer(&state)
  }

  private func setTimer(_ state: inout State) {
    guard let next = state.sleepers.next, let pause = state.setting.machineSeconds(until: next, machine()) else {
      state.timer?.task.cancel()
      state.timer = nil
      return
    }
    guard state.timer?.instant != next else { return }
    state.timer?.task.cancel()
    // The machine's clock may be set while we sleep, so we look at it again after at most a minute.
    let task = Task { [weak self] in
      guard (try? await Task.sleep(for: .seconds(min(max(pause, 0), 60)))) != nil else { return }
      self?.timerFired()
    }
    state.timer = (next, task)
  }

  private func timerFired() {
    state.withLock { state in
      guard !Task.isCancelled else { return }
      state.timer = nil
      wake(&state)
    }
  }

  /// Returns when somebody sleeps whose instant comes within `seconds` from now.
  package func whenSomebodySleeps(within seconds: Double) async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        let limit = state.setting.date(machine()).addingTimeInterval(seconds)
        if let next = state.sleepers.next, next <= limit { return continuation.resume() }
        state.watching.append((limit, continuation))
      }
    }
  }

  // MARK: Setting

  /// It stands still.
  package func hold() throws { try set(setting.held(machine())) }

  /// It goes on, at its rate, from where it is.
  package func run() throws { try set(setting.running(machine())) }

  /// It is the machine's time again, and runs at its rate.
  package func reset() throws { try set(.running(ahead: 0)) }

  /// It is `date` now, and stands or goes on from there as it did. What was to happen before that is due at once, in order;
  /// set back, everybody goes on waiting for the same instants, which are later from now.
  package func set(to date: Date) throws { try set(setting.set(date, machine())) }

  /// It goes at a rate from where it is; held, it will when it is let go.
  package func set(rate: Double) throws { try set(setting.rate(rate, machine())) }

  /// Lets `seconds` pass, held or not, from one sleeper's instant to the next, in order.
  ///
  /// Before each step it waits until nothing is under way that an instant set going: the work of whoever was woken
  /// (`sleep(until:then:)`), and what that began (`beginWork`). What takes longer than `patience` it waits for no longer, so
  /// that the deadlines come that end it.
  ///
  /// - Parameter stepped: called with the time of each step before anybody is woken by it.
  /// - Throws: what `save` throws; then the clock stands where the step before brought it.
  package func advance(by seconds: Double, stepped: () -> Void = {}) async throws {
    let end = setting.advanced(by: seconds)
    repeat {
      await settle()
      let next = state.withLock { $0.sleepers.next }
      try set(setting.advanced(to: next, atMost: end, machine: machine()), stepped)
    } while setting != end
    await settle()
  }

  /// Lets `seconds` pass at once, in one step.
  package func jump(by seconds: Double) throws { try set(setting.advanced(by: seconds)) }

  private func set(_ setting: ClockSetting, _ changed: () -> Void = {}) throws {
    try save(setting)
    state.withLock { state in
      state.setting = setting
      state.timer?.task.cancel()
      state.timer = nil
      show(setting)
    }
    changed()
    state.withLock { wake(&$0) }
  }

  /// Returns when no work is under way, and who only slept had some turns to go on.
  private func settle() async {
    repeat {
      await workToEnd()
      for _ in 0..<10 { await Task.yield() }
    } while state.withLock { !$0.work.isEmpty }
  }

  private func workToEnd() async {
    let outstanding = state.withLock { $0.work }
    guard !outstanding.isEmpty else { return }
    let giveUp = Task { [weak self, patience] in
      guard (try? await Task.sleep(for: patience)) != nil else { return }
      self?.end(outstanding)
    }
    await withCheckedContinuation { continuation in
      state.withLock { state in
        if state.work.isEmpty { continuation.resume() } else { state.settling.append(continuation) }
      }
    }
    giveUp.cancel()
  }
}
