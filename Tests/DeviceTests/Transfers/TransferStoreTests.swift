// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Messages
import Stores
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget

@Suite struct TransferStoreTests {
  @Test(arguments: [0, 10_000])
  func `a short body is stored with the end of its task, and only its length is read with the task`(length: Int) throws
  {
    let (store, session) = try store(tasks: [1, 2])
    let key = TaskKey(session: session, identifier: 1)
    let body = [UInt8](repeating: 7, count: length)
    try store.save([end(of: key, body)])
    // The second one knows nothing but the database.
    for store in [store, try TransferStore(store.database)] {
      #expect(try store.tasks(of: session).map(\.contentLength) == [Int64(length), nil])
      #expect(try store.content(of: key) == Data(body))
      #expect(try store.content(of: TaskKey(session: session, identifier: 2)) == nil)
    }
  }

  @Test func `a recent task is the one that the database has`() throws {
    let (store, session) = try store(tasks: [1, 2])
    let key = TaskKey(session: session, identifier: 1)
    func expectSame(_ location: SourceLocation = #_sourceLocation) throws {
      let stored = try TransferStore(store.database).task(key)
      #expect(try "\(store.task(key), default: "none")" == "\(stored, default: "none")", sourceLocation: location)
    }
    try expectSame()
    let head = TransferResponse(url: "http://b.example", status: 206, headers: [["A", "b"]], expectedLength: 3)
    try store.setHead(head, validator: "tag", of: key)
    try expectSame()
    var task = try #require(try store.task(key))
    task.newRequest = TransferRequest(url: "http://c.example")
    task.isSuspended = true
    try store.setWishes(of: task)
    try expectSame()
    _ = try store.task(key)
    try store.save([end(of: key, [1, 2])])
    try expectSame()
    try acknowledge(1, of: session, in: store)
    #expect(try store.task(key) == nil)
    #expect(try store.content(of: key) == nil)
  }

  @Test func `a store with more tasks than it remembers returns all of them`() throws {
    let count = 300
    let (store, session) = try store(tasks: Array(1...count))
    let body = [UInt8]("one".utf8)
    for identifier in [1, 2, count] {
      try store.save([end(of: TaskKey(session: session, identifier: identifier), body)])
    }
    let tasks = try store.tasks(Array(1...count), of: session)
    #expect(tasks.map(\.key.identifier) == Array(1...count))
    #expect(tasks.filter(\.hasEnded).map(\.key.identifier) == [1, 2, count])
    for task in tasks { #expect(try store.content(of: task.key) == (task.hasEnded ? Data(body) : nil)) }
  }

  @Test func `the ends of tasks and a new task are stored together or not at all`() throws {
    let (store, session) = try store(tasks: [1])
    try store.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON tasks BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    let end = TaskEnd(
      key: TaskKey(session: session, identifier: 1), result: nil, failure: TransferFailure(code: -1, message: "no"),
      attempts: 1, bytesSent: 0, bytes: 0, instant: Date())
    #expect(throws: DatabaseError.self) { try store.save([end], creating: task(2, of: session)) }
    #expect(try store.tasks(of: session).map(\.hasEnded) == [false])
    try store.database.write { try $0.execute(sql: "DROP TRIGGER full") }
    try store.save([end], creating: task(2, of: session))
    #expect(try store.tasks(of: session).map(\.hasEnded) == [true, false])
  }

  @Test func `what was postponed is written after a transaction that failed`() throws {
    let (store, session) = try store(tasks: [])
    store.postpone { try $0.execute(sql: addLimiter) }
    try store.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON tasks BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    #expect(throws: DatabaseError.self) { try store.save([], creating: task(1, of: session)) }
    #expect(try store.limiters().isEmpty)
    try store.writePostponed()
    #expect(try store.limiters().count == 1)
    try store.writePostponed()
    #expect(try store.limiters().count == 1, "it is written once")
  }

  @Test func `a write that waits for no disk leaves the next one waiting`() throws {
    try withPool { pool, _ in
      let store = try TransferStore(pool)
      func waits() throws -> Int? {
        try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
      }
      try store.writeSoon { db in
        #expect(try Int.fetchOne(db, sql: "PRAGMA synchronous") == 1)
        try db.execute(sql: addLimiter)
      }
      #expect(try waits() == 2)
      #expect(throws: DatabaseError.self) {
        try store.writeSoon { try $0.execute(sql: "INSERT INTO limiters DEFAULT VALUES") }
      }
      #expect(try waits() == 2)
      #expect(try store.limiters().count == 1)
    }
  }

