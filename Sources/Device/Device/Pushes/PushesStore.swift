// SPDX-License-Identifier: Apache-2.0

import DeviceRules
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
  let transactions: DeviceTransactions
  private var database: any DatabaseWriter { transactions.database }

  init(_ transactions: DeviceTransactions) throws {
    self.transactions = transactions
    try transactions.database.createTables(
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

  /// The number of the last report.
  func lastReport() throws -> Int64 {
    try database.read { try Int64.fetchOne($0, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'pushSteps'") ?? 0 }
  }

  /// The notifications that have arrived.
  func taken() throws -> TakenNotifications {
    try database.read { db in
      TakenNotifications(
        try String.fetchAll(db, sql: "SELECT uniqueID FROM takenPushes ORDER BY number").compactMap(UUID.init))
    }
  }

  // MARK: Writing

  func save(_ state: TokenStateMachine.State) throws {
    let data = try BodyCoding.data(state)
    try transactions.write(.lasting) {
      try $0.run("INSERT OR REPLACE INTO pushTokens (id, state) VALUES (1, ?)", [data])
    }
  }

  /// Writes the results of some events in one transaction.
  ///
  /// - Parameter takenIDs: the notifications whose arrival the events report.
  func save(
    _ open: [NotificationStateMachine.Open], since before: [NotificationStateMachine.Open], taken takenIDs: [UUID],
    reports: [StepReport]
  ) throws {
    guard open != before || !takenIDs.isEmpty || !reports.isEmpty else { return }
    let earlier = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
    let left = Set(open.map(\.id))
    let changed = try open.filter { earlier[$0.id] != $0 }.map { ($0.id.uuidString, try BodyCoding.data($0)) }
    let gone = before.map(\.id).filter { !left.contains($0) }
    let steps = try reports.map { ($0.number, $0.envelope.uuidString, try BodyCoding.data($0.progress)) }
    try transactions.write(.lasting) { db in
      for id in takenIDs {
        try db.run("INSERT INTO takenPushes (uniqueID) VALUES (?)", [id.uuidString])
      }
      let oldest = takenIDs.isEmpty ? 0 : db.lastInsertedRowID - Int64(TakenNotifications.remembered)
      if oldest > 0 { try db.run("DELETE FROM takenPushes WHERE number <= ?", [oldest]) }
      for (id, push) in changed {
        try db.run(
          """
          INSERT INTO openPushes (uniqueID, push) VALUES (?, ?)
          ON CONFLICT (uniqueID) DO UPDATE SET push = excluded.push
          """, [id, push])
      }
      for id in gone { try db.run("DELETE FROM openPushes WHERE uniqueID = ?", [id.uuidString]) }
      for (number, envelope, progress) in steps {
        try db.run(
          "INSERT INTO pushSteps (number, envelope, progress) VALUES (?, ?, ?)", [number, envelope, progress])
      }
    }
  }

  /// Deletes reports that the push server acknowledged. It acknowledges them again.
  func remove(_ numbers: [Int64]) throws {
    try transactions.write(.riding) { db in
      for number in numbers { try db.run("DELETE FROM pushSteps WHERE number = ?", [number]) }
    }
  }
}
