package import Foundation
import Synchronization

/// The clock of a device: it runs at the machine's rate, may be ahead of it or behind, and can be held, let go, advanced
/// and reset.
///
/// Each setting is saved before anybody sees it, so that the next life of the host has the same clock. `hold`, `run`,
/// `advance` and `reset` are called one after the other.
package final class AdjustableClock: DeviceClock {
  /// How the clock goes.
  package enum Setting: Codable, Hashable, Sendable {
    /// At the machine's rate, so many seconds ahead of it.
    case running(ahead: Double)
    case held(Date)
  }

  private struct State {
    var setting: Setting
    var sleepers = Sleepers()
    /// Wakes the first sleeper while the clock runs.
    var timer: (instant: Date, task: Task<Void, Never>)?
    /// Sleepers that were woken and whose work has not returned.
    var working = 0
    /// Who waits until nobody works.
    var settling: [CheckedContinuation<Void, Never>] = []
    /// Who waits until somebody sleeps, and until when that one may sleep.
    var watching: [(limit: Date, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state: Mutex<State>
  private let machine: @Sendable () -> Date
  private let save: @Sendable (Setting) throws -> Void

  /// - Parameters:
  ///   - machine: the machine's time.
  ///   - save: keeps a setting for the next life; what it throws, the change throws, and the clock stays as it was.
  package init(
    _ setting: Setting, machine: @escaping @Sendable () -> Date = { Date() },
    save: @escaping @Sendable (Setting) throws -> Void = { _ in }
  ) {
    state = Mutex(State(setting: setting))
    self.machine = machine
    self.save = save
  }

  package var now: Date { date(setting) }
  package var setting: Setting { state.withLock { $0.setting } }
  package var isHeld: Bool { if case .held = setting { true } else { false } }
  /// Seconds that it is ahead of the machine's clock; negative when behind.
  package var offset: Double {
    switch setting {
    case .running(let ahead): ahead
    case .held(let date): date.timeIntervalSince(machine())
    }
  }

  private func date(_ setting: Setting) -> Date {
    switch setting {
    case .running(let ahead): machine().addingTimeInterval(ahead)
    case .held(let date): date
    }
  }

  // MARK: Sleeping

  package func sleep(until instant: Date) async throws { try await wait(until: instant, hasWork: false) }

  package func sleep(until instant: Date, then work: @Sendable () async -> Void) async throws {
    try await wait(until: instant, hasWork: true)
    await work()
    let settled = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.working -= 1
      guard state.working == 0 else { return [] }
      defer { state.settling = [] }
      return state.settling
    }
    for continuation in settled { continuation.resume() }
  }

  private func wait(until instant: Date, hasWork: Bool) async throws {
    let id = UUID()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let sleeper = Sleepers.Sleeper(instant: instant, continuation: continuation, hasWork: hasWork)
        state.withLock { add(sleeper, id, to: &$0) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        defer { setTimer(&state) }
        return state.sleepers.remove(id)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  private func add(_ sleeper: Sleepers.Sleeper, _ id: UUID, to state: inout State) {
    // Who is cancelled later is found among the sleepers; who was cancelled before must not come among them.
    guard !Task.isCancelled else { return sleeper.continuation.resume(throwing: CancellationError()) }
    state.sleepers.add(sleeper, id)
    wake(&state)
    for watcher in state.watching where sleeper.instant <= watcher.limit { watcher.continuation.resume() }
    state.watching.removeAll { sleeper.instant <= $0.limit }
  }

  /// Wakes whose instant has come. Resumed under the lock: who is woken runs on an executor, and not here.
  private func wake(_ state: inout State) {
    for sleeper in state.sleepers.wake(at: date(state.setting)) {
      if sleeper.hasWork { state.working += 1 }
      sleeper.continuation.resume()
    }
    setTimer(&state)
  }

  private func setTimer(_ state: inout State) {
    guard case .running = state.setting, let next = state.sleepers.next else {
      state.timer?.task.cancel()
      state.timer = nil
      return
    }
    guard state.timer?.instant != next else { return }
    state.timer?.task.cancel()
    // The machine's clock may be set while we sleep, so we look at it again after at most a minute.
    let pause = min(max(next.timeIntervalSince(date(state.setting)), 0), 60)
    let task = Task { [weak self] in
      guard (try? await Task.sleep(for: .seconds(pause))) != nil else { return }
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
        let limit = date(state.setting).addingTimeInterval(seconds)
        if let next = state.sleepers.next, next <= limit { return continuation.resume() }
        state.watching.append((limit, continuation))
      }
    }
  }

  // MARK: Setting

  /// It stands still.
  package func hold() throws { try set(.held(now)) }

  /// It goes on, at the machine's rate, from where it is.
  package func run() throws { try set(.running(ahead: offset)) }

  /// It is the machine's time again, and runs.
  package func reset() throws { try set(.running(ahead: 0)) }

  /// Lets `seconds` pass, held or not, from one sleeper's instant to the next, in order.
  ///
  /// After each step it waits for the work of those that it woke (`sleep(until:then:)`). It does not wait for what that
  /// work asked of others: whoever wants time to stand still meanwhile makes it a part of the work.
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

  private func set(_ setting: Setting, _ changed: () -> Void = {}) throws {
    try save(setting)
    state.withLock { state in
      state.setting = setting
      state.timer?.task.cancel()
      state.timer = nil
    }
    changed()
    state.withLock { wake(&$0) }
  }

  /// Returns when the work of everybody who was woken has returned, and who only slept had some turns to go on.
  private func settle() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        if state.working == 0 { continuation.resume() } else { state.settling.append(continuation) }
      }
    }
    for _ in 0..<10 { await Task.yield() }
  }
}

extension AdjustableClock.Setting {
  func advanced(by seconds: Double) -> Self {
    switch self {
    case .running(let ahead): .running(ahead: ahead + seconds)
    case .held(let date): .held(date.addingTimeInterval(seconds))
    }
  }

  /// To an instant, or to the end when there is none before it; never backwards.
  func advanced(to instant: Date?, atMost end: Self, machine: Date) -> Self {
    switch (self, end) {
    case (.running(let ahead), .running(let end)):
      .running(ahead: min(end, max(ahead, instant?.timeIntervalSince(machine) ?? end)))
    case (.held(let date), .held(let end)): .held(min(end, max(date, instant ?? end)))
    // Not while it is advanced: the changes are made one after the other.
    case (.running, .held), (.held, .running): end
    }
  }
}