  /// SQLite waits for the disk after it has written to the log, and an acknowledgement may be in the log already.
  @Test func `saving nothing writes to the log all the same`() throws {
    try withPool { pool, path in
      let store = try TransferStore(pool)
      try store.open(SessionKey(owner: widget, identifier: "figures"), SessionConfiguration(), generation: 1)
      let before = WholeFile.size(path + "-wal")
      try store.save([])
      let saved = WholeFile.size(path + "-wal")
      #expect(saved > before)
      // It changes nothing: the delivery is unknown.
      store.setCopies(["/a"], of: UUID())
      try store.save([])
      #expect(WholeFile.size(path + "-wal") > saved)
    }
  }

  @Test func `deliveries and copies of an earlier version are kept`() throws {
    let database = try earlierDatabase()
    let (first, second) = (UUID(), UUID())
    try database.write { db in
      for (id, task) in [(first, 3), (second, 4)] {
        try db.execute(
          sql: "INSERT INTO deliveries VALUES (?, ?, 'figures', ?, 1, 2, NULL, FALSE, 5, TRUE)",
          arguments: [id.uuidString, widget.text, try BodyCoding.data([task])])
      }
      try db.execute(
        sql: "INSERT INTO copies VALUES ('/b \"c\"', ?), ('/a', ?)", arguments: [first.uuidString, first.uuidString])
    }
    let store = try TransferStore(database)
    #expect(try store.copies()[first].map(Set.init) == ["/b \"c\"", "/a"])
    #expect(try store.copies()[second] ?? [] == [])
    try store.open(SessionKey(owner: widget, identifier: "figures"), SessionConfiguration(), generation: 1)
    let deliveries = try store.stateMachine(TransferSettings()).deliveries
    #expect(deliveries[first]?.tasks == [3])
    #expect(deliveries[first]?.last == DeliveryStateMachine.Attempt(generation: 5, wakesHandler: true))
    #expect(deliveries[second]?.exits == 2)
  }

  @Test func `the paths of copies outlive a change of their delivery`() throws {
    let (store, session) = try store(tasks: [])
    var stateMachine = DeliveryStateMachine(settings: TransferSettings())
    var keptDeliveries = StoredDeliveries(stateMachine)
    let delivery = UUID()
    stateMachine.deliveries[delivery] = DeliveryStateMachine.Delivery(id: delivery, session: session, tasks: [1])
    try store.save(&stateMachine, &keptDeliveries)
    store.setCopies(["/a", "/b"], of: delivery)
    stateMachine.deliveries[delivery]?.exits = 1
    try store.save(&stateMachine, &keptDeliveries)
    try store.writePostponed()
    #expect(try store.copies() == [delivery: ["/a", "/b"]])
  }

  private let addLimiter = "INSERT INTO limiters VALUES ('a', '\(widget.text)', 1, 2, 3)"

  /// A database from before the paths of copies were a column.
  private func earlierDatabase() throws -> DatabaseQueue {
    let database = try DatabaseQueue()
    _ = try TransferStore(database)
    try database.write { db in
      try db.execute(
        sql: """
          DELETE FROM grdb_migrations WHERE identifier IN ('transfers-copies', 'transfers-creators');
          ALTER TABLE tasks DROP COLUMN creator;
          DROP TABLE acknowledgedTasks;
          ALTER TABLE deliveries DROP COLUMN copies;
          DROP TABLE syncs;
          CREATE TABLE copies (path TEXT PRIMARY KEY, delivery TEXT NOT NULL);
          CREATE INDEX copiesByDelivery ON copies (delivery);
          """)
    }
    return database
  }

