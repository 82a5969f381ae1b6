// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Messages
import Stores

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
  static let settings = "settings"

  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    try database.createTables(
      of: "device",
      """
      CREATE TABLE deviceSettings (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL);
      CREATE TABLE containers (bundle TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, next TEXT);
      """)
  }

  /// The value that was last set under a name; `nil` if none was.
  func setting<Value: Decodable>(_ type: Value.Type, named name: String) throws -> Value? {
    let data = try database.read { db in
      try Data.fetchOne(db, sql: "SELECT value FROM deviceSettings WHERE name = ?", arguments: [name])
    }
    return try data.map { try Value(stored: $0) }
  }

  /// - Parameter value: encoded.
  static func set(_ value: Data, named name: String, _ db: Database) throws {
    try db.run("INSERT OR REPLACE INTO deviceSettings (name, value) VALUES (?, ?)", [name, value])
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
        try db.run(
          "INSERT OR REPLACE INTO containers (bundle, name, next) VALUES (?, ?, ?)", [bundle, place.name, place.next])
      }
    }
  }
}
