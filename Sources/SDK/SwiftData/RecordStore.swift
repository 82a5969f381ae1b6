// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The records of models in a database of SQLite: a file, which other processes may use at the same time, or the memory
/// of this process.
///
/// A record has the values of a model as JSON. A relationship is a number of links from one record to others. `SIGKILL`
/// at any moment loses nothing of a transaction that has returned, and leaves nothing of another. Any thread.
final class RecordStore: Sendable {
  private let lock = Mutex(())
  // Used under the lock only.
  nonisolated(unsafe) private let connection: StoreConnection
  /// Identifies the store.
  let identifier: String

  /// The form of the tables, as `user_version` of the database.
  private static let form = 1

  /// - Parameter file: `nil` for the memory of this process.
  init(_ file: URL?) throws {
    if let file {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    let connection = try StoreConnection(file?.path(percentEncoded: false) ?? ":memory:")
    // In this mode a reader does not wait for a writer. NORMAL syncs at checkpoints only: a crash of the machine may
    // lose the last transactions, the end of a process does not.
    func open() throws -> String {
      if file != nil {
        _ = try Self.form(connection)
        try connection.executeWhenFree("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        connection.shortenLog()
      }
      return try connection.transaction { try Self.prepare(connection) }
    }
    // Two that change the mode at the same time refuse each other again and again, so one at a time does.
    identifier =
      if let file { try StoreConnection.withLock(on: file.deletingLastPathComponent(), open) } else { try open() }
    self.connection = connection
  }

  /// The form of the tables; 0 for a file without tables.
  ///
  /// - Throws: `loadIssueModelContainer` for a file that is not such a store.
  private static func form(_ connection: StoreConnection) throws -> String {
    var form = ""
    try connection.run("SELECT CAST(user_version AS TEXT) FROM pragma_user_version") { form = $0.text(0) }
    guard ["0", "\(Self.form)"].contains(form) else {
      throw SwiftDataError.loadIssueModelContainer.because(
        "the store was written by another version of WidgetLab (form \(form)): delete its file")
    }
    if form == "0" {
      var tables = 0
      try connection.run("SELECT name FROM sqlite_master") { _ in tables += 1 }
      guard tables == 0 else {
        throw SwiftDataError.loadIssueModelContainer.because(
          "the file is a database of another program; a store of an iPhone cannot be read")
      }
    }
    return form
  }

  /// Creates the tables of a new store. Returns the identifier of the store.
  private static func prepare(_ connection: StoreConnection) throws -> String {
    if try form(connection) == "0" {
      try connection.execute(
        """
        CREATE TABLE info (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE records (
          number INTEGER PRIMARY KEY, entity TEXT NOT NULL, id TEXT NOT NULL, content BLOB NOT NULL, UNIQUE (entity, id));
        CREATE TABLE links (
          entity TEXT NOT NULL, property TEXT NOT NULL, source TEXT NOT NULL, position INTEGER NOT NULL,
          target TEXT NOT NULL, PRIMARY KEY (entity, property, source, position)) WITHOUT ROWID;
        CREATE INDEX targets ON links (target, entity, property);
        CREATE TABLE uniques (
          entity TEXT NOT NULL, properties TEXT NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL,
          PRIMARY KEY (entity, properties, value)) WITHOUT ROWID;
        CREATE INDEX holders ON uniques (entity, id);
        PRAGMA user_version = \(Self.form);
        """)
      try connection.run("INSERT INTO info VALUES ('identifier', ?)", [.text(UUID().uuidString)])
    }
    var identifier = ""
    try connection.run("SELECT value FROM info WHERE name = 'identifier'") { identifier = $0.text(0) }
    return identifier
  }

  // MARK: Reading

  /// The records of an entity, in the order in which they were inserted.
  func records(of entity: String) throws -> [(id: String, content: Data)] {
    try lock.withLock { _ in
      var records: [(id: String, content: Data)] = []
      try connection.run("SELECT id, content FROM records WHERE entity = ? ORDER BY number", [.text(entity)]) {
        records.append(($0.text(0), $0.bytes(1)))
      }
      return records
    }
  }

  func record(of entity: String, _ id: String) throws -> Data? {
    try lock.withLock { _ in try RecordChanges(connection).record(of: entity, id) }
  }

  /// The targets of the links of a record's property, in order.
  func targets(_ entity: String, _ property: String, from source: String) throws -> [String] {
    try lock.withLock { _ in
      var ids: [String] = []
      try connection.run(
        "SELECT target FROM links WHERE entity = ? AND property = ? AND source = ? ORDER BY position",
        [.text(entity), .text(property), .text(source)]
      ) { ids.append($0.text(0)) }
      return ids
    }
  }

  /// The records of an entity whose property has a link to this record, in the order in which they were inserted.
  func sources(_ entity: String, _ property: String, to target: String) throws -> [String] {
    try lock.withLock { _ in
      var ids: [String] = []
      try connection.run(
        """
        SELECT source FROM links JOIN records ON records.entity = links.entity AND records.id = links.source
        WHERE links.target = ? AND links.entity = ? AND property = ? ORDER BY number
        """, [.text(target), .text(entity), .text(property)]
      ) { ids.append($0.text(0)) }
      return ids
    }
  }

  /// A text about the store itself.
  func info(_ name: String) throws -> String? {
    try lock.withLock { _ in
      var value: String?
      try connection.run("SELECT value FROM info WHERE name = ?", [.text(name)]) { value = $0.text(0) }
      return value
    }
  }

  // MARK: Writing

  func set(_ name: String, to value: String) throws {
    try lock.withLock { _ in
      try connection.run("INSERT OR REPLACE INTO info VALUES (?, ?)", [.text(name), .text(value)])
    }
  }

  /// Performs changes in one transaction.
  func change<Result: Sendable>(_ body: (RecordChanges) throws -> Result) throws -> Result {
    try lock.withLock { _ in try connection.transaction { try body(RecordChanges(connection)) } }
  }

  /// Removes everything except the store's identifier.
  func erase() throws {
    try lock.withLock { _ in
      try connection.transaction {
        try connection.execute("DELETE FROM records; DELETE FROM links; DELETE FROM uniques")
      }
    }
  }
}

/// What a transaction does.
struct RecordChanges {
  private let connection: StoreConnection

  init(_ connection: StoreConnection) { self.connection = connection }

  func record(of entity: String, _ id: String) throws -> Data? {
    var content: Data?
    try connection.run("SELECT content FROM records WHERE entity = ? AND id = ?", [.text(entity), .text(id)]) {
      content = $0.bytes(0)
    }
    return content
  }

  /// Inserts a record, or replaces its content.
  func write(_ entity: String, _ id: String, _ content: Data) throws {
    try connection.run(
      """
      INSERT INTO records (entity, id, content) VALUES (?, ?, ?)
      ON CONFLICT (entity, id) DO UPDATE SET content = excluded.content
      """, [.text(entity), .text(id), .bytes(content)])
  }

  /// Removes a record, and the links from it and to it.
  func remove(_ entity: String, _ id: String) throws {
    try connection.run("DELETE FROM records WHERE entity = ? AND id = ?", [.text(entity), .text(id)])
    try connection.run("DELETE FROM links WHERE entity = ? AND source = ?", [.text(entity), .text(id)])
    try connection.run("DELETE FROM links WHERE target = ?", [.text(id)])
    try release(entity, id)
  }

  func link(_ entity: String, _ property: String, from source: String, to targets: [String]) throws {
    try connection.run(
      "DELETE FROM links WHERE entity = ? AND property = ? AND source = ?",
      [.text(entity), .text(property), .text(source)])
    for (position, target) in targets.enumerated() {
      try connection.run(
        "INSERT INTO links VALUES (?, ?, ?, ?, ?)",
        [.text(entity), .text(property), .text(source), .number(Int64(position)), .text(target)])
    }
  }

  /// The record with this value of a unique property, or of several.
  func holder(_ entity: String, _ properties: String, _ value: String) throws -> String? {
    var id: String?
    try connection.run(
      "SELECT id FROM uniques WHERE entity = ? AND properties = ? AND value = ?",
      [.text(entity), .text(properties), .text(value)]
    ) { id = $0.text(0) }
    return id
  }

  func claim(_ entity: String, _ properties: String, _ value: String, for id: String) throws {
    try connection.run(
      "INSERT OR REPLACE INTO uniques VALUES (?, ?, ?, ?)",
      [.text(entity), .text(properties), .text(value), .text(id)])
  }

  /// Gives up the unique values of a record.
  func release(_ entity: String, _ id: String) throws {
    try connection.run("DELETE FROM uniques WHERE entity = ? AND id = ?", [.text(entity), .text(id)])
  }
}
