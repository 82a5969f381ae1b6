// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Foundation
import GRDB
import GRDBSQLite
import Messages
import PushRules
import Stores

/// The store in a SQLite database, for one push server.
///
/// A request is one row whose number and id both grow: inserts are at the right edge of each B-tree and deletes at the
/// left, so the cost of a request does not depend on the length of the log. What is stored for a device is a range of one
/// B-tree, so the cost of a device does not depend on the number of the others.
struct PushDatabase: PushStore {
  let database: any DatabaseWriter
  private let settings: PushSettings
  var pageLimit: Int { Self.forgottenAtOnce }

  init(_ database: any DatabaseWriter, settings: PushSettings = PushSettings()) throws {
    self.database = database
    self.settings = settings
    try database.createTables(
      of: "push-server by device",
      """
      CREATE TABLE tokens (
        token TEXT PRIMARY KEY, device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL,
        environment TEXT NOT NULL, state TEXT NOT NULL, since REAL NOT NULL) WITHOUT ROWID;
      CREATE INDEX tokensByAge ON tokens (since, token);
      CREATE INDEX activeTokens ON tokens (device, bundle, use) WHERE state = 'active';
      CREATE INDEX endedTokens ON tokens (since) WHERE state <> 'active';
      CREATE TABLE due (
        device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL, token TEXT,
        PRIMARY KEY (device, bundle, use)) WITHOUT ROWID;
      CREATE TABLE requests (
        number INTEGER PRIMARY KEY, uniqueID BLOB NOT NULL, apnsID TEXT NOT NULL, device TEXT, bundle TEXT, use TEXT,
        token TEXT NOT NULL, type TEXT, status INTEGER NOT NULL, reason TEXT, at REAL NOT NULL, detail TEXT, next TEXT,
        nextDetail TEXT);
      CREATE UNIQUE INDEX requestsByID ON requests (uniqueID);
      CREATE TABLE steps (
        request INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, at REAL NOT NULL, detail TEXT NOT NULL,
        PRIMARY KEY (request, place)) WITHOUT ROWID;
      -- The end is that of a stored notification. One that was sent at once has none: the device checks its expiration.
      CREATE TABLE kept (
        device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL, number INTEGER NOT NULL, type TEXT NOT NULL,
        priority INTEGER NOT NULL, collapseID TEXT, payload TEXT NOT NULL, acceptedAt REAL NOT NULL, expiration REAL,
        isFromStorage INTEGER NOT NULL, ends REAL, PRIMARY KEY (device, bundle, use, number)) WITHOUT ROWID;
      CREATE INDEX keptByEnd ON kept (ends) WHERE ends IS NOT NULL;
      -- The setting by which the ends were computed.
      CREATE TABLE storage (age REAL NOT NULL);
      """)
    try createFleetTables()
    try computeEnds()
  }

  /// Computes the ends of the stored notifications when the setting has changed.
  private func computeEnds() throws {
    let age = settings.storageAge
    guard try database.read({ try Double.fetchOne($0, sql: "SELECT age FROM storage") }) != age else { return }
    try database.write { db in
      try db.execute(
        sql:
          "UPDATE kept SET ends = MIN(COALESCE(expiration, acceptedAt + ?1), acceptedAt + ?1) WHERE ends IS NOT NULL",
        arguments: [age])
      try db.execute(sql: "DELETE FROM storage")
      try db.execute(sql: "INSERT INTO storage (age) VALUES (?)", arguments: [age])
    }
  }

  // MARK: Reading

  func left() throws -> PushesLeft {
    try database.read { db in
      var left = PushesLeft()
      left.due = try Row.fetchAll(db, sql: "SELECT * FROM due").map { row in
        (try subject(row), row["token"])
      }
      left.lastNumber = try Int64.fetchOne(db, sql: "SELECT MAX(number) FROM requests") ?? 0
      return left
    }
  }

  func subject(_ row: Row) throws -> PushSubject {
    PushSubject(device: row["device"], bundle: row["bundle"], use: try known(row["use"]))
  }

  func token(_ row: Row) throws -> DeviceToken {
    DeviceToken(
      token: row["token"], subject: try subject(row), environment: try known(row["environment"]),
      state: try known(row["state"]), since: row.date("since"))
  }

