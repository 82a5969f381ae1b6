// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import GRDB
import Messages
import Stores
import Synchronization

/// Stores sessions, tasks, deliveries, limiters and the paths of copies. Operations on one task look up rows by key, so
/// their cost does not grow with the number of tasks.
struct TransferStore: Sendable {
  private let transactions: DeviceTransactions
  var database: any DatabaseWriter { transactions.database }
  private let postponed = PostponedWrites()
  let recent = RecentTasks()

  init(_ transactions: DeviceTransactions) throws {
    self.transactions = transactions
    try transactions.database.createTables(
      of: "transfers",
      """
      CREATE TABLE sessions (
        owner TEXT NOT NULL, identifier TEXT NOT NULL, configuration BLOB NOT NULL,
        nextTaskIdentifier INTEGER NOT NULL DEFAULT 1, openIn INTEGER, quit BOOLEAN NOT NULL DEFAULT FALSE,
        PRIMARY KEY (owner, identifier));
      CREATE TABLE tasks (
        owner TEXT NOT NULL, session TEXT NOT NULL, task INTEGER NOT NULL, type TEXT NOT NULL, request BLOB NOT NULL,
        newRequest BLOB, description TEXT, file TEXT, created REAL NOT NULL, background BOOLEAN NOT NULL,
        priority REAL NOT NULL, earliestBegin REAL, asks BOOLEAN NOT NULL, expectsToSend INTEGER NOT NULL,
        expectsToReceive INTEGER NOT NULL, suspended BOOLEAN NOT NULL DEFAULT FALSE,
        attempts INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, notBefore REAL, ended REAL,
        endedOrder INTEGER, currentRequest BLOB, redirects INTEGER NOT NULL DEFAULT 0,
        bytesSent INTEGER NOT NULL DEFAULT 0, response BLOB, validator TEXT, failure BLOB,
        PRIMARY KEY (owner, session, task),
        FOREIGN KEY (owner, session) REFERENCES sessions (owner, identifier));
      CREATE INDEX tasksByEnd ON tasks (endedOrder);
      CREATE TABLE deliveries (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, session TEXT NOT NULL, tasks BLOB NOT NULL, redeliveries INTEGER NOT NULL,
        exits INTEGER NOT NULL, notBefore REAL, held BOOLEAN NOT NULL, generation INTEGER, wakesHandler BOOLEAN);
      CREATE TABLE copies (path TEXT PRIMARY KEY, delivery TEXT NOT NULL);
      CREATE INDEX copiesByDelivery ON copies (delivery);
      CREATE TABLE limiters (
        account TEXT PRIMARY KEY, owner TEXT NOT NULL, delay REAL NOT NULL, since REAL NOT NULL, until REAL NOT NULL);
      """,
      changes: [
        // The body of a short response.
        "transfers-content": "ALTER TABLE tasks ADD COLUMN content BLOB",
        // The paths of copies are a column, so that a delivery changes fewer pages. `syncs` is for changes without content.
        "transfers-copies": """
        ALTER TABLE deliveries ADD COLUMN copies BLOB;
        UPDATE deliveries SET copies = (
          SELECT CAST(json_group_array(path) AS BLOB) FROM copies WHERE delivery = deliveries.id);
        DROP TABLE copies;
        DROP INDEX tasksByEnd;
        CREATE INDEX tasksByEnd ON tasks (endedOrder) WHERE endedOrder IS NOT NULL;
        CREATE TABLE syncs (id INTEGER PRIMARY KEY, count INTEGER NOT NULL);
        INSERT INTO syncs VALUES (1, 0);
        """,
        // A process repeats a request that has no reply, also when its task has been acknowledged.
        "transfers-creators": """
        ALTER TABLE tasks ADD COLUMN creator INTEGER;
        CREATE TABLE acknowledgedTasks (
          owner TEXT NOT NULL, session TEXT NOT NULL, task INTEGER NOT NULL, creator INTEGER NOT NULL,
          PRIMARY KEY (owner, session, task));
        """,
      ])
  }

