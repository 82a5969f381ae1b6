// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Foundation
import GRDB
import Messages
import Stores

/// The store in a SQLite database, for one push server.
///
/// A request is one row whose number and id both grow: inserts are at the right edge of each B-tree and deletes at the
/// left, so the cost of a request does not depend on the length of the log. What is stored for a device is a range of one
/// B-tree, so the cost of a device does not depend on the number of the others.
struct PushDatabase: PushStore {
  /// Maximum number of requests in a page, because envelopes have a size limit.
  private static let requestsInPage = 100
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
      try insert(changes.kept.values.sorted { $0.number < $1.number }, db)
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
    for kept in pushes {
      let push = kept.notification
      try insert.perform(
        push.subject.device, push.subject.bundle, push.subject.use.rawValue, kept.number, push.type.rawValue,
        push.priority, push.collapseID, push.payload, push.acceptedAt.timeIntervalSince1970,
        push.expiration?.timeIntervalSince1970, push.isFromStorage,
        push.isFromStorage ? kept.end(settings).timeIntervalSince1970 : nil)
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
    let limit = max(1, min(request.limit, Self.requestsInPage))
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
