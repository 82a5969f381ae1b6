import Foundation
import GRDB
import Messages

/// Stores sessions, tasks, deliveries, limiters and the paths of copies. Operations on one task look up rows by key, so
/// their cost does not grow with the number of tasks.
struct TransferStore: Sendable {
  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("transfers-1", migrate: TransferStore.createTables)
    migrator.registerMigration("transfers-2", migrate: TransferStore.addScheduling)
    try migrator.migrate(database)
  }

  private static func createTables(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE sessions (
          owner TEXT NOT NULL, identifier TEXT NOT NULL, configuration BLOB NOT NULL,
          nextTaskIdentifier INTEGER NOT NULL DEFAULT 1, openIn INTEGER, PRIMARY KEY (owner, identifier));
        CREATE TABLE tasks (
          owner TEXT NOT NULL, session TEXT NOT NULL, task INTEGER NOT NULL, request BLOB NOT NULL, description TEXT,
          created REAL NOT NULL, endedOrder INTEGER, response BLOB, validator TEXT, failure BLOB,
          PRIMARY KEY (owner, session, task),
          FOREIGN KEY (owner, session) REFERENCES sessions (owner, identifier));
        CREATE TABLE deliveries (
          id TEXT PRIMARY KEY, owner TEXT NOT NULL, session TEXT NOT NULL, tasks BLOB NOT NULL, tries INTEGER NOT NULL,
          deaths INTEGER NOT NULL, notBefore REAL, held BOOLEAN NOT NULL, generation INTEGER, wakesHandler BOOLEAN);
        CREATE TABLE copies (path TEXT PRIMARY KEY, delivery TEXT NOT NULL);
        """)
  }

  private static func addScheduling(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE sessions ADD COLUMN quit BOOLEAN NOT NULL DEFAULT FALSE;
        ALTER TABLE tasks ADD COLUMN type TEXT NOT NULL DEFAULT 'download';
        ALTER TABLE tasks ADD COLUMN file TEXT;
        ALTER TABLE tasks ADD COLUMN newRequest BLOB;
        ALTER TABLE tasks ADD COLUMN background BOOLEAN NOT NULL DEFAULT TRUE;
        ALTER TABLE tasks ADD COLUMN priority REAL NOT NULL DEFAULT 0.5;
        ALTER TABLE tasks ADD COLUMN earliestBegin REAL;
        ALTER TABLE tasks ADD COLUMN asks BOOLEAN NOT NULL DEFAULT FALSE;
        ALTER TABLE tasks ADD COLUMN suspended BOOLEAN NOT NULL DEFAULT FALSE;
        ALTER TABLE tasks ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE tasks ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE tasks ADD COLUMN notBefore REAL;
        ALTER TABLE tasks ADD COLUMN expectsToSend INTEGER NOT NULL DEFAULT -1;
        ALTER TABLE tasks ADD COLUMN expectsToReceive INTEGER NOT NULL DEFAULT -1;
        ALTER TABLE tasks ADD COLUMN ended REAL;
        ALTER TABLE tasks ADD COLUMN currentRequest BLOB;
        ALTER TABLE tasks ADD COLUMN redirects INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE tasks ADD COLUMN bytesSent INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX tasksByEnd ON tasks (endedOrder);
        CREATE INDEX copiesByDelivery ON copies (delivery);
        CREATE TABLE limiters (
          account TEXT PRIMARY KEY, owner TEXT NOT NULL, delay REAL NOT NULL, since REAL NOT NULL, until REAL NOT NULL);
        """)
  }

  // MARK: Sessions

  func open(_ key: SessionKey, _ configuration: SessionConfiguration) throws {
    try write(
      """
      INSERT INTO sessions (owner, identifier, configuration) VALUES (?, ?, ?)
      ON CONFLICT (owner, identifier) DO UPDATE SET configuration = excluded.configuration
      """, [key.owner.text, key.identifier, Data(try BodyCoding.encode(configuration))])
  }

  func configurations() throws -> [SessionKey: SessionConfiguration] {
    try database.read { db in
      var found: [SessionKey: SessionConfiguration] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT owner, identifier, configuration FROM sessions") {
        guard let owner = Address(row["owner"]) else { continue }
        found[SessionKey(owner: owner, identifier: row["identifier"])] = try BodyCoding.decode(
          SessionConfiguration.self, from: Array(row["configuration"] as Data))
      }
      return found
    }
  }

  func nextTaskIdentifier(of key: SessionKey) throws -> Int {
    try database.read { db in
      try Int.fetchOne(
        db, sql: "SELECT nextTaskIdentifier FROM sessions WHERE owner = ? AND identifier = ?",
        arguments: [key.owner.text, key.identifier])
    } ?? 1
  }

  // MARK: Limiters

  func limiters() throws -> [String: LoadingStateMachine.Limiter] {
    try database.read { db in
      var found: [String: LoadingStateMachine.Limiter] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM limiters") {
        guard let owner = Address(row["owner"]) else { continue }
        found[row["account"]] = LoadingStateMachine.Limiter(
          owner: owner, delay: row["delay"], since: Date(timeIntervalSince1970: row["since"]),
          until: Date(timeIntervalSince1970: row["until"]))
      }
      return found
    }
  }

  /// Writes the limiter of an account. A limiter that is off has no row.
  func setLimiter(_ limiter: LoadingStateMachine.Limiter, of account: String) throws {
    guard limiter.delay > 0 else { return try write("DELETE FROM limiters WHERE account = ?", [account]) }
    try write(
      "INSERT OR REPLACE INTO limiters (account, owner, delay, since, until) VALUES (?, ?, ?, ?, ?)",
      [
        account, limiter.owner.text, limiter.delay, limiter.since.timeIntervalSince1970,
        limiter.until.timeIntervalSince1970,
      ])
  }

  /// Runs one statement in its own transaction.
  func write(_ sql: String, _ arguments: StatementArguments) throws {
    try database.write { db in try db.cachedStatement(sql: sql).execute(arguments: arguments) }
  }
}
