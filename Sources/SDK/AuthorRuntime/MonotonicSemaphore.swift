// SPDX-License-Identifier: Apache-2.0

import Archive
import CPlatform

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
