// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// An owner of tasks: it cancels them and waits for their end. Any thread.
///
/// A service starts with it each task that nothing else awaits, and calls `end()` when it leaves: then nothing of the
/// service runs any more.
package final class TaskOwner: Sendable {
  private struct State {
    /// By number, ascending. An array, because the first dictionary costs an author's process 0.2 ms before it is ready.
    var running: [(number: UInt64, task: Task<Void, Never>)] = []
    var isClosed = false
    /// The number of the last task.
    var last: UInt64 = 0

    mutating func remove(_ number: UInt64) {
      var (low, high) = (0, running.count)
      while low < high {
        let middle = (low + high) / 2
        if running[middle].number < number { low = middle + 1 } else { high = middle }
      }
      if low < running.count, running[low].number == number { running.remove(at: low) }
    }
  }

  private let state = Mutex(State())
  private let executor: (any TaskExecutor)?

  /// - Parameter executor: runs the tasks; `nil` for the shared threads of Swift concurrency.
  package init(on executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// The number of tasks that have not ended.
  package var count: Int { state.withLock { $0.running.count } }

  /// Starts a task. After `end()` was called, nothing is started.
  ///
  /// - Parameter executor: runs the task; `nil` for the executor of this owner.
  /// - Returns: the task, to cancel it early; `nil` when none was started.
  @discardableResult
  package func start(
    on executor: (any TaskExecutor)? = nil, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never>? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.last += 1
      let number = state.last
      // A task that ends at once waits here for the lock, so it is removed after it was added.
      let task = Task(executorPreference: executor ?? self.executor) {
        await work()
        self.ended(number)
      }
      state.running.append((number, task))
      return task
    }
  }

  /// Cancels all tasks, which end when they check for that. Nothing is started any more.
  package func cancel() {
    let running = state.withLock { state in
      state.isClosed = true
      return state.running
    }
    for (_, task) in running { task.cancel() }
  }

  /// Cancels all tasks, and returns when the last one has ended. A task of this owner must not call it.
  package func end() async {
    cancel()
    for (_, task) in state.withLock(\.running) { await task.value }
  }

  private func ended(_ number: UInt64) {
    state.withLock { $0.remove(number) }
  }
}
