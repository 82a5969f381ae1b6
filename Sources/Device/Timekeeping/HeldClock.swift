package import Foundation
import Synchronization

/// A clock that stands still until it is advanced.
package final class HeldClock: DeviceClock {
  private struct Sleeper {
    let instant: Date
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Date
    var sleepers: [UUID: Sleeper] = [:]
    var cancelled: Set<UUID> = []
    var watchers: [(instant: Date, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state: Mutex<State>

  /// A clock that stands at `origin`.
  package init(_ origin: Date = Date(timeIntervalSince1970: 1_000_000_000)) {
    state = Mutex(State(now: origin))
  }

  package var now: Date { state.withLock { $0.now } }

  package func sleep(until instant: Date) async throws {
    let id = UUID()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (result, watchers) = state.withLock {
          state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
          if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
          if instant <= state.now { return (.success(()), []) }
          state.sleepers[id] = Sleeper(instant: instant, continuation: continuation)
          let seen = state.watchers.filter { $0.instant >= instant }.map(\.continuation)
          state.watchers.removeAll { $0.instant >= instant }
          return (nil, seen)
        }
        if let result { continuation.resume(with: result) }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let sleeper = state.sleepers.removeValue(forKey: id) else {
          state.cancelled.insert(id)
          return nil
        }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Lets `seconds` pass and wakes those whose instant has come, the earliest first.
  package func advance(by seconds: Double) {
    let due = state.withLock { state -> [Sleeper] in
      state.now += seconds
      let due = state.sleepers.filter { $0.value.instant <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.sorted { $0.instant < $1.instant }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Returns when somebody sleeps whose instant comes within `seconds` from now.
  package func whenSomebodySleeps(within seconds: Double) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state -> Bool in
        let limit = state.now + seconds
        if state.sleepers.values.contains(where: { $0.instant <= limit }) { return true }
        state.watchers.append((limit, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
