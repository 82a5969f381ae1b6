// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A value that another thread makes while this one continues. For the start of a process, which waits for the disk and
/// decodes what is stored.
struct Concurrently<Value: Sendable>: Sendable {
  private final class Made: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
  }

  private let made = Made()
  private let queue = DispatchQueue(label: "start")

  init(_ make: @escaping @Sendable () throws -> Value) {
    queue.async { [made] in
      let result = Result { try make() }
      made.result.withLock { $0 = result }
    }
  }

  /// Blocks this thread until the value is there.
  ///
  /// - Throws: the error of the other thread.
  func get() throws -> Value {
    queue.sync {}
    guard let result = made.result.withLock({ $0 }) else { preconditionFailure("a serial queue keeps its order") }
    return try result.get()
  }
}
