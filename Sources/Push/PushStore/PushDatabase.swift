import Conversations
import Foundation
import GRDB

/// Device tokens, notifications that wait, and the delivery log, on disk.
///
/// A request is one row, whose number and whose id both grow: what is written stands at the right edge of each tree, and what
/// is forgotten at the left one, so that a request costs the same however long the log is.
struct PushDatabase: Sendable {
  /// What one transaction writes.
  struct Changes: Sendable {
    /// A request of this transaction.
    struct Request: Sendable {
      /// Its number in the log.
      let number: Int64
      let arrival: PushArrival
      let at: Date
      /// Of its first station: its verdict's.
      let detail: String?
      /// What became of it at the same moment.
      var next: (name: PushStation.Name, detail: String?)?
    }
    enum TokenWrite: Sendable {
      case token(DeviceToken)
      /// The device is to be told of its token.
      case owe(PushSubject, token: String?)
      /// It has been told of this one.
      case told(PushSubject, token: String?)
    }

    /// In the order of their numbers, which have no gap.
    private(set) var requests: [Request] = []
    private(set) var stations: [(number: Int64, station: PushStation)] = []
    /// What devices say.
    var progress: [PushProgress] = []
    private(set) var kept: [Int64: KeptPush] = [:]
    private(set) var dropped: [Int64] = []
    var tokens: [TokenWrite] = []

    var isEmpty: Bool {
      requests.isEmpty && stations.isEmpty && progress.isEmpty && kept.isEmpty && dropped.isEmpty && tokens.isEmpty
    }

    /// A request, with its first station.
    mutating func add(_ number: Int64, _ arrival: PushArrival, _ verdict: PushStation) {
      requests.append(Request(number: number, arrival: arrival, at: verdict.at, detail: verdict.detail))
    }

    mutating func add(_ station: PushStation, to number: Int64) {
      if let first = requests.first?.number, number >= first, requests[Int(number - first)].at == station.at,
        requests[Int(number - first)].next == nil
      {
        requests[Int(number - first)].next = (station.name, station.detail)
      } else {
        stations.append((number, station))
      }
    }

    /// On disk until `drop`. It replaces what was kept under its number.
    mutating func keep(_ push: KeptPush) { kept[push.number] = push }

    /// What came with this transaction is not written at all.
    mutating func drop(_ number: Int64) {
      kept[number] = nil
      if requests.first.map({ number < $0.number }) ?? true { dropped.append(number) }
    }
  }

  /// Which requests are old: those that came before a date, and those up to a number.
  struct Age: Sendable {
    let date: Date
    let number: Int64
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
  /// Requests that are forgotten at once.
  static let forgottenAtOnce = 1000
  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    try Self.migrator.migrate(database)
  }

  /// - Note: the first form had an entry of an index at a random place for each request and each notification kept, and
  ///   three rows for each request.
  static var migrator: DatabaseMigrator {
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
    migrator.registerMigration("pushes-2") { db in
      try db.execute(
        sql: """
          ALTER TABLE requests ADD COLUMN detail TEXT;
          ALTER TABLE requests ADD COLUMN next TEXT;
          ALTER TABLE requests ADD COLUMN nextDetail TEXT;
          UPDATE requests SET detail = (
            SELECT NULLIF(detail, '') FROM stations
              WHERE request = requests.number AND name IN ('accepted', 'refused') ORDER BY id LIMIT 1);
          CREATE TABLE laterStations (
            request INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, at REAL NOT NULL, detail TEXT NOT NULL,
            PRIMARY KEY (request, place)) WITHOUT ROWID;
          INSERT INTO laterStations SELECT request, id, name, at, detail FROM stations
            WHERE name NOT IN ('accepted', 'refused');
          DROP TABLE stations;
          ALTER TABLE laterStations RENAME TO stations;
          CREATE TABLE waiting (
            number INTEGER PRIMARY KEY, type TEXT NOT NULL, priority INTEGER NOT NULL, collapseID TEXT,
            payload TEXT NOT NULL, acceptedAt REAL NOT NULL, expiration REAL, isFromStorage INTEGER NOT NULL);
          INSERT INTO waiting SELECT number, type, priority, collapseID, payload, acceptedAt, expiration, isFromStorage
            FROM kept;
          DROP TABLE kept;
          ALTER TABLE waiting RENAME TO kept;
          """)
    }
    return migrator
  }

  // MARK: What the next life begins with

