// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Messages
import Stores

/// A step that is reported to the push server until it is acknowledged.
struct StepReport: Sendable {
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
    try database.createTables(
      of: "pushes",
      """
      CREATE TABLE pushTokens (id INTEGER PRIMARY KEY, state BLOB NOT NULL);
      CREATE TABLE takenPushes (number INTEGER PRIMARY KEY AUTOINCREMENT, uniqueID TEXT NOT NULL UNIQUE);
      CREATE TABLE openPushes (
        number INTEGER PRIMARY KEY AUTOINCREMENT, uniqueID TEXT NOT NULL UNIQUE, push BLOB NOT NULL);
      CREATE TABLE pushSteps (
        number INTEGER PRIMARY KEY AUTOINCREMENT, envelope TEXT NOT NULL, progress BLOB NOT NULL);
      """)
  }

  // MARK: Reading

  func tokens() throws -> TokenStateMachine.State? {
    try database.read { db in
      try Data.fetchOne(db, sql: "SELECT state FROM pushTokens").map { try TokenStateMachine.State(stored: $0) }
    }
  }

  func open() throws -> [NotificationStateMachine.Open] {
    try database.read { db in
      try Data.fetchAll(db, sql: "SELECT push FROM openPushes ORDER BY number")
        .map { try NotificationStateMachine.Open(stored: $0) }
    }
  }

  func reports() throws -> [StepReport] {
    try database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM pushSteps ORDER BY number").compactMap { row in
        guard let envelope = UUID(uuidString: row["envelope"]) else { return nil }
        return StepReport(
          number: row["number"], envelope: envelope, progress: try row.decoded("progress"))
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
    try database.run("INSERT OR REPLACE INTO pushTokens (id, state) VALUES (1, ?)", [try BodyCoding.data(state)])
  }

  /// Writes the results of some events in one transaction.
  ///
  /// - Parameter taken: the notifications whose arrival the events report.
  /// - Returns: the reports of the steps, in order.
  func save(
    _ open: [NotificationStateMachine.Open], since before: [NotificationStateMachine.Open], taken: [UUID],
    steps: [PushProgress]
  ) throws -> [StepReport] {
    guard open != before || !taken.isEmpty || !steps.isEmpty else { return [] }
    let earlier = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
    let left = Set(open.map(\.id))
    return try database.write { db in
      for id in taken {
        try db.run("INSERT INTO takenPushes (uniqueID) VALUES (?)", [id.uuidString])
      }
      let oldest = taken.isEmpty ? 0 : db.lastInsertedRowID - Self.remembered
      if oldest > 0 { try db.run("DELETE FROM takenPushes WHERE number <= ?", [oldest]) }
      for item in open where earlier[item.id] != item {
        try db.run(
          """
          INSERT INTO openPushes (uniqueID, push) VALUES (?, ?)
          ON CONFLICT (uniqueID) DO UPDATE SET push = excluded.push
          """, [item.id.uuidString, try BodyCoding.data(item)])
      }
      for id in earlier.keys where !left.contains(id) {
        try db.run("DELETE FROM openPushes WHERE uniqueID = ?", [id.uuidString])
      }
      return try steps.map { progress in
        let envelope = UUID()
        try db.run(
          "INSERT INTO pushSteps (envelope, progress) VALUES (?, ?)",
          [envelope.uuidString, try BodyCoding.data(progress)])
        return StepReport(number: db.lastInsertedRowID, envelope: envelope, progress: progress)
      }
    }
  }

  /// Deletes reports that the push server acknowledged.
  func remove(_ numbers: [Int64]) throws {
    try database.write { db in
      for number in numbers { try db.run("DELETE FROM pushSteps WHERE number = ?", [number]) }
    }
  }
}
