// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Writes that wait for the next transaction, in order. Any thread.
final class PostponedWrites: Sendable {
  private let writes = Mutex<[@Sendable (Database) throws -> Void]>([])

  var isEmpty: Bool { writes.withLock(\.isEmpty) }

  func add(_ work: @escaping @Sendable (Database) throws -> Void) { writes.withLock { $0.append(work) } }

  /// Removes them, for a transaction whose failure ends the host.
  func take() -> [@Sendable (Database) throws -> Void] {
    writes.withLock { writes in
      defer { writes = [] }
      return writes
    }
  }

  /// Calls `transaction` with a function that performs them. They are forgotten when it returns, and kept when it fails:
  /// a host whose disk is full refuses a new task, and continues.
  func performed<T>(in transaction: ((Database) throws -> Void) throws -> T) throws -> T {
    let taken = take()
    do {
      return try transaction { db in for write in taken { try write(db) } }
    } catch {
      writes.withLock { $0.insert(contentsOf: taken, at: 0) }
      throw error
    }
  }
}
