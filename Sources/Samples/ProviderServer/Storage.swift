// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// A drink that was posted to this server.
struct PostedDrink: Sendable {
  let name: String
  let milligrams: Int
  let time: Date
}

/// The push token and widgets of one installation of the app.
struct Subscription: Codable, Sendable {
  struct Widget: Codable, Hashable, Sendable {
    let kind: String
    let family: String
  }

  /// The app's own identifier of its installation on one device.
  let installation: String
  /// Hexadecimal, as the app received it from WidgetKit.
  let token: String
  let widgets: [Widget]
  let registered: Date
}

/// The last push to one installation. An installation has one at most: a push reports that something changed and not
/// what, so a waiting push covers every change since.
struct Push: Codable, Sendable {
  enum State: String, Codable {
    /// It is sent when it is due.
    case waiting
    /// APNs accepted it.
    case sent
    /// APNs refused it, and would refuse it again.
    case refused
    /// The token is no longer valid. The push waits for a new one.
    case tokenless
  }

  let installation: String
  /// The number of the newest drink that it covers.
  let change: Int64
  let state: State
  /// The `apns-id`, the same in each attempt.
  let apnsID: String
  let attempts: Int
  let due: Date
  /// The status of the last response; `nil` before one.
  let status: Int?
  /// Why the last attempt failed.
  let reason: String?
}

/// The server's persistent state, in SQLite. A change of the figures and the pushes that it makes due are one
/// transaction; after a kill the server sends what is still due.
struct Storage: Sendable {
  private let database: DatabaseQueue

