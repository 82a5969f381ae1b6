// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Messages
import Stores

// What the database has for fleets: their secrets, and the counts of their pushes.

extension PushDatabase: FleetStore {
  func createFleetTables() throws {
    try database.createTables(
      of: "push-server fleets",
      """
      CREATE TABLE fleets (name TEXT PRIMARY KEY, incarnation BLOB NOT NULL, secret TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE fleetPushes (
        fleet TEXT NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (fleet, type, name, reason)) WITHOUT ROWID;
      """)
    // The single attempts of the previous process instance: their result is unknown.
    try database.write { db in
      try db.execute(
        sql: """
          INSERT INTO fleetPushes (fleet, type, name, reason, count)
            SELECT fleet, type, '\(FleetPushCount.interrupted)', '', count FROM fleetPushes
              WHERE name = '\(FleetPushCount.open)' AND count > 0
            ON CONFLICT DO UPDATE SET count = count + excluded.count
          """)
      try db.execute(sql: "DELETE FROM fleetPushes WHERE name = '\(FleetPushCount.open)'")
    }
  }

  /// Adds to the counts, in the transaction of what they count.
  func insert(_ counts: [FleetPushCount: Int], _ db: Database) throws {
    guard !counts.isEmpty else { return }
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO fleetPushes (fleet, type, name, reason, count) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET count = count + excluded.count
        """)
    for (key, count) in counts { try insert.perform(key.fleet, key.type, key.name, key.reason, count) }
  }

  func join(_ name: String, _ incarnation: UUID, secret: String) throws -> String? {
    try database.write { db in
      let row = try Row.fetchOne(db, sql: "SELECT incarnation, secret FROM fleets WHERE name = ?", arguments: [name])
      guard let row else {
        try db.execute(
          sql: "INSERT INTO fleets (name, incarnation, secret) VALUES (?, ?, ?)",
          arguments: [name, incarnation, secret])
        return secret
      }
      return row["incarnation"] as UUID == incarnation ? row["secret"] : nil
    }
  }

  func secret(ofFleet name: String) throws -> String? {
    try database.read { try String.fetchOne($0, sql: "SELECT secret FROM fleets WHERE name = ?", arguments: [name]) }
  }

  func devicesWithKept(of fleet: String, after device: String, limit: Int) throws -> [String] {
    try database.unsafeRead { db in
      // One look-up in the index for each device, however much is kept for it.
      let select = try db.cachedStatement(
        sql: """
          WITH RECURSIVE devices(device, place) AS (
            SELECT MIN(device), 1 FROM kept WHERE device > ?1 AND device < ?2
            UNION ALL
            SELECT (SELECT MIN(device) FROM kept WHERE device > devices.device AND device < ?2), place + 1 FROM devices
              WHERE devices.device IS NOT NULL AND place < ?3)
          SELECT device FROM devices WHERE device IS NOT NULL
          """)
      return try String.fetchAll(select, arguments: [device, FleetDevice.bounds(of: fleet).before, limit])
    }
  }

  func counts(of fleet: String) async throws -> CountFleetPushes.Reply {
    try await database.read { db in
      let counts = try Row.fetchAll(
        db, sql: "SELECT * FROM fleetPushes WHERE fleet IN (?, '') AND count <> 0 ORDER BY fleet, type, name, reason",
        arguments: [fleet])
      let bounds = FleetDevice.bounds(of: fleet)
      let kept = try Row.fetchAll(
        db, sql: "SELECT type, COUNT(*) AS count FROM kept WHERE device > ? AND device < ? GROUP BY type",
        arguments: [bounds.after, bounds.before])
      let tokens = try Row.fetchAll(
        db,
        sql: """
          SELECT use, COUNT(*) AS count FROM tokens INDEXED BY activeTokens
            WHERE state = 'active' AND device > ? AND device < ? GROUP BY use
          """, arguments: [bounds.after, bounds.before])
      return CountFleetPushes.Reply(
        counts: counts.map { row in
          let fleet: String = row["fleet"]
          return CountFleetPushes.Count(
            type: row["type"], name: fleet.isEmpty ? "unknown-token" : row["name"], reason: row["reason"],
            count: row["count"])
        },
        kept: Dictionary(uniqueKeysWithValues: kept.map { ($0["type"], $0["count"]) }),
        tokens: CountFleetPushes.Reply.sums(tokens.map { ($0["use"], $0["count"]) }))
    }
  }
}
