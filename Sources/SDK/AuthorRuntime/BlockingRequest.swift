// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
package import Messages
import Synchronization

extension HostedProcess {
  /// Sends a request of an author's synchronous call, and blocks the calling thread until the host has replied, or for
  /// `callDeadline`. Any thread but the connection's. `connect()` was called before, so this also ends in the author's
  /// launch code.
  package func ask<R: Request>(_ request: R, context: MessageContext) -> Result<R.Reply, BusError> {
    let limit = rules.callDeadline
    let answer = BlockingReply<R.Reply>()
    connection.submit(
      request, to: host, id: .random(), context: context, within: .seconds(limit), whenUnreachable: .wait
    ) { answer.come($0) }
    return answer.wait(atMost: limit + 1)
  }
}

/// A reply that an author's thread blocks for.
private final class BlockingReply<Reply: Sendable>: Sendable {
  private let result = Mutex<Result<Reply, BusError>?>(nil)
  private let arrival = MonotonicSemaphore()

  /// Stores the reply and ends the wait. Any thread.
  func come(_ answer: Result<Reply, BusError>) {
    result.withLock { $0 = answer }
    arrival.signal()
  }

  /// The limit in seconds only applies if the connection does not keep its own deadline.
  func wait(atMost limit: Double) -> Result<Reply, BusError> {
    arrival.wait(seconds: limit)
    return result.withLock { $0 }
      ?? .failure(BusError(.deadline, "the host has not replied within \(limit) s", isDefinite: false))
  }
}
