// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import OwnedTasks

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
