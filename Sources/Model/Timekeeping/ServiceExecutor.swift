// SPDX-License-Identifier: Apache-2.0

package import Dispatch
package import Foundation
import Synchronization

/// A serial queue on which an actor runs.
///
/// Without it the actor would run on the caller's preferred executor (SE-0417), which for a bus handler is the bus's
/// thread. The host would then receive nothing while the service writes its database.
///
/// A task that prefers another executor, such as a bus handler, lets other jobs of the actor run at each `await`, also at
/// one that calls the actor itself, and before the body of `withCheckedContinuation`. So that body must check again what
/// it waits for.
package final class ServiceExecutor: SerialExecutor {
  private let queue: DispatchQueue
  private let jobs: WaitingJobs
  /// For tasks whose own code runs on the queue, too.
  package let taskExecutor: any TaskExecutor

  /// - Parameter label: that of the queue, for a debugger.
  package init(_ label: String) {
    queue = DispatchQueue(label: label)
    jobs = WaitingJobs()
    taskExecutor = QueueTaskExecutor(queue, jobs)
  }

  /// Whether jobs of actors or tasks wait for the executor.
  package var hasWaitingJobs: Bool { jobs.number.load(ordering: .relaxed) > 0 }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.number.add(1, ordering: .relaxed)
    queue.async {
      self.jobs.number.subtract(1, ordering: .relaxed)
      job.runSynchronously(on: self.asUnownedSerialExecutor())
    }
  }

  /// Runs `work`, which is one of the waiting jobs until then.
  package func submit(_ work: @escaping @Sendable () -> Void) {
    jobs.number.add(1, ordering: .relaxed)
    queue.async {
      self.jobs.number.subtract(1, ordering: .relaxed)
      work()
    }
  }

  /// Runs `work` after everything that waits for this executor now.
  package func post(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// The same, at `due` or later.
  package func post(after due: DispatchTime, _ work: @escaping @Sendable () -> Void) {
    if due <= .now() { queue.async(execute: work) } else { queue.asyncAfter(deadline: due, execute: work) }
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// The number of jobs that wait for a queue.
private final class WaitingJobs: Sendable {
  let number = Atomic(0)
}

private final class QueueTaskExecutor: TaskExecutor {
  private let queue: DispatchQueue
  private let jobs: WaitingJobs

  init(_ queue: DispatchQueue, _ jobs: WaitingJobs) {
    self.queue = queue
    self.jobs = jobs
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.number.add(1, ordering: .relaxed)
    queue.async {
      self.jobs.number.subtract(1, ordering: .relaxed)
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

/// The device: its services run on this actor, as the views of an app run on the main actor. A call from one service to
/// another is synchronous, and nothing runs in between.
///
/// A process has one device. Several in one process, as in tests, share the executor and nothing else.
@globalActor package actor DeviceActor {
  package static let shared = DeviceActor()
  package static let executor = ServiceExecutor("device")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

  /// Does work on the executor, which runs this call. Traps elsewhere.
  package nonisolated static func assumeIsolated<Result: Sendable, Failure: Error>(
    _ work: @DeviceActor () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    executor.checkIsolated()
    // As `MainActor.assumeIsolated` does it: the language has no other way for an actor of a program.
    typealias Unisolated = () throws(Failure) -> Result
    return try withoutActuallyEscaping(work) { work throws(Failure) in
      try unsafeBitCast(work, to: Unisolated.self)()
    }
  }
}

/// The alarm for the next date of a state machine. At most one is set.
package struct StateMachineAlarm {
  private var pending: (instant: Date, alarm: ClockAlarm)?

  package init() {}

  /// Replaces the alarm, if its date is another. `nil` removes it.
  ///
  /// - Parameter fire: receives the date. It calls `takeFired`, and handles the event if that returns `true`.
  package mutating func set(
    _ instant: Date?, on clock: any ControllableClock, _ fire: @escaping @Sendable (Date) async -> Void
  ) {
    // An alarm that has fired but is not handled yet is handled next, and sets another.
    if let pending, pending.instant <= clock.now { return }
    guard instant != pending?.instant else { return }
    pending?.alarm.cancel()
    pending = instant.map { instant in (instant, clock.alarm(at: instant) { await fire(instant) }) }
  }

  /// Removes the alarm that has fired.
  ///
  /// - Returns: `false` when it was replaced before this call. Its date is void then.
  package mutating func takeFired(_ instant: Date) -> Bool {
    guard pending?.instant == instant else { return false }
    pending = nil
    return true
  }

  /// Removes the alarm from this value without cancelling it, so that the caller can end it and its work.
  package mutating func take() -> ClockAlarm? {
    defer { pending = nil }
    return pending?.alarm
  }

  /// Cancels and removes the alarm.
  package mutating func cancel() {
    pending?.alarm.cancel()
    pending = nil
  }
}
