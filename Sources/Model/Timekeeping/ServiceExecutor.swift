// SPDX-License-Identifier: Apache-2.0

package import Dispatch
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
