// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import GRDB
import Messages
import Stores

/// The content of the database for the delivery state machine, so that only differences are written.
struct StoredDeliveries: Sendable {
  struct Session: Sendable, Equatable {
    var openIn: UInt32?
    var isQuit: Bool
    init(_ session: DeliveryStateMachine.Session) {
      openIn = session.openIn
      isQuit = session.isQuit
    }
  }

  var sessions: [SessionKey: Session]
  /// Without what is in no column.
  var deliveries: [UUID: DeliveryStateMachine.Delivery]

  init(_ stateMachine: DeliveryStateMachine) {
    sessions = stateMachine.sessions.all.mapValues(Session.init)
    deliveries = stateMachine.deliveries.all.mapValues(\.stored)
  }
}

extension TransferStore {
  /// The delivery state machine as the previous host wrote it.
  func stateMachine(_ settings: TransferSettings) throws -> DeliveryStateMachine {
    let deliveries = try self.deliveries()
    let delivered = Set(
      deliveries.flatMap { delivery in
        delivery.tasks.map { TaskKey(session: delivery.session, identifier: $0) }
      })
    var sessions: [SessionKey: DeliveryStateMachine.Session] = [:]
    try database.read { db in
      for row in try Row.fetchAll(db, sql: "SELECT * FROM sessions") {
        guard let owner = Address(row["owner"]) else { continue }
        let configuration: SessionConfiguration = try row.decoded("configuration")
        var session = DeliveryStateMachine.Session(
          sendsLaunchEvents: configuration.sessionSendsLaunchEvents, openIn: row["openIn"], isQuit: row["quit"])
        session.nextTaskIdentifier = row["nextTaskIdentifier"]
        sessions[SessionKey(owner: owner, identifier: row["identifier"])] = session
      }
      for row in try Row.fetchAll(db, sql: "SELECT * FROM acknowledgedTasks") {
        guard let owner = Address(row["owner"]) else { continue }
        sessions[SessionKey(owner: owner, identifier: row["session"])]?.acknowledged[row["task"]] = row["creator"]
      }
    }
    for task in try taskKeys() {
      let key = task.key
      sessions[key.session]?.creators[key.identifier] = task.creator ?? 0
      guard !delivered.contains(key) else { continue }
      if task.hasEnded {
        sessions[key.session]?.ended.append(key.identifier)
      } else {
        sessions[key.session]?.running.insert(key.identifier)
      }
    }
    return DeliveryStateMachine(
      sessions: sessions, deliveries: deliveries, settings: settings, identifiers: IdentifierSource(base: .random()))
  }

