// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Requests that the backend has not answered.
final class HeldResponses: Sendable {
  private let actions = Mutex<[@Sendable () -> Void]>([])
  private let (arrivals, continuation) = AsyncStream<Void>.makeStream()

  func keep(_ action: @escaping @Sendable () -> Void) {
    actions.withLock { $0.append(action) }
    continuation.yield()
  }

  /// Returns when another request arrives.
  func come() async { for await _ in arrivals { return } }

  func release() {
    let actions = actions.withLock { actions in
      defer { actions = [] }
      return actions
    }
    for action in actions { action() }
  }
}
