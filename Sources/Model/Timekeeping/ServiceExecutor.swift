// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A serial queue on which a service actor runs.
///
/// Without it the actor would run on the caller's preferred executor (SE-0417), which for a bus handler is the bus's
/// thread. The host would then receive nothing while the service writes its database.
package final class ServiceExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// - Parameter label: that of the queue, for a debugger.
  package init(_ label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
