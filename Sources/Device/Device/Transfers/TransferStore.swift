// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import GRDB
import Messages
import Stores

/// Stores sessions, tasks, deliveries, limiters and the paths of copies. Operations on one task look up rows by key, so
/// their cost does not grow with the number of tasks.
struct TransferStore: Sendable {
  private let transactions: DeviceTransactions
  var database: any DatabaseWriter { transactions.database }
  private let postponed = PostponedWrites()
  let recent = RecentTasks()

  init(_ transactions: DeviceTransactions) throws {
    self.transactions = transactions
    try transactions.database.createTables(
      of: "transfers",
      """
      CREATE TABLE sessions (
        owner TEXT NOT NULL, identifier TEXT NOT NULL, configuration BLOB NOT NULL,
        nextTaskIdentifier INTEGER NOT NULL DEFAULT 1, openIn INTEGER, quit BOOLEAN NOT NULL DEFAULT FALSE,
        PRIMARY KEY (owner, identifier));
      CREATE TABLE tasks (
        owner TEXT NOT NULL, session TEXT NOT NULL, task INTEGER NOT NULL, type TEXT NOT NULL, request BLOB NOT NULL,
        newRequest BLOB, description TEXT, file TEXT, created REAL NOT NULL, background BOOLEAN NOT NULL,
        priority REAL NOT NULL, earliestBegin REAL, asks BOOLEAN NOT NULL, expectsToSend INTEGER NOT NULL,
        expectsToReceive INTEGER NOT NULL, suspended BOOLEAN NOT NULL DEFAULT FALSE,
        attempts INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, notBefore REAL, ended REAL,
        endedOrder INTEGER, currentRequest BLOB, redirects INTEGER NOT NULL DEFAULT 0,
        bytesSent INTEGER NOT NULL DEFAULT 0, response BLOB, validator TEXT, failure BLOB,
        PRIMARY KEY (owner, session, task),
        FOREIGN KEY (owner, session) REFERENCES sessions (owner, identifier));
      CREATE INDEX tasksByEnd ON tasks (endedOrder);
      CREATE TABLE deliveries (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, session TEXT NOT NULL, tasks BLOB NOT NULL, redeliveries INTEGER NOT NULL,
        exits INTEGER NOT NULL, notBefore REAL, held BOOLEAN NOT NULL, generation INTEGER, wakesHandler BOOLEAN);
      CREATE TABLE copies (path TEXT PRIMARY KEY, delivery TEXT NOT NULL);
      CREATE INDEX copiesByDelivery ON copies (delivery);
      CREATE TABLE limiters (
        account TEXT PRIMARY KEY, owner TEXT NOT NULL, delay REAL NOT NULL, since REAL NOT NULL, until REAL NOT NULL);
      """,
      changes: [
        // The body of a short response.
        "transfers-content": "ALTER TABLE tasks ADD COLUMN content BLOB",
        // The paths of copies are a column, so that a delivery changes fewer pages. `syncs` is for changes without content.
        "transfers-copies": """
        ALTER TABLE deliveries ADD COLUMN copies BLOB;
        UPDATE deliveries SET copies = (
          SELECT CAST(json_group_array(path) AS BLOB) FROM copies WHERE delivery = deliveries.id);
        DROP TABLE copies;
        DROP INDEX tasksByEnd;
        CREATE INDEX tasksByEnd ON tasks (endedOrder) WHERE endedOrder IS NOT NULL;
        CREATE TABLE syncs (id INTEGER PRIMARY KEY, count INTEGER NOT NULL);
        INSERT INTO syncs VALUES (1, 0);
        """,
        // A process repeats a request that has no reply, also when its task has been acknowledged.
        "transfers-creators": """
        ALTER TABLE tasks ADD COLUMN creator INTEGER;
        CREATE TABLE acknowledgedTasks (
          owner TEXT NOT NULL, session TEXT NOT NULL, task INTEGER NOT NULL, creator INTEGER NOT NULL,
          PRIMARY KEY (owner, session, task));
        """,
      ])
  }

  // MARK: Transactions

  /// Writes in one transaction, after what was postponed and what waits for the device's transaction. When this returns, the
  /// disk has it.
  func write<T>(_ work: (Database) throws -> T) throws -> T {
    try postponed.performed { earlier in
      try transactions.writeNow { db in
        try earlier(db)
        return try work(db)
      }
    }
  }

  /// The same with the next transaction of the device. It survives the end of this process, but a power failure only with
  /// the next transaction that waits for the disk.
  ///
  /// For what another host can do again: begin a delivery, or remove a copy.
  func writeSoon(_ work: @escaping @Sendable (Database) throws -> Void) throws {
    let earlier = postponed.take()
    try transactions.write(.soon) { db in
      for write in earlier { try write(db) }
      try work(db)
    }
  }

  /// Writes in the next transaction.
  func postpone(_ work: @escaping @Sendable (Database) throws -> Void) { postponed.add(work) }

  /// Writes what was postponed, if there is anything.
  func writePostponed() throws {
    if !postponed.isEmpty { try writeSoon { _ in } }
  }

  // MARK: Sessions

  /// Stores a session, and forgets the acknowledged tasks that earlier instances of its owner created: only a process that
  /// runs repeats its requests.
  func open(_ key: SessionKey, _ configuration: SessionConfiguration, generation: UInt32) throws {
    try write { db in
      try db.run(
        """
        INSERT INTO sessions (owner, identifier, configuration) VALUES (?, ?, ?)
        ON CONFLICT (owner, identifier) DO UPDATE SET configuration = excluded.configuration
        """, [key.owner.text, key.identifier, try BodyCoding.data(configuration)])
      try db.run(
        "DELETE FROM acknowledgedTasks WHERE owner = ? AND creator < ?", [key.owner.text, generation])
    }
  }

  func configurations() throws -> [SessionKey: SessionConfiguration] {
    try database.read { db in
      var found: [SessionKey: SessionConfiguration] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT owner, identifier, configuration FROM sessions") {
        guard let owner = Address(row["owner"]) else { continue }
        found[SessionKey(owner: owner, identifier: row["identifier"])] = try row.decoded("configuration")
      }
      return found
    }
  }

  // MARK: Limiters

  func limiters() throws -> [String: LoadingStateMachine.Limiter] {
    try database.read { db in
      var found: [String: LoadingStateMachine.Limiter] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM limiters") {
        guard let owner = Address(row["owner"]) else { continue }
        found[row["account"]] = LoadingStateMachine.Limiter(
          owner: owner, delay: row["delay"], since: row.date("since"), until: row.date("until"))
      }
      return found
    }
  }

  /// Writes the limiter of an account, with the next transaction. A limiter that is off has no row.
  func setLimiter(_ limiter: LoadingStateMachine.Limiter, of account: String) throws {
    try transactions.write(.lasting) { db in
      guard limiter.delay > 0 else { return try db.run("DELETE FROM limiters WHERE account = ?", [account]) }
      try db.run(
        "INSERT OR REPLACE INTO limiters (account, owner, delay, since, until) VALUES (?, ?, ?, ?, ?)",
        [
          account, limiter.owner.text, limiter.delay, limiter.since.timeIntervalSince1970,
          limiter.until.timeIntervalSince1970,
        ])
    }
  }
}
