import Conversations
import Foundation
import GRDB
import Timekeeping

/// The lives and the agents' incarnations, on disk.
struct LaunchStore: Sendable {
  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("launching-1") { db in
      try db.create(table: "lives") { table in
        table.primaryKey("address", .text)
        table.column("generation", .integer)
        table.column("pid", .integer)
        table.column("state", .text).notNull()
        table.column("why", .text).notNull()
        table.column("lastGeneration", .integer).notNull()
        table.column("readyGeneration", .integer)
        table.column("lastEnding", .blob)
        table.column("failures", .integer).notNull()
        table.column("foreground", .boolean).notNull()
      }
      try db.create(table: "agents") { table in
        table.primaryKey("address", .text)
        table.column("incarnation", .text).notNull()
      }
    }
    migrator.registerMigration("launching-2") { db in
      try db.alter(table: "lives") { table in table.add(column: "isQuit", .boolean).notNull().defaults(to: false) }
    }
    try migrator.migrate(database)
  }

  func processes() throws -> [Address: LaunchDecision.Process] {
    try database.read { db in
      var found: [Address: LaunchDecision.Process] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM lives") {
        guard let address = Address(row["address"]) else { continue }
        var process = LaunchDecision.Process()
        let generation: UInt32? = row["generation"]
        let pid: Int32? = row["pid"]
        let ending: Data? = row["lastEnding"]
        if let generation, let pid { process.life = Life(generation: generation, pid: pid) }
        // Without a life nothing can be under way any longer: the spawn that was asked for is in the agent's list or lost.
        let state = LaunchDecision.State(rawValue: row["state"]) ?? .absent
        process.state = process.life == nil ? .absent : state
        process.why = row["why"]
        process.lastGeneration = row["lastGeneration"]
        process.readyGeneration = row["readyGeneration"]
        process.lastEnding = try ending.map { try BodyCoding.decode(Ending.self, from: Array($0)) }
        process.failures = row["failures"]
        process.isQuit = row["isQuit"]
        if row["foreground"] { process.assertions.insert(.foreground) }
        found[address] = process
      }
      return found
    }
  }

  func incarnations() throws -> [Address: UUID] {
    try database.read { db in
      var found: [Address: UUID] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM agents") {
        guard let address = Address(row["address"]) else { continue }
        found[address] = UUID(uuidString: row["incarnation"])
      }
      return found
    }
  }

  /// Writes what has changed since `before`, in one transaction.
  func save(_ now: LaunchDecision, since before: LaunchDecision) throws {
    let processes = now.processes.filter { before.processes[$0.key] != $0.value }
    let agents = now.incarnations.filter { before.incarnations[$0.key] != $0.value }
    guard !processes.isEmpty || !agents.isEmpty else { return }
    try database.write { db in
      for (address, process) in processes {
        let ending = try process.lastEnding.map { Data(try BodyCoding.encode($0)) }
        try db.execute(
          sql: """
            INSERT OR REPLACE INTO lives (address, generation, pid, state, why, lastGeneration, readyGeneration, lastEnding,
              failures, foreground, isQuit) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
          arguments: [
            address.text, process.life?.generation, process.life?.pid, process.state.rawValue, process.why,
            process.lastGeneration, process.readyGeneration, ending, process.failures,
            process.assertions.contains(.foreground), process.isQuit,
          ])
      }
      for (agent, incarnation) in agents {
        try db.execute(
          sql: "INSERT OR REPLACE INTO agents (address, incarnation) VALUES (?, ?)",
          arguments: [agent.text, incarnation.uuidString])
      }
    }
  }
}