  // MARK: Transactions

  /// Writes in one transaction, after what was postponed and what waits for the device's transaction. When this returns, the
  /// disk has it.
  func write<T>(_ work: (Database) throws -> T) throws -> T {
    try postponed.performed { earlier in
      try transactions.writeNow { db in
        try earlier(db)
        return try work(db)
      }
    }
  }

  /// The same with the next transaction of the device. It survives the end of this process, but a power failure only with
  /// the next transaction that waits for the disk.
  ///
  /// For what another host can do again: begin a delivery, or remove a copy.
  func writeSoon(_ work: @escaping @Sendable (Database) throws -> Void) throws {
    let earlier = postponed.take()
    try transactions.write(.soon) { db in
      for write in earlier { try write(db) }
      try work(db)
    }
  }

  /// Writes in the next transaction.
  func postpone(_ work: @escaping @Sendable (Database) throws -> Void) { postponed.add(work) }

  /// Writes what was postponed, if there is anything.
  func writePostponed() throws {
    if !postponed.isEmpty { try writeSoon { _ in } }
  }

  // MARK: Sessions

  /// Stores a session, and forgets the acknowledged tasks that earlier instances of its owner created: only a process that
  /// runs repeats its requests.
  func open(_ key: SessionKey, _ configuration: SessionConfiguration, generation: UInt32) throws {
    try write { db in
      try db.run(
        """
        INSERT INTO sessions (owner, identifier, configuration) VALUES (?, ?, ?)
        ON CONFLICT (owner, identifier) DO UPDATE SET configuration = excluded.configuration
        """, [key.owner.text, key.identifier, try BodyCoding.data(configuration)])
      try db.run(
        "DELETE FROM acknowledgedTasks WHERE owner = ? AND creator < ?", [key.owner.text, generation])
    }
  }

  func configurations() throws -> [SessionKey: SessionConfiguration] {
    try database.read { db in
      var found: [SessionKey: SessionConfiguration] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT owner, identifier, configuration FROM sessions") {
        guard let owner = Address(row["owner"]) else { continue }
        found[SessionKey(owner: owner, identifier: row["identifier"])] = try row.decoded("configuration")
      }
      return found
    }
  }

  // MARK: Limiters

  func limiters() throws -> [String: LoadingStateMachine.Limiter] {
    try database.read { db in
      var foundLimiters: [String: LoadingStateMachine.Limiter] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM limiters") {
        guard let owner = Address(row["owner"]) else { continue }
        foundLimiters[row["account"]] = LoadingStateMachine.Limiter(
          owner: owner, delay: row["delay"], since: row.date("since"), until: row.date("until"))
      }
      return foundLimiters
    }
  }

  /// Writes the limiter of an account, with the next transaction. A limiter that is off has no row.
  func setLimiter(_ limiter: LoadingStateMachine.Limiter, of account: String) throws {
    try transactions.write(.lasting) { db in
      guard limiter.delay > 0 else { return try db.run("DELETE FROM limiters WHERE account = ?", [account]) }
      try db.run(
        "INSERT OR REPLACE INTO limiters (account, owner, delay, since, until) VALUES (?, ?, ?, ?, ?)",
        [
          account, limiter.owner.text, limiter.delay, limiter.since.timeIntervalSince1970,
          limiter.until.timeIntervalSince1970,
        ])
    }
  }
}

/// The content of the database for the delivery state machine, so that only differences are written.
struct StoredDeliveries: Sendable {
  struct Session: Sendable, Equatable {
    var openIn: UInt32?
    var isQuit: Bool
  }

  var sessions: [SessionKey: Session]
  /// Without what is in no column.
  var deliveries: [UUID: DeliveryStateMachine.Delivery]

