// SPDX-License-Identifier: Apache-2.0

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

extension TransferContext {
  /// The tasks that were under way when the former host ended by a trap.
  func suspects(among tasks: [StoredTask]) -> Set<TaskKey> {
    let suspects = underWay.suspects(.task)
    return suspects.isEmpty ? [] : Set(tasks.map(\.key).filter { suspects.contains($0.work) })
  }

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
    for key in stateMachine.transfers.keys {
      if let failure = failure(ofSetAside: key) { addEnd(of: key, nil, failure: failure) }
    }
    commit()
  }

  /// Replaces the results of tasks whose files are not delivered yet.
  func failEndedTasksSetAside() {
    guard !context.underWay.setAside.isEmpty else { return }
    do {
      for task in try context.store.taskKeys() where task.hasEnded {
        guard let failure = failure(ofSetAside: task.key) else { continue }
        let bytes = context.bytes(task.key)
        unlink(context.path(task.key))
        let end = TaskEnd(
          key: task.key, result: nil, failure: failure, attempts: 0, bytesSent: 0, bytes: bytes,
          instant: context.clock.now)
        _ = try context.store.save([end])
        context.record(task.key, .failed, bytes, failure.message)
      }
    } catch {
      context.broken(error)
    }
  }

  private func failure(ofSetAside key: TaskKey) -> TransferFailure? {
    guard let reason = context.underWay.reason(key.work) else { return nil }
    context.underWay.end(key.work)
    return TransferFailure(code: -1, message: reason)
  }
}
