// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

/// The thread that spawns children. The kernel sends a parent-death signal when the *thread* that spawned the child
/// ends, so this thread runs as long as the process. A thread of the concurrency pool may end at any time.
package final class SpawningThread: Sendable {
  /// The one spawning thread of this process.
  package static let shared = SpawningThread()

  private let jobs = Mutex<[@Sendable () -> Void]>([])
  private let arrivals = DispatchSemaphore(value: 0)

  private init() {
    Thread.detachNewThread { [self] in
      while true {
        arrivals.wait()
        jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }?()
      }
    }
  }

  /// Runs `work` on the thread, after all earlier work.
  package func run<T: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> T
  ) async throws(Failure) -> T {
    let result: Result<T, Failure> = await withCheckedContinuation { continuation in
      jobs.withLock {
        $0.append {
          do throws(Failure) {
            continuation.resume(returning: .success(try work()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
      arrivals.signal()
    }
    return try result.get()
  }
}