  private func deliveries() throws -> [DeliveryStateMachine.Delivery] {
    try database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM deliveries").compactMap { row in
        guard let id = UUID(uuidString: row["id"]), let owner = Address(row["owner"]) else { return nil }
        var delivery = DeliveryStateMachine.Delivery(
          id: id, session: SessionKey(owner: owner, identifier: row["session"]),
          tasks: try row.decoded(directly: "tasks"))
        delivery.redeliveries = row["redeliveries"]
        delivery.exits = row["exits"]
        delivery.notBefore = row.dateIfPresent("notBefore")
        delivery.isHeld = row["held"]
        if let generation = row["generation"] as UInt32?, let wakes = row["wakesHandler"] as Bool? {
          delivery.last = DeliveryStateMachine.Attempt(generation: generation, wakesHandler: wakes)
        }
        return delivery
      }
    }
  }

  /// Writes the changes of the touched sessions and deliveries, in one transaction, or postpones them to the next one.
  /// Acknowledgements are postponed: the caller must commit them soon.
  /// Removing a delivery removes its tasks, except those that another delivery took over.
  func save(_ stateMachine: inout DeliveryStateMachine, _ kept: inout StoredDeliveries) throws {
    let touched = stateMachine.takeTouched()
    let sessions = touched.sessions.compactMap { key in
      stateMachine.sessions[key].map { (key: key, now: StoredDeliveries.Session($0)) }
    }.filter { kept.sessions[$0.key] != $0.now }
    let changed = touched.deliveries.compactMap { stateMachine.deliveries[$0]?.stored }
      .filter { kept.deliveries[$0.id] != $0 }
    let gone = touched.deliveries.filter { stateMachine.deliveries[$0] == nil }.compactMap { kept.deliveries[$0] }
    let present = gone.isEmpty ? [] : Array(stateMachine.deliveries.values)
    guard !sessions.isEmpty || !changed.isEmpty || !gone.isEmpty else { return }
    // A host that does not find a delivery makes it again. What the user did must not be undone.
    let isFinal = sessions.contains { $0.now.isQuit != kept.sessions[$0.key]?.isQuit }
    let work = { @Sendable db in try TransferStore.write(sessions, changed, gone, present, db) }
    if isFinal {
      try write(work)
    } else if sessions.isEmpty, changed.allSatisfy({ $0.hasSameCounters(as: kept.deliveries[$0.id]) }) {
      postpone(work)
    } else {
      try writeSoon(work)
    }
    for (key, session) in sessions { kept.sessions[key] = session }
    for delivery in changed { kept.deliveries[delivery.id] = delivery }
    for delivery in gone {
      kept.deliveries[delivery.id] = nil
      for task in delivery.tasks { recent.remove(TaskKey(session: delivery.session, identifier: task)) }
    }
  }

  private static func write(
    _ sessions: [(key: SessionKey, now: StoredDeliveries.Session)], _ changed: [DeliveryStateMachine.Delivery],
    _ gone: [DeliveryStateMachine.Delivery], _ present: [DeliveryStateMachine.Delivery], _ db: Database
  ) throws {
    for (key, session) in sessions {
      try db.run(
        "UPDATE sessions SET openIn = ?, quit = ? WHERE owner = ? AND identifier = ?",
        [session.openIn, session.isQuit, key.owner.text, key.identifier])
    }
    for delivery in changed { try TransferStore.write(delivery, db) }
    for delivery in gone {
      let others = present.filter { $0.session == delivery.session }
      try TransferStore.remove(delivery, keeping: Set(others.flatMap(\.tasks)), db)
    }
  }

  private static func write(_ delivery: DeliveryStateMachine.Delivery, _ db: Database) throws {
    try db.run(
      """
      INSERT INTO deliveries (id, owner, session, tasks, redeliveries, exits, notBefore, held, generation, wakesHandler)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET tasks = excluded.tasks, redeliveries = excluded.redeliveries,
        exits = excluded.exits, notBefore = excluded.notBefore, held = excluded.held, generation = excluded.generation,
        wakesHandler = excluded.wakesHandler
      """,
      [
        delivery.id.upperCaseText, delivery.session.owner.text, delivery.session.identifier,
        try BodyCoding.data(delivery.tasks), delivery.redeliveries, delivery.exits,
        delivery.notBefore?.timeIntervalSince1970, delivery.isHeld, delivery.last?.generation,
        delivery.last?.wakesHandler,
      ])
  }

  private static func remove(
    _ delivery: DeliveryStateMachine.Delivery, keeping others: Set<Int>, _ db: Database
  ) throws {
    try db.run("DELETE FROM deliveries WHERE id = ?", [delivery.id.upperCaseText])
    for task in delivery.tasks where !others.contains(task) {
      let names: StatementArguments = [delivery.session.owner.text, delivery.session.identifier, task]
      try db.run(
        """
        INSERT OR REPLACE INTO acknowledgedTasks
        SELECT owner, session, task, creator FROM tasks
        WHERE owner = ? AND session = ? AND task = ? AND creator IS NOT NULL
        """, names)
      try db.run("DELETE FROM tasks WHERE owner = ? AND session = ? AND task = ?", names)
    }
  }

  // MARK: Copies

  /// The paths of the files of each delivery.
  func copies() throws -> [UUID: [String]] {
    try database.read { db in
      var found: [UUID: [String]] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT id, copies FROM deliveries WHERE copies IS NOT NULL") {
        if let id = UUID(uuidString: row["id"]) { found[id] = try row.decoded(directly: "copies") }
      }
      return found
    }
  }

  /// Records the paths of all files of a delivery, with the next transaction.
  func setCopies(_ paths: [String], of delivery: UUID) {
    postpone { db in
      let arguments: StatementArguments = [try BodyCoding.data(paths), delivery.upperCaseText]
      try db.run("UPDATE deliveries SET copies = ? WHERE id = ?", arguments)
    }
  }
}

extension DeliveryStateMachine.Delivery {
  /// What is written. A host that starts begins without the rest, so that a change of the rest needs no transaction.
  fileprivate var stored: Self {
    var stored = Self(id: id, session: session, tasks: tasks)
    stored.redeliveries = redeliveries
    stored.exits = exits
    stored.notBefore = notBefore
    stored.isHeld = isHeld
    stored.last = last
    return stored
  }

  /// Whether the exits and the waits of the owner are those of the stored delivery, or none. The event that changed them
  /// does not come again.
  fileprivate func hasSameCounters(as other: Self?) -> Bool {
    let other = other ?? Self(id: id, session: session, tasks: tasks)
    return redeliveries == other.redeliveries && exits == other.exits && notBefore == other.notBefore
      && isHeld == other.isHeld
  }
}