  private func withPool(_ work: (DatabasePool, _ path: String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/store-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try work(try DatabasePool.opening(folder + "/host.sqlite"), folder + "/host.sqlite")
  }

  @Test func `tables of an earlier version get the column for short bodies`() throws {
    let database = try earlierDatabase()
    try database.write { db in
      try db.execute(sql: "ALTER TABLE tasks DROP COLUMN content")
      try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'transfers-content'")
    }
    _ = try TransferStore(database)
    #expect(try database.read { try $0.columns(in: "tasks") }.contains { $0.name == "content" })
  }

  private func store(tasks: [Int]) throws -> (TransferStore, SessionKey) {
    let store = try TransferStore(DatabaseQueue())
    let session = SessionKey(owner: widget, identifier: "figures")
    try store.open(session, SessionConfiguration(), generation: 1)
    for identifier in tasks { try store.save([], creating: task(identifier, of: session)) }
    return (store, session)
  }

  private func end(of key: TaskKey, _ body: [UInt8]) -> TaskEnd {
    let response = TransferResponse(
      url: "http://a.example", status: 200, headers: [], expectedLength: Int64(body.count))
    let result = AttemptResult(
      response: response, currentRequest: TransferRequest(url: "http://d.example"), redirectCount: 2, sha256: "",
      bytes: Int64(body.count), content: body)
    return TaskEnd(
      key: key, result: result, failure: nil, attempts: 3, bytesSent: 4, bytes: Int64(body.count), instant: instant)
  }

  private let instant = Date(timeIntervalSince1970: 1_000_000_000)

  private func task(_ identifier: Int, of session: SessionKey) -> StoredTask {
    StoredTask(
      CreateTransfer(
        session: "figures", taskIdentifier: identifier, request: TransferRequest(url: "http://a.example"),
        taskDescription: nil),
      resuming: nil, key: TaskKey(session: session, identifier: identifier), generation: 1, created: instant,
      isInBackground: false)
  }

  /// Delivers a task and removes its delivery, as after an acknowledgement.
  private func acknowledge(_ task: Int, of session: SessionKey, in store: TransferStore) throws {
    var stateMachine = DeliveryStateMachine(settings: TransferSettings())
    var keptDeliveries = StoredDeliveries(stateMachine)
    let delivery = UUID()
    stateMachine.deliveries[delivery] = DeliveryStateMachine.Delivery(id: delivery, session: session, tasks: [task])
    try store.save(&stateMachine, &keptDeliveries)
    stateMachine.deliveries[delivery] = nil
    try store.save(&stateMachine, &keptDeliveries)
    try store.writePostponed()
  }

  @Test func `the next instance of an owner forgets what earlier ones acknowledged, in all sessions`() throws {
    let database = try DatabaseQueue()
    let store = try TransferStore(database)
    func acknowledged() throws -> Int? {
      try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM acknowledgedTasks") }
    }
    let session = SessionKey(owner: widget, identifier: "of one upload")
    try store.open(session, SessionConfiguration(), generation: 1)
    let key = TaskKey(session: session, identifier: 1)
    func isNew(by creator: UInt32) throws -> Bool {
      try store.stateMachine(TransferSettings()).isNew(key, by: creator)
    }
    #expect(try isNew(by: 1))
    try store.save([], creating: task(1, of: session))
    #expect(try isNew(by: 1) == false && isNew(by: 2) == false)
    try acknowledge(1, of: session, in: store)
    #expect(try acknowledged() == 1)
    #expect(try isNew(by: 1) == false && isNew(by: 2))
    #expect(try store.stateMachine(TransferSettings()).sessions[session]?.nextTaskIdentifier == 2)
    let other = SessionKey(owner: widget, identifier: "of another")
    try store.open(other, SessionConfiguration(), generation: 1)
    #expect(try acknowledged() == 1)
    try store.open(other, SessionConfiguration(), generation: 2)
    #expect(try acknowledged() == 0)
  }

  @Test func `a delivery that takes over the tasks of another keeps them in the database`() throws {
    let (store, session) = try store(tasks: [1, 2])
    var stateMachine = DeliveryStateMachine(settings: TransferSettings())
    var keptDeliveries = StoredDeliveries(stateMachine)
    let (older, younger) = (UUID(), UUID())
    stateMachine.deliveries[older] = DeliveryStateMachine.Delivery(id: older, session: session, tasks: [1])
    stateMachine.deliveries[younger] = DeliveryStateMachine.Delivery(id: younger, session: session, tasks: [2])
    try store.save(&stateMachine, &keptDeliveries)
    stateMachine.deliveries[older]?.tasks = [1, 2]
    stateMachine.deliveries[younger] = nil
    try store.save(&stateMachine, &keptDeliveries)
    try store.writePostponed()
    #expect(try store.tasks(of: session).map(\.key.identifier) == [1, 2])
    stateMachine.deliveries[older] = nil
    try store.save(&stateMachine, &keptDeliveries)
    try store.writePostponed()
    #expect(try store.tasks(of: session).isEmpty)
  }
}

extension TransferStore {
  /// A store alone, which writes each change at once.
  fileprivate init(_ database: any DatabaseWriter) throws {
    try self.init(DeviceTransactions(immediate: database))
  }
}
