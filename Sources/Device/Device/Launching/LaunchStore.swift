// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import GRDB
import Messages
import Stores
import Timekeeping

/// The process states and the agents' incarnations in the database.
struct LaunchStore: Sendable {
  let transactions: DeviceTransactions
  private var database: any DatabaseWriter { transactions.database }

  init(_ transactions: DeviceTransactions) throws {
    self.transactions = transactions
    try transactions.database.createTables(
      of: "launching",
      """
      CREATE TABLE instances (
        address TEXT PRIMARY KEY NOT NULL, generation INTEGER, pid INTEGER, state TEXT NOT NULL, why TEXT NOT NULL,
        lastGeneration INTEGER NOT NULL, readyGeneration INTEGER, lastEnding BLOB, failures INTEGER NOT NULL,
        foreground BOOLEAN NOT NULL, isQuit BOOLEAN NOT NULL);
      CREATE TABLE agents (address TEXT PRIMARY KEY NOT NULL, incarnation TEXT NOT NULL);
      """)
  }

  func processes() throws -> [Address: LaunchStateMachine.Process] {
    try database.read { db in
      var foundProcesses: [Address: LaunchStateMachine.Process] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM instances") {
        guard let address = Address(row["address"]) else { continue }
        var process = LaunchStateMachine.Process()
        let generation: UInt32? = row["generation"]
        let pid: Int32? = row["pid"]
        if let generation, let pid { process.instance = ProcessInstance(generation: generation, pid: pid) }
        // Without an instance nothing is in progress: a requested spawn is in the agent's list or lost.
        let state = LaunchStateMachine.State(rawValue: row["state"]) ?? .absent
        process.state = process.instance == nil ? .absent : state
        process.why = row["why"]
        process.lastGeneration = row["lastGeneration"]
        process.readyGeneration = row["readyGeneration"]
        process.lastEnding = try row.decodedIfPresent("lastEnding")
        process.failures = row["failures"]
        process.isQuit = row["isQuit"]
        if row["foreground"] { process.assertions.insert(.foreground) }
        foundProcesses[address] = process
      }
      return foundProcesses
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

  /// Writes what has changed since `before`, in one transaction. The state of a running process waits for no disk: a power
  /// failure ends the process, too.
  func save(_ now: LaunchStateMachine, since before: LaunchStateMachine) throws {
    let processes = now.processes.filter { address, process in
      before.processes[address].map(process.hasSameRow) != true
    }
    let agents = now.incarnations.filter { before.incarnations[$0.key] != $0.value }
    guard !processes.isEmpty || !agents.isEmpty else { return }
    let isLasting = !agents.isEmpty || processes.contains { !$1.hasSamePast(as: before.processes[$0] ?? .init()) }
    // The agent lists what it launches.
    let isLaunch = processes.allSatisfy { $1.state == .launching }
    try transactions.write(isLasting ? .lasting : isLaunch ? .riding : .soon) {
      try write(processes, agents: agents, in: $0)
    }
  }

  private func write(
    _ processes: [Address: LaunchStateMachine.Process], agents: [Address: UUID], in db: Database
  ) throws {
    for (address, process) in processes {
      try db.run(
        """
        INSERT OR REPLACE INTO instances (address, generation, pid, state, why, lastGeneration, readyGeneration, lastEnding,
          failures, foreground, isQuit) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          address.text, process.instance?.generation, process.instance?.pid, process.state.rawValue, process.why,
          process.lastGeneration, process.readyGeneration, try process.lastEnding.map { try BodyCoding.data($0) },
          process.failures, process.assertions.contains(.foreground), process.isQuit,
        ])
    }
    for (agent, incarnation) in agents {
      try db.run(
        "INSERT OR REPLACE INTO agents (address, incarnation) VALUES (?, ?)", [agent.text, incarnation.uuidString])
    }
  }
}

extension LaunchStateMachine.Process {
  /// Whether the columns of both have the same values. A change of the rest, such as most assertions, needs no
  /// transaction.
  fileprivate func hasSameRow(as other: Self) -> Bool {
    instance == other.instance && state == other.state && why == other.why && readyGeneration == other.readyGeneration
      && hasSamePast(as: other)
  }

  /// Whether the columns that describe more than the running instance have the same values.
  fileprivate func hasSamePast(as other: Self) -> Bool {
    lastGeneration == other.lastGeneration && lastEnding == other.lastEnding && failures == other.failures
      && assertions.contains(.foreground) == other.assertions.contains(.foreground) && isQuit == other.isQuit
  }
}
