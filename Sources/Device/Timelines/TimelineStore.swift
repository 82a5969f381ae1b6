import Archive
import Conversations
import Foundation
import GRDB

/// What is owed, which kinds there are and the last good timeline of each, on disk.
struct TimelineStore: Sendable {
  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("timelines-1") { db in
      try db.execute(
        sql: """
          CREATE TABLE reloads (
            extension TEXT NOT NULL, kind TEXT NOT NULL, serial INTEGER NOT NULL, deaths INTEGER NOT NULL, cause TEXT,
            correlation TEXT, PRIMARY KEY (extension, kind));
          CREATE TABLE kinds (extension TEXT PRIMARY KEY, kinds BLOB NOT NULL);
          CREATE TABLE timelines (
            extension TEXT NOT NULL, kind TEXT NOT NULL, family TEXT NOT NULL, timeline BLOB NOT NULL,
            stored REAL NOT NULL, PRIMARY KEY (extension, kind, family));
          """)
    }
    try migrator.migrate(database)
  }

  func decision(_ extensions: [Address]) throws -> TimelineDecision {
    var owed: [Address: [String: TimelineDecision.Owed]] = [:]
    var kinds: [Address: [String]] = [:]
    try database.read { db in
      for row in try Row.fetchAll(db, sql: "SELECT * FROM reloads") {
        guard let address = Address(row["extension"]) else { continue }
        var item = TimelineDecision.Owed(
          serial: row["serial"], cause: (row["cause"] as String?).flatMap { UUID(uuidString: $0) },
          correlation: (row["correlation"] as String?).flatMap { UUID(uuidString: $0) })
        item.deaths = row["deaths"]
        owed[address, default: [:]][row["kind"]] = item
      }
      for row in try Row.fetchAll(db, sql: "SELECT * FROM kinds") {
        guard let address = Address(row["extension"]) else { continue }
        kinds[address] = try BodyCoding.decode([String].self, from: Array(row["kinds"] as Data))
      }
    }
    return TimelineDecision(extensions: extensions, owed: owed, kinds: kinds)
  }

  /// Writes what has changed since `before` and, with it, the timeline that paid for it.
  func save(_ now: TimelineDecision, since before: TimelineDecision, storing answer: StoredTimeline? = nil) throws {
    let owed = now.owed.filter { before.owed[$0.key] != $0.value }
    let kinds = now.kinds.filter { before.kinds[$0.key] != $0.value }
    guard !owed.isEmpty || !kinds.isEmpty || answer != nil else { return }
    try database.write { db in
      if let answer { try TimelineStore.write(answer, db) }
      for (address, kinds) in kinds {
        try db.execute(
          sql: "INSERT OR REPLACE INTO kinds (extension, kinds) VALUES (?, ?)",
          arguments: [address.text, Data(try BodyCoding.encode(kinds))])
      }
      for (address, items) in owed {
        try db.execute(sql: "DELETE FROM reloads WHERE extension = ?", arguments: [address.text])
        for (kind, item) in items {
          try db.execute(
            sql: """
              INSERT INTO reloads (extension, kind, serial, deaths, cause, correlation) VALUES (?, ?, ?, ?, ?, ?)
              """,
            arguments: [
              address.text, kind, item.serial, item.deaths, item.cause?.uuidString, item.correlation?.uuidString,
            ])
        }
      }
    }
  }

  private static func write(_ answer: StoredTimeline, _ db: Database) throws {
    try db.execute(
      sql: "INSERT OR REPLACE INTO timelines (extension, kind, family, timeline, stored) VALUES (?, ?, ?, ?, ?)",
      arguments: [
        answer.address.text, answer.kind, answer.family.rawValue, Data(try BodyCoding.encode(answer.timeline)),
        answer.stored.timeIntervalSince1970,
      ])
  }

  func timelines() throws -> [StoredTimeline] {
    try database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM timelines ORDER BY extension, kind, family").compactMap { row in
        guard let address = Address(row["extension"]), let family = WidgetFamilyName(rawValue: row["family"]) else {
          return nil
        }
        return StoredTimeline(
          address: address, kind: row["kind"], family: family,
          timeline: try BodyCoding.decode(RequestTimeline.Reply.self, from: Array(row["timeline"] as Data)),
          stored: Date(timeIntervalSince1970: row["stored"]))
      }
    }
  }
}

/// The last good timeline of one kind and family.
struct StoredTimeline: Sendable {
  let address: Address
  let kind: String
  let family: WidgetFamilyName
  let timeline: RequestTimeline.Reply
  let stored: Date

  /// As the journal and `ps` show it.
  var notice: TimelineStored {
    TimelineStored(
      bundle: address.bundleIdentifier ?? address.short, widgetKind: kind, entries: timeline.entries.count,
      text: timeline.entries.first?.view.lines ?? [], note: note)
  }

  /// The reload policy is kept with the timeline and not acted upon: there is no budget that could pay for it yet.
  private var note: String? {
    switch timeline.policy {
    case .atEnd: "reload policy atEnd is stored and not acted upon"
    case .after(let date): "reload policy after(\(date.formatted(.iso8601))) is stored and not acted upon"
    case .never: nil
    }
  }
}
