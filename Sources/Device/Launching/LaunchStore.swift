import Foundation
import GRDB
import Messages
import Timekeeping

/// The process states and the agents' incarnations in the database.
struct LaunchStore: Sendable {
  let database: any DatabaseWriter

  init(_ database: any DatabaseWriter) throws {
    self.database = database
    var migrator = DatabaseMigrator()
    migrator.registerMigration("launching-1") { db in
      try db.create(table: "instances") { table in
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
      try db.alter(table: "instances") { table in table.add(column: "isQuit", .boolean).notNull().defaults(to: false) }
    }
    try migrator.migrate(database)
  }

  func processes() throws -> [Address: LaunchStateMachine.Process] {
    try database.read { db in
      var found: [Address: LaunchStateMachine.Process] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM instances") {
        guard let address = Address(row["address"]) else { continue }
        var process = LaunchStateMachine.Process()
        let generation: UInt32? = row["generation"]
        let pid: Int32? = row["pid"]
        let ending: Data? = row["lastEnding"]
        if let generation, let pid { process.instance = ProcessInstance(generation: generation, pid: pid) }
        // Without an instance nothing is in progress: a requested spawn is in the agent's list or lost.
        let state = LaunchStateMachine.State(rawValue: row["state"]) ?? .absent
        process.state = process.instance == nil ? .absent : state
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
  func save(_ now: LaunchStateMachine, since before: LaunchStateMachine) throws {
    let processes = now.processes.filter { before.processes[$0.key] != $0.value }
    let agents = now.incarnations.filter { before.incarnations[$0.key] != $0.value }
    guard !processes.isEmpty || !agents.isEmpty else { return }
    try database.write { db in
      for (address, process) in processes {
        let ending = try process.lastEnding.map { Data(try BodyCoding.encode($0)) }
        try db.execute(
          sql: """
            INSERT OR REPLACE INTO instances (address, generation, pid, state, why, lastGeneration, readyGeneration, lastEnding,
              failures, foreground, isQuit) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
          arguments: [
            address.text, process.instance?.generation, process.instance?.pid, process.state.rawValue, process.why,
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
