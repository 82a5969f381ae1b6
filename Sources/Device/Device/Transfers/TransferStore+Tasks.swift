// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import GRDB
import Messages
import Stores

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
  var hasEnded = false
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
    hasEnded = (row["endedOrder"] as Int?) != nil
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
    hasEnded = true
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
    asks, expectsToSend, expectsToReceive, suspended, attempts, failures, notBefore, ended, endedOrder, currentRequest,
    redirects, bytesSent, response, validator, failure, creator, length(content) AS contentLength
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
    try update("response = ?, validator = ?", [body, validator], key)
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
      [
        request, task.description, task.priority, task.earliestBeginDate?.timeIntervalSince1970, task.asksBeforeBegin,
        task.isSuspended,
      ], task.key)
  }

  /// Stores the counters of a failed attempt.
  func setFailures(of transfer: LoadingStateMachine.Transfer) throws {
    try update(
      "attempts = ?, failures = ?, notBefore = ?",
      [transfer.attempts, transfer.failures, transfer.notBefore?.timeIntervalSince1970], transfer.key)
  }

  private func update(_ assignments: String, _ values: StatementArguments, _ key: TaskKey) throws {
    try database.run(
      "UPDATE tasks SET \(assignments) WHERE owner = ? AND session = ? AND task = ?",
      values + [key.session.owner.text, key.session.identifier, key.identifier])
    recent.remove(key)
  }
}
