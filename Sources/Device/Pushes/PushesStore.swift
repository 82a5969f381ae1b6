import Foundation
import GRDB
import Messages

/// A station that is reported to the push server until it is acknowledged.
struct StationReport: Sendable {
  /// The position of the report: reports are sent in this order.
  let number: Int64
  /// The message id, the same for each redelivery.
  let envelope: UUID
  let progress: PushProgress
}

/// Persists tokens, open notifications, the ids of taken notifications, and the reports to the push server.
struct PushesStore: Sendable {
  /// How many taken notifications are remembered: the push server does not redeliver older ones.
  static let remembered: Int64 = 20_000

  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("pushes-1") { db in
      try db.create(table: "pushTokens") { table in
        table.primaryKey("id", .integer)
        table.column("state", .blob).notNull()
      }
      try db.create(table: "takenPushes") { table in
        table.autoIncrementedPrimaryKey("number")
        table.column("uniqueID", .text).notNull().unique()
      }
      try db.create(table: "openPushes") { table in
        table.autoIncrementedPrimaryKey("number")
        table.column("uniqueID", .text).notNull().unique()
        table.column("push", .blob).notNull()
      }
      try db.create(table: "pushStations") { table in
        table.autoIncrementedPrimaryKey("number")
        table.column("envelope", .text).notNull()
        table.column("progress", .blob).notNull()
      }
    }
    try migrator.migrate(database)
  }

  // MARK: Reading

  func tokens() throws -> TokenStateMachine.State? {
    try database.read { db in
      try Data.fetchOne(db, sql: "SELECT state FROM pushTokens").map { try decode(TokenStateMachine.State.self, $0) }
    }
  }

  func open() throws -> [NotificationStateMachine.Open] {
    try database.read { db in
      try Data.fetchAll(db, sql: "SELECT push FROM openPushes ORDER BY number")
        .map { try decode(NotificationStateMachine.Open.self, $0) }
    }
  }

  func reports() throws -> [StationReport] {
    try database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM pushStations ORDER BY number").compactMap { row in
        guard let envelope = UUID(uuidString: row["envelope"]) else { return nil }
        return StationReport(
          number: row["number"], envelope: envelope, progress: try decode(PushProgress.self, row["progress"]))
      }
    }
  }

  /// The ids of notifications that were taken before.
  func taken(among ids: [UUID]) throws -> Set<UUID> {
    try database.read { db in
      let exists = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM takenPushes WHERE uniqueID = ?)")
      return Set(try ids.filter { try Bool.fetchOne(exists, arguments: [$0.uuidString]) ?? false })
    }
  }

  // MARK: Writing

  func save(_ state: TokenStateMachine.State) throws {
    let data = try BodyCoding.data(state)
    try database.write { db in
      try db.execute(sql: "INSERT OR REPLACE INTO pushTokens (id, state) VALUES (1, ?)", arguments: [data])
    }
  }

  /// Writes the results of some events in one transaction.
  ///
  /// - Parameter taken: the notifications whose arrival the events report.
  /// - Returns: the reports of the stations, in order.
  func save(
    _ open: [NotificationStateMachine.Open], since before: [NotificationStateMachine.Open], taken: [UUID],
    stations: [PushProgress]
  ) throws -> [StationReport] {
    guard open != before || !taken.isEmpty || !stations.isEmpty else { return [] }
    let earlier = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
    let left = Set(open.map(\.id))
    return try database.write { db in
      for id in taken {
        try execute(db, "INSERT INTO takenPushes (uniqueID) VALUES (?)", [id.uuidString])
      }
      let oldest = taken.isEmpty ? 0 : db.lastInsertedRowID - Self.remembered
      if oldest > 0 { try execute(db, "DELETE FROM takenPushes WHERE number <= ?", [oldest]) }
      for item in open where earlier[item.id] != item {
        try execute(
          db,
          """
          INSERT INTO openPushes (uniqueID, push) VALUES (?, ?)
          ON CONFLICT (uniqueID) DO UPDATE SET push = excluded.push
          """, [item.id.uuidString, try BodyCoding.data(item)])
      }
      for id in earlier.keys where !left.contains(id) {
        try execute(db, "DELETE FROM openPushes WHERE uniqueID = ?", [id.uuidString])
      }
      return try stations.map { progress in
        let envelope = UUID()
        try execute(
          db, "INSERT INTO pushStations (envelope, progress) VALUES (?, ?)",
          [envelope.uuidString, try BodyCoding.data(progress)])
        return StationReport(number: db.lastInsertedRowID, envelope: envelope, progress: progress)
      }
    }
  }

  /// Deletes reports that the push server acknowledged.
  func remove(_ numbers: [Int64]) throws {
    try database.write { db in
      for number in numbers { try execute(db, "DELETE FROM pushStations WHERE number = ?", [number]) }
    }
  }

  private func execute(_ db: Database, _ sql: String, _ arguments: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    try BodyCoding.decode(type, from: Array(data))
  }
}
