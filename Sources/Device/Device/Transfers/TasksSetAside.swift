// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import FaultPoints
import Foundation
import Glibc
import Messages
import Stores
import Timekeeping

// Tasks that ended two hosts in a row by a trap. They fail, and are not handled again.

extension TaskKey {
  /// The task in the record of the work under way.
  var work: UnderWay.Work { UnderWay.Work(.task, "\(identifier) of \(session.owner.text) \(session.identifier)") }
}

extension UnderWay {
  /// The tasks that were under way when the former host ended by a trap.
  func suspects(among tasks: [StoredTask]) -> Set<TaskKey> {
    let suspects = suspects(.task)
    return suspects.isEmpty ? [] : Set(tasks.map(\.key).filter { suspects.contains($0.work) })
  }
}

extension TransferContext {
  /// Makes an attempt to load a task.
  func handling<Result>(_ key: TaskKey, isolation: isolated (any Actor)? = #isolation, _ attempt: () async -> Result)
    async -> Result
  {
    underWay.begin(key.work)
    defer { underWay.end(key.work) }
    FaultPoint.hostWithinTask.reached()
    return await attempt()
  }
}

extension TransferScheduler {
  /// Ends tasks that would load.
  func failTasksSetAside() {
    let failed = stateMachine.transfers.keys.filter { key in
      guard let failure = failure(ofSetAside: key) else { return false }
      addEnd(of: key, nil, failure: failure)
      return true
    }
    commit()
    forget(failed)
  }

  /// Replaces the results of tasks whose files are not delivered yet.
  func failEndedTasksSetAside() {
    guard context.underWay.hasSetAside(.task) else { return }
    do {
      for ended in try context.store.taskKeys() where ended.hasEnded {
        guard let failure = failure(ofSetAside: ended.key), let task = try context.store.task(ended.key) else {
          continue
        }
        let bytes = context.bytes(of: task)
        let end = TaskEnd(
          key: task.key, result: nil, failure: failure, attempts: task.attempts, bytesSent: task.bytesSent,
          bytes: bytes, instant: task.ended ?? context.clock.now)
        try context.store.save([end])
        // Its end was recorded already; the notice of the work that is set aside names it.
        unlink(context.path(task.key))
        forget([task.key])
      }
    } catch {
      context.broken(error)
    }
  }

  /// The failure is in the database.
  private func forget(_ keys: [TaskKey]) {
    guard context.core.failure == nil else { return }
    for key in keys { context.underWay.end(key.work) }
  }

  private func failure(ofSetAside key: TaskKey) -> TransferFailure? {
    context.underWay.reason(key.work).map { TransferFailure(code: -1, message: $0) }
  }
}
