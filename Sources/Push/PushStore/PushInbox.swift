import Conversations
import Foundation
import Synchronization

/// What the keeper has to do, from any thread, in its order. What comes while it writes is written together.
final class PushInbox: Sendable {
  enum Job: Sendable {
    indirect case arrival(PushArrival, then: (@Sendable (PushPromise) -> Void)?)
    case event(PushDecision.Event)
    case progress(PushProgress, then: @Sendable (BusError?) -> Void)
    case issue(PushSubject, PushEnvironment, then: @Sendable (Result<[DeviceToken], BusError>) -> Void)
    case release(PushSubject, then: @Sendable (Result<[DeviceToken], BusError>) -> Void)
    case change(PushSubject, ChangeToken.Change, then: @Sendable (Result<[DeviceToken], BusError>) -> Void)
    /// The device has been told of its token.
    case told(PushSubject, token: String?)
    /// All that came before has been done.
    case barrier(then: @Sendable () -> Void)
  }

  private struct State {
    var jobs: [Job] = []
    /// Of them, those that came from providers.
    var arrivals = 0
    var isTaken = false
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: how many requests of providers may wait.
  init(limit: Int) { self.limit = limit }

  /// Puts a job at the end.
  ///
  /// - Returns: whether somebody has to begin with the work; `nil` when it is a provider's, and too many wait.
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

  /// An eighth of those that may wait do.
  var isBehind: Bool { state.withLock { $0.arrivals > limit / 8 } }

  /// All that waits; empty when there is nothing, and then somebody has to begin with the next job.
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
