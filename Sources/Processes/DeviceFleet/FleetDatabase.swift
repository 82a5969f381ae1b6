// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import GRDB
import Messages
import Stores

/// The file of a fleet: its devices in rows of 64, the ids of notifications that the push server may send again, Live
/// Activities, and the figures.
struct FleetDatabase: Sendable {
  /// What identifies the fleet.
  struct Facts: Codable, Sendable, Equatable {
    let incarnation: UUID
    /// The plan's identity.
    let identity: String
    /// The start of the first day.
    let origin: Date
    /// The time of the fleet's day when it was saved last.
    var time: Date
    /// The secret of the tokens; `nil` before the fleet has joined.
    var secret: String?
    /// That of the last push server that delivered something; `nil` or 0 without replicas.
    var epoch: Int64?
  }

  struct Activity: Sendable {
    let key: LiveActivityStateMachine.Key
    /// `nil` when only its token is left.
    let activity: LiveActivityStateMachine.Activity?
    let phase: TokenPhase
  }

  /// The writes of one transaction.
  struct Changes: Sendable {
    var facts: Facts?
    var rows: [(row: UInt32, bytes: [UInt8])] = []
    var activities: [Activity] = []
    var figures: FleetFigures?
    /// The notifications of a batch that are on the disk with this transaction.
    var received: (run: UUID, batch: Int64, ids: [UUID])?
    /// The push server will not send batches up to this one again.
    var settled: (run: UUID, batch: Int64)?

    /// Whether nothing changes but the facts.
    var isEmpty: Bool {
      rows.isEmpty && activities.isEmpty && figures == nil && received == nil && settled == nil
    }
  }

  /// Batches of former runs of the push server whose ids are remembered. A run has few without a reply.
  private static let rememberedBatches = 256

  private let database: DatabasePool

  /// - Throws: `instance-folder`.
  init(_ path: String) throws {
    do {
      database = try DatabasePool.opening(path)
      try database.createTables(
        of: "fleet",
        """
        CREATE TABLE facts (value BLOB NOT NULL);
        CREATE TABLE figures (value BLOB NOT NULL);
        CREATE TABLE devices (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TABLE received (
          place INTEGER PRIMARY KEY AUTOINCREMENT, run BLOB NOT NULL, batch INTEGER NOT NULL, ids BLOB NOT NULL);
        CREATE INDEX receivedByBatch ON received (run, batch);
        CREATE TABLE activities (
          device INTEGER NOT NULL, number INTEGER NOT NULL, phase INTEGER NOT NULL, value BLOB,
          PRIMARY KEY (device, number)) WITHOUT ROWID;
        """)
    } catch {
      throw ClusterError(.folder, "cannot open the fleet's database \(path): \(error)")
    }
  }

  func close() throws { try database.close() }

  // MARK: Reading

  func facts() throws -> Facts? {
    try database.read { db in
      try Data.fetchOne(db, sql: "SELECT value FROM facts").map { try Facts(stored: $0) }
    }
  }

  func figures() throws -> FleetFigures? {
    try database.read { db in
      try Data.fetchOne(db, sql: "SELECT value FROM figures").map { try FleetFigures(stored: $0) }
    }
  }

  /// - Throws: `instance-folder` when a row is damaged or missing.
  func devices(_ count: Int) throws -> FleetDevices {
    var devices = FleetDevices(count: count)
    var rows = 0
    try database.read { db in
      let cursor = try Row.fetchCursor(db, sql: "SELECT number, bytes FROM devices ORDER BY number")
      while let row = try cursor.next() {
        let bytes: Data = row["bytes"]
        guard devices.read(row: row["number"], Array(bytes)) else {
          throw ClusterError(.folder, "the fleet's database is damaged at row \(row["number"] as UInt32)")
        }
        rows += 1
      }
    }
    guard rows == devices.rows else {
      throw ClusterError(.folder, "the fleet's database has \(rows) of \(devices.rows) rows of devices")
    }
    _ = devices.takeChanged()
    return devices
  }

