import Foundation
import GRDB
import Messages

/// Persists the user's settings of the device, and the location of its containers.
struct DeviceStore: Sendable {
  /// The folder name of a product's container, and its next name during an update.
  struct Place: Sendable, Equatable {
    var name: String
    var next: String?
  }

  static let clock = "clock"
  static let network = "network"
  static let power = "power"

  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("device-1") { db in
      try db.create(table: "deviceSettings") { table in
        table.primaryKey("name", .text)
        table.column("value", .blob).notNull()
      }
      try db.create(table: "containers") { table in
        table.primaryKey("bundle", .text)
        table.column("name", .text).notNull()
        table.column("next", .text)
      }
    }
    try migrator.migrate(database)
  }

  /// The value that was last set under a name; `nil` if none was.
  func setting<Value: Decodable>(_ type: Value.Type, named name: String) throws -> Value? {
    let data = try database.read { db in
      try Data.fetchOne(db, sql: "SELECT value FROM deviceSettings WHERE name = ?", arguments: [name])
    }
    return try data.map { try BodyCoding.decode(type, from: Array($0)) }
  }

  func set(_ value: some Encodable, named name: String) throws {
    let data = try BodyCoding.data(value)
    try database.write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO deviceSettings (name, value) VALUES (?, ?)", arguments: [name, data])
    }
  }

  func places() throws -> [String: Place] {
    try database.read { db in
      let rows = try Row.fetchAll(db, sql: "SELECT * FROM containers")
      return Dictionary(uniqueKeysWithValues: rows.map { ($0["bundle"], Place(name: $0["name"], next: $0["next"])) })
    }
  }

  /// Writes all of them, or none.
  func set(_ places: [String: Place]) throws {
    try database.write { db in
      for (bundle, place) in places {
        try db.execute(
          sql: "INSERT OR REPLACE INTO containers (bundle, name, next) VALUES (?, ?, ?)",
          arguments: [bundle, place.name, place.next])
      }
    }
  }
}