  init(_ stateMachine: DeliveryStateMachine) {
    sessions = stateMachine.sessions.all.mapValues { Session(openIn: $0.openIn, isQuit: $0.isQuit) }
    deliveries = stateMachine.deliveries.all.mapValues(\.storedDelivery)
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
  func save(_ stateMachine: inout DeliveryStateMachine, _ keptDeliveries: inout StoredDeliveries) throws {
    let touched = stateMachine.takeTouched()
    let sessions = touched.sessions.compactMap { key in
      stateMachine.sessions[key].map { (key: key, now: StoredDeliveries.Session(openIn: $0.openIn, isQuit: $0.isQuit)) }
    }.filter { keptDeliveries.sessions[$0.key] != $0.now }
    let changed = touched.deliveries.compactMap { stateMachine.deliveries[$0]?.storedDelivery }
      .filter { keptDeliveries.deliveries[$0.id] != $0 }
    let gone = touched.deliveries.filter { stateMachine.deliveries[$0] == nil }.compactMap {
      keptDeliveries.deliveries[$0]
    }
    let present = gone.isEmpty ? [] : Array(stateMachine.deliveries.values)
    guard !sessions.isEmpty || !changed.isEmpty || !gone.isEmpty else { return }
    // A host that does not find a delivery makes it again. What the user did must not be undone.
    let isFinal = sessions.contains { $0.now.isQuit != keptDeliveries.sessions[$0.key]?.isQuit }
    let work = { @Sendable db in
      try TransferStore.write(sessions, changed: changed, gone: gone, present: present, in: db)
    }
    if isFinal {
      try write(work)
    } else if sessions.isEmpty, changed.allSatisfy({ $0.hasSameCounters(as: keptDeliveries.deliveries[$0.id]) }) {
      postpone(work)
    } else {
      try writeSoon(work)
    }
    for (key, session) in sessions { keptDeliveries.sessions[key] = session }
    for delivery in changed { keptDeliveries.deliveries[delivery.id] = delivery }
    for delivery in gone {
      keptDeliveries.deliveries[delivery.id] = nil
      for task in delivery.tasks { recent.remove(TaskKey(session: delivery.session, identifier: task)) }
    }
  }

  private static func write(
    _ sessions: [(key: SessionKey, now: StoredDeliveries.Session)], changed: [DeliveryStateMachine.Delivery],
    gone: [DeliveryStateMachine.Delivery], present: [DeliveryStateMachine.Delivery], in db: Database
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
  fileprivate var storedDelivery: Self {
    var storedDelivery = Self(id: id, session: session, tasks: tasks)
    storedDelivery.redeliveries = redeliveries
    storedDelivery.exits = exits
    storedDelivery.notBefore = notBefore
    storedDelivery.isHeld = isHeld
    storedDelivery.last = last
    return storedDelivery
  }

  /// Whether the exits and the waits of the owner are those of the stored delivery, or none. The event that changed them
  /// does not come again.
  fileprivate func hasSameCounters(as other: Self?) -> Bool {
    let other = other ?? Self(id: id, session: session, tasks: tasks)
    return redeliveries == other.redeliveries && exits == other.exits && notBefore == other.notBefore
      && isHeld == other.isHeld
  }
}

/// A task as it is stored in the database.
struct StoredTask: Sendable {
  let key: TaskKey
  /// The generation of the owner that created it; `nil` when an earlier version stored it.
  let generation: UInt32?
  let type: TransferType
  /// `originalRequest`.
  let request: TransferRequest
  /// The request that the owner supplied before the task began.
  var newRequest: TransferRequest?
  var description: String?
  /// The file of an upload.
  let file: String?
  let created: Date
  /// Whether the task was created while its app was not in the foreground.
  let isInBackground: Bool
  var priority: Float
  var earliestBeginDate: Date?
  /// Whether the owner must still be asked before the task begins.
  var asksBeforeBegin: Bool
  let bytesClientExpectsToSend: Int64
  let bytesClientExpectsToReceive: Int64
  var isSuspended = false
  /// The number of requests that were sent when the last one failed or the task ended.
  var attempts = 0
  var failures = 0
  var notBefore: Date?
  var ended: Date?
  /// `currentRequest` at the task's end.
  var currentRequest: TransferRequest?
  var redirectCount = 0
  var bytesSent: Int64 = 0
  var response: TransferResponse?
  var validator: String?
  var failure: TransferFailure?
  /// The length of the received body in bytes, if the database has it; `nil` if it is in the part file.
  var contentLength: Int64?

  /// - Parameter resume: the resume data of the download to continue. Its request is then the task's.
  init(
    _ request: CreateTransfer, resuming resume: ResumeData?, key: TaskKey, generation: UInt32, created: Date,
    isInBackground: Bool
  ) {
    self.key = key
    self.generation = generation
    self.type = request.type
    self.request = resume?.request ?? request.request
    self.description = request.taskDescription
    self.file = request.file
    self.created = created
    self.isInBackground = isInBackground
    self.priority = request.priority
    self.earliestBeginDate = request.earliestBeginDate
    self.asksBeforeBegin = request.asksBeforeDelayedRequest && request.earliestBeginDate != nil
    self.bytesClientExpectsToSend = request.bytesClientExpectsToSend
    self.bytesClientExpectsToReceive = request.bytesClientExpectsToReceive
  }

  fileprivate init?(_ row: Row) throws {
    guard let owner = Address(row["owner"]), let type = TransferType(rawValue: row["type"]) else { return nil }
    key = TaskKey(session: SessionKey(owner: owner, identifier: row["session"]), identifier: row["task"])
    generation = row["creator"]
    self.type = type
    request = try row.decoded(directly: "request")
    newRequest = try row.decodedIfPresent(directly: "newRequest")
    description = row["description"]
    file = row["file"]
    created = row.date("created")
    isInBackground = row["background"]
    priority = row["priority"]
    earliestBeginDate = row.dateIfPresent("earliestBegin")
    asksBeforeBegin = row["asks"]
    bytesClientExpectsToSend = row["expectsToSend"]
    bytesClientExpectsToReceive = row["expectsToReceive"]
    isSuspended = row["suspended"]
    attempts = row["attempts"]
    failures = row["failures"]
    notBefore = row.dateIfPresent("notBefore")
    ended = row.dateIfPresent("ended")
    currentRequest = try row.decodedIfPresent(directly: "currentRequest")
    redirectCount = row["redirects"]
    bytesSent = row["bytesSent"]
    response = try row.decodedIfPresent(directly: "response")
    validator = row["validator"]
    failure = try row.decodedIfPresent(directly: "failure")
    contentLength = row["contentLength"]
  }

  /// Changes the task as `TransferStore.save` does.
  mutating func end(_ end: TaskEnd) {
    response = end.result?.response ?? response
    failure = end.failure
    attempts = end.attempts
    ended = end.instant
    currentRequest = end.result?.currentRequest
    redirectCount = end.result?.redirectCount ?? 0
    bytesSent = end.bytesSent
    contentLength = end.result?.content.map { Int64($0.count) }
  }

  /// The task as it is sent to its owner.
  ///
  /// - Parameter bytes: the number of bytes that it has received.
  func snapshot(bytes: Int64) -> TaskSnapshot {
    TaskSnapshot(
      taskIdentifier: key.identifier, type: type, request: request, currentRequest: currentRequest ?? newRequest,
      taskDescription: description, isSuspended: isSuspended, priority: priority, earliestBeginDate: earliestBeginDate,
      bytesClientExpectsToSend: bytesClientExpectsToSend, bytesClientExpectsToReceive: bytesClientExpectsToReceive,
      bytesSent: bytesSent, bytesExpectedToSend: file.map(WholeFile.size) ?? 0, bytesReceived: bytes,
      bytesExpected: response?.expectedLength ?? -1)
  }

  var hasEnded: Bool { ended != nil }

  /// The values for `didFinishCollecting metrics`; `nil` before the task's end.
  var metrics: TransferMetrics? {
    ended.map { TransferMetrics(began: created, ended: $0, redirectCount: redirectCount, attempts: attempts) }
  }

  /// The task for the loading state machine.
  var transfer: LoadingStateMachine.Transfer {
    LoadingStateMachine.Transfer(
      key: key, host: StoredTask.host(newRequest ?? request),
      access: LoadingStateMachine.Access(
        cellular: request.allowsCellularAccess, expensive: request.allowsExpensiveNetworkAccess,
        constrained: request.allowsConstrainedNetworkAccess),
      created: created, isInBackground: isInBackground, priority: priority, earliestBeginDate: earliestBeginDate,
      asksBeforeBegin: asksBeforeBegin, isSuspended: isSuspended, attempts: attempts, failures: failures,
      notBefore: notBefore)
  }

  /// Where the connections of a request go: scheme, name and port.
  static func host(_ request: TransferRequest) -> String {
    guard let url = URL(string: request.url), let host = url.host() else { return request.url }
    return "\(url.scheme ?? "")://\(host)\(url.port.map { ":\($0)" } ?? "")"
  }
}

/// The end of a task.
struct TaskEnd: Sendable {
  let key: TaskKey
  /// `nil` when the task failed.
  let result: AttemptResult?
  let failure: TransferFailure?
  /// The number of requests that were sent.
  let attempts: Int
  let bytesSent: Int64
  /// The length of the received body.
  let bytes: Int64
  let instant: Date
}

extension TransferStore {
  /// The columns of a `StoredTask`. SQLite finds the length of a blob without reading it.
  private static let columns = """
    owner, session, task, type, request, newRequest, description, file, created, background, priority, earliestBegin,
    asks, expectsToSend, expectsToReceive, suspended, attempts, failures, notBefore, ended, currentRequest, redirects,
    bytesSent, response, validator, failure, creator, length(content) AS contentLength
    """

  /// Stores the ends of tasks in order, and a new task, in one transaction. When this returns, the disk has everything that
  /// was written before, too.
  ///
  func save(_ ends: [TaskEnd], creating task: StoredTask? = nil) throws {
    try write { db in
      for end in ends { try TransferStore.setEnded(end, db) }
      if let task { try TransferStore.insert(task, db) }
      // SQLite waits for the disk only after a change, and what was postponed may have changed nothing.
      if ends.isEmpty, task == nil { try db.run("UPDATE syncs SET count = count + 1 WHERE id = 1") }
    }
    for end in ends { recent.end(end) }
    if let task { recent.add(task) }
  }

  private static func insert(_ task: StoredTask, _ db: Database) throws {
    let key = task.key
    let names = [key.session.owner.text, key.session.identifier]
    try db.run(
      """
      INSERT INTO tasks (owner, session, task, type, request, description, file, created, background,
        priority, earliestBegin, asks, expectsToSend, expectsToReceive, creator)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        names[0], names[1], key.identifier, task.type.rawValue, try BodyCoding.data(task.request),
        task.description, task.file, task.created.timeIntervalSince1970, task.isInBackground, task.priority,
        task.earliestBeginDate?.timeIntervalSince1970, task.asksBeforeBegin, task.bytesClientExpectsToSend,
        task.bytesClientExpectsToReceive, task.generation,
      ])
    try db.run(
      "UPDATE sessions SET nextTaskIdentifier = max(nextTaskIdentifier, ?) WHERE owner = ? AND identifier = ?",
      [key.identifier + 1, names[0], names[1]])
  }

  /// The tasks of a session that were resumed and not acknowledged, in the order of their identifiers.
  func tasks(of key: SessionKey) throws -> [StoredTask] {
    try database.read { db in
      try Row.fetchAll(
        db, sql: "SELECT \(TransferStore.columns) FROM tasks WHERE owner = ? AND session = ? ORDER BY task",
        arguments: [key.owner.text, key.identifier]
      ).compactMap(StoredTask.init)
    }
  }

  /// The tasks that have not ended, in the order in which they were created.
  func unendedTasks() throws -> [StoredTask] {
    try database.read { db in
      try Row.fetchAll(db, sql: "SELECT \(TransferStore.columns) FROM tasks WHERE endedOrder IS NULL ORDER BY rowid")
        .compactMap(StoredTask.init)
    }
  }

  /// The keys of all tasks, the generations that created them, and the lengths of the bodies that the database has, in bytes.
  /// Tasks that have ended are in the order in which they ended.
  func taskKeys() throws -> [(key: TaskKey, creator: UInt32?, hasEnded: Bool, contentLength: Int64?)] {
    try database.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT owner, session, task, creator, endedOrder, length(content) AS contentLength FROM tasks
          ORDER BY endedOrder, task
          """
      )
      .compactMap { row in
        guard let owner = Address(row["owner"]) else { return nil }
        let session = SessionKey(owner: owner, identifier: row["session"])
        let key = TaskKey(session: session, identifier: row["task"])
        return (key, row["creator"], (row["endedOrder"] as Int?) != nil, row["contentLength"])
      }
    }
  }

  func task(_ key: TaskKey) throws -> StoredTask? { try tasks([key.identifier], of: key.session).first }

  /// The stored tasks among `identifiers`, in that order.
  func tasks(_ identifiers: [Int], of session: SessionKey) throws -> [StoredTask] {
    try identifiers.compactMap { identifier in
      let key = TaskKey(session: session, identifier: identifier)
      if let task = recent[key] { return task }
      // On the writer's connection: a reader would begin a transaction for this.
      let task = try database.writeWithoutTransaction { db in
        let query = try db.cachedStatement(
          sql: "SELECT \(TransferStore.columns) FROM tasks WHERE owner = ? AND session = ? AND task = ?")
        return try Row.fetchOne(query, arguments: [session.owner.text, session.identifier, identifier])
          .flatMap(StoredTask.init)
      }
      if let task, !task.hasEnded { recent.add(task) }
      return task
    }
  }

  /// A page of tasks, ordered by owner, session and identifier, and the total number.
  func page(session: String?, offset: Int, limit: Int) throws -> (tasks: [StoredTask], count: Int) {
    try database.read { db in
      let isMeant = "? IS NULL OR session = ?"
      // Skip rows in the index only.
      let tasks = try Row.fetchAll(
        db,
        sql: """
          SELECT \(TransferStore.columns) FROM tasks
          WHERE rowid IN (SELECT rowid FROM tasks WHERE \(isMeant) ORDER BY owner, session, task LIMIT ? OFFSET ?)
          ORDER BY owner, session, task
          """,
        arguments: [session, session, limit, offset])
      let count = try Int.fetchOne(
        db, sql: "SELECT count(*) FROM tasks WHERE \(isMeant)", arguments: [session, session])
      return (try tasks.compactMap(StoredTask.init), count ?? 0)
    }
  }

  /// Stores the head of a response, or removes it when the stored bytes are void.
  func setHead(_ response: TransferResponse?, validator: String?, of key: TaskKey) throws {
    let body = try response.map { try BodyCoding.data($0) }
    try update("response = ?, validator = ?", with: [body, validator], of: key)
  }

  private static func setEnded(_ end: TaskEnd, _ db: Database) throws {
    let failure = try end.failure.map { try BodyCoding.data($0) }
    let response = try (end.result?.response).map { try BodyCoding.data($0) }
    let request = try (end.result?.currentRequest).map { try BodyCoding.data($0) }
    try db.run(
      """
      UPDATE tasks SET response = coalesce(?, response), failure = ?, attempts = ?, ended = ?, currentRequest = ?,
        redirects = ?, bytesSent = ?, content = ?,
        endedOrder = (SELECT coalesce(max(endedOrder), 0) + 1 FROM tasks WHERE endedOrder IS NOT NULL)
      WHERE owner = ? AND session = ? AND task = ?
      """,
      [
        response, failure, end.attempts, end.instant.timeIntervalSince1970, request, end.result?.redirectCount ?? 0,
        end.bytesSent, (end.result?.content).map { Data($0) }, end.key.session.owner.text, end.key.session.identifier,
        end.key.identifier,
      ])
  }

  /// The body of a short response; `nil` when it is in the part file.
  func content(of key: TaskKey) throws -> Data? {
    if let content = recent.content(of: key) { return Data(content) }
    return try database.writeWithoutTransaction { db in
      try Data.fetchOne(
        db.cachedStatement(sql: "SELECT content FROM tasks WHERE owner = ? AND session = ? AND task = ?"),
        arguments: [key.session.owner.text, key.session.identifier, key.identifier])
    }
  }

  /// Stores what the owner may change, and its reply to `willBeginDelayedRequest`.
  func setWishes(of task: StoredTask) throws {
    let request = try task.newRequest.map { try BodyCoding.data($0) }
    try update(
      "newRequest = ?, description = ?, priority = ?, earliestBegin = ?, asks = ?, suspended = ?",
      with: [
        request, task.description, task.priority, task.earliestBeginDate?.timeIntervalSince1970, task.asksBeforeBegin,
        task.isSuspended,
      ], of: task.key)
  }

  /// Stores the counters of a failed attempt.
  func setFailures(of transfer: LoadingStateMachine.Transfer) throws {
    try update(
      "attempts = ?, failures = ?, notBefore = ?",
      with: [transfer.attempts, transfer.failures, transfer.notBefore?.timeIntervalSince1970], of: transfer.key)
  }

  private func update(_ assignments: String, with values: StatementArguments, of key: TaskKey) throws {
    try database.run(
      "UPDATE tasks SET \(assignments) WHERE owner = ? AND session = ? AND task = ?",
      values + [key.session.owner.text, key.session.identifier, key.identifier])
    recent.remove(key)
  }
}

/// Writes that wait for the next transaction, in order. Any thread.
final class PostponedWrites: Sendable {
  private let writes = Mutex<[@Sendable (Database) throws -> Void]>([])

