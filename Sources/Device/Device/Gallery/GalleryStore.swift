// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import GRDB
import Messages
import Stores

/// Persists declarations, placements and the screen.
struct GalleryStore: Sendable {
  private let transactions: DeviceTransactions
  private var database: any DatabaseWriter { transactions.database }

  init(_ transactions: DeviceTransactions) throws {
    self.transactions = transactions
    // The number of a placement is never reused.
    try transactions.database.createTables(
      of: "gallery",
      """
      CREATE TABLE declarations (bundle TEXT PRIMARY KEY NOT NULL, widgets BLOB NOT NULL);
      CREATE TABLE placements (id INTEGER PRIMARY KEY AUTOINCREMENT, placement BLOB NOT NULL);
      CREATE TABLE metKinds (bundle TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (bundle, kind));
      CREATE TABLE launchedApps (bundle TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE screen (id INTEGER PRIMARY KEY, state BLOB NOT NULL);
      CREATE TABLE stacks (position INTEGER PRIMARY KEY, stack BLOB NOT NULL);
      """)
  }

  func state() throws -> GalleryStateMachine.State {
    try database.read { db in
      var state = GalleryStateMachine.State()
      for row in try Row.fetchAll(db, sql: "SELECT * FROM declarations") {
        state.declarations[row["bundle"]] = try row.decoded("widgets")
      }
      for data in try Data.fetchAll(db, sql: "SELECT placement FROM placements ORDER BY id") {
        state.placements.append(try Placement(stored: data))
      }
      state.lastNumber = try Int.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'placements'") ?? 0
      for row in try Row.fetchAll(db, sql: "SELECT * FROM metKinds") {
        state.met.insert(GalleryStateMachine.Kind(bundle: row["bundle"], kind: row["kind"]))
      }
      state.launchedApps = try Set(String.fetchAll(db, sql: "SELECT bundle FROM launchedApps"))
      for data in try Data.fetchAll(db, sql: "SELECT stack FROM stacks ORDER BY position") {
        state.stacks.append(try GalleryStateMachine.Stack(stored: data))
      }
      return state
    }
  }

  func screen() throws -> DeviceScreen? {
    try database.read { db in
      try Data.fetchOne(db, sql: "SELECT state FROM screen").map { try DeviceScreen(stored: $0) }
    }
  }

  /// Writes what has changed since `before`, with the next transaction.
  func save(_ now: GalleryStateMachine.State, since before: GalleryStateMachine.State) throws {
    guard now != before else { return }
    // A widget is added at the end: only what follows the first difference is searched.
    let first = zip(now.placements, before.placements).enumerated().first { $1.0 != $1.1 }?.offset
    let same = first ?? min(now.placements.count, before.placements.count)
    let earlier = Dictionary(uniqueKeysWithValues: before.placements[same...].map { ($0.id, $0) })
    let left = Set(now.placements[same...].map(\.id))
    try transactions.write(.lasting) { db in
      for (bundle, widgets) in now.declarations where before.declarations[bundle] != widgets {
        try db.run(
          "INSERT OR REPLACE INTO declarations (bundle, widgets) VALUES (?, ?)", [bundle, try BodyCoding.data(widgets)])
      }
      for placement in now.placements[same...] where earlier[placement.id] != placement {
        try db.run(
          "INSERT OR REPLACE INTO placements (id, placement) VALUES (?, ?)",
          [placement.id, try BodyCoding.data(placement)])
      }
      for id in earlier.keys where !left.contains(id) {
        try db.run("DELETE FROM placements WHERE id = ?", [id])
      }
      for bundle in before.declarations.keys where now.declarations[bundle] == nil {
        try db.run("DELETE FROM declarations WHERE bundle = ?", [bundle])
      }
      for kind in before.met.subtracting(now.met) {
        try db.run("DELETE FROM metKinds WHERE bundle = ? AND kind = ?", [kind.bundle, kind.kind])
      }
      for app in before.launchedApps.subtracting(now.launchedApps) {
        try db.run("DELETE FROM launchedApps WHERE bundle = ?", [app])
      }
      for kind in now.met.subtracting(before.met) {
        try db.run("INSERT INTO metKinds (bundle, kind) VALUES (?, ?)", [kind.bundle, kind.kind])
      }
      if now.stacks != before.stacks { try save(now.stacks, db) }
      for app in now.launchedApps.subtracting(before.launchedApps) {
        try db.run("INSERT INTO launchedApps (bundle) VALUES (?)", [app])
      }
    }
  }

  private func save(_ stacks: [GalleryStateMachine.Stack], _ db: Database) throws {
    try db.execute(sql: "DELETE FROM stacks")
    for (position, stack) in stacks.enumerated() {
      try db.run("INSERT INTO stacks (position, stack) VALUES (?, ?)", [position, try BodyCoding.data(stack)])
    }
  }

  func save(_ screen: DeviceScreen) throws {
    let state = try BodyCoding.data(screen)
    try transactions.write(.lasting) { try $0.run("INSERT OR REPLACE INTO screen (id, state) VALUES (1, ?)", [state]) }
  }
}
