// SPDX-License-Identifier: Apache-2.0

import Archive
import CPlatform
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

/// A counting semaphore whose waits last as long as they state. Any thread.
///
/// `DispatchSemaphore` waits for a time of the wall clock on Linux: a wait ends at once when that clock is set forward,
/// which a device's clock is as well.
package final class MonotonicSemaphore: Sendable {
  // The functions of CPlatform may be called by several threads.
  private nonisolated(unsafe) let semaphore: UnsafeMutableRawPointer

  package init() { semaphore = semaphore_create() }

  deinit { semaphore_destroy(semaphore) }

  package func signal() { semaphore_signal(semaphore) }

  /// Waits for a signal, at most for so many seconds.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  package func wait(seconds: Double) -> Bool {
    semaphore_wait(semaphore, Int64(saturating: min(max(seconds, 0), 86_400) * 1e9)) == 0
  }
}