  func left() throws -> Left {
    try database.read { db in
      var left = Left()
      left.tokens = try Row.fetchAll(db, sql: "SELECT * FROM tokens ORDER BY since").map(token)
      left.kept = try Row.fetchAll(
        db,
        sql: """
          SELECT requests.uniqueID, requests.apnsID, requests.token, requests.device, requests.bundle, requests.use, kept.*
            FROM kept JOIN requests USING (number) ORDER BY number
          """
      ).map(kept)
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

  /// Writes it all, or nothing of it. When it returns it is on disk.
  ///
  /// - Parameter age: the requests to forget in the same transaction that have come to their end, so many of them at once.
  /// - Returns: how many were forgotten.
  @discardableResult
  func write(_ changes: Changes, forgetting age: Age? = nil) throws -> Int {
    guard age != nil || !changes.isEmpty else { return 0 }
    return try database.write { db in
      try insert(changes.requests, db)
      try insert(changes.stations, db)
      for progress in changes.progress { try insert(progress, db) }
      try insert(changes.kept.values.sorted { $0.number < $1.number }, db)
      if !changes.dropped.isEmpty {
        let delete = try db.cachedStatement(sql: "DELETE FROM kept WHERE number = ?")
        for number in changes.dropped { try delete.perform(number) }
      }
      for write in changes.tokens { try perform(write, db) }
      return try age.map { try forget($0, db) } ?? 0
    }
  }

  private func insert(_ requests: [Changes.Request], _ db: Database) throws {
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

  private func insert(_ stations: [(number: Int64, station: PushStation)], _ db: Database) throws {
    guard !stations.isEmpty else { return }
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO stations (request, place, name, at, detail)
          SELECT ?1, 1 + COALESCE((SELECT MAX(place) FROM stations WHERE request = ?1), 0), ?2, ?3, ?4
        """)
    for (number, station) in stations {
      try insert.perform(
        number, station.name.rawValue, station.at.timeIntervalSince1970, station.detail ?? "")
    }
  }

  /// What a device says twice stands there once, and of a request that is forgotten nothing.
  private func insert(_ progress: PushProgress, _ db: Database) throws {
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO stations (request, place, name, at, detail)
          SELECT number, 1 + COALESCE((SELECT MAX(place) FROM stations WHERE request = number), 0), ?2, ?3, ?4
            FROM requests WHERE uniqueID = ?1 AND NOT EXISTS (
              SELECT 1 FROM stations WHERE request = number AND name = ?2 AND at = ?3 AND detail = ?4)
        """)
    let station = progress.station
    try insert.perform(
      progress.uniqueID, station.name.rawValue, station.at.timeIntervalSince1970, station.detail ?? "")
  }

  private func insert(_ pushes: [KeptPush], _ db: Database) throws {
    guard !pushes.isEmpty else { return }
    let insert = try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO kept (number, type, priority, collapseID, payload, acceptedAt, expiration, isFromStorage)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """)
    for kept in pushes {
      let push = kept.notification
      try insert.perform(
        kept.number, push.type.rawValue, push.priority, push.collapseID, push.payload,
        push.acceptedAt.timeIntervalSince1970, push.expiration?.timeIntervalSince1970, push.isFromStorage)
    }
  }

  private func perform(_ write: Changes.TokenWrite, _ db: Database) throws {
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
    case .owe(let subject, let token):
      let insert = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO owed (device, bundle, use, token) VALUES (?, ?, ?, ?)")
      try insert.perform(subject.device, subject.bundle, subject.use.rawValue, token)
    case .told(let subject, let token):
      let delete = try db.cachedStatement(
        sql: "DELETE FROM owed WHERE device = ? AND bundle = ? AND use = ? AND token IS ?")
      try delete.perform(subject.device, subject.bundle, subject.use.rawValue, token)
    }
  }

  /// Forgets the oldest requests that have come to their end: what is not old is not looked at.
  private func forget(_ age: Age, _ db: Database) throws -> Int {
    let last = try Int64.fetchOne(
      try db.cachedStatement(
        sql: """
          SELECT MAX(number) FROM (
            SELECT number, at FROM requests WHERE NOT EXISTS (SELECT 1 FROM kept WHERE kept.number = requests.number)
              ORDER BY number LIMIT \(Self.forgottenAtOnce))
            WHERE number <= ? OR at < ?
          """), arguments: [age.number, age.date.timeIntervalSince1970])
    guard let last else { return 0 }
    for (table, column) in [("stations", "request"), ("requests", "number")] {
      try db.cachedStatement(
        sql: """
          DELETE FROM \(table) WHERE \(column) <= ? AND NOT EXISTS (
            SELECT 1 FROM kept WHERE kept.number = \(table).\(column))
          """
      ).perform(last)
    }
    return db.changesCount
  }

  // MARK: The log

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
    let status: Int = row["status"]
    let at = Date(timeIntervalSince1970: row["at"])
    let device: String? = row["device"]
    let next: String? = row["next"]
    let first = PushStation(status == 200 ? .accepted : .refused, at: at, detail: row["detail"])
    let second = try next.map { PushStation(try known($0), at: at, detail: row["nextDetail"]) }
    let later = try Row.fetchAll(
      db, sql: "SELECT name, at, detail FROM stations WHERE request = ? ORDER BY place", arguments: [number]
    ).map { station in
      let detail: String = station["detail"]
      return PushStation(
        try known(station["name"]), at: Date(timeIntervalSince1970: station["at"]),
        detail: detail.isEmpty ? nil : detail)
    }
    return PushRecord(
      number: number, uniqueID: row["uniqueID"], apnsID: row["apnsID"], subject: device == nil ? nil : try subject(row),
      token: row["token"], type: row["type"], status: status, reason: row["reason"],
      stations: [first] + [second].compactMap(\.self) + later)
  }
}

extension Statement {
  /// Runs it with these values, without a list of them in between.
  fileprivate func perform<each Value: StatementBinding>(_ values: repeat each Value) throws {
    setUncheckedArguments(StatementArguments())
    var place: CInt = 0
    for value in repeat each values {
      place += 1
      guard value.bind(to: sqliteStatement, at: place) == 0 else {
        throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "value \(place) cannot be bound", sql: sql)
      }
    }
    try execute()
  }
}
