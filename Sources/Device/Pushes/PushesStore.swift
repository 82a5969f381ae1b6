import Conversations
import Foundation
import GRDB

/// A station that the push server is told of until it acknowledged it.
struct StationReport: Sendable {
  /// Its number among all: they are told in this order.
  let number: Int64
  /// The same however often it is said.
  let envelope: UUID
  let progress: PushProgress
}

/// Tokens, open notifications, those that were ever taken, and what the push server is yet to be told: on disk.
struct PushesStore: Sendable {
  /// So many taken notifications are remembered: the push server does not deliver older ones again.
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

  func tokens() throws -> TokenDecision.State? {
    try database.read { db in
      try Data.fetchOne(db, sql: "SELECT state FROM pushTokens").map { try decode(TokenDecision.State.self, $0) }
    }
  }

  func open() throws -> [NotificationDecision.Open] {
    try database.read { db in
      try Data.fetchAll(db, sql: "SELECT push FROM openPushes ORDER BY number")
        .map { try decode(NotificationDecision.Open.self, $0) }
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

  func wasTaken(_ id: UUID) throws -> Bool {
    try database.read { db in
      try Bool.fetchOne(
        db, sql: "SELECT EXISTS (SELECT 1 FROM takenPushes WHERE uniqueID = ?)", arguments: [id.uuidString]) ?? false
    }
  }

  // MARK: Writing

  func save(_ state: TokenDecision.State) throws {
    let data = try BodyCoding.data(state)
    try database.write { db in
      try db.execute(sql: "INSERT OR REPLACE INTO pushTokens (id, state) VALUES (1, ?)", arguments: [data])
    }
  }

  /// Writes what one event brought, in one transaction.
  ///
  /// - Parameter taken: the notification that the event is the arrival of.
  /// - Returns: the reports of the stations, in their order.
  func save(
    _ open: [NotificationDecision.Open], since before: [NotificationDecision.Open], taken: UUID?,
    stations: [PushProgress]
  ) throws -> [StationReport] {
    guard open != before || taken != nil || !stations.isEmpty else { return [] }
    let earlier = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
    let left = Set(open.map(\.id))
    return try database.write { db in
      if let taken {
        try db.execute(sql: "INSERT INTO takenPushes (uniqueID) VALUES (?)", arguments: [taken.uuidString])
        let oldest = db.lastInsertedRowID - Self.remembered
        if oldest > 0 { try db.execute(sql: "DELETE FROM takenPushes WHERE number <= ?", arguments: [oldest]) }
      }
      for item in open where earlier[item.id] != item {
        try db.execute(
          sql: """
            INSERT INTO openPushes (uniqueID, push) VALUES (?, ?)
            ON CONFLICT (uniqueID) DO UPDATE SET push = excluded.push
            """, arguments: [item.id.uuidString, try BodyCoding.data(item)])
      }
      for id in earlier.keys where !left.contains(id) {
        try db.execute(sql: "DELETE FROM openPushes WHERE uniqueID = ?", arguments: [id.uuidString])
      }
      return try stations.map { progress in
        let envelope = UUID()
        try db.execute(
          sql: "INSERT INTO pushStations (envelope, progress) VALUES (?, ?)",
          arguments: [envelope.uuidString, try BodyCoding.data(progress)])
        return StationReport(number: db.lastInsertedRowID, envelope: envelope, progress: progress)
      }
    }
  }

  /// Forgets what the push server has.
  func remove(_ numbers: [Int64]) throws {
    try database.write { db in
      for number in numbers {
        try db.execute(sql: "DELETE FROM pushStations WHERE number = ?", arguments: [number])
      }
    }
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    try BodyCoding.decode(type, from: Array(data))
  }
}
