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
      return try forget(run, batch: batch, in: db)
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

  private func forget(_ run: UUID, batch: Int64, in db: Database) throws -> [UUID] {
    let formerPlaces =
      "SELECT place FROM received WHERE run <> ?1 ORDER BY place DESC LIMIT -1 OFFSET \(Self.rememberedBatches)"
    let condition = "(run = ?1 AND batch <= ?2) OR place IN (\(formerPlaces))"
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

/// The phase of a device token.
enum TokenPhase: UInt16, Sendable {
  /// The device has none.
  case none
  /// Requested from the push server.
  case wanted
  /// On the push server's disk, and not known to the backend yet.
  case issued
  /// The backend has it, or has refused it.
  case registered
  /// The push server must end it.
  case ending
}

/// One token: two bytes.
struct TokenCell: Sendable, Hashable {
  /// 13 bits: how often the token was replaced.
  private static let most: UInt16 = 0x1fff
  var bits: UInt16

  init(bits: UInt16) { self.bits = bits }
  init(_ phase: TokenPhase, serial: UInt16) { bits = phase.rawValue << 13 | serial & Self.most }

  var phase: TokenPhase { TokenPhase(rawValue: bits >> 13) ?? .none }
  var serial: UInt16 { bits & Self.most }

  func with(_ phase: TokenPhase) -> TokenCell { TokenCell(phase, serial: serial) }
  /// The next token; `nil` when the numbers are used up.
  var next: TokenCell? { serial < Self.most ? TokenCell(.wanted, serial: serial + 1) : nil }
}

/// Names one token of a fleet.
struct TokenReference: Sendable, Hashable {
  /// The place of the tokens of Live Activities, after those that a device keeps.
  static let activity = UInt8(FleetProfile.uses.count)

  let device: UInt32
  let slot: UInt8
  /// Of a Live Activity; 0 for the others.
  let number: UInt16

  init(_ device: UInt32, slot: Int) {
    self.device = device
    self.slot = UInt8(slot)
    number = 0
  }

  init(_ device: UInt32, activity: UInt16) {
    self.device = device
    slot = Self.activity
    number = activity
  }

  private static let uses: [PushTokenUse] = FleetProfile.uses.compactMap { name in
    name == "control" ? .control(1) : PushTokenUse(rawValue: name)
  }

  var use: PushTokenUse { slot == Self.activity ? .liveActivity(Int(number)) : Self.uses[Int(slot)] }

  /// The place of a use in the record of a device; `nil` for those of Live Activities, and unknown ones.
  static func slot(of use: PushTokenUse) -> Int? { uses.firstIndex(of: use) }
}

/// The devices of a fleet in arrays: 37 bytes each, with the queue of their next events.
struct FleetDevices: Sendable {
  static let slots = FleetProfile.uses.count
  /// The devices of one row of the database.
  static let inRow = 64
  /// A device in a row: flags, number of events, time of the next one, activities started, tokens.
  private static let length = 1 + 4 + 4 + 2 + 2 * slots

  let count: Int
  var flags: [DeviceFlags]
  var events: [UInt32]
  /// Tenths of a second since the start of the first day.
  var next: [UInt32]
  /// The number of the last Live Activity.
  var activities: [UInt16]
  private var cells: [TokenCell]
  /// Notifications since the process started.
  var received: [UInt32]
  /// The rows that the database does not have.
  private(set) var changed: Set<UInt32> = []

  init(count: Int) {
    self.count = count
    flags = Array(repeating: [], count: count)
    events = Array(repeating: 0, count: count)
    next = Array(repeating: .max, count: count)
    activities = Array(repeating: 0, count: count)
    cells = Array(repeating: TokenCell(bits: 0), count: count * Self.slots)
    received = Array(repeating: 0, count: count)
  }

  subscript(device: UInt32, slot: Int) -> TokenCell {
    get { cells[Int(device) * Self.slots + slot] }
    set {
      cells[Int(device) * Self.slots + slot] = newValue
      touch(device)
    }
  }

  mutating func touch(_ device: UInt32) { changed.insert(device / UInt32(Self.inRow)) }

  /// The number of rows.
  var rows: Int { (count + Self.inRow - 1) / Self.inRow }

  mutating func takeChanged() -> [UInt32] {
    defer { changed = [] }
    return changed.sorted()
  }

  /// The bytes of a row.
  func row(_ row: UInt32) -> [UInt8] {
    let first = Int(row) * Self.inRow
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.inRow * Self.length)
    for device in first..<min(first + Self.inRow, count) {
      bytes.append(flags[device].rawValue)
      bytes.append(events[device])
      bytes.append(next[device])
      bytes.append(activities[device])
      for slot in 0..<Self.slots { bytes.append(cells[device * Self.slots + slot].bits) }
    }
    return bytes
  }

  /// Reads a row.
  ///
  /// - Returns: whether it has the right length.
  mutating func read(row: UInt32, _ bytes: [UInt8]) -> Bool {
    let first = Int(row) * Self.inRow
    guard first < count, bytes.count == (min(first + Self.inRow, count) - first) * Self.length else { return false }
    var place = 0
    for device in first..<first + bytes.count / Self.length {
      flags[device] = DeviceFlags(rawValue: bytes[place])
      events[device] = bytes.integer(at: place + 1)
      next[device] = bytes.integer(at: place + 5)
      activities[device] = bytes.integer(at: place + 9)
      for slot in 0..<Self.slots {
        cells[device * Self.slots + slot] = TokenCell(bits: bytes.integer(at: place + 11 + 2 * slot))
      }
      place += Self.length
    }
    return true
  }
}

extension [UInt8] {
  fileprivate mutating func append<T: FixedWidthInteger>(_ value: T) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate func integer<T: FixedWidthInteger>(at place: Int) -> T {
    withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: T.self)) }
  }
}
