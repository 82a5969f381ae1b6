// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import PushRules
import Synchronization

/// A thread-safe FIFO queue of jobs for the service. Jobs that arrive during a write are written together.
final class PushJobQueue: Sendable {
  enum Job: Sendable {
    indirect case arrival(PushArrival, then: (@Sendable (PushReceipt) -> Void)?)
    case event(PushStateMachine.Event)
    case progress(PushProgress, then: @Sendable (BusError?) -> Void)
    case issue(PushSubject, PushEnvironment, then: @Sendable (Result<[DeviceToken], BusError>) -> Void)
    case release(PushSubject, then: @Sendable (Result<[DeviceToken], BusError>) -> Void)
    case change(PushSubject, ChangeToken.Change, then: @Sendable (Result<[DeviceToken], BusError>) -> Void)
    /// The device acknowledged its token.
    case notified(PushSubject, token: String?)
    /// Of a shared store: another replica, or a second that has passed.
    case signal(SharedPushSignal)
    indirect case fleet(FleetJob)
    /// All earlier jobs are done.
    case barrier(then: @Sendable () -> Void)
  }

  private struct State {
    var jobs: [Job] = []
    /// The number of waiting requests of providers.
    var arrivals = 0
    var isTaken = false
    var isAway = false
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: maximum number of waiting requests of providers.
  init(limit: Int) { self.limit = limit }

  /// Appends a job.
  ///
  /// - Returns: true when the caller must start the worker; `nil` when it is a request of a provider and the queue is
  ///   full.
  func put(_ job: Job) -> Bool? {
    state.withLock { state in
      if case .arrival = job {
        guard state.arrivals < limit else { return nil }
        state.arrivals += 1
      }
      state.jobs.append(job)
      defer { state.isTaken = true }
      return !state.isTaken
    }
  }

  /// The number of waiting requests of providers.
  var waitingCount: Int { state.withLock(\.arrivals) }

  /// True while the database cannot be written, and accepted requests are not put here.
  var isAway: Bool {
    get { state.withLock { $0.isAway } }
    set { state.withLock { $0.isAway = newValue } }
  }

  /// True when more than an eighth of `limit` is in use.
  var isBehind: Bool { state.withLock { $0.arrivals > limit / 8 } }

  /// Removes and returns the first jobs, with at most as many requests of providers as `limit`. See `take()`.
  func take(arrivals limit: Int) -> [Job] {
    state.withLock { state in
      state.isTaken = !state.jobs.isEmpty
      guard state.arrivals > limit else {
        defer {
          state.jobs = []
          state.arrivals = 0
        }
        return state.jobs
      }
      var arrivals = 0
      let end = state.jobs.firstIndex { job in
        if case .arrival = job { arrivals += 1 }
        return arrivals > limit
      }
      let taken = Array(state.jobs[..<(end ?? state.jobs.endIndex)])
      state.jobs.removeFirst(taken.count)
      state.arrivals -= limit
      return taken
    }
  }

  /// Puts jobs back before all others. Only the worker calls it, which then takes again.
  func putBack(_ jobs: [Job]) {
    state.withLock { state in
      state.jobs.insert(contentsOf: jobs, at: 0)
      for case .arrival in jobs { state.arrivals += 1 }
    }
  }

  /// Removes and returns all jobs. If the queue is empty, the worker stops, and the caller of the next `put` must start
  /// it.
  func take() -> [Job] {
    state.withLock { state in
      defer {
        state.jobs = []
        state.arrivals = 0
      }
      state.isTaken = !state.jobs.isEmpty
      return state.jobs
    }
  }
}
