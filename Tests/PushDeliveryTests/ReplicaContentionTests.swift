// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import MessageBus
import Messages
import PostgresTesting
import PushDelivery
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
    let page = store.taken.sql.replacing("$1::text", with: "'\(replica)'")
    let plan = try await fixture.query("\(PostgresSchema.session); EXPLAIN (ANALYZE, TIMING OFF) \(page)")
    let rows = plan.compactMap { line in
      line.firstMatch(of: /actual rows=(\d+)(?:\.\d+)? loops=(\d+)/).flatMap { match in
        Int(match.1).flatMap { rows in Int(match.2).map { rows * $0 } }
      }
    }
    #expect(rows.first == store.pageLimit)
    #expect(rows.max() == store.pageLimit, "\(plan.joined(separator: "\n"))")
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
    kill(other.pid, SIGKILL)
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
    kill(stopped.pid, SIGSTOP)
    try await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    try await reached("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientWrite'", server)
    var claimed: ClaimedRoutes?
    while claimed == nil {
      try Task.checkCancellation()
      claimed = try? await blocking { try store.claim(["load:"]) }
    }
    #expect(claimed?.epochs == ["load:": 1])
    for child in [stopped, gate] {
      kill(child.pid, SIGKILL)
      _ = await child.ending()
    }
    store.leave()
    await fixture.end()
  }
}
