import Dispatch

/// The queue of a room's keeper: what the keeper does is done there and nowhere else.
///
/// An actor without one does its work on the executor that its caller prefers (SE-0417), and a handler of the bus prefers the
/// bus's thread: the whole host would hear nothing while the keeper writes its database.
package final class RoomExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// - Parameter room: what the queue is called, for a debugger.
  package init(_ room: String) { queue = DispatchQueue(label: room) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
