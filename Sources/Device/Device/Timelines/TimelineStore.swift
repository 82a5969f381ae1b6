// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import GRDB
import Messages
import Stores

/// Persists placements with their pending reloads, the ledger, and the last good timeline of each placement.
struct TimelineStore: Sendable {
  /// Positions of rows that are not entries of the timeline.
  private enum Position {
    static let placeholder = -2
    /// The entry that was visible when a timeline arrived whose first entry is in the future.
    static let carried = -1
  }

  private static let pending = "pending"
  /// How many lines of the ledger are kept.
  private static let ledgerLimit = 200_000
  let transactions: DeviceTransactions
  var database: any DatabaseWriter { transactions.database }

  init(_ transactions: DeviceTransactions) throws {
    self.transactions = transactions
    try transactions.database.createTables(
      of: "timelines",
      """
      CREATE TABLE placed (id INTEGER PRIMARY KEY, state BLOB NOT NULL);
      CREATE TABLE kinds (extension TEXT PRIMARY KEY NOT NULL, kinds BLOB NOT NULL);
      CREATE TABLE timelineFacts (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL);
      CREATE TABLE entries (
        placement INTEGER NOT NULL, position INTEGER NOT NULL, date REAL NOT NULL, view BLOB NOT NULL, dark BLOB,
        private BLOB, invalidated BLOB, text BLOB NOT NULL, relevance BLOB, transition BLOB NOT NULL,
        PRIMARY KEY (placement, position));
      CREATE TABLE ledger (
        number INTEGER PRIMARY KEY, reload INTEGER NOT NULL, placement INTEGER NOT NULL, line BLOB NOT NULL);
      CREATE INDEX ledgerByReload ON ledger (reload);
      CREATE INDEX ledgerByPlacement ON ledger (placement);
      """)
    try createImages()
  }

  // MARK: Loading

