// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import GRDB
import Messages
import Synchronization
import Testing
import Timekeeping

@testable import Stores

@Suite(.timeLimit(.minutes(1))) struct `The transactions of a device` {
  /// A database that counts its commits, and services on one executor.
  private final class Fixture: Sendable {
    private final class Counter: TransactionObserver, Sendable {
      let commits = Mutex(0)
      func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
      func databaseDidChange(with event: DatabaseEvent) {}
      func databaseDidCommit(_ db: Database) { commits.withLock { $0 += 1 } }
      func databaseDidRollback(_ db: Database) {}
    }

    let database: DatabaseQueue
    let executor: ServiceExecutor
    let clock = AdjustableClock(.running(ahead: 0), patience: .seconds(3600))
    let transactions: DeviceTransactions
    let done = Mutex<[String]>([])
    private let counter = Counter()

    init(
      ride: DispatchTimeInterval = .seconds(3600), executor: ServiceExecutor = ServiceExecutor("device")
    ) throws {
      self.executor = executor
      database = try DatabaseQueue()
      try database.write { try $0.execute(sql: "CREATE TABLE items (name TEXT UNIQUE)") }
      database.add(transactionObserver: counter, extent: .databaseLifetime)
      let broken = Broken()
      transactions = DeviceTransactions(database, executor: executor, clock: clock, ride: ride) { error in
        broken.reasons.withLock { $0.append("\(error)") }
      }
      self.broken = broken
    }

    private final class Broken: Sendable { let reasons = Mutex<[String]>([]) }
    private let broken: Broken

    var brokenReasons: [String] { broken.reasons.withLock(\.self) }
    var commits: Int { counter.commits.withLock(\.self) }

    func names() throws -> [String] {
      try database.read { try String.fetchAll($0, sql: "SELECT name FROM items ORDER BY rowid") }
    }

    func insert(_ name: String, _ urgency: DeviceTransactions.Urgency = .lasting) throws {
      try transactions.write(urgency) { try $0.run("INSERT INTO items (name) VALUES (?)", [name]) }
    }

    func note(_ text: String) { done.withLock { $0.append(text) } }

    /// Does something on the executor.
    func perform(_ work: @escaping @Sendable () throws -> Void) async throws {
      try await Task(executorPreference: executor.taskExecutor) { try work() }.value
    }
  }

  @Test func `what the jobs that wait change is one transaction, and nothing follows before it`() async throws {
    let fixture = try Fixture()
    let tasks = (1...5).map { number in
      Task(executorPreference: fixture.executor.taskExecutor) {
        try fixture.insert("\(number)")
        fixture.transactions.afterCommit {
          let count = (try? fixture.names().count) ?? 0
          fixture.note("\(number) after \(count)")
        }
        // The consequence of an event for another service is part of the transaction.
        await Task(executorPreference: fixture.executor.taskExecutor) { try? fixture.insert("\(number)+") }.value
        try await fixture.transactions.committed()
        fixture.note("replied")
      }
    }
    for task in tasks { try await task.value }
    #expect(try fixture.names().count == 10)
    let done = fixture.done.withLock(\.self)
    #expect(done.filter { $0 == "replied" }.count == 5)
    // One, unless this machine paused in between for longer than a transaction waits.
    #expect(fixture.commits <= 5)
    #expect(done.filter { $0.hasSuffix("after 0") }.isEmpty)
  }

  @Test func `what follows is done in order, and at once when nothing waits`() async throws {
    let fixture = try Fixture()
    fixture.transactions.afterCommit { fixture.note("at once") }
    #expect(fixture.done.withLock(\.self) == ["at once"])
    try await fixture.perform {
      try fixture.insert("first", .soon)
      fixture.transactions.afterCommit { fixture.note("1") }
      fixture.transactions.afterCommit {
        fixture.note("2")
        fixture.transactions.afterCommit { fixture.note("3") }
      }
      #expect(fixture.done.withLock(\.self) == ["at once"])
    }
    try await fixture.transactions.committed()
    #expect(fixture.done.withLock(\.self) == ["at once", "1", "2", "3"])
    #expect(fixture.commits == 1)
  }

  @Test func `a riding change waits for the next transaction, and nothing waits for it`() async throws {
    let fixture = try Fixture()
    try await fixture.perform { try fixture.insert("riding", .riding) }
    try await fixture.transactions.committed()
    #expect(fixture.commits == 0)
    try await fixture.perform { try fixture.insert("lasting") }
    try await fixture.transactions.committed()
    #expect(try fixture.names() == ["riding", "lasting"])
    #expect(fixture.commits == 1)
  }

  @Test func `a riding change is written without another one, too`() async throws {
    let fixture = try Fixture(ride: .milliseconds(1))
    try await fixture.perform { try fixture.insert("riding", .riding) }
    // SQLite reports no change to another connection, so the condition is polled.
    while try fixture.names().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    #expect(fixture.commits == 1)
  }

  @Test func `what is read contains what was written before`() async throws {
    let fixture = try Fixture()
    try await fixture.perform {
      try fixture.insert("first")
      fixture.transactions.commit()
      #expect(try fixture.names() == ["first"])
    }
  }

  @Test func `something that is written now shares its transaction with what waits`() async throws {
    let fixture = try Fixture()
    try await fixture.perform {
      try fixture.insert("waiting")
      fixture.transactions.afterCommit { fixture.note("sent") }
      try fixture.transactions.writeNow { try $0.run("INSERT INTO items (name) VALUES ('now')") }
      #expect(try fixture.names() == ["waiting", "now"])
      #expect(fixture.done.withLock(\.self) == ["sent"])
    }
    try await fixture.transactions.committed()
    #expect(fixture.commits == 1)
  }

  @Test func `what waits is written later when something that is written now fails`() async throws {
    let fixture = try Fixture()
    try await fixture.perform {
      try fixture.insert("waiting")
      fixture.transactions.afterCommit { fixture.note("sent") }
      #expect(throws: DatabaseError.self) {
        try fixture.transactions.writeNow { try $0.run("INSERT INTO others (name) VALUES ('now')") }
      }
      #expect(fixture.done.withLock(\.self) == [])
    }
    try await fixture.transactions.committed()
    #expect(try fixture.names() == ["waiting"])
    #expect(fixture.done.withLock(\.self) == ["sent"])
    #expect(fixture.brokenReasons == [])
  }

  @Test func `the clock advances after something that was written now has failed`() async throws {
    let fixture = try Fixture()
    try fixture.clock.hold()
    try await fixture.perform {
      try fixture.insert("waiting")
      #expect(throws: DatabaseError.self) {
        try fixture.transactions.writeNow { db in
          try fixture.insert("meets the failure")
          try db.run("INSERT INTO others (name) VALUES ('now')")
        }
      }
    }
    try await fixture.clock.advance(by: 10)
    #expect(try fixture.names() == ["waiting", "meets the failure"])
  }

  @Test func `after a failure nothing follows, and each caller that waits gets the error`() async throws {
    let fixture = try Fixture()
    try await fixture.perform {
      try fixture.insert("same")
      try fixture.insert("same")
      fixture.transactions.afterCommit { fixture.note("sent") }
    }
    await #expect(throws: BusError.self) { try await fixture.transactions.committed() }
    try await fixture.perform { try fixture.insert("later") }
    fixture.transactions.afterCommit { fixture.note("sent later") }
    await #expect(throws: BusError.self) { try await fixture.transactions.committed() }
    #expect(try fixture.names() == [])
    #expect(fixture.done.withLock(\.self) == [])
    #expect(fixture.brokenReasons.count == 1)
  }

  @Test func `the clock does not advance before what follows is done`() async throws {
    let fixture = try Fixture()
    try fixture.clock.hold()
    try await fixture.perform {
      try fixture.insert("first")
      fixture.transactions.afterCommit { fixture.note("sent") }
    }
    try await fixture.clock.advance(by: 10)
    #expect(fixture.done.withLock(\.self) == ["sent"])
  }
}