  func kept(_ row: Row) throws -> StoredPush {
    let notification = PushedNotification(
      uniqueID: row["uniqueID"], apnsID: row["apnsID"], subject: try subject(row), type: try known(row["type"]),
      priority: row["priority"], collapseID: row["collapseID"], payload: row["payload"],
      acceptedAt: row.date("acceptedAt"), expiration: row.dateIfPresent("expiration"),
      isFromStorage: row["isFromStorage"])
    return StoredPush(number: row["number"], notification: notification, token: row["token"])
  }

  private func known<T: RawRepresentable<String>>(_ text: String) throws -> T {
    guard let value = T(rawValue: text) else {
      throw BusError(.failed, "the push server's database has \"\(text)\" where a \(T.self) is expected")
    }
    return value
  }

  // MARK: Writing

  @discardableResult
  func write(_ changes: PushChanges, forgetting old: OldPushes?) throws -> ForgottenPushes {
    guard old != nil || !changes.isEmpty else { return ForgottenPushes() }
    let points =
      changes.tokens.isEmpty
      ? StoreFaultPoints(before: .pushServerBeforePushesSaved, after: .pushServerAfterPushesSaved)
      : StoreFaultPoints(before: .pushServerBeforeTokensSaved, after: .pushServerAfterTokensSaved)
    let forgotten = try database.write { db in
      try insert(changes.requests, db)
      try insert(changes.steps, db)
      for progress in changes.progress { try insert(progress, db) }
      try delete(changes.dropped, db)
      try insert(changes.keptPushes.values.sorted { $0.number < $1.number }, db)
      for write in changes.tokens { try perform(write, db) }
      try insert(changes.counts, db)
      let forgotten = try old.map { try forget($0, db) } ?? ForgottenPushes()
      try points.beforeCommit()
      return forgotten
    }
    points.after.reached()
    return forgotten
  }

  private func insert(_ requests: [PushChanges.Request], _ db: Database) throws {
    guard !requests.isEmpty else { return }
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO requests (number, uniqueID, apnsID, device, bundle, use, token, type, status, reason, at, detail, next,
          nextDetail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    for request in requests {
      let arrival = request.arrival
      let (status, reason): (Int, String?) =
        switch arrival.verdict {
        case .accepted: (200, nil)
        case .refused(let status, let reason, _): (status, reason)
        }
      try insert.perform(
        request.number, arrival.uniqueID, arrival.apnsID, arrival.subject?.device, arrival.subject?.bundle,
        arrival.subject?.use.rawValue, arrival.token, arrival.type, status, reason, request.at.timeIntervalSince1970,
        request.detail, request.next?.name.rawValue, request.next?.detail)
    }
  }

  private func insert(_ steps: [(number: Int64, step: PushStep)], _ db: Database) throws {
    guard !steps.isEmpty else { return }
    // VALUES, because SQLite makes a temporary table for the rows of a SELECT that reads the same table.
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO steps (request, place, name, at, detail)
          VALUES (?1, 1 + COALESCE((SELECT MAX(place) FROM steps WHERE request = ?1), 0), ?2, ?3, ?4)
        """)
    for (number, step) in steps {
      try insert.perform(number, step.name.rawValue, step.at.timeIntervalSince1970, step.detail ?? "")
    }
  }

  /// Inserts the progress of a request once, even if a device reports it twice. Ignores deleted requests.
  private func insert(_ progress: PushProgress, _ db: Database) throws {
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO steps (request, place, name, at, detail)
          SELECT number, 1 + COALESCE((SELECT MAX(place) FROM steps WHERE request = number), 0), ?2, ?3, ?4
            FROM requests WHERE uniqueID = ?1 AND NOT EXISTS (
              SELECT 1 FROM steps WHERE request = number AND name = ?2 AND at = ?3 AND detail = ?4)
        """)
    let step = progress.step
    try insert.perform(
      progress.uniqueID, step.name.rawValue, step.at.timeIntervalSince1970, step.detail ?? "")
  }

