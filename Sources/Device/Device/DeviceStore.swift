// SPDX-License-Identifier: Apache-2.0

import Foundation
package import GRDB
import Messages
package import Stores

/// Persists the user's settings of the device, and the location of its containers.
package struct DeviceStore: Sendable {
  /// The folder name of a product's container, and its next name during an update.
  package struct Place: Sendable, Equatable {
    package var name: String
    package var next: String?

    package init(name: String, next: String? = nil) {
      self.name = name
      self.next = next
    }
  }

  package static let clock = "clock"
  package static let network = "network"
  package static let power = "power"
  package static let settings = "settings"
  /// UUIDs as text, by vendor.
  package static let vendors = "vendors"

  private let database: any DatabaseWriter

  package init(_ database: any DatabaseWriter) throws {
    self.database = database
    try database.createTables(
      of: "device",
      """
      CREATE TABLE deviceSettings (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL);
      CREATE TABLE containers (bundle TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, next TEXT);
      """)
  }

  /// The value that was last set under a name; `nil` if none was.
  package func setting<Value: Decodable>(_ type: Value.Type, named name: String) throws -> Value? {
    let data = try database.read { db in
      try Data.fetchOne(db, sql: "SELECT value FROM deviceSettings WHERE name = ?", arguments: [name])
    }
    return try data.map { try Value(stored: $0) }
  }

  /// Writes a value now, in one transaction with all that waits.
  package static func save(_ value: some Encodable, named name: String, _ transactions: DeviceTransactions) throws {
    let data = try BodyCoding.data(value)
    try transactions.writeNow { try set(data, named: name, $0) }
  }

  /// Writes a value in its own transaction, before the device's services run.
  package func set(_ value: some Encodable, named name: String) throws {
    let data = try BodyCoding.data(value)
    try database.write { try Self.set(data, named: name, $0) }
  }

  /// - Parameter value: encoded.
  static func set(_ value: Data, named name: String, _ db: Database) throws {
    try db.run("INSERT OR REPLACE INTO deviceSettings (name, value) VALUES (?, ?)", [name, value])
  }

  package func places() throws -> [String: Place] {
    try database.read { db in
      let rows = try Row.fetchAll(db, sql: "SELECT * FROM containers")
      return Dictionary(uniqueKeysWithValues: rows.map { ($0["bundle"], Place(name: $0["name"], next: $0["next"])) })
    }
  }

  /// Writes all of them, or none.
  package func set(_ places: [String: Place]) throws {
    try database.write { db in
      for (bundle, place) in places {
        try db.run(
          "INSERT OR REPLACE INTO containers (bundle, name, next) VALUES (?, ?, ?)", [bundle, place.name, place.next])
      }
    }
  }
}
