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
  func write(_ entity: String, id: String, content: Data) throws {
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
  func holder(_ entity: String, properties: String, value: String) throws -> String? {
    var id: String?
    try connection.run(
      "SELECT id FROM uniques WHERE entity = ? AND properties = ? AND value = ?",
      [.text(entity), .text(properties), .text(value)]
    ) { id = $0.text(0) }
    return id
  }

  func claim(_ entity: String, properties: String, value: String, for id: String) throws {
    try connection.run(
      "INSERT OR REPLACE INTO uniques VALUES (?, ?, ?, ?)",
      [.text(entity), .text(properties), .text(value), .text(id)])
  }

  /// Gives up the unique values of a record.
  func release(_ entity: String, _ id: String) throws {
    try connection.run("DELETE FROM uniques WHERE entity = ? AND id = ?", [.text(entity), .text(id)])
  }
}

/// Encodes the values of a model as the content of its record, an object of JSON.
struct RecordCoder {
  private let entity: Schema.Entity
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  private static let infinity = (positive: "inf", negative: "-inf", none: "nan")

  init(_ entity: Schema.Entity) {
    self.entity = entity
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: Self.infinity.positive, negativeInfinity: Self.infinity.negative, nan: Self.infinity.none)
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Self.infinity.positive, negativeInfinity: Self.infinity.negative, nan: Self.infinity.none)
  }

  func encode(_ values: [String: any AttributeValue]) throws -> Data {
    try encoder.encode(Content(entity: entity, values: values))
  }

  /// A value that is absent, such as that of a new property, is not in the result.
  func decode(_ data: Data) throws -> [String: any AttributeValue] {
    try decoder.decode(Content.self, from: data, configuration: entity).values
  }

  /// A text that is equal for equal values of properties; `nil` when one of them has none.
  func key(_ properties: [String], of values: [String: any AttributeValue]) throws -> String? {
    let chosen = values.filter { properties.contains($0.key) }
    let text = String(decoding: try encoder.encode(Content(entity: entity, values: chosen)), as: UTF8.self)
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    return properties.allSatisfy { object[$0].map { !($0 is NSNull) } ?? false } ? text : nil
  }

  private struct Content: Encodable, DecodableWithConfiguration {
    let entity: Schema.Entity
    let values: [String: any AttributeValue]

    init(entity: Schema.Entity, values: [String: any AttributeValue]) { (self.entity, self.values) = (entity, values) }

    init(from decoder: any Decoder, configuration entity: Schema.Entity) throws {
      let container = try decoder.container(keyedBy: PropertyKey.self)
      var values: [String: any AttributeValue] = [:]
      for property in entity.attributes {
        guard let coding = property.coding else { continue }
        if let value = try coding.decode(container, property.name) {
          values[property.name] = value
        } else if let original = property.metadata?.originalName, !original.isEmpty {
          values[property.name] = try coding.decode(container, original)
        }
      }
      self.init(entity: entity, values: values)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: PropertyKey.self)
      for property in entity.attributes where !property.isEphemeral {
        if let value = values[property.name] { try property.coding?.encode(value, &container) }
      }
    }
  }
}

extension Schema.PropertyMetadata {
  var isEphemeral: Bool { (metadata as? Schema.Attribute)?.options.contains(.ephemeral) == true }
}

/// What a store knows of the types whose records it has.
struct StoredSchema: Codable {
  /// The names of the properties of each entity.
  var properties: [String: [String]]
  /// The unique properties of each entity, and the relationships whose links are stored with its records.
  var uniques: [String: [[String]]]
  var links: [String: [String]]
  var version: Schema.Version

  private static let name = "schema"

  /// Migrates a store to a schema. Properties may be added, removed and renamed without a plan, as far as every record
  /// can still be read.
  ///
  /// - Throws: `loadIssueModelContainer` when a record would have no value for a property.
  static func open(_ store: RecordStore, for schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws {
    var storedSchema = try store.info(name).map { try JSONDecoder().decode(StoredSchema.self, from: Data($0.utf8)) }
    let current = StoredSchema(
      properties: schema.entitiesByName.mapValues { ($0.attributes.map(\.name) + $0.relations.keys).sorted() },
      uniques: schema.entitiesByName.mapValues { $0.uniquenessConstraints.sorted { $0.joined() < $1.joined() } },
      links: schema.entitiesByName.mapValues { entity in
        entity.relations.values.filter(schema.hasLinks).map(\.name).sorted()
      },
      version: schema.version)
    for entity in schema.entitiesByName.values where entity.hasUnknownConstraint {
      throw SwiftDataError.unsupportedKeyPath.because("#Unique of \(entity.name) names what is no stored property")
    }
    if let version = storedSchema?.version, let stage = try customStage(of: plan, from: version, to: schema.version) {
      throw SwiftDataError.loadIssueModelContainer.because("\(stage), which is not simulated")
    }
    for (entity, names) in storedSchema?.properties ?? [:] {
      guard let entity = schema.entitiesByName[entity] else { continue }
      for property in entity.attributes where !names.contains(property.name) && !property.hasDefault {
        guard let original = property.metadata?.originalName, names.contains(original) else {
          throw SwiftDataError.loadIssueModelContainer.because(
            "\(entity.name).\(property.name) is new and has neither a default nor an optional type, and the store may "
              + "have models without it")
        }
      }
    }
    if let storedSchema { try storedSchema.requireSameIndexes(as: current, of: schema) }
    // Types that another process uses and this one does not stay known.
    storedSchema?.properties.merge(current.properties) { _, new in new }
    storedSchema?.uniques.merge(current.uniques) { _, new in new }
    storedSchema?.links.merge(current.links) { _, new in new }
    // A process without the plan does not lower it.
    if let old = storedSchema?.version, old < current.version { storedSchema?.version = current.version }
    let next = storedSchema ?? current
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(next), as: UTF8.self)
    if try store.info(name) != text { try store.set(name, to: text) }
  }

  /// The stored unique values and links are those of the properties at the time.
  private func requireSameIndexes(as current: StoredSchema, of schema: Schema) throws {
    for (entity, ownUniques) in uniques {
      guard let new = current.uniques[entity], new != ownUniques else { continue }
      throw SwiftDataError.loadIssueModelContainer.because(
        "the unique properties of \(entity) have changed, which is not simulated: delete the store's file")
    }
    for (entity, ownLinks) in links {
      guard let relations = schema.entitiesByName[entity]?.relations else { continue }
      let renamed = relations.values.compactMap { ($0.metadata.metadata as? Schema.Relationship)?.originalName }
      let moved = ownLinks.filter { relations[$0] != nil && current.links[entity]?.contains($0) == false }
      guard let name = (moved + ownLinks.filter(renamed.contains)).first else { continue }
      throw SwiftDataError.loadIssueModelContainer.because(
        "the relationship \(entity).\(name) was renamed or has a new inverse, which is not simulated: delete the "
          + "store's file")
    }
  }

  /// The first stage of the plan between both versions that has code of the author.
  private static func customStage(
    of plan: (any SchemaMigrationPlan.Type)?, from old: Schema.Version, to new: Schema.Version
  ) throws -> String? {
    guard let plan, old != new else { return nil }
    guard old < new else { throw SwiftDataError.backwardMigration }
    for case .custom(let from, let to, let before, let after) in plan.stages where before != nil || after != nil {
      if from.versionIdentifier >= old, to.versionIdentifier <= new {
        return "the migration from \(from.versionIdentifier) to \(to.versionIdentifier) is custom"
      }
    }
    return nil
  }
}
