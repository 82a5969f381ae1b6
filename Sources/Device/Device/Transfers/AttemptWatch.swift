// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// The time that an attempt may pass without data: `timeoutIntervalForRequest`.
///
/// The loading state machine has the limit of the whole task, `timeoutIntervalForResource`.
struct IdleLimit: Sendable {
  private let idle: TimeAmount
  private var lastData: NIODeadline
  /// The attempt waits for something other than the server. The limit does not run then.
  private var isOutside = false
  private(set) var isOver = false

  /// - Parameter idle: seconds.
  init(_ idle: Double, now: NIODeadline) {
    self.idle = .milliseconds(Int64(saturating: min(max(idle, 0), 1e8) * 1000))
    lastData = now
  }

  /// Data was sent or received.
  mutating func touch(_ now: NIODeadline) { lastData = now }

  mutating func goOutside(_ isOutside: Bool, _ now: NIODeadline) {
    self.isOutside = isOutside
    lastData = now
  }

  /// Returns when to check again; `nil` when the limit has passed. Data that comes later does not change that.
  mutating func nextLook(_ now: NIODeadline) -> NIODeadline? {
    let due = isOutside ? now + max(idle, .milliseconds(1)) : lastData + idle
    isOver = isOver || due <= now
    return isOver ? nil : due
  }
}

/// Cancels an attempt when its idle limit has passed.
final class AttemptWatch: Sendable {
  private let limit: Mutex<IdleLimit>
  private let watches: AttemptWatches

  init(_ limit: IdleLimit, among watches: AttemptWatches) {
    self.limit = Mutex(limit)
    self.watches = watches
  }

  /// Data was sent or received.
  func touch() { limit.withLock { $0.touch(.now()) } }

  /// Runs `body` without the idle limit, for waits that the server does not cause.
  func outside<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    limit.withLock { $0.goOutside(true, .now()) }
    defer { limit.withLock { $0.goOutside(false, .now()) } }
    return try await body()
  }

  /// - Parameter executor: runs the body; `nil` for the shared threads of Swift concurrency.
  /// - Throws: `TransferFault` -1001 when the limit has passed. The body was cancelled and has returned then.
  func run<T: Sendable>(
    on executor: (any TaskExecutor)? = nil, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let task = Task(executorPreference: executor) { try await body() }
    let number = watches.add { [weak self] in self?.look { task.cancel() } }
    defer { watches.remove(number) }
    do {
      return try await withTaskCancellationHandler(operation: { try await task.value }, onCancel: { task.cancel() })
    } catch {
      guard limit.withLock({ $0.isOver }) else { throw error }
      throw TransferFault(.timedOut, "the request timed out")
    }
  }

  /// Checks the limit.
  ///
  /// - Returns: when to check again; `nil` when the limit has passed.
  private func look(whenOver: () -> Void) -> NIODeadline? {
    let next = limit.withLock { $0.nextLook(.now()) }
    if next == nil { whenOver() }
    return next
  }
}

/// The watches of all attempts, with one timer: an attempt of a small file would set and cancel its own before it fires.
final class AttemptWatches: Sendable {
  /// Checks a limit, and returns when to check again.
  typealias Look = @Sendable () -> NIODeadline?

  private struct State {
    var looks: [UInt64: Look] = [:]
    var last: UInt64 = 0
    /// When the timer fires; `nil` when none is set.
    var next: NIODeadline?
    var timer: Scheduled<Void>?
  }

  private let state = Mutex(State())

  /// Checks a limit now, and later until it is removed or has passed.
  func add(_ look: @escaping Look) -> UInt64 {
    let number = state.withLock { state in
      state.last += 1
      state.looks[state.last] = look
      return state.last
    }
    if let due = look() { fire(at: due) } else { remove(number) }
    return number
  }

  func remove(_ number: UInt64) { state.withLock { _ = $0.looks.removeValue(forKey: number) } }

  private func fire(at due: NIODeadline) {
    state.withLock { state in
      if let next = state.next, next <= due { return }
      state.timer?.cancel()
      state.next = due
      state.timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: due) { [weak self] in
        self?.fired()
      }
    }
  }

  private func fired() {
    let looks = state.withLock { state in
      (state.next, state.timer) = (nil, nil)
      return state.looks
    }
    var earliest: NIODeadline?
    for (number, look) in looks {
      guard let due = look() else {
        remove(number)
        continue
      }
      earliest = min(earliest ?? due, due)
    }
    if let earliest { fire(at: earliest) }
  }
}
