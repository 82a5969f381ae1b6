// SPDX-License-Identifier: Apache-2.0

package import FaultPoints
package import GRDB
import Glibc

/// The fault points of a database: before and after each commit of a transaction that changed certain tables.
package struct StoreFaultPoints: Sendable {
  package let before: FaultPoint
  package let after: FaultPoint

  package init(before: FaultPoint, after: FaultPoint) {
    self.before = before
    self.after = after
  }

  /// Call it at the end of a transaction.
  ///
  /// - Throws: the error of SQLite that an injector has armed. It fails the transaction, which is rolled back, as SQLite
  ///   does when it cannot write.
  package func beforeCommit() throws(DatabaseError) {
    guard let code = before.failure() else { return }
    let isFull = code == ENOSPC || code == EDQUOT
    throw DatabaseError(
      resultCode: isFull ? .SQLITE_FULL : .SQLITE_IOERR,
      message: "\(String(cString: strerror(code))), injected at \(before.name)")
  }
}

extension DatabasePool {
  /// Adds the fault points of tables. A process without a page of fault points needs none.
  ///
  /// - Parameter points: by table. A transaction that changes tables of several groups reaches the points of each.
  package func addFaultPoints(_ points: [String: StoreFaultPoints]) {
    add(transactionObserver: FaultPointObserver(points), extent: .databaseLifetime)
  }
}

/// Reaches the points of a database. GRDB calls it on the thread of the writer.
private final class FaultPointObserver: TransactionObserver {
  private let points: [String: StoreFaultPoints]
  /// The points of the changed tables, in the order of the first change.
  private var changed: [StoreFaultPoints] = []

  init(_ points: [String: StoreFaultPoints]) { self.points = points }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }

  func databaseDidChange(with event: DatabaseEvent) {
    guard let points = points[event.tableName], !changed.contains(where: { $0.before == points.before }) else { return }
    changed.append(points)
  }

  func databaseWillCommit() throws {
    for points in changed { try points.beforeCommit() }
  }

  func databaseDidCommit(_ db: Database) {
    for points in changed { points.after.reached() }
    changed = []
  }

  func databaseDidRollback(_ db: Database) { changed = [] }
}
