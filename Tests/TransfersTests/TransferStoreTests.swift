// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Messages
import Stores
import Testing

@testable import Transfers

@Suite struct TransferStoreTests {
  @Test func `a short body is stored with the end of its task, and only its length is read with the task`() throws {
    let (store, session) = try store(tasks: [1, 2])
    let key = TaskKey(session: session, identifier: 1)
    let body = [UInt8](repeating: 7, count: 10_000)
    let response = TransferResponse(url: "http://a.example", status: 200, headers: [], expectedLength: 10_000)
    let result = AttemptResult(response: response, sha256: "", bytes: 10_000, content: body)
    let end = TaskEnd(
      key: key, result: result, failure: nil, attempts: 1, bytesSent: 0, bytes: 10_000, instant: Date())
    #expect(try store.save([end]) == false)
    #expect(try store.tasks(of: session).map(\.contentLength) == [10_000, nil])
    #expect(try store.content(of: key) == Data(body))
    #expect(try store.content(of: TaskKey(session: session, identifier: 2)) == nil)
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
    #expect(try store.save([end], creating: task(2, of: session)))
    #expect(try store.tasks(of: session).map(\.hasEnded) == [true, false])
  }

  @Test func `what was postponed is written after a transaction that failed`() throws {
    let (store, session) = try store(tasks: [])
    store.postpone { try $0.execute(sql: "INSERT INTO copies (path, delivery) VALUES ('a', 'b')") }
    try store.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON tasks BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    #expect(throws: DatabaseError.self) { try store.save([], creating: task(1, of: session)) }
    #expect(try store.orphanedCopies() == [])
    try store.writePostponed()
    #expect(try store.orphanedCopies() == ["a"])
    try store.writePostponed()
    #expect(try store.orphanedCopies() == ["a"], "it is written once")
  }

  @Test func `a write that waits for no disk leaves the next one waiting`() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/store-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let pool = try DatabasePool.opening(folder + "/host.sqlite")
    let store = try TransferStore(pool)
    func waits() throws -> Int? {
      try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    }
    try store.writeSoon { db in
      #expect(try Int.fetchOne(db, sql: "PRAGMA synchronous") == 1)
      try db.execute(sql: "INSERT INTO copies (path, delivery) VALUES ('a', 'b')")
    }
    #expect(try waits() == 2)
    #expect(throws: DatabaseError.self) {
      try store.writeSoon { try $0.execute(sql: "INSERT INTO copies DEFAULT VALUES") }
    }
    #expect(try waits() == 2)
    #expect(try store.orphanedCopies() == ["a"])
  }

  @Test func `tables of an earlier version get the column for short bodies`() throws {
    let database = try DatabaseQueue()
    _ = try TransferStore(database)
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
    try store.open(session, SessionConfiguration())
    for identifier in tasks { _ = try store.save([], creating: task(identifier, of: session)) }
    return (store, session)
  }

  private func task(_ identifier: Int, of session: SessionKey) -> StoredTask {
    StoredTask(
      CreateTransfer(
        session: "figures", taskIdentifier: identifier, request: TransferRequest(url: "http://a.example"),
        taskDescription: nil),
      resuming: nil, key: TaskKey(session: session, identifier: identifier), created: Date(), isInBackground: false)
  }

  @Test func `a delivery that takes over the tasks of another keeps them in the database`() throws {
    let (store, session) = try store(tasks: [1, 2])
    var stateMachine = DeliveryStateMachine(settings: TransferSettings())
    var kept = StoredDeliveries(stateMachine)
    let (older, younger) = (UUID(), UUID())
    stateMachine.deliveries[older] = DeliveryStateMachine.Delivery(id: older, session: session, tasks: [1])
    stateMachine.deliveries[younger] = DeliveryStateMachine.Delivery(id: younger, session: session, tasks: [2])
    try store.save(&stateMachine, &kept)
    stateMachine.deliveries[older]?.tasks = [1, 2]
    stateMachine.deliveries[younger] = nil
    try store.save(&stateMachine, &kept)
    #expect(try store.tasks(of: session).map(\.key.identifier) == [1, 2])
    stateMachine.deliveries[older] = nil
    try store.save(&stateMachine, &kept)
    #expect(try store.tasks(of: session).isEmpty)
  }
}
