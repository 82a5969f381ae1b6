// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import Synchronization

/// The last tasks that were written or read, as the database has them, so that a short task is not read and decoded again
/// for its attempt and for its delivery. Any thread.
///
/// The caller keeps the order of writes: it changes a task here after the transaction with the same change.
final class RecentTasks: Sendable {
  private struct Recent {
    var task: StoredTask
    /// The body of a short response, when the task has ended.
    var content: [UInt8]?
  }

  private let tasks = Mutex<[TaskKey: Recent]>([:])

  /// Tasks. Their bodies have at most 32 KiB each, together 4 MiB.
  private static let limit = 128

  subscript(_ key: TaskKey) -> StoredTask? { tasks.withLock { $0[key]?.task } }

  func content(of key: TaskKey) -> [UInt8]? { tasks.withLock { $0[key]?.content } }

  /// Adds a task that was stored or read. Forgets all others when there are too many.
  func add(_ task: StoredTask) {
    tasks.withLock { tasks in
      if tasks.count >= Self.limit { tasks.removeAll(keepingCapacity: true) }
      tasks[task.key] = Recent(task: task)
    }
  }

  /// Records the end of a task, if it is known here.
  func end(_ end: TaskEnd) {
    tasks.withLock { tasks in
      tasks[end.key]?.task.end(end)
      tasks[end.key]?.content = end.result?.content
    }
  }

  func remove(_ key: TaskKey) { tasks.withLock { _ = $0.removeValue(forKey: key) } }
}