  func activities() throws -> [Activity] {
    try database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM activities").map { row in
        Activity(
          key: LiveActivityStateMachine.Key(device: row["device"], number: row["number"]),
          activity: try row.decodedIfPresent("value"), phase: TokenPhase(rawValue: row["phase"]) ?? .none)
      }
    }
  }

  /// The ids that the push server may send again.
  func received() throws -> Set<UUID> {
    try database.read { db in
      var ids: Set<UUID> = []
      let cursor = try Data.fetchCursor(db, sql: "SELECT ids FROM received")
      while let data = try cursor.next() { ids.formUnion(UUID.list(data)) }
      return ids
    }
  }

  // MARK: Writing

  /// Writes all changes in one transaction. They are on the disk when it returns.
  ///
  /// - Returns: the ids that need not be remembered any longer.
  func write(_ changes: Changes) throws -> [UUID] {
    try database.write { db in
      if let facts = changes.facts {
        try db.run("DELETE FROM facts")
        try db.run("INSERT INTO facts (value) VALUES (?)", [try BodyCoding.data(facts)])
      }
      if let figures = changes.figures {
        try db.run("DELETE FROM figures")
        try db.run("INSERT INTO figures (value) VALUES (?)", [try BodyCoding.data(figures)])
      }
      for (row, bytes) in changes.rows {
        try db.run("INSERT OR REPLACE INTO devices (number, bytes) VALUES (?, ?)", [row, Data(bytes)])
      }
      for activity in changes.activities { try write(activity, db) }
      if let (run, batch, ids) = changes.received {
        try db.run("INSERT INTO received (run, batch, ids) VALUES (?, ?, ?)", [run, batch, UUID.data(ids)])
      }
      guard let (run, batch) = changes.settled else { return [] }
      return try forget(run, batch, db)
    }
  }

  private func write(_ activity: Activity, _ db: Database) throws {
    let key: StatementArguments = [activity.key.device, activity.key.number]
    guard activity.activity != nil || activity.phase != .none else {
      return try db.run("DELETE FROM activities WHERE device = ? AND number = ?", key)
    }
    try db.run(
      "INSERT OR REPLACE INTO activities (device, number, phase, value) VALUES (?, ?, ?, ?)",
      key + [activity.phase.rawValue, try activity.activity.map { try BodyCoding.data($0) }])
  }

  private func forget(_ run: UUID, _ batch: Int64, _ db: Database) throws -> [UUID] {
    let former =
      "SELECT place FROM received WHERE run <> ?1 ORDER BY place DESC LIMIT -1 OFFSET \(Self.rememberedBatches)"
    let condition = "(run = ?1 AND batch <= ?2) OR place IN (\(former))"
    let gone = try Data.fetchAll(
      try db.cachedStatement(sql: "SELECT ids FROM received WHERE \(condition)"), arguments: [run, batch])
    guard !gone.isEmpty else { return [] }
    try db.run("DELETE FROM received WHERE \(condition)", [run, batch])
    return gone.flatMap(UUID.list)
  }
}

/// The figures that survive a restart.
struct FleetFigures: Codable, Sendable, Equatable {
  /// By push type.
  var received: [String: FleetState.Received] = [:]
  /// What happened to Live Activities with time.
  var activities: [String: Int] = [:]
}

extension UUID {
  static func data(_ ids: [UUID]) -> Data {
    var data = Data(capacity: ids.count * 16)
    for id in ids { withUnsafeBytes(of: id.uuid) { data.append(contentsOf: $0) } }
    return data
  }

  static func list(_ data: Data) -> [UUID] {
    data.withUnsafeBytes { bytes in
      (0..<bytes.count / 16).map { UUID(uuid: bytes.loadUnaligned(fromByteOffset: $0 * 16, as: uuid_t.self)) }
    }
  }
}
