// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import MessageBus
import Messages
import PushDelivery
import PushRules
import Testing
import WidgetLabTesting

@testable import PostgresStore

/// What replicas of the push server cost each other in PostgreSQL.
@Suite(
  .timeLimit(.minutes(2)), .serialized, .postgres,
  .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed: run scripts/prerequisites"))
struct `Replicas side by side` {
  /// A backlog once made each page sort all of it, so that a new owner of a fleet needed seconds for each page.
  @Test func `a page reads as many rows as it returns, whatever waits for this replica and for others`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let store = try PostgresPushStore(
      try await fixture.url(), address: .pushServer("1"), settings: PushSettings())
    _ = try store.claim(["ours"])
    _ = try await fixture.query(
      """
      INSERT INTO route SELECT 'other' || number, 'push-server/2#0', 1 FROM generate_series(1, 3) AS number;
      INSERT INTO requests (number, unique_id, apns_id, token, status, at)
        SELECT number, gen_random_uuid(), '', '', 200, 0 FROM generate_series(1, 8000) AS number;
      INSERT INTO kept (device, bundle, use, number, connection, state, type, priority, payload, accepted_at, is_from_storage)
        SELECT 'device' || number, '', 'widgets', number,
          CASE number % 4 WHEN 0 THEN 'ours' ELSE 'other' || number % 4 END, 0, 'widgets', 5, '{}', 0, false
        FROM generate_series(1, 8000) AS number;
      """)
    let replica = try #require(
      try await fixture.query("SELECT replica FROM route WHERE connection = 'ours'").first)
    let page = store.taken().sql.replacing("$1::text", with: "'\(replica)'")
      .replacing("$2::text[]", with: "'{}'::text[]")
    let plan = try await fixture.query("\(PostgresSchema.session); EXPLAIN (ANALYZE, TIMING OFF) \(page)")
    let rows = Self.rows(in: plan)
    #expect(rows.first == store.pageLimit)
    #expect(rows.max() == store.pageLimit, "\(plan.joined(separator: "\n"))")
    store.leave()
    await fixture.end()
  }

  /// With others, a replica collects its requests longer: its transactions would be smaller.
  @Test func `a replica learns how many there are when another one joins and leaves`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let url = try await fixture.url()
    func replica(_ number: String) throws -> PostgresPushStore {
      try PostgresPushStore(url, address: .pushServer(number), settings: PushSettings())
    }
    let (first, second) = (try replica("1"), try replica("2"))
    // The first transaction makes the tables.
    _ = try (first.claim(["ours"]), second.claim(["theirs"]))
    let running = Task { await first.listen() }
    let joined = Task { await second.listen() }
    var counts: [Int] = []
    for await case .replicas(let count) in first.signals {
      counts.append(count)
      if count == 1 { break }
      joined.cancel()
      await joined.value
      second.leave()
    }
    #expect(counts == [2, 1])
    running.cancel()
    await running.value
    first.leave()
    await fixture.end()
  }

  /// The rows that each step of a performed plan has read, in all its loops.
  private static func rows(in plan: [String]) -> [Int] {
    plan.compactMap { line in
      if let match = line.firstMatch(of: /Rows Removed by (?:Filter|Index Recheck|Join Filter): (\d+)/) {
        return Int(match.1)
      }
      return line.firstMatch(of: /actual rows=(\d+)(?:\.\d+)? loops=(\d+)/).flatMap { match in
        Int(match.1).flatMap { rows in Int(match.2).map { rows * $0 } }
      }
    }
  }

  /// A new owner of a fleet once read the whole backlog for each page of devices.
  @Test func `what is kept for devices is read without what has arrived for them`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let store = try PostgresPushStore(
      try await fixture.url(), address: .pushServer("1"), settings: PushSettings())
    _ = try store.claim(["load:"])
    // 40 devices: each has one notification that was sent, one that is stored, and 98 that have arrived.
    _ = try await fixture.query(
      """
      INSERT INTO requests (number, unique_id, apns_id, token, status, at)
        SELECT number, gen_random_uuid(), '', '', 200, 0 FROM generate_series(1, 4000) AS number;
      INSERT INTO kept (device, bundle, use, number, connection, state, type, priority, payload, accepted_at, is_from_storage)
        SELECT 'load:' || number % 40, '', 'widgets', number, 'load:',
          CASE number / 40 WHEN 50 THEN 1 WHEN 51 THEN 2 ELSE 0 END, 'widgets', 5, '{}', 0, false
        FROM generate_series(1, 4000) AS number;
      """)
    let devices = try store.devicesWithKept(of: "load", after: "load:", limit: 1_000)
    #expect(Set(devices) == Set((0..<40).map { "load:\($0)" }))
    #expect(try store.kept(of: devices).count == 80)
    let pages = [
      (
        PostgresPushStore.kept(of: devices), "(text[], text[])",
        "ARRAY['\(devices.joined(separator: "','"))'], ARRAY_FILL('load:'::text, ARRAY[40])"
      ),
      (
        PostgresPushStore.devicesWithKept(of: "load", after: "load:", limit: 1_000), "(text, text, int8)",
        "'load:', 'load:', 1000"
      ),
    ]
    for (page, types, values) in pages {
      let plan = try await fixture.query(
        """
        \(PostgresSchema.session); PREPARE page \(types) AS \(page.sql);
        EXPLAIN (ANALYZE, TIMING OFF) EXECUTE page (\(values))
        """)
      #expect(try #require(Self.rows(in: plan).max()) <= 82, "\(plan.joined(separator: "\n"))")
    }
    store.leave()
    await fixture.end()
  }

  /// A connection keeps the plan of its first page, which may be that of empty tables.
  @Test(arguments: [PostgresPushStore.kept(of: []).sql, PostgresPushStore.held(of: []).sql])
  func `a page reads the requests of its rows only, however many there are`(page: String) async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let store = try PostgresPushStore(
      try await fixture.url(), address: .pushServer("1"), settings: PushSettings())
    _ = try store.claim(["load:"])
    let devices = "ARRAY['\((0..<40).map { "away\($0)" }.joined(separator: "','"))']"
    let rest = (page.contains("$4") ? ["", "widgets", "away"] : ["away"]).map { "ARRAY_FILL('\($0)'::text, ARRAY[40])" }
    let values = ([devices] + rest).joined(separator: ", ")
    let types = Array(repeating: "text[]", count: 1 + rest.count).joined(separator: ", ")
    let plan = try await fixture.query(
      """
      ANALYZE; \(PostgresSchema.session); PREPARE page (\(types)) AS \(page);
      EXECUTE page (\(values));
      INSERT INTO requests (number, unique_id, apns_id, token, status, at)
        SELECT number, gen_random_uuid(), '', '', 200, 0 FROM generate_series(1, 4000) AS number;
      INSERT INTO kept (device, bundle, use, number, connection, state, type, priority, payload, accepted_at, is_from_storage)
        SELECT 'away' || number % 40, '', 'widgets', number, 'away', 2, 'widgets', 5, '{}', 0, false
        FROM generate_series(3961, 4000) AS number;
      EXPLAIN (ANALYZE, TIMING OFF) EXECUTE page (\(values))
      """)
    #expect(try #require(Self.rows(in: plan).max()) == 40, "\(plan.joined(separator: "\n"))")
    store.leave()
    await fixture.end()
  }

  /// A page of arrivals steps over the index entries of rows that are gone, until a vacuum.
  @Test func `the new owner of a fleet vacuums what is kept`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let store = try PostgresPushStore(
      try await fixture.url(), address: .pushServer("1"), settings: PushSettings())
    try await withThrowingTaskGroup { group in
      group.addTask { await store.listen() }
      _ = try await blocking { try store.claim(["load:"]) }
      while try await fixture.query("SELECT vacuum_count FROM pg_stat_user_tables WHERE relid = 'kept'::regclass") != [
        "1"
      ] {
        // Each query is a process.
        try await Task.sleep(for: .milliseconds(50))
      }
      group.cancelAll()
    }
    store.leave()
    await fixture.end()
  }

  /// Calls a function of a store on its own thread. It blocks, and other tests need the threads of tasks.
  private func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
    }
  }

  /// Waits until a query returns 1.
  private func reached(_ sql: String, _ server: PostgresCluster) async throws {
    while try await server.query(sql) != ["1"] {
      // Each query is a process.
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Counts the sessions that hold, or wait for, a lock with two keys.
  private func locks(_ first: Int32, isGranted: Bool) -> String {
    """
    SELECT count(*) FROM pg_locks
      WHERE locktype = 'advisory' AND classid = \(first) AND objsubid = 2 AND granted = \(isGranted)
    """
  }

  /// Two replicas that stored for the same devices once failed with conflicts, each time again.
  @Test func `one replica at a time stores for a fleet without an owner`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let server = try #require(PostgresTrait.server)
    let store = try PostgresPushStore(try await fixture.url(), address: .pushServer("1"), settings: PushSettings())
    let key = PostgresSchema.fleetLock
    let other = try await server.session("SELECT pg_advisory_lock(\(key), hashtext('load:')); SELECT pg_sleep(600)")
    try await reached(locks(key, isGranted: true), server)
    var scope = SharedScope()
    scope.subjects = [PushSubject(device: "load:3", bundle: "com.example.app", use: .app)]
    async let storing: Void = blocking { [scope] in
      while true {
        do {
          _ = try store.begin(scope)
          return store.rollBack()
        } catch let error as PushStoreError where error.code == .conflict {
          // Repeated after the time limit of the lock, as by the service.
          store.rollBack()
        }
      }
    }
    try await reached(locks(key, isGranted: false), server)
    other.signal(SIGKILL)
    try await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    try await storing
    _ = await other.ending()
    store.leave()
    await fixture.end()
  }

  /// A backend that could not send its rows once blocked all claims until the replica continued.
  @Test func `a stopped process that reads no rows does not block the claim of another one`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let server = try #require(PostgresTrait.server)
    let store = try PostgresPushStore(try await fixture.url(), address: .pushServer("1"), settings: PushSettings())
    // The rows begin when the process is stopped.
    let gate = try await server.session("SELECT pg_advisory_lock(1, 1); SELECT pg_sleep(600)")
    try await reached(locks(1, isGranted: true), server)
    let stopped = try await server.session(
      """
      BEGIN; SELECT pg_advisory_xact_lock_shared(\(PostgresSchema.routesLock)); SELECT pg_advisory_xact_lock_shared(1, 1);
      SELECT repeat('x', 1000), generate_series(1, 1000000000)
      """)
    try await reached(locks(1, isGranted: false), server)
    stopped.signal(SIGSTOP)
    try await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    try await reached("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientWrite'", server)
    var claimed: ClaimedRoutes?
    while claimed == nil {
      try Task.checkCancellation()
      claimed = try? await blocking { try store.claim(["load:"]) }
    }
    #expect(claimed?.epochs == ["load:": 1])
    for child in [stopped, gate] {
      child.signal(SIGKILL)
      _ = await child.ending()
    }
    store.leave()
    await fixture.end()
  }
}
