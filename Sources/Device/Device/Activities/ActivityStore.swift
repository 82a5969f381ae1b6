// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import GRDB
import Messages
import Stores

/// Persists the activities, and the views that the extensions archived.
struct ActivityStore: Sendable {
  /// The archived views of one version of an activity.
  struct Views: Codable, Sendable {
    let version: Int
    let views: ActivityViews
  }

  private let transactions: DeviceTransactions

  init(_ transactions: DeviceTransactions) throws {
    self.transactions = transactions
    try transactions.database.createTables(
      of: "activities",
      """
      CREATE TABLE activities (id INTEGER PRIMARY KEY, state BLOB NOT NULL);
      CREATE TABLE activityViews (number INTEGER PRIMARY KEY, views BLOB NOT NULL);
      """)
  }

  func state() throws -> ActivityStateMachine.State? {
    try transactions.database.read { db in
      try Data.fetchOne(db, sql: "SELECT state FROM activities").map { try ActivityStateMachine.State(stored: $0) }
    }
  }

  /// The views by the number of their activity.
  func views() throws -> [Int: Views] {
    try transactions.database.read { db in
      var all: [Int: Views] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM activityViews") {
        all[row["number"]] = try row.decoded("views")
      }
      return all
    }
  }

  /// Writes the state, and deletes the views of activities that are gone, with the next transaction.
  func save(_ state: ActivityStateMachine.State) throws {
    let left = state.activities.map(\.number)
    try transactions.write(.lasting) { db in
      try db.run("INSERT OR REPLACE INTO activities (id, state) VALUES (1, ?)", [try BodyCoding.data(state)])
      for number in try Int.fetchAll(db, sql: "SELECT number FROM activityViews") where !left.contains(number) {
        try db.run("DELETE FROM activityViews WHERE number = ?", [number])
      }
    }
  }

  /// Writes the views of an activity, with the next transaction.
  func save(_ views: Views, of number: Int) throws {
    try transactions.write(.lasting) { db in
      try db.run(
        "INSERT OR REPLACE INTO activityViews (number, views) VALUES (?, ?)", [number, try BodyCoding.data(views)])
    }
  }
}
