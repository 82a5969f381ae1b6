// SPDX-License-Identifier: Apache-2.0

package import FaultPoints
package import Foundation
package import GRDB
import Glibc
package import Messages

// What the stores share. A store is the set of tables of one concern. Several stores may share a database file.

extension DatabasePool {
  /// Opens a database file in write-ahead mode, and creates it if it is missing. A locked database is waited for, at
  /// most 5 s. A committed transaction survives a power failure.
  ///
  /// - Throws: errors of the database, such as that the file is damaged.
  package static func opening(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.busyMode = .timeout(patience)
    let pool = try DatabasePool(path: path, configuration: configuration)
    // GRDB sets NORMAL with the write-ahead mode, which writes the log to the disk only at a checkpoint. Debian's SQLite
    // overwrites deleted rows, which writes the pages of each large value once more.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF") }
    shortenLog(of: pool)
    return pool
  }

  /// Empties a write-ahead log of more than 8 MiB, unless another process uses the database or the disk fails. SQLite overwrites
  /// the log from the second transaction of a process on. So it grows, and each start reads all of it, when process after
  /// process is killed after one transaction.
  private static func shortenLog(of pool: DatabasePool) {
    var log = stat()
    guard stat(pool.path + "-wal", &log) == 0, log.st_size > 8 << 20 else { return }
    try? pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA busy_timeout = 0")
      defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Int(patience * 1000))") }
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }

  /// How long a statement waits while another connection writes, in seconds.
  private static let patience: TimeInterval = 5
}

extension DatabaseWriter {
  /// Creates the tables of a store, if this database does not have them yet.
  ///
  /// - Parameters:
  ///   - store: the name under which the database records that it has the tables. No two stores share a name.
  ///   - sql: the statements.
  ///   - changes: later changes of the tables, by names that are recorded likewise, in order.
  package func createTables(of store: String, _ sql: String, changes: KeyValuePairs<String, String> = [:]) throws {
    // Almost every start finds them. The migrator searches them in several steps, and waits for all readers.
    let last = changes.last?.key ?? store
    let applied = try? writeWithoutTransaction { db in
      try String.fetchOne(
        db.cachedStatement(sql: "SELECT identifier FROM grdb_migrations WHERE identifier = ?"), arguments: [last])
    }
    if applied == last { return }
    var migrator = DatabaseMigrator()
    migrator.registerMigration(store) { try $0.execute(sql: sql) }
    for (name, sql) in changes { migrator.registerMigration(name) { try $0.execute(sql: sql) } }
    try migrator.migrate(self)
  }
}

extension Database {
  /// Executes one statement. It is compiled once per connection.
  package func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }
}

extension DatabaseWriter {
  /// Executes one statement in its own transaction.
  package func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
    try write { try $0.run(sql, arguments) }
  }

  /// Writes in one transaction. It survives the end of this process, but a power failure only with the next transaction
  /// that waits for the disk.
  package func writeSoon(_ work: (Database) throws -> Void) throws {
    try writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
      defer { try? db.execute(sql: "PRAGMA synchronous = FULL") }
      try db.inTransaction {
        try work(db)
        return .commit
      }
    }
  }
}

extension Decodable {
  /// Decodes a value that was stored with `BodyCoding.data`.
  ///
  /// - Throws: `malformed-body`.
  package init(stored data: Data) throws { self = try BodyCoding.decode(Self.self, from: Array(data)) }
}

extension DirectJSON {
  /// Decodes a value that was stored with `BodyCoding.data`.
  ///
  /// - Throws: `malformed-body`.
  package init(stored data: Data) throws { self = try BodyCoding.decode(Self.self, from: Array(data)) }
}

extension Row {
  /// Decodes the value of a column that was stored with `BodyCoding.data`.
  ///
  /// - Throws: `malformed-body`.
  package func decoded<Value: Decodable>(_ column: String) throws -> Value { try Value(stored: self[column]) }

  /// The same without `JSONDecoder`.
  package func decoded<Value: DirectJSON>(directly column: String) throws -> Value { try Value(stored: self[column]) }

  /// Decodes the value of a column that was stored with `BodyCoding.data`; `nil` for NULL.
  ///
  /// - Throws: `malformed-body`.
  package func decodedIfPresent<Value: Decodable>(_ column: String) throws -> Value? {
    try (self[column] as Data?).map { try Value(stored: $0) }
  }

  /// The same without `JSONDecoder`.
  package func decodedIfPresent<Value: DirectJSON>(directly column: String) throws -> Value? {
    try (self[column] as Data?).map { try Value(stored: $0) }
  }

  /// The date of a column with seconds since 1970.
  package func date(_ column: String) -> Date { Date(timeIntervalSince1970: self[column]) }

  /// The date of a column with seconds since 1970; `nil` for NULL.
  package func dateIfPresent(_ column: String) -> Date? {
    (self[column] as Double?).map { Date(timeIntervalSince1970: $0) }
  }
}

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
