import Archive
import Foundation
import GRDB
import Messages

/// Persists declarations, placements and the screen.
struct GalleryStore: Sendable {
  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("gallery-1") { db in
      try db.create(table: "declarations") { table in
        table.primaryKey("bundle", .text)
        table.column("widgets", .blob).notNull()
      }
      // A number is never reused.
      try db.create(table: "placements") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("placement", .blob).notNull()
      }
      try db.create(table: "metKinds") { table in
        table.column("bundle", .text).notNull()
        table.column("kind", .text).notNull()
        table.primaryKey(["bundle", "kind"])
      }
      try db.create(table: "launchedApps") { table in table.primaryKey("bundle", .text) }
      try db.create(table: "screen") { table in
        table.primaryKey("id", .integer)
        table.column("state", .blob).notNull()
      }
    }
    migrator.registerMigration("gallery-2") { db in
      try db.create(table: "stacks") { table in
        table.primaryKey("position", .integer)
        table.column("stack", .blob).notNull()
      }
    }
    try migrator.migrate(database)
  }

  func state() throws -> GalleryStateMachine.State {
    try database.read { db in
      var state = GalleryStateMachine.State()
      for row in try Row.fetchAll(db, sql: "SELECT * FROM declarations") {
        state.declarations[row["bundle"]] = try decode([WidgetDeclaration].self, row["widgets"])
      }
      for data in try Data.fetchAll(db, sql: "SELECT placement FROM placements ORDER BY id") {
        state.placements.append(try decode(Placement.self, data))
      }
      state.lastNumber = try Int.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'placements'") ?? 0
      for row in try Row.fetchAll(db, sql: "SELECT * FROM metKinds") {
        state.met.insert(GalleryStateMachine.Kind(bundle: row["bundle"], kind: row["kind"]))
      }
      state.launchedApps = try Set(String.fetchAll(db, sql: "SELECT bundle FROM launchedApps"))
      for data in try Data.fetchAll(db, sql: "SELECT stack FROM stacks ORDER BY position") {
        state.stacks.append(try decode(GalleryStateMachine.Stack.self, data))
      }
      return state
    }
  }

  func screen() throws -> DeviceScreen? {
    try database.read { db in
      try Data.fetchOne(db, sql: "SELECT state FROM screen").map { try decode(DeviceScreen.self, $0) }
    }
  }

  /// Writes what has changed since `before`, in one transaction.
  func save(_ now: GalleryStateMachine.State, since before: GalleryStateMachine.State) throws {
    guard now != before else { return }
    let earlier = Dictionary(uniqueKeysWithValues: before.placements.map { ($0.id, $0) })
    let left = Set(now.placements.map(\.id))
    try database.write { db in
      for (bundle, widgets) in now.declarations where before.declarations[bundle] != widgets {
        try db.execute(
          sql: "INSERT OR REPLACE INTO declarations (bundle, widgets) VALUES (?, ?)",
          arguments: [bundle, try BodyCoding.data(widgets)])
      }
      for placement in now.placements where earlier[placement.id] != placement {
        try db.execute(
          sql: "INSERT OR REPLACE INTO placements (id, placement) VALUES (?, ?)",
          arguments: [placement.id, try BodyCoding.data(placement)])
      }
      for id in earlier.keys where !left.contains(id) {
        try db.execute(sql: "DELETE FROM placements WHERE id = ?", arguments: [id])
      }
      for kind in now.met.subtracting(before.met) {
        try db.execute(sql: "INSERT INTO metKinds (bundle, kind) VALUES (?, ?)", arguments: [kind.bundle, kind.kind])
      }
      if now.stacks != before.stacks { try save(now.stacks, db) }
      for app in now.launchedApps.subtracting(before.launchedApps) {
        try db.execute(sql: "INSERT INTO launchedApps (bundle) VALUES (?)", arguments: [app])
      }
    }
  }

  private func save(_ stacks: [GalleryStateMachine.Stack], _ db: Database) throws {
    try db.execute(sql: "DELETE FROM stacks")
    for (position, stack) in stacks.enumerated() {
      try db.execute(
        sql: "INSERT INTO stacks (position, stack) VALUES (?, ?)", arguments: [position, try BodyCoding.data(stack)])
    }
  }

  func save(_ screen: DeviceScreen) throws {
    let data = try BodyCoding.data(screen)
    try database.write { db in
      try db.execute(sql: "INSERT OR REPLACE INTO screen (id, state) VALUES (1, ?)", arguments: [data])
    }
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    try BodyCoding.decode(type, from: Array(data))
  }
}
