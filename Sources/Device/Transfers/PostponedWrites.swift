// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Writes that wait for the next transaction, in order. Any thread.
final class PostponedWrites: Sendable {
  private let writes = Mutex<[@Sendable (Database) throws -> Void]>([])

  var isEmpty: Bool { writes.withLock(\.isEmpty) }

  func add(_ work: @escaping @Sendable (Database) throws -> Void) { writes.withLock { $0.append(work) } }

  /// Returns them, and forgets them: when their transaction fails, the host exits.
  func take() -> [@Sendable (Database) throws -> Void] {
    writes.withLock { writes in
      defer { writes = [] }
      return writes
    }
  }
}