  private func insert(_ pushes: [StoredPush], _ db: Database) throws {
    guard !pushes.isEmpty else { return }
    let insert = try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO kept (device, bundle, use, number, type, priority, collapseID, payload, acceptedAt,
          expiration, isFromStorage, ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    for keptPush in pushes {
      let push = keptPush.notification
      try insert.perform(
        push.subject.device, push.subject.bundle, push.subject.use.rawValue, keptPush.number, push.type.rawValue,
        push.priority, push.collapseID, push.payload, push.acceptedAt.timeIntervalSince1970,
        push.expiration?.timeIntervalSince1970, push.isFromStorage,
        push.isFromStorage ? keptPush.end(settings).timeIntervalSince1970 : nil)
    }
  }

  private func delete(_ pushes: [StoredPush], _ db: Database) throws {
    guard !pushes.isEmpty else { return }
    let delete = try db.cachedStatement(
      sql: "DELETE FROM kept WHERE device = ? AND bundle = ? AND use = ? AND number = ?")
    for push in pushes {
      let subject = push.notification.subject
      try delete.perform(subject.device, subject.bundle, subject.use.rawValue, push.number)
    }
  }

  private func perform(_ write: PushChanges.TokenWrite, _ db: Database) throws {
    switch write {
    case .token(let token):
      let insert = try db.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO tokens (token, device, bundle, use, environment, state, since)
            VALUES (?, ?, ?, ?, ?, ?, ?)
          """)
      try insert.perform(
        token.token, token.subject.device, token.subject.bundle, token.subject.use.rawValue,
        token.environment.rawValue, token.state.rawValue, token.since.timeIntervalSince1970)
    case .notificationDue(let subject, let token):
      let insert = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO due (device, bundle, use, token) VALUES (?, ?, ?, ?)")
      try insert.perform(subject.device, subject.bundle, subject.use.rawValue, token)
    case .notified(let subject, let token):
      let delete = try db.cachedStatement(
        sql: "DELETE FROM due WHERE device = ? AND bundle = ? AND use = ? AND token IS ?")
      try delete.perform(subject.device, subject.bundle, subject.use.rawValue, token)
    }
  }

  // MARK: The log

  func page(_ request: ListPushes) async throws -> ListPushes.Reply {
    let limit = request.entryLimit
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
      return try request.reply(rows.map { try record($0, db) }, count: count)
    }
  }

  private func record(_ row: Row, _ db: Database) throws -> PushRecord {
    let number: Int64 = row["number"]
    let status: Int = row["status"]
    let at = row.date("at")
    let device: String? = row["device"]
    let next: String? = row["next"]
    let first = PushStep(status == 200 ? .accepted : .refused, at: at, detail: row["detail"])
    let second = try next.map { PushStep(try known($0), at: at, detail: row["nextDetail"]) }
    let later = try Row.fetchAll(
      db, sql: "SELECT name, at, detail FROM steps WHERE request = ? ORDER BY place", arguments: [number]
    ).map { step in
      let detail: String = step["detail"]
      return PushStep(
        try known(step["name"]), at: step.date("at"),
        detail: detail.isEmpty ? nil : detail)
    }
    return PushRecord(
      number: number, uniqueID: row["uniqueID"], apnsID: row["apnsID"], subject: device == nil ? nil : try subject(row),
      token: row["token"], type: row["type"], status: status, reason: row["reason"],
      steps: [first] + [second].compactMap(\.self) + later)
  }
}

// What is read when it is needed. A query is one statement, and sees what is committed.

extension PushDatabase {
  func kept(of device: String) throws -> [StoredPush] {
    try database.unsafeRead { db in
      let select = try db.cachedStatement(sql: Self.keptOfDevice)
      return try Row.fetchAll(select, arguments: [device]).map(kept)
    }
  }

  static let keptOfDevice = """
    SELECT requests.uniqueID, requests.apnsID, requests.token, kept.*
      FROM kept CROSS JOIN requests ON requests.number = kept.number WHERE kept.device = ? ORDER BY kept.number
    """

  func ends(after place: StoredEnd, by date: Date?, limit: Int) throws -> [StoredEnd] {
    try database.unsafeRead { db in
      let select = try db.cachedStatement(
        sql: """
          SELECT ends, device, bundle, use, number FROM kept
            WHERE ends >= ?1 AND ends <= ?2 AND (ends, device, bundle, use, number) > (?1, ?3, ?4, ?5, ?6)
            ORDER BY ends, device, bundle, use, number LIMIT ?7
          """)
      let subject = place.subject
      let arguments: StatementArguments = [
        place.at.timeIntervalSince1970, (date ?? .distantFuture).timeIntervalSince1970, subject.device, subject.bundle,
        subject.device.isEmpty ? "" : subject.use.rawValue, place.number, limit,
      ]
      return try Row.fetchAll(select, arguments: arguments).map { row in
        StoredEnd(at: row.date("ends"), subject: try self.subject(row), number: row["number"])
      }
    }
  }

  // MARK: Tokens

  func token(_ token: String) throws -> DeviceToken? {
    try database.unsafeRead { db in
      let select = try db.cachedStatement(sql: "SELECT * FROM tokens WHERE token = ?")
      return try Row.fetchOne(select, arguments: [token]).map(self.token)
    }
  }

  func active(_ subject: PushSubject) throws -> DeviceToken? {
    try database.unsafeRead { db in
      let select = try db.cachedStatement(
        sql: """
          SELECT * FROM tokens INDEXED BY activeTokens
            WHERE device = ? AND bundle = ? AND use = ? AND state = 'active' ORDER BY since DESC LIMIT 1
          """)
      return try Row.fetchOne(select, arguments: [subject.device, subject.bundle, subject.use.rawValue]).map(token)
    }
  }

  /// Maximum number of tokens in a page, because envelopes have a size limit.
  static let tokensInPage = 250

  func page(_ request: ListTokens) async throws -> [DeviceToken] {
    try await database.read { db in
      let rows =
        if let device = request.device {
          try Row.fetchAll(
            db,
            sql: """
              SELECT * FROM tokens INDEXED BY activeTokens WHERE device = ? AND state = 'active' AND (since, token) > (?, ?)
                ORDER BY since, token LIMIT \(Self.tokensInPage)
              """,
            arguments: [device, request.after?.since.timeIntervalSince1970 ?? -.infinity, request.after?.token ?? ""])
        } else {
          try Row.fetchAll(
            db,
            sql: "SELECT * FROM tokens WHERE (since, token) > (?, ?) ORDER BY since, token LIMIT \(Self.tokensInPage)",
            arguments: [request.after?.since.timeIntervalSince1970 ?? -.infinity, request.after?.token ?? ""])
        }
      return try rows.map(token)
    }
  }
}

// What the database has for fleets: their secrets, and the counts of their pushes.

extension PushDatabase: FleetStore {
  private func createFleetTables() throws {
    try database.createTables(
      of: "push-server fleets",
      """
      CREATE TABLE fleets (name TEXT PRIMARY KEY, incarnation BLOB NOT NULL, secret TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE fleetPushes (
        fleet TEXT NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (fleet, type, name, reason)) WITHOUT ROWID;
      """)
    // The single attempts of the previous process instance: their result is unknown.
    try database.write { db in
      try db.execute(
        sql: """
          INSERT INTO fleetPushes (fleet, type, name, reason, count)
            SELECT fleet, type, '\(FleetPushCount.interrupted)', '', count FROM fleetPushes
              WHERE name = '\(FleetPushCount.open)' AND count > 0
            ON CONFLICT DO UPDATE SET count = count + excluded.count
          """)
      try db.execute(sql: "DELETE FROM fleetPushes WHERE name = '\(FleetPushCount.open)'")
    }
  }

  /// Adds to the counts, in the transaction of what they count.
  func insert(_ counts: [FleetPushCount: Int], _ db: Database) throws {
    guard !counts.isEmpty else { return }
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO fleetPushes (fleet, type, name, reason, count) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET count = count + excluded.count
        """)
    for (key, count) in counts { try insert.perform(key.fleet, key.type, key.name, key.reason, count) }
  }

  func join(_ name: String, _ incarnation: UUID, secret: String) throws -> String? {
    try database.write { db in
      let row = try Row.fetchOne(db, sql: "SELECT incarnation, secret FROM fleets WHERE name = ?", arguments: [name])
      guard let row else {
        try db.execute(
          sql: "INSERT INTO fleets (name, incarnation, secret) VALUES (?, ?, ?)",
          arguments: [name, incarnation, secret])
        return secret
      }
      return row["incarnation"] as UUID == incarnation ? row["secret"] : nil
    }
  }

  func secret(ofFleet name: String) throws -> String? {
    try database.read { try String.fetchOne($0, sql: "SELECT secret FROM fleets WHERE name = ?", arguments: [name]) }
  }

  func devicesWithKept(of fleet: String, after device: String, limit: Int) throws -> [String] {
    try database.unsafeRead { db in
      // One look-up in the index for each device, however much is kept for it.
      let select = try db.cachedStatement(
        sql: """
          WITH RECURSIVE devices(device, place) AS (
            SELECT MIN(device), 1 FROM kept WHERE device > ?1 AND device < ?2
            UNION ALL
            SELECT (SELECT MIN(device) FROM kept WHERE device > devices.device AND device < ?2), place + 1 FROM devices
              WHERE devices.device IS NOT NULL AND place < ?3)
          SELECT device FROM devices WHERE device IS NOT NULL
          """)
      return try String.fetchAll(select, arguments: [device, FleetDevice.bounds(of: fleet).before, limit])
    }
  }

  func counts(of fleet: String) async throws -> CountFleetPushes.Reply {
    try await database.read { db in
      let counts = try Row.fetchAll(
        db, sql: "SELECT * FROM fleetPushes WHERE fleet IN (?, '') AND count <> 0 ORDER BY fleet, type, name, reason",
        arguments: [fleet])
      let bounds = FleetDevice.bounds(of: fleet)
      let keptRows = try Row.fetchAll(
        db, sql: "SELECT type, COUNT(*) AS count FROM kept WHERE device > ? AND device < ? GROUP BY type",
        arguments: [bounds.after, bounds.before])
      let tokens = try Row.fetchAll(
        db,
        sql: """
          SELECT use, COUNT(*) AS count FROM tokens INDEXED BY activeTokens
            WHERE state = 'active' AND device > ? AND device < ? GROUP BY use
          """, arguments: [bounds.after, bounds.before])
      return CountFleetPushes.Reply(
        counts: counts.map { row in
          let fleet: String = row["fleet"]
          return CountFleetPushes.Count(
            type: row["type"], name: fleet.isEmpty ? "unknown-token" : row["name"], reason: row["reason"],
            count: row["count"])
        },
        kept: Dictionary(uniqueKeysWithValues: keptRows.map { ($0["type"], $0["count"]) }),
        tokens: CountFleetPushes.Reply.sums(tokens.map { ($0["use"], $0["count"]) }))
    }
  }
}

extension PushDatabase {
  /// Maximum number of requests examined, and of tokens deleted, by one transaction.
  static let forgottenAtOnce = 1000

  func forget(_ old: OldPushes, _ db: Database) throws -> ForgottenPushes {
    var forgotten = ForgottenPushes()
    try forgetRequests(old, into: &forgotten, in: db)
    try forgetTokens(old, into: &forgotten, in: db)
    return forgotten
  }

  /// Deletes the oldest requests, except for those whose notification is kept. Recent requests are not read.
  private func forgetRequests(_ old: OldPushes, into forgotten: inout ForgottenPushes, in db: Database) throws {
    let page = try Row.fetchOne(
      try db.cachedStatement(
        sql: """
          SELECT MAX(number) AS last, COUNT(*) AS count FROM (
            SELECT number, at FROM requests WHERE number > ? ORDER BY number LIMIT \(Self.forgottenAtOnce))
            WHERE number <= ? OR at < ?
          """), arguments: [old.after, old.number, old.date.timeIntervalSince1970])
    guard let page, let last = page["last"] as Int64? else { return }
    forgotten.last = last
    forgotten.hasMore = page["count"] == Self.forgottenAtOnce
    let keptNumbers =
      "SELECT number FROM requests CROSS JOIN kept USING (device, bundle, use, number) WHERE requests.number"
    for (table, column) in [("steps", "request"), ("requests", "number")] {
      try db.cachedStatement(
        sql: """
          DELETE FROM \(table) WHERE \(column) > ? AND \(column) <= ? AND \(column) NOT IN (
            \(keptNumbers) > ?1 AND requests.number <= ?2)
          """
      ).perform(old.after, last)
    }
    forgotten.requests = db.changesCount
  }

  /// Deletes the tokens that ended first.
  private func forgetTokens(_ old: OldPushes, into forgotten: inout ForgottenPushes, in db: Database) throws {
    forgotten.tokens = try String.fetchAll(
      try db.cachedStatement(
        sql: """
          SELECT token FROM tokens WHERE state <> 'active' AND since < ? ORDER BY since LIMIT \(Self.forgottenAtOnce)
          """), arguments: [old.ended.timeIntervalSince1970])
    let delete = try db.cachedStatement(sql: "DELETE FROM tokens WHERE token = ?")
    for token in forgotten.tokens { try delete.perform(token) }
    forgotten.hasMore = forgotten.hasMore || forgotten.tokens.count == Self.forgottenAtOnce
  }
}

// Writes of many rows. GRDB resets a statement three times for a row, clears its former values, and copies each text
// twice, the second time into memory that SQLite allocates. Here a row costs one copy of each text, on the stack.

/// A value of a column.
protocol ColumnValue {
  /// - Parameters:
  ///   - place: counted from 1.
  ///   - memory: for the bytes of the value, which are removed from it. They stay until the statement has no values.
  /// - Returns: `SQLITE_OK` or an error.
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt
}

extension Statement {
  /// Executes a statement that returns no rows, with these values.
  ///
  /// - Throws: `DatabaseError`. The statement can be used again.
  func perform<each Value: ColumnValue>(_ values: repeat each Value) throws {
    try withUnsafeTemporaryAllocation(byteCount: textsOfRow, alignment: 1) { memory in
      defer { sqlite3_clear_bindings(sqliteStatement) }
      var (memory, place) = (memory, CInt(0))
      for value in repeat each values {
        place += 1
        let code = value.bind(to: sqliteStatement, at: place, in: &memory)
        guard code == SQLITE_OK else { throw failure(code) }
      }
      let code = sqlite3_step(sqliteStatement)
      // Returns the error of the step again.
      let ended = sqlite3_reset(sqliteStatement)
      guard code == SQLITE_DONE else { throw failure(ended == SQLITE_OK ? SQLITE_MISUSE : ended) }
    }
  }

  private func failure(_ code: CInt) -> DatabaseError {
    let connection = sqlite3_db_handle(sqliteStatement)
    return DatabaseError(
      resultCode: ResultCode(rawValue: code), message: sqlite3_errmsg(connection).map { String(cString: $0) }, sql: sql)
  }
}

/// Bytes on the stack for the texts of a row. The texts of a request without its payload are shorter.
private let textsOfRow = 1024

/// SQLite copies a value before `bind` returns.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension UnsafeMutableRawBufferPointer {
  /// Copies bytes to the start of this memory, and removes that part from it. Returns `nil` when it is too small.
  fileprivate mutating func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count <= count else { return nil }
    copyMemory(from: bytes)
    defer { self = Self(rebasing: self[bytes.count...]) }
    return UnsafeRawPointer(baseAddress)
  }
}

extension String: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    var text = self
    return text.withUTF8 { bytes in
      // SQLite takes no address for NULL, and an empty text may have none.
      guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, place, "", 0, copied) }
      let kept = memory.keep(UnsafeRawBufferPointer(bytes))
      let characters = (kept ?? UnsafeRawPointer(start)).assumingMemoryBound(to: CChar.self)
      return sqlite3_bind_text(statement, place, characters, CInt(bytes.count), kept == nil ? copied : nil)
    }
  }
}

extension UUID: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    withUnsafeBytes(of: uuid) { bytes in
      let kept = memory.keep(bytes)
      return sqlite3_bind_blob(
        statement, place, kept ?? bytes.baseAddress, CInt(bytes.count), kept == nil ? copied : nil)
    }
  }
}

extension Int64: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    sqlite3_bind_int64(statement, place, self)
  }
}

extension Int: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    sqlite3_bind_int64(statement, place, Int64(self))
  }
}

extension Bool: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    sqlite3_bind_int64(statement, place, self ? 1 : 0)
  }
}

extension Double: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    sqlite3_bind_double(statement, place, self)
  }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    self?.bind(to: statement, at: place, in: &memory) ?? sqlite3_bind_null(statement, place)
  }
}
