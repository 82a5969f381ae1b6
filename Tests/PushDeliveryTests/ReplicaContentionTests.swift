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
  .timeLimit(.minutes(1)), .serialized, .postgres,
  .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed: run scripts/prerequisites"))
struct `Replicas side by side` {
  /// Claims, and repeats that after a conflict with another test, as the service does.
  private func claim(_ connections: [String], _ store: PostgresPushStore) async throws -> ClaimedRoutes {
    while true {
      try Task.checkCancellation()
      do { return try store.claim(connections) } catch let error as PushStoreError where error.code == .conflict {}
    }
  }

  /// A backlog once made each page sort all of it, so that a new owner of a fleet needed seconds for each page.
  @Test func `a page reads as many rows as it returns, whatever waits for this replica and for others`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let store = try PostgresPushStore(
      try await fixture.url(), address: .pushServer("1"), settings: PushSettings())
    _ = try await claim(["ours"], store)
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
      line.firstMatch(of: /actual rows=(\d+) loops=(\d+)/).flatMap { match in
        Int(match.1).flatMap { rows in Int(match.2).map { rows * $0 } }
      }
    }
    #expect(rows.first == store.pageLimit)
    #expect(rows.max() == store.pageLimit, "\(plan.joined(separator: "\n"))")
    store.leave()
    await fixture.end()
  }

  /// Two replicas that stored for the same devices once failed with conflicts, each time again.
  @Test func `one replica at a time stores for a fleet without an owner`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let url = try await fixture.url()
    let stores = try ["1", "2"].map { try PostgresPushStore(url, address: .pushServer($0), settings: PushSettings()) }
    var scope = SharedScope()
    scope.subjects = [PushSubject(device: "load:3", bundle: "com.example.app", use: .app)]
    _ = try stores[0].begin(scope)
    let second = Task.detached { [scope] in
      _ = try stores[1].begin(scope)
      stores[1].rollBack()
    }
    let waiting = """
      SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = \(PostgresSchema.fleetLock)
      """
    while try await fixture.query(waiting) != ["1"] { try Task.checkCancellation() }
    stores[0].rollBack()
    try await second.value
    for store in stores { store.leave() }
    await fixture.end()
  }

  /// A backend that could not send its rows once blocked all claims until the replica continued.
  @Test func `a stopped process that reads no rows does not block the claim of another one`() async throws {
    // Its lock would also block the other tests of a shared server.
    let server = try await PostgresCluster()
    try await server.start()
    let store = try PostgresPushStore(server.url(), address: .pushServer("1"), settings: PushSettings())
    let stopped = try await server.session(
      """
      BEGIN; SELECT pg_advisory_xact_lock_shared(\(PostgresSchema.routesLock));
      SELECT repeat('x', 1000) FROM generate_series(1, 200000)
      """)
    let holds = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientWrite'"
    repeat {
      kill(stopped.pid, SIGCONT)
      try await Task.sleep(for: .milliseconds(5))
      kill(stopped.pid, SIGSTOP)
    } while try await server.query(holds) != ["1"]
    #expect(try await claim(["load:"], store).epochs == ["load:": 1])
    kill(stopped.pid, SIGKILL)
    _ = await stopped.ending()
    store.leave()
    await server.stop()
  }
}
