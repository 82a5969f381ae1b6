// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A serial queue on which a service actor runs, and tasks that prefer it.
///
/// Without it the actor would run on the caller's preferred executor (SE-0417), which for a bus handler is the bus's
/// thread. The host would then receive nothing while the service writes its database.
package final class ServiceExecutor: SerialExecutor, TaskExecutor {
  private let queue: DispatchQueue

  /// - Parameter label: that of the queue, for a debugger.
  package init(_ label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      job.runSynchronously(isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }

  /// Runs `work` after everything that waits for this executor now.
  package func post(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
