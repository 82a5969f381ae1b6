// SPDX-License-Identifier: Apache-2.0

import Foundation
import OwnedTasks

// Waiting for the end of what an agent does.

extension Agent {
  func checkQuiet() {
    for (id, waiter) in quietWaiters where waiter.isQuiet(self) {
      quietWaiters.removeValue(forKey: id)?.continuation.resume()
    }
  }

  /// Waits until the agent satisfies the condition.
  ///
  /// - Returns: `false` when the time limit passed before.
  @discardableResult
  func quiet(within limit: Duration? = nil, _ isQuiet: @escaping Quiet) async -> Bool {
    let id = UUID()
    let timer = limit.flatMap { limit in
      tasks.start {
        try? await Task.sleep(for: limit)
        await self.stopWaiting(id)
      }
    }
    await withCheckedContinuation { continuation in
      quietWaiters[id] = (isQuiet, continuation)
      checkQuiet()
    }
    timer?.cancel()
    return isQuiet(self)
  }

  private func stopWaiting(_ id: UUID) {
    quietWaiters.removeValue(forKey: id)?.continuation.resume()
  }
}
