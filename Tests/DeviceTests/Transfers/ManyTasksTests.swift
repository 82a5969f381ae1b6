// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import GRDB
import MessageBus
import Messages
import Synchronization
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget

/// Counts the statements that a database executes between `begin()` and `end()`.
private final class Statements: Sendable {
  private let counted = Mutex<(isOn: Bool, counts: [String: Int])>((false, [:]))
  var configuration: Configuration {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      db.trace { [self] event in
        guard case .statement(let statement) = event else { return }
        counted.withLock { counted in
          guard counted.isOn else { return }
          counted.counts[statement.sql, default: 0] += 1
        }
      }
    }
    return configuration
  }

  func begin() { counted.withLock { $0 = (true, [:]) } }

  /// Stops counting.
  ///
  /// - Returns: the number of executions of each statement.
  func end() -> [String: Int] {
    counted.withLock { counted in
      counted.isOn = false
      return counted.counts
    }
  }
}

/// Tests that need a quiet machine. `scripts/test` runs the suites of this name in sequence, after all other tests.
@Suite(.serialized) enum QuietTests {}

extension QuietTests {
  /// The cost of many tasks. Ten thousand of them, in `scripts/test --long`, take more than a minute.
  @Suite(.timeLimit(.minutes(5))) struct ManyTasksTests {
    /// Creates the given number of tasks, waits for their ends and delivers them.
    ///
    /// - Returns: the task identifiers in the order of delivery, and in the order in which the tasks ended.
    private func carry(
      _ count: Int, fixture: TransferFixture, owner: ModelOwner, service: TransferService
    ) async throws -> (received: [Int], ended: [Int]) {
      for task in 1...count { try await owner.create(task, fixture.server.url) }
      var ended: [Int] = []
      for await envelope in await fixture.bus.watch() where envelope.header.kind == TransferProgress.kind {
        let notice = try BodyCoding.decode(TransferProgress.self, from: envelope.body)
        if notice.step == .finished { ended.append(notice.taskIdentifier) }
        if ended.count == count { break }
      }
      await service.awake(widget, generation: 1, woken: false)
      let received = await owner.next()?.outcomes.map(\.task.taskIdentifier) ?? []
      await fixture.received(SessionAcknowledged.kind)
      return (received, ended)
    }

    @Test func `the number of database statements per task is constant, and no statement scans a table`()
      async throws
    {
      var perTask: [[String: Double]] = []
      // Several times what `RecentTasks` has, so that few of them are still there.
      let numbers = [500, 1000]
      for count in numbers {
        let statements = Statements()
        let fixture = try await TransferFixture(.init(bytes: [1, 2, 3]), database: statements.configuration)
        let service = try await fixture.host()
        let owner = try await ModelOwner(fixture.bus)
        try await owner.open(SessionConfiguration(httpMaximumConnectionsPerHost: 6))
        statements.begin()
        _ = try await carry(count, fixture: fixture, owner: owner, service: service)
        let counts = statements.end()
        perTask.append(counts.mapValues { Double($0) / Double(count) })
        try await fixture.database.read { db in
          for text in counts.keys where ["SELECT", "UPDATE", "DELETE", "INSERT"].contains(where: text.hasPrefix) {
            let question = "EXPLAIN QUERY PLAN \(text.replacing("?", with: "NULL"))"
            let plan = try Row.fetchAll(db, sql: question).map { $0["detail"] as String }
            #expect(!plan.contains { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" }, "\(text): \(plan)")
          }
        }
        await fixture.end(service)
      }
      for (text, count) in perTask[1] where count > 0.5 {
        #expect(count <= (perTask[0][text] ?? 0) + 0.5, "statements per task with \(numbers) tasks: \(text)")
      }
      #expect(perTask[1].values.reduce(0, +) < 25, "statements per task")
    }

    @Test func `a list of 600 sessions is returned in pages`() async throws {
      let fixture = try await TransferFixture(.init(bytes: [1]))
      let service = try await fixture.host(network: NetworkState(path: .off))
      let owner = try await ModelOwner(fixture.bus)
      let names = (0..<600).map { "com.example.figures.\(1000 + $0)" }
      for name in names {
        let open = OpenSession(identifier: name, configuration: SessionConfiguration())
        _ = try await owner.connection.request(open, to: .host("iphone"))
      }
      try await owner.open()
      try await owner.create(1, fixture.server.url)
      var (sessions, tasks): ([String], Int) = ([], 0)
      repeat {
        let question = ListSessions(offset: tasks, sessionOffset: sessions.count)
        let page = try await service.list(question, clock: fixture.clockState)
        #expect(try BodyCoding.data(page).count <= Wire.bodyLimit)
        #expect(page.sessionCount == 601 && page.taskCount == 1)
        sessions += page.sessions.map(\.session)
        tasks += page.tasks.count
      } while sessions.count < 601
      #expect(sessions == names + ["figures"])
      #expect(tasks == 1)
      await fixture.end(service)
    }

    @Test
    func `many tasks are listed, survive a host restart and are delivered in the order in which they ended`()
      async throws
    {
      let count = ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == nil ? 1000 : 10_000
      let fixture = try await TransferFixture(.init(bytes: figures(1000)))
      let owner = try await ModelOwner(fixture.bus)
      let first = try await fixture.host(network: NetworkState(path: .off))
      try await owner.open()
      let began = ContinuousClock.now
      for task in 1...count { try await owner.create(task, fixture.server.url) }
      let created = ContinuousClock.now
      await fixture.end(first)
      let service = try await fixture.host(network: NetworkState(path: .off))
      var tasks = try await owner.open().allTasks()
      #expect(try tasks.all().map(\.taskIdentifier) == Array(1...count))
      var listed: [Int] = []
      while listed.count < count {
        let page = try await service.list(ListSessions(offset: listed.count), clock: fixture.clockState)
        #expect(try BodyCoding.data(page).count <= Wire.bodyLimit)
        #expect(page.taskCount == count)
        listed += page.tasks.map(\.task.taskIdentifier)
      }
      #expect(listed == Array(1...count))
      let listedAt = ContinuousClock.now
      await service.setNetwork(NetworkState())
      var ended: [Int] = []
      for await envelope in await fixture.bus.watch() where envelope.header.kind == TransferProgress.kind {
        let notice = try BodyCoding.decode(TransferProgress.self, from: envelope.body)
        if notice.step == .finished { ended.append(notice.taskIdentifier) }
        if ended.count == count { break }
      }
      let loaded = ContinuousClock.now
      await service.awake(widget, generation: 1, woken: false)
      #expect(await owner.next()?.outcomes.map(\.task.taskIdentifier) == ended)
      await fixture.received(SessionAcknowledged.kind)
      #expect(fixture.files(below: "transfers", ending: ".part") == [])
      await fixture.end(service)
      print(
        "\(count) tasks: created in \(created - began), restarted and listed in \(listedAt - created), loaded in "
          + "\(loaded - listedAt), delivered and deleted in \(ContinuousClock.now - loaded)")
    }
  }
}
