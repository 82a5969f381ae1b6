import Conversations
import Foundation
import GRDB
import MessageBus
import Synchronization
import Testing
import Timekeeping

@testable import Transfers

/// The statements that a database was asked, for a time.
private final class Statements: Sendable {
  private let heard = Mutex<(isOn: Bool, counts: [String: Int])>((false, [:]))
  var configuration: Configuration {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      db.trace { [self] event in
        guard case .statement(let statement) = event else { return }
        heard.withLock { heard in
          guard heard.isOn else { return }
          heard.counts[statement.sql, default: 0] += 1
        }
      }
    }
    return configuration
  }

  func hear() { heard.withLock { $0 = (true, [:]) } }

  /// Hears no more.
  ///
  /// - Returns: how often each was asked.
  func end() -> [String: Int] {
    heard.withLock { heard in
      heard.isOn = false
      return heard.counts
    }
  }
}

/// Tests that need a quiet machine. `scripts/test` runs the suites of this name in sequence, after all other tests.
@Suite(.serialized) enum QuietTests {}

extension QuietTests {
  /// What many tasks cost. Ten thousand of them, in `scripts/test --long`, take more than a minute.
  @Suite(.timeLimit(.minutes(5))) struct ManyTasksTests {
    /// Creates so many tasks, lets them end and hands them over.
    ///
    /// - Returns: the identifiers as they were handed over, and as they ended.
    private func carry(
      _ count: Int, _ scene: TransferScene, _ owner: ModelOwner, _ daemon: TransferDaemon
    ) async throws -> (told: [Int], ended: [Int]) {
      for task in 1...count { try await owner.create(task, scene.server.url) }
      var ended: [Int] = []
      for await envelope in await scene.bus.watch() where envelope.header.kind == TransferProgress.kind {
        let notice = try BodyCoding.decode(TransferProgress.self, from: envelope.body)
        if notice.step == .finished { ended.append(notice.taskIdentifier) }
        if ended.count == count { break }
      }
      await daemon.awake(widget, generation: 1, woken: false)
      let told = await owner.next()?.outcomes.map(\.task.taskIdentifier) ?? []
      await scene.heard(SessionAcknowledged.kind)
      return (told, ended)
    }

    @Test func `a task costs the same statements among many as among few, and none of them looks at all tasks`()
      async throws
    {
      var perTask: [[String: Double]] = []
      for count in [50, 200] {
        let statements = Statements()
        let scene = try await TransferScene(.init(bytes: [1, 2, 3]), database: statements.configuration)
        let daemon = try await scene.host()
        let owner = try await ModelOwner(scene.bus)
        try await owner.open(SessionConfiguration(httpMaximumConnectionsPerHost: 6))
        statements.hear()
        _ = try await carry(count, scene, owner, daemon)
        let heard = statements.end()
        perTask.append(heard.mapValues { Double($0) / Double(count) })
        try await scene.database.read { db in
          for text in heard.keys where ["SELECT", "UPDATE", "DELETE", "INSERT"].contains(where: text.hasPrefix) {
            let question = "EXPLAIN QUERY PLAN \(text.replacing("?", with: "NULL"))"
            let plan = try Row.fetchAll(db, sql: question).map { $0["detail"] as String }
            #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(text): \(plan)")
          }
        }
        await scene.end(daemon)
      }
      for (text, count) in perTask[1] where count > 0.5 {
        #expect(count <= (perTask[0][text] ?? 0) + 0.5, "for each task among 50 and among 200: \(text)")
      }
      #expect(perTask[1].values.reduce(0, +) < 25, "statements for each task")
    }

    @Test func `hundreds of sessions are listed, a page at a time`() async throws {
      let scene = try await TransferScene(.init(bytes: [1]))
      let daemon = try await scene.host(network: NetworkState(path: .off))
      let owner = try await ModelOwner(scene.bus)
      let names = (0..<600).map { "com.example.figures.\(1000 + $0)" }
      for name in names {
        let open = OpenSession(identifier: name, configuration: SessionConfiguration())
        _ = try await owner.connection.request(open, to: .host("iphone"))
      }
      try await owner.open()
      try await owner.create(1, scene.server.url)
      var (sessions, tasks): ([String], Int) = ([], 0)
      repeat {
        let question = ListSessions(offset: tasks, sessionOffset: sessions.count)
        let page = try await daemon.list(question, clock: scene.clockState)
        #expect(try BodyCoding.data(page).count <= Wire.bodyLimit)
        #expect(page.sessionCount == 601 && page.taskCount == 1)
        sessions += page.sessions.map(\.session)
        tasks += page.tasks.count
      } while sessions.count < 601
      #expect(sessions == names + ["figures"])
      #expect(tasks == 1)
      await scene.end(daemon)
    }

    @Test
    func `ten thousand tasks are listed, carried over the host's death and told in the order in which they ended`()
      async throws
    {
      let count = ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == nil ? 2000 : 10_000
      let scene = try await TransferScene(.init(bytes: figures(1000)))
      let owner = try await ModelOwner(scene.bus)
      let first = try await scene.host(network: NetworkState(path: .off))
      try await owner.open()
      let began = ContinuousClock.now
      for task in 1...count { try await owner.create(task, scene.server.url) }
      let created = ContinuousClock.now
      await scene.end(first)
      let daemon = try await scene.host(network: NetworkState(path: .off))
      var tasks = try await owner.open().allTasks()
      #expect(try tasks.all().map(\.taskIdentifier) == Array(1...count))
      var listed: [Int] = []
      while listed.count < count {
        let page = try await daemon.list(ListSessions(offset: listed.count), clock: scene.clockState)
        #expect(try BodyCoding.data(page).count <= Wire.bodyLimit)
        #expect(page.taskCount == count)
        listed += page.tasks.map(\.task.taskIdentifier)
      }
      #expect(listed == Array(1...count))
      let listedAt = ContinuousClock.now
      await daemon.setNetwork(NetworkState())
      var ended: [Int] = []
      for await envelope in await scene.bus.watch() where envelope.header.kind == TransferProgress.kind {
        let notice = try BodyCoding.decode(TransferProgress.self, from: envelope.body)
        if notice.step == .finished { ended.append(notice.taskIdentifier) }
        if ended.count == count { break }
      }
      let loaded = ContinuousClock.now
      await daemon.awake(widget, generation: 1, woken: false)
      #expect(await owner.next()?.outcomes.map(\.task.taskIdentifier) == ended)
      await scene.heard(SessionAcknowledged.kind)
      #expect(scene.files(below: "transfers", ending: ".part") == [])
      await scene.end(daemon)
      print(
        "\(count) tasks: created in \(created - began), carried over and listed in \(listedAt - created), loaded in "
          + "\(loaded - listedAt), handed over and forgotten in \(ContinuousClock.now - loaded)")
    }
  }
}