  /// Opens or creates the file; without a file, all state is in memory.
  init(file: String?) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    database = try file.map { try DatabaseQueue(path: $0, configuration: configuration) } ?? DatabaseQueue()
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          CREATE TABLE drinks (number INTEGER PRIMARY KEY, name TEXT NOT NULL, milligrams INTEGER NOT NULL,
            time REAL NOT NULL);
          CREATE TABLE subscriptions (installation TEXT PRIMARY KEY, token TEXT NOT NULL, widgets BLOB NOT NULL,
            registered REAL NOT NULL);
          CREATE TABLE pushes (installation TEXT PRIMARY KEY, change INTEGER NOT NULL, state TEXT NOT NULL,
            apnsID TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL, status INTEGER, reason TEXT);
          CREATE INDEX pushesByDue ON pushes (due) WHERE state = 'waiting';
          """)
    }
    try migrator.migrate(database)
  }
}

// MARK: Figures

extension Storage {
  /// Records a drink, and makes a push to every subscriber due.
  func add(_ drink: PostedDrink) async throws {
    try await database.write { db in
      try db.execute(
        sql: "INSERT INTO drinks (name, milligrams, time) VALUES (?, ?, ?)",
        arguments: [drink.name, drink.milligrams, drink.time.timeIntervalSince1970])
      let change = db.lastInsertedRowID
      for installation in try String.fetchAll(db, sql: "SELECT installation FROM subscriptions") {
        // A push that waits keeps its due date, however late APNs set it.
        try db.execute(
          sql: """
            INSERT INTO pushes (installation, change, state, apnsID, due) VALUES (?, ?, 'waiting', ?, ?)
            ON CONFLICT (installation) DO UPDATE SET change = excluded.change, state = 'waiting',
              apnsID = IIF(state = 'waiting', apnsID, excluded.apnsID), due = IIF(state = 'waiting', due, excluded.due),
              attempts = IIF(state = 'waiting', attempts, 0), status = IIF(state = 'waiting', status, NULL),
              reason = IIF(state = 'waiting', reason, NULL)
            """,
          arguments: [installation, change, Self.newID, drink.time.timeIntervalSince1970])
      }
    }
  }

  /// Returns the drinks in a span of time, whose end is excluded.
  func drinks(in span: Range<Date>) async throws -> [PostedDrink] {
    try await database.read { db in
      try Row.fetchAll(
        db, sql: "SELECT name, milligrams, time FROM drinks WHERE time >= ? AND time < ? ORDER BY time, number",
        arguments: [span.lowerBound.timeIntervalSince1970, span.upperBound.timeIntervalSince1970]
      ).map {
        PostedDrink(name: $0["name"], milligrams: $0["milligrams"], time: Date(timeIntervalSince1970: $0["time"]))
      }
    }
  }
}

// MARK: Subscriptions

extension Storage {
  /// Replaces the subscription of an installation. A push that could not be sent to its last token is due at once when
  /// the token changes.
  func put(_ subscription: Subscription) async throws {
    let widgets = try JSONEncoder().encode(subscription.widgets)
    try await database.write { db in
      let last = try String.fetchOne(
        db, sql: "SELECT token FROM subscriptions WHERE installation = ?", arguments: [subscription.installation])
      let registered = subscription.registered.timeIntervalSince1970
      try db.execute(
        sql: "INSERT OR REPLACE INTO subscriptions (installation, token, widgets, registered) VALUES (?, ?, ?, ?)",
        arguments: [subscription.installation, subscription.token, widgets, registered])
      guard last != subscription.token else { return }
      try db.execute(
        sql: """
          UPDATE pushes SET state = 'waiting', attempts = 0, due = ?, status = NULL, reason = NULL
          WHERE installation = ? AND state <> 'sent'
          """, arguments: [registered, subscription.installation])
    }
  }

  /// Deletes an installation, and its push.
  func remove(installation: String) async throws {
    try await database.write { db in
      try db.execute(sql: "DELETE FROM subscriptions WHERE installation = ?", arguments: [installation])
      try db.execute(sql: "DELETE FROM pushes WHERE installation = ?", arguments: [installation])
    }
  }

  func subscriptions() async throws -> [Subscription] {
    try await database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM subscriptions ORDER BY installation").map { row in
        Subscription(
          installation: row["installation"], token: row["token"],
          widgets: try JSONDecoder().decode([Subscription.Widget].self, from: row["widgets"]),
          registered: Date(timeIntervalSince1970: row["registered"]))
      }
    }
  }
}

// MARK: Pushes

extension Storage {
  /// A push, and the current token that it is sent to.
  struct PendingPush: Sendable {
    let push: Push
    let token: String
  }

  func pushes() async throws -> [Push] {
    try await database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM pushes ORDER BY installation").map(Self.push)
    }
  }

  /// Returns the pushes that are due, the longest overdue first, and the date at which the next one is due.
  func due(at now: Date, limit: Int) async throws -> (pending: [PendingPush], next: Date?) {
    try await database.read { db in
      let pending = try Row.fetchAll(
        db,
        sql: """
          SELECT pushes.*, token FROM pushes JOIN subscriptions USING (installation)
          WHERE state = 'waiting' AND due <= ? ORDER BY due LIMIT ?
          """, arguments: [now.timeIntervalSince1970, limit]
      ).map { PendingPush(push: Self.push($0), token: $0["token"]) }
      let next = try Double.fetchOne(
        db, sql: "SELECT MIN(due) FROM pushes WHERE state = 'waiting' AND due > ?",
        arguments: [now.timeIntervalSince1970])
      return (pending, next.map(Date.init(timeIntervalSince1970:)))
    }
  }

  /// Records the result of an attempt. If the figures or the token changed during the attempt, the push is due at once.
  func record(_ verdict: PushVerdict, of pending: PendingPush, status: Int?, reason: String?) async throws {
    let now = Date.now
    try await database.write { db in
      if case .tokenGone(let since) = verdict {
        // A token that was registered again after that time is valid: the response is older than the registration.
        try db.execute(
          sql: "DELETE FROM subscriptions WHERE installation = ? AND token = ? AND registered <= ?",
          arguments: [pending.push.installation, pending.token, since.timeIntervalSince1970])
      }
      let token = try String.fetchOne(
        db, sql: "SELECT token FROM subscriptions WHERE installation = ?", arguments: [pending.push.installation])
      let (state, due) = Self.follow(verdict, at: now, isSameToken: token.map { $0 == pending.token })
      try db.execute(
        sql: "UPDATE pushes SET state = ?, attempts = ?, due = ?, status = ?, reason = ? WHERE installation = ?",
        arguments: [
          state.rawValue, pending.push.attempts + 1, due.timeIntervalSince1970, status, reason,
          pending.push.installation,
        ])
      guard verdict == .sent else { return }
      try db.execute(
        sql: "UPDATE pushes SET state = 'waiting', attempts = 0, apnsID = ? WHERE installation = ? AND change > ?",
        arguments: [Self.newID, pending.push.installation, pending.push.change])
    }
  }

  /// - Parameter isSameToken: whether the installation still has the token that was used; `nil`: it has none.
  private static func follow(_ verdict: PushVerdict, at now: Date, isSameToken: Bool?) -> (Push.State, due: Date) {
    switch (verdict, isSameToken) {
    case (.sent, _): (.sent, now)
    case (_, nil): (.tokenless, now)
    case (_, false): (.waiting, now)
    case (.again(let pause), _): (.waiting, now.addingTimeInterval(pause))
    case (.tokenGone, _): (.waiting, now.addingTimeInterval(60))
    case (.refused, _): (.refused, now)
    }
  }

  private static var newID: String { UUID().uuidString.lowercased() }

  private static func push(_ row: Row) -> Push {
    Push(
      installation: row["installation"], change: row["change"],
      state: Push.State(rawValue: row["state"]) ?? .refused, apnsID: row["apnsID"], attempts: row["attempts"],
      due: Date(timeIntervalSince1970: row["due"]), status: row["status"], reason: row["reason"])
  }
}