  var isEmpty: Bool { writes.withLock(\.isEmpty) }

  func add(_ work: @escaping @Sendable (Database) throws -> Void) { writes.withLock { $0.append(work) } }

  /// Removes them, for a transaction whose failure ends the host.
  func take() -> [@Sendable (Database) throws -> Void] {
    writes.withLock { writes in
      defer { writes = [] }
      return writes
    }
  }

  /// Calls `transaction` with a function that performs them. They are forgotten when it returns, and kept when it fails:
  /// a host whose disk is full refuses a new task, and continues.
  func performed<T>(in transaction: ((Database) throws -> Void) throws -> T) throws -> T {
    let takenWrites = take()
    do {
      return try transaction { db in for write in takenWrites { try write(db) } }
    } catch {
      writes.withLock { $0.insert(contentsOf: takenWrites, at: 0) }
      throw error
    }
  }
}

/// The last tasks that were written or read, as the database has them, so that a short task is not read and decoded again
/// for its attempt and for its delivery. Any thread.
///
/// The caller keeps the order of writes: it changes a task here after the transaction with the same change.
final class RecentTasks: Sendable {
  private struct Recent {
    var task: StoredTask
    /// The body of a short response, when the task has ended.
    var content: [UInt8]?
  }

  private let tasks = Mutex<[TaskKey: Recent]>([:])

  /// Tasks. Their bodies have at most 32 KiB each, together 4 MiB.
  private static let limit = 128

  subscript(_ key: TaskKey) -> StoredTask? { tasks.withLock { $0[key]?.task } }

  func content(of key: TaskKey) -> [UInt8]? { tasks.withLock { $0[key]?.content } }

  /// Adds a task that was stored or read. Forgets all others when there are too many.
  func add(_ task: StoredTask) {
    tasks.withLock { tasks in
      if tasks.count >= Self.limit { tasks.removeAll(keepingCapacity: true) }
      tasks[task.key] = Recent(task: task)
    }
  }

  /// Records the end of a task, if it is known here.
  func end(_ end: TaskEnd) {
    tasks.withLock { tasks in
      tasks[end.key]?.task.end(end)
      tasks[end.key]?.content = end.result?.content
    }
  }

  func remove(_ key: TaskKey) { tasks.withLock { _ = $0.removeValue(forKey: key) } }
}
