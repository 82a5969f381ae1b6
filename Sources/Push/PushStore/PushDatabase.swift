import Conversations
import Foundation
import GRDB

/// Device tokens, notifications that wait, and the delivery log, on disk.
struct PushDatabase: Sendable {
  /// One thing to write. All those of a batch are one transaction, in their order.
  enum Write: Sendable {
    /// A request, with its number in the log.
    case arrival(Int64, PushArrival, at: Date)
    case station(Int64, PushStation)
    case keep(KeptPush)
    case drop(UUID)
    case token(DeviceToken)
    /// The device is to be told of its token.
    case owe(PushSubject, token: String?)
    /// It has been told of this one.
    case told(PushSubject, token: String?)
  }

  /// What the last life of the push server left.
  struct Left: Sendable {
    var tokens: [DeviceToken] = []
    var kept: [KeptPush] = []
    var owed: [(subject: PushSubject, token: String?)] = []
    var lastNumber: Int64 = 0
  }

  /// Requests of one page: an envelope has a limit.
  private static let pageLimit = 100
  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("pushes-1") { db in
      try db.execute(
        sql: """
          CREATE TABLE tokens (
            token TEXT PRIMARY KEY, device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL,
            environment TEXT NOT NULL, state TEXT NOT NULL, since REAL NOT NULL) WITHOUT ROWID;
          CREATE TABLE owed (
            device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL, token TEXT,
            PRIMARY KEY (device, bundle, use)) WITHOUT ROWID;
          CREATE TABLE requests (
            number INTEGER PRIMARY KEY, uniqueID BLOB NOT NULL, apnsID TEXT NOT NULL, device TEXT, bundle TEXT, use TEXT,
            token TEXT NOT NULL, type TEXT, status INTEGER NOT NULL, reason TEXT, at REAL NOT NULL);
          CREATE UNIQUE INDEX requestsByID ON requests (uniqueID);
          CREATE TABLE stations (
            id INTEGER PRIMARY KEY, request INTEGER NOT NULL, name TEXT NOT NULL, at REAL NOT NULL,
            detail TEXT NOT NULL);
          CREATE UNIQUE INDEX stationsByRequest ON stations (request, name, at, detail);
          CREATE TABLE kept (
            uniqueID BLOB PRIMARY KEY, number INTEGER NOT NULL, apnsID TEXT NOT NULL, token TEXT NOT NULL,
            device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL, type TEXT NOT NULL, priority INTEGER NOT NULL,
            collapseID TEXT, payload TEXT NOT NULL, acceptedAt REAL NOT NULL, expiration REAL,
            isFromStorage INTEGER NOT NULL) WITHOUT ROWID;
          """)
    }
    try migrator.migrate(database)
  }

  // MARK: What the next life begins with

  func left() throws -> Left {
    try database.read { db in
      var left = Left()
      left.tokens = try Row.fetchAll(db, sql: "SELECT * FROM tokens ORDER BY since").map(token)
      left.kept = try Row.fetchAll(db, sql: "SELECT * FROM kept ORDER BY number").map(kept)
      left.owed = try Row.fetchAll(db, sql: "SELECT * FROM owed").map { row in
        (try subject(row), row["token"])
      }
      left.lastNumber = try Int64.fetchOne(db, sql: "SELECT MAX(number) FROM requests") ?? 0
      return left
    }
  }

  private func subject(_ row: Row) throws -> PushSubject {
    PushSubject(device: row["device"], bundle: row["bundle"], use: try known(row["use"]))
  }

  private func token(_ row: Row) throws -> DeviceToken {
    DeviceToken(
      token: row["token"], subject: try subject(row), environment: try known(row["environment"]),
      state: try known(row["state"]), since: Date(timeIntervalSince1970: row["since"]))
  }

  private func kept(_ row: Row) throws -> KeptPush {
    let expiration: Double? = row["expiration"]
    let notification = PushedNotification(
      uniqueID: row["uniqueID"], apnsID: row["apnsID"], subject: try subject(row), type: try known(row["type"]),
      priority: row["priority"], collapseID: row["collapseID"], payload: row["payload"],
      acceptedAt: Date(timeIntervalSince1970: row["acceptedAt"]),
      expiration: expiration.map { Date(timeIntervalSince1970: $0) }, isFromStorage: row["isFromStorage"])
    return KeptPush(number: row["number"], notification: notification, token: row["token"])
  }

  private func known<T: RawRepresentable<String>>(_ text: String) throws -> T {
    guard let value = T(rawValue: text) else {
      throw BusError(.failed, "the push server's database says \"\(text)\" where a \(T.self) is expected")
    }
    return value
  }

  // MARK: Writing

  /// Writes a batch, or nothing of it. When it returns the batch is on disk.
  func write(_ batch: [Write]) throws {
    guard !batch.isEmpty else { return }
    try database.write { db in for write in batch { try perform(write, db) } }
  }

  private func perform(_ write: Write, _ db: Database) throws {
    switch write {
    case .arrival(let number, let arrival, let date): try insert(number, arrival, date, db)
    case .station(let number, let station):
      try execute(
        db, "INSERT OR IGNORE INTO stations (request, name, at, detail) VALUES (?, ?, ?, ?)",
        [number, station.name.rawValue, station.at.timeIntervalSince1970, station.detail ?? ""])
    case .keep(let push): try insert(push, db)
    case .drop(let id): try execute(db, "DELETE FROM kept WHERE uniqueID = ?", [id])
    case .token(let token):
      try execute(
        db,
        "INSERT OR REPLACE INTO tokens (token, device, bundle, use, environment, state, since) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
          token.token, token.subject.device, token.subject.bundle, token.subject.use.rawValue,
          token.environment.rawValue, token.state.rawValue, token.since.timeIntervalSince1970,
        ])
    case .owe(let subject, let token):
      try execute(
        db, "INSERT OR REPLACE INTO owed (device, bundle, use, token) VALUES (?, ?, ?, ?)",
        [subject.device, subject.bundle, subject.use.rawValue, token])
    case .told(let subject, let token):
      try execute(
        db, "DELETE FROM owed WHERE device = ? AND bundle = ? AND use = ? AND token IS ?",
        [subject.device, subject.bundle, subject.use.rawValue, token])
    }
  }

  private func insert(_ number: Int64, _ arrival: PushArrival, _ date: Date, _ db: Database) throws {
    let (status, reason): (Int, String?) =
      switch arrival.verdict {
      case .accepted: (200, nil)
      case .refused(let status, let reason, _): (status, reason)
      }
    try execute(
      db,
      """
      INSERT INTO requests (number, uniqueID, apnsID, device, bundle, use, token, type, status, reason, at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        number, arrival.uniqueID, arrival.apnsID, arrival.subject?.device, arrival.subject?.bundle,
        arrival.subject?.use.rawValue, arrival.token, arrival.type, status, reason, date.timeIntervalSince1970,
      ])
  }

  private func insert(_ kept: KeptPush, _ db: Database) throws {
    let push = kept.notification
    try execute(
      db,
      """
      INSERT OR REPLACE INTO kept (uniqueID, number, apnsID, token, device, bundle, use, type, priority, collapseID,
        payload, acceptedAt, expiration, isFromStorage) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        push.uniqueID, kept.number, push.apnsID, kept.token, push.subject.device, push.subject.bundle,
        push.subject.use.rawValue, push.type.rawValue, push.priority, push.collapseID, push.payload,
        push.acceptedAt.timeIntervalSince1970, push.expiration?.timeIntervalSince1970, push.isFromStorage,
      ])
  }

  private func execute(_ db: Database, _ sql: String, _ arguments: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  /// Forgets the oldest requests that have come to their end, some thousand at a time.
  ///
  /// - Parameters:
  ///   - date: those that came before it.
  ///   - number: and those up to this one.
  /// - Returns: how many were forgotten; 0 when there are no more.
  func forget(before date: Date, upTo number: Int64) throws -> Int {
    try database.write { db in
      let old =
        try Int64.fetchOne(
          db, sql: "SELECT MAX(number) FROM requests WHERE at < ?", arguments: [date.timeIntervalSince1970]) ?? 0
      let numbers = try Int64.fetchAll(
        db,
        sql: """
          SELECT number FROM requests WHERE number <= ? AND number NOT IN (SELECT number FROM kept)
            ORDER BY number LIMIT 2000
          """, arguments: [max(old, number)])
      for number in numbers {
        try execute(db, "DELETE FROM stations WHERE request = ?", [number])
        try execute(db, "DELETE FROM requests WHERE number = ?", [number])
      }
      return numbers.count
    }
  }

  // MARK: The log

  /// The number of a request; `nil` when the log does not have it any more.
  func number(of id: UUID) throws -> Int64? {
    try database.read { db in
      try Int64.fetchOne(
        try db.cachedStatement(sql: "SELECT number FROM requests WHERE uniqueID = ?"), arguments: [id])
    }
  }

  /// A page of the log, the oldest first.
  func page(_ request: ListPushes) async throws -> ListPushes.Reply {
    let limit = max(1, min(request.limit, Self.pageLimit))
    return try await database.read { db in
      let rows: [Row]
      let count: Int
      if let id = request.uniqueID {
        rows = try Row.fetchAll(db, sql: "SELECT * FROM requests WHERE uniqueID = ?", arguments: [id])
        count = rows.count
      } else if request.after != 0 {
        rows = try Row.fetchAll(
          db, sql: "SELECT * FROM requests WHERE number > ? ORDER BY number LIMIT ?", arguments: [request.after, limit])
        count =
          try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM requests WHERE number > ?", arguments: [request.after]) ?? 0
      } else {
        rows = try Row.fetchAll(
          db, sql: "SELECT * FROM requests ORDER BY number DESC LIMIT ?", arguments: [limit]
        ).reversed()
        count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM requests") ?? 0
      }
      return ListPushes.Reply(pushes: try rows.map { try record($0, db) }, count: count)
    }
  }

  private func record(_ row: Row, _ db: Database) throws -> PushRecord {
    let number: Int64 = row["number"]
    let device: String? = row["device"]
    let stations = try Row.fetchAll(
      db, sql: "SELECT name, at, detail FROM stations WHERE request = ? ORDER BY id", arguments: [number])
    return PushRecord(
      number: number, uniqueID: row["uniqueID"], apnsID: row["apnsID"], subject: device == nil ? nil : try subject(row),
      token: row["token"], type: row["type"], status: row["status"], reason: row["reason"],
      stations: try stations.map { station in
        let detail: String = station["detail"]
        return PushStation(
          try known(station["name"]), at: Date(timeIntervalSince1970: station["at"]),
          detail: detail.isEmpty ? nil : detail)
      })
  }
}