  func read(_ stateMachine: inout TimelineStateMachine) throws {
    try database.read { db in
      for data in try Data.fetchAll(db, sql: "SELECT state FROM placed") {
        let placed = try PlacementState(stored: data)
        stateMachine.restore(placed, try upcoming(placed.placement.id, db))
      }
      var kinds: [Address: [String: WidgetFamilyName]] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM kinds") {
        guard let address = Address(row["extension"]) else { continue }
        kinds[address] = try row.decoded("kinds")
      }
      let pending = try Data.fetchOne(
        db, sql: "SELECT value FROM timelineFacts WHERE name = ?", arguments: [Self.pending])
      stateMachine.restore(
        kinds: kinds, try pending.map { try [TimelineStateMachine.UnresolvedReload](stored: $0) } ?? [],
        lastReload: try Int.fetchOne(db, sql: "SELECT MAX(reload) FROM ledger") ?? 0,
        lastLine: try Int.fetchOne(db, sql: "SELECT MAX(number) FROM ledger") ?? 0)
    }
  }

  private func upcoming(_ id: Int, _ db: Database) throws -> [UpcomingEntry] {
    let sql =
      "SELECT date, text, relevance, transition FROM entries WHERE placement = ? AND position >= 0 ORDER BY position"
    return try Row.fetchAll(db, sql: sql, arguments: [id]).map { row in
      UpcomingEntry(
        date: row.date("date"), text: try row.decoded("text"), relevance: try row.decodedIfPresent("relevance"),
        transition: try row.decoded("transition"))
    }
  }

  // MARK: Writing

  /// Writes what events changed, and the new lines of the ledger, in one transaction.
  func save(_ now: TimelineStateMachine, changes: TimelineStateMachine.Changes, lines: [LedgerEntry]) throws {
    let isSame = changes.placements.isEmpty && changes.kinds.isEmpty && !changes.areUnresolvedReloads
    guard !isSame || !lines.isEmpty else { return }
    let placements = try changes.placements.sorted().map {
      ($0, try now.placements[$0].map { try BodyCoding.data($0) })
    }
    let kinds = try changes.kinds.sorted { $0.text < $1.text }.map {
      ($0.text, try now.kinds[$0].map { try BodyCoding.data($0) })
    }
    let unresolved = changes.areUnresolvedReloads ? try BodyCoding.data(now.unresolvedReloads) : nil
    try transactions.write(.lasting) { db in
      for (id, state) in placements {
        if let state {
          try db.run("INSERT OR REPLACE INTO placed (id, state) VALUES (?, ?)", [id, state])
        } else {
          try db.run("DELETE FROM placed WHERE id = ?", [id])
          try db.run("DELETE FROM entries WHERE placement = ?", [id])
        }
      }
      for (address, kinds) in kinds {
        guard let kinds else {
          try db.run("DELETE FROM kinds WHERE extension = ?", [address])
          continue
        }
        try db.run("INSERT OR REPLACE INTO kinds (extension, kinds) VALUES (?, ?)", [address, kinds])
      }
      if let unresolved {
        try db.run("INSERT OR REPLACE INTO timelineFacts (name, value) VALUES (?, ?)", [Self.pending, unresolved])
      }
      for line in lines {
        try db.run(
          "INSERT INTO ledger (number, reload, placement, line) VALUES (?, ?, ?, ?)",
          [line.number, line.reload, line.placement, try BodyCoding.data(line)])
        if line.number.isMultiple(of: 1000) {
          try db.run("DELETE FROM ledger WHERE number <= ?", [line.number - Self.ledgerLimit])
        }
      }
    }
  }

  /// Writes the new timeline of a placement.
  ///
  /// - Parameter shown: the date of the entry that the placement showed before.
  func set(_ timeline: StoredTimeline, of id: Int, shown: Date?, now: Date) throws {
    try transactions.write(.lasting) { db in
      try carry(id, timeline: timeline, shown: shown, now: now, in: db)
      for (position, entry) in timeline.entries.enumerated() { try insert(id, at: position, entry, in: db) }
      try insert(timeline.images, db)
    }
  }

  /// Writes the placeholder of a placement.
  func setPlaceholder(_ content: StoredTimeline, of id: Int) throws {
    try transactions.write(.lasting) { db in
      try insert(id, at: Position.placeholder, content.entries[0], in: db)
      try insert(content.images, db)
    }
  }

  /// Deletes the previous timeline, except the entry that stays visible until the first entry of the new one.
  private func carry(_ id: Int, timeline: StoredTimeline, shown: Date?, now: Date, in db: Database) throws {
    guard timeline.entries[0].upcoming.date > now else {
      return try db.run("DELETE FROM entries WHERE placement = ? AND position >= ?", [id, Position.carried])
    }
    if let shown {
      try db.run("DELETE FROM entries WHERE placement = ? AND position = ?", [id, Position.carried])
      try db.run(
        """
        UPDATE entries SET position = ? WHERE placement = ? AND position =
          (SELECT MAX(position) FROM entries WHERE placement = ? AND position >= 0 AND date <= ?)
        """, [Position.carried, id, id, shown.timeIntervalSince1970])
    }
    try db.run("DELETE FROM entries WHERE placement = ? AND position >= 0", [id])
  }

  private func insert(_ id: Int, at position: Int, _ entry: StoredTimeline.Entry, in db: Database) throws {
    try db.run(
      """
      INSERT OR REPLACE INTO entries
        (placement, position, date, view, dark, private, invalidated, text, relevance, transition)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        id, position, entry.upcoming.date.timeIntervalSince1970, entry.view, entry.darkView,
        entry.privateForm, entry.invalidatedForm, try BodyCoding.data(entry.upcoming.text),
        try entry.upcoming.relevance.map { try BodyCoding.data($0) },
        try BodyCoding.data(entry.upcoming.transition),
      ])
    try insert(entry.images, of: id, at: position, in: db)
  }

  // MARK: Reading

  /// The visible content of a placement.
  func shown(_ id: Int, _ shown: Date?) throws -> ShownWidget? {
    transactions.commit()
    return try database.read { db in
      let row = try Row.fetchOne(
        db,
        sql: """
          SELECT * FROM entries WHERE placement = ? AND (position < 0 OR date <= ?) ORDER BY position DESC LIMIT 1
          """, arguments: [id, (shown ?? .distantPast).timeIntervalSince1970])
      return try row.map { ShownWidget(entry: try entry($0), isPlaceholder: $0["position"] == Position.placeholder) }
    }
  }

  func placeholder(_ id: Int) throws -> ArchivedEntry? {
    transactions.commit()
    return try database.read { db in
      let row = try Row.fetchOne(
        db, sql: "SELECT * FROM entries WHERE placement = ? AND position = ?", arguments: [id, Position.placeholder])
      return try row.map(entry)
    }
  }

  private func entry(_ row: Row) throws -> ArchivedEntry {
    ArchivedEntry(
      date: row.date("date"), view: try row.decoded("view"), darkView: try row.decodedIfPresent("dark"),
      privateForm: try row.decodedIfPresent("private"), invalidatedForm: try row.decodedIfPresent("invalidated"),
      relevance: try row.decodedIfPresent("relevance"))
  }

  /// A page of the ledger.
  func ledger(_ request: ListBudget, limit: Int) throws -> [LedgerEntry] {
    transactions.commit()
    return try database.read { db in
      try Data.fetchAll(
        db,
        sql: """
          SELECT line FROM ledger WHERE number > ? AND (? IS NULL OR placement = ?) AND (? IS NULL OR reload = ?)
          ORDER BY number LIMIT ?
          """,
        arguments: [
          request.after, request.placement, request.placement, request.reload, request.reload, limit,
        ]
      ).map { try LedgerEntry(stored: $0) }
    }
  }
}

// The bytes of images. Each image is stored once, whichever entries of whichever placements show it, and deleted with the
// last entry that does.

extension TimelineStore {
  /// The triggers follow the entries: they are moved, and deleted, in several places.
  func createImages() throws {
    try database.createTables(
      of: "timelineImages",
      """
      CREATE TABLE images (digest TEXT PRIMARY KEY NOT NULL, bytes BLOB NOT NULL);
      CREATE TABLE entryImages (
        placement INTEGER NOT NULL, position INTEGER NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (placement, position, digest));
      CREATE INDEX entryImagesByDigest ON entryImages (digest);
      CREATE TRIGGER entryDeleted AFTER DELETE ON entries BEGIN
        DELETE FROM entryImages WHERE placement = OLD.placement AND position = OLD.position;
      END;
      CREATE TRIGGER entryMoved AFTER UPDATE OF position ON entries BEGIN
        UPDATE entryImages SET position = NEW.position WHERE placement = OLD.placement AND position = OLD.position;
      END;
      CREATE TRIGGER imageUnused AFTER DELETE ON entryImages
      WHEN NOT EXISTS (SELECT 1 FROM entryImages WHERE digest = OLD.digest) BEGIN
        DELETE FROM images WHERE digest = OLD.digest;
      END;
      """)
  }

  /// Stores which images an entry shows, in place of those of an entry that it replaces.
  func insert(_ images: [String], of id: Int, at position: Int, in db: Database) throws {
    try db.run("DELETE FROM entryImages WHERE placement = ? AND position = ?", [id, position])
    for digest in images {
      try db.run("INSERT INTO entryImages (placement, position, digest) VALUES (?, ?, ?)", [id, position, digest])
    }
  }

  /// Stores the bytes of images that entries show. Call after the entries are stored.
  func insert(_ images: [String: Data], _ db: Database) throws {
    for (digest, bytes) in images {
      try db.run("INSERT OR IGNORE INTO images (digest, bytes) VALUES (?, ?)", [digest, bytes])
    }
  }

  /// A piece of an image, and the length of the whole; `nil` if no entry shows it.
  func image(_ digest: String, from offset: Int, limit: Int) throws -> (piece: Data, count: Int)? {
    transactions.commit()
    return try database.read { db in
      let row = try Row.fetchOne(
        db, sql: "SELECT substr(bytes, ?, ?) AS piece, length(bytes) AS count FROM images WHERE digest = ?",
        arguments: [offset + 1, limit, digest])
      return row.map { ($0["piece"], $0["count"]) }
    }
  }
}
