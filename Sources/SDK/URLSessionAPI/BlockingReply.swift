// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Synchronization

/// A reply that an author's thread blocks for.
final class BlockingReply: Sendable {
  private let result = Mutex<Result<Done, BusError>?>(nil)
  private let arrival = DispatchSemaphore(value: 0)

  /// Stores the reply and ends the wait. Any thread.
  func come(_ answer: Result<Done, BusError>) {
    result.withLock { $0 = answer }
    arrival.signal()
  }

  /// Blocks the calling thread, on which nothing else depends. The limit only applies if the connection does not keep
  /// its own deadline.
  func wait(atMost limit: Duration) -> Result<Done, BusError> {
    _ = arrival.wait(timeout: .now() + limit.seconds)
    return result.withLock { $0 }
      ?? .failure(BusError(.deadline, "no reply within \(limit)", isDefinite: false))
  }
}

extension Duration {
  var seconds: Double { self / .seconds(1) }
}
