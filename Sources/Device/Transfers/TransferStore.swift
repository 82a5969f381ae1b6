import Conversations
import Foundation
import GRDB

/// A task as it is on disk.
struct StoredTask: Sendable {
  let key: TaskKey
  let request: TransferRequest
  let description: String?
  let created: Date
  var hasEnded: Bool
  var response: TransferResponse?
  var validator: String?
  var failure: TransferFailure?
}

/// Sessions, tasks, deliveries and the copies that were handed out, on disk.
struct TransferStore: Sendable {
  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("transfers-1", migrate: TransferStore.createTables)
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

  // MARK: Sessions and tasks

  func open(_ key: SessionKey, _ configuration: SessionConfiguration) throws {
    try database.write { db in
      try db.execute(
        sql: """
          INSERT INTO sessions (owner, identifier, configuration) VALUES (?, ?, ?)
          ON CONFLICT (owner, identifier) DO UPDATE SET configuration = excluded.configuration
          """,
        arguments: [key.owner.text, key.identifier, Data(try BodyCoding.encode(configuration))])
    }
  }

  func configuration(of key: SessionKey) throws -> SessionConfiguration? {
    try database.read { db in
      try Data.fetchOne(
        db, sql: "SELECT configuration FROM sessions WHERE owner = ? AND identifier = ?",
        arguments: [key.owner.text, key.identifier])
    }.map { try BodyCoding.decode(SessionConfiguration.self, from: Array($0)) }
  }

  func nextTaskIdentifier(of key: SessionKey) throws -> Int {
    try database.read { db in
      try Int.fetchOne(
        db, sql: "SELECT nextTaskIdentifier FROM sessions WHERE owner = ? AND identifier = ?",
        arguments: [key.owner.text, key.identifier])
    } ?? 1
  }

  /// Puts a task on disk.
  ///
  /// - Returns: `false` when it was there.
  func insert(_ task: StoredTask) throws -> Bool {
    let key = task.key
    let names = [key.session.owner.text, key.session.identifier]
    return try database.write { db in
      try db.execute(
        sql: """
          INSERT OR IGNORE INTO tasks (owner, session, task, request, description, created) VALUES (?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          names[0], names[1], key.identifier, Data(try BodyCoding.encode(task.request)), task.description,
          task.created.timeIntervalSince1970,
        ])
      guard db.changesCount > 0 else { return false }
      try db.execute(
        sql: """
          UPDATE sessions SET nextTaskIdentifier = max(nextTaskIdentifier, ?) WHERE owner = ? AND identifier = ?
          """,
        arguments: [key.identifier + 1, names[0], names[1]])
      return true
    }
  }

  /// The tasks that were resumed and not acknowledged, in the order of their identifiers.
  func tasks(of key: SessionKey? = nil) throws -> [StoredTask] {
    try database.read { db in
      let rows =
        if let key {
          try Row.fetchAll(
            db, sql: "SELECT * FROM tasks WHERE owner = ? AND session = ? ORDER BY task",
            arguments: [key.owner.text, key.identifier])
        } else {
          try Row.fetchAll(db, sql: "SELECT * FROM tasks ORDER BY owner, session, endedOrder, task")
        }
      return try rows.compactMap(TransferStore.task)
    }
  }

  func task(_ key: TaskKey) throws -> StoredTask? {
    try tasks(of: key.session).first { $0.key == key }
  }

  private static func task(_ row: Row) throws -> StoredTask? {
    guard let owner = Address(row["owner"]) else { return nil }
    let request: Data = row["request"]
    let response: Data? = row["response"]
    let failure: Data? = row["failure"]
    let order: Int? = row["endedOrder"]
    return StoredTask(
      key: TaskKey(session: SessionKey(owner: owner, identifier: row["session"]), identifier: row["task"]),
      request: try BodyCoding.decode(TransferRequest.self, from: Array(request)), description: row["description"],
      created: Date(timeIntervalSince1970: row["created"]), hasEnded: order != nil,
      response: try response.map { try BodyCoding.decode(TransferResponse.self, from: Array($0)) },
      validator: row["validator"],
      failure: try failure.map { try BodyCoding.decode(TransferFailure.self, from: Array($0)) })
  }

  /// The head of a response came, or what was known of one is worth nothing any longer.
  func setHead(_ response: TransferResponse?, validator: String?, of key: TaskKey) throws {
    let body = try response.map { Data(try BodyCoding.encode($0)) }
    try update("response = ?, validator = ?", [body, validator], key)
  }

  func setEnded(_ key: TaskKey, response: TransferResponse?, failure: TransferFailure?) throws {
    let failure = try failure.map { Data(try BodyCoding.encode($0)) }
    let response = try response.map { Data(try BodyCoding.encode($0)) }
    try update(
      """
      response = coalesce(?, response), failure = ?,
      endedOrder = (SELECT coalesce(max(endedOrder), 0) + 1 FROM tasks)
      """, [response, failure], key)
  }

  private func update(_ assignments: String, _ values: StatementArguments, _ key: TaskKey) throws {
    try database.write { db in
      try db.execute(
        sql: "UPDATE tasks SET \(assignments) WHERE owner = ? AND session = ? AND task = ?",
        arguments: values + [key.session.owner.text, key.session.identifier, key.identifier])
    }
  }
}
