// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Synchronization
package import Timekeeping

/// A clock that is held until a test advances it.
package final class ManualClock: ControllableClock {
  private struct State {
    var sleepers = Sleepers()
    /// Continuations that are resumed when a sleeper's date is at or before `limit`.
    var watching: [(limit: Date, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let time: AdjustableClock
  private let state = Mutex(State())

  /// Creates a clock that is held at `origin`.
  package init(_ origin: Date = Date(timeIntervalSince1970: 1_000_000_000)) { time = AdjustableClock(.held(origin)) }

  package var now: Date { time.now }

  package func wait(until instant: Date) async throws -> ClockWork {
    let id = state.withLock { $0.sleepers.newID() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        state.withLock { state in
          // A later cancellation finds the sleeper by its id. An earlier one would not, so do not add the sleeper.
          if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
          add(Sleepers.Sleeper(instant: instant) { continuation.resume(with: $0) }, id, to: &state)
        }
      }
    } onCancel: {
      cancel(id)
    }
  }

  package func alarm(at instant: Date, _ work: @escaping @Sendable () async -> Void) -> ClockAlarm {
    let id = state.withLock { $0.sleepers.newID() }
    let tasks = TaskOwner()
    let sleeper = Sleepers.Sleeper(instant: instant) { result in
      if case .success = result { tasks.start(work) }
    }
    state.withLock { add(sleeper, id, to: &$0) }
    return ClockAlarm(tasks: tasks) { [weak self] in self?.cancel(id) }
  }

  package func beginWork() -> ClockWork { time.beginWork() }

  package func endWork(_ work: ClockWork) { time.endWork(work) }

  // MARK: For tests

  /// Advances the clock by `seconds` in one step and wakes the sleepers whose date has been reached, the earliest
  /// first. Does not wait for their work.
  package func advance(by seconds: Double) {
    do {
      try time.set(to: now.addingTimeInterval(seconds))
    } catch {
      preconditionFailure("a clock without `save` could not be set: \(error)")
    }
    state.withLock { wake(&$0) }
  }

  /// Returns when a sleeper's date is within `seconds` from now.
  package func whenSleeping(within seconds: Double) async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        let limit = now.addingTimeInterval(seconds)
        if let next = state.sleepers.next, next <= limit { return continuation.resume() }
        state.watching.append((limit, continuation))
      }
    }
  }

  private func add(_ sleeper: Sleepers.Sleeper, _ id: UInt64, to state: inout State) {
    state.sleepers.add(sleeper, id)
    wake(&state)
    for watcher in state.watching where sleeper.instant <= watcher.limit { watcher.continuation.resume() }
    state.watching.removeAll { sleeper.instant <= $0.limit }
  }

  private func wake(_ state: inout State) {
    for sleeper in state.sleepers.wake(at: now) { sleeper.wake(.success(beginWork())) }
  }

  private func cancel(_ id: UInt64) {
    state.withLock { $0.sleepers.remove(id) }?.wake(.failure(CancellationError()))
  }
}
