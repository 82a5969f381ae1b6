// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages
import PostgresTesting
import PushDelivery
import Testing

@testable import PostgresStore

/// The cost of a page of arrivals, by the plan that PostgreSQL performed.
@Suite(
  .timeLimit(.minutes(1)), .postgres,
  .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed: run scripts/prerequisites"))
struct `Pages of arrivals` {
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
      line.firstMatch(of: /actual rows=(\d+) loops=(\d+)/).flatMap { match in
        Int(match.1).flatMap { rows in Int(match.2).map { rows * $0 } }
      }
    }
    #expect(rows.first == store.pageLimit)
    #expect(rows.max() == store.pageLimit, "\(plan.joined(separator: "\n"))")
    store.leave()
    await fixture.end()
  }
}
