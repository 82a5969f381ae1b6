import Conversations
import Foundation
import GRDB

/// What the database holds of the decision about deliveries, so that only what differs is written.
struct KeptDeliveries: Sendable {
  struct Session: Sendable, Equatable {
    var openIn: UInt32?
    var isQuit: Bool
    init(_ session: DeliveryDecision.Session) {
      openIn = session.openIn
      isQuit = session.isQuit
    }
  }

  var sessions: [SessionKey: Session]
  var deliveries: [UUID: DeliveryDecision.Delivery]

  init(_ decision: DeliveryDecision) {
    sessions = decision.sessions.all.mapValues(Session.init)
    deliveries = decision.deliveries.all
  }
}

extension TransferStore {
  /// The decision as the last life of the host left it.
  func decision(_ settings: TransferSettings) throws -> DeliveryDecision {
    let deliveries = try self.deliveries()
    let delivered = Set(
      deliveries.flatMap { delivery in
        delivery.tasks.map { TaskKey(session: delivery.session, identifier: $0) }
      })
    var sessions: [SessionKey: DeliveryDecision.Session] = [:]
    try database.read { db in
      for row in try Row.fetchAll(db, sql: "SELECT * FROM sessions") {
        guard let owner = Address(row["owner"]) else { continue }
        let configuration = try BodyCoding.decode(
          SessionConfiguration.self, from: Array(row["configuration"] as Data))
        sessions[SessionKey(owner: owner, identifier: row["identifier"])] = DeliveryDecision.Session(
          sendsLaunchEvents: configuration.sessionSendsLaunchEvents, openIn: row["openIn"], isQuit: row["quit"])
      }
    }
    for (key, hasEnded) in try taskKeys() where !delivered.contains(key) {
      if hasEnded {
        sessions[key.session]?.ended.append(key.identifier)
      } else {
        sessions[key.session]?.running.insert(key.identifier)
      }
    }
    return DeliveryDecision(sessions: sessions, deliveries: deliveries, settings: settings)
  }

  private func deliveries() throws -> [DeliveryDecision.Delivery] {
    try database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM deliveries").compactMap { row in
        guard let id = UUID(uuidString: row["id"]), let owner = Address(row["owner"]) else { return nil }
        var delivery = DeliveryDecision.Delivery(
          id: id, session: SessionKey(owner: owner, identifier: row["session"]),
          tasks: try BodyCoding.decode([Int].self, from: Array(row["tasks"] as Data)))
        delivery.tries = row["tries"]
        delivery.deaths = row["deaths"]
        delivery.notBefore = (row["notBefore"] as Double?).map { Date(timeIntervalSince1970: $0) }
        delivery.isHeld = row["held"]
        if let generation = row["generation"] as UInt32?, let wakes = row["wakesHandler"] as Bool? {
          delivery.last = DeliveryDecision.Attempt(generation: generation, wakesHandler: wakes)
        }
        return delivery
      }
    }
  }

  /// Writes what has changed of what was touched, in one transaction. A delivery that is gone takes its tasks with it, but
  /// for those that another took over.
  func save(_ decision: inout DeliveryDecision, _ kept: inout KeptDeliveries) throws {
    let touched = decision.takeTouched()
    let sessions = touched.sessions.compactMap { key in
      decision.sessions[key].map { (key: key, now: KeptDeliveries.Session($0)) }
    }.filter { kept.sessions[$0.key] != $0.now }
    let changed = touched.deliveries.compactMap { decision.deliveries[$0] }.filter { kept.deliveries[$0.id] != $0 }
    let gone = touched.deliveries.filter { decision.deliveries[$0] == nil }.compactMap { kept.deliveries[$0] }
    let present = Array(decision.deliveries.values)
    guard !sessions.isEmpty || !changed.isEmpty || !gone.isEmpty else { return }
    try database.write { db in
      for (key, session) in sessions {
        try db.cachedStatement(sql: "UPDATE sessions SET openIn = ?, quit = ? WHERE owner = ? AND identifier = ?")
          .execute(arguments: [session.openIn, session.isQuit, key.owner.text, key.identifier])
      }
      for delivery in changed { try TransferStore.write(delivery, db) }
      for delivery in gone {
        let others = present.filter { $0.session == delivery.session }
        try TransferStore.remove(delivery, keeping: Set(others.flatMap(\.tasks)), db)
      }
    }
    for (key, session) in sessions { kept.sessions[key] = session }
    for delivery in changed { kept.deliveries[delivery.id] = delivery }
    for delivery in gone { kept.deliveries[delivery.id] = nil }
  }

  private static func write(_ delivery: DeliveryDecision.Delivery, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT OR REPLACE INTO deliveries (id, owner, session, tasks, tries, deaths, notBefore, held, generation,
          wakesHandler) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        delivery.id.uuidString, delivery.session.owner.text, delivery.session.identifier,
        Data(try BodyCoding.encode(delivery.tasks)), delivery.tries, delivery.deaths,
        delivery.notBefore?.timeIntervalSince1970, delivery.isHeld, delivery.last?.generation,
        delivery.last?.wakesHandler,
      ])
  }

  private static func remove(
    _ delivery: DeliveryDecision.Delivery, keeping others: Set<Int>, _ db: Database
  ) throws {
    try db.execute(sql: "DELETE FROM deliveries WHERE id = ?", arguments: [delivery.id.uuidString])
    let removal = try db.cachedStatement(sql: "DELETE FROM tasks WHERE owner = ? AND session = ? AND task = ?")
    for task in delivery.tasks where !others.contains(task) {
      try removal.execute(arguments: [delivery.session.owner.text, delivery.session.identifier, task])
    }
  }

  // MARK: Copies

  /// Remembers copies before they are made, so that none outlives its delivery unseen.
  func addCopies(_ paths: [String], of delivery: UUID) throws {
    guard !paths.isEmpty else { return }
    try database.write { db in
      let insertion = try db.cachedStatement(sql: "INSERT OR REPLACE INTO copies (path, delivery) VALUES (?, ?)")
      for path in paths { try insertion.execute(arguments: [path, delivery.uuidString]) }
    }
  }

  func copies(of delivery: UUID) throws -> [String] {
    try database.read { db in
      try String.fetchAll(db, sql: "SELECT path FROM copies WHERE delivery = ?", arguments: [delivery.uuidString])
    }
  }

  /// Copies of deliveries that were acknowledged, when the host died before it removed them.
  func orphanedCopies() throws -> [String] {
    try database.read { db in
      try String.fetchAll(db, sql: "SELECT path FROM copies WHERE delivery NOT IN (SELECT id FROM deliveries)")
    }
  }

  func forgetCopies(_ paths: [String]) throws {
    guard !paths.isEmpty else { return }
    try database.write { db in
      let removal = try db.cachedStatement(sql: "DELETE FROM copies WHERE path = ?")
      for path in paths { try removal.execute(arguments: [path]) }
    }
  }
}
