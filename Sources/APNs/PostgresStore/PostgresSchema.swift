// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import PushDelivery
import Synchronization
import Timekeeping

/// The tables of the push server in a PostgreSQL database, and the settings of its connections.
enum PostgresSchema {
  static let version: Int64 = 4

  /// The key of the lock that claims take exclusively and all other transactions share.
  static let routesLock: Int64 = 7_823_411_001
  /// The key of the lock under which the tables are created.
  static let schemaLock: Int64 = 7_823_411_002
  /// The key of the lock of the replica that deletes what is old.
  static let tidyingLock: Int64 = 7_823_411_003

  /// The first key of the locks of fleets without an owner; the second one is that of the fleet.
  static let fleetLock: Int32 = 78_234

  /// The numbers of one batch.
  static let numbersAtOnce = 1_024

  /// The plans do not depend on statistics: each table is read by an index, in the order of the index, so that a page
  /// costs as much as its rows and not as much as all that waits. A session that is idle in a transaction is ended after
  /// 2 s; `PostgresPushStore.endStuck` ends those that wait for their client otherwise.
  static let session = """
    SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
    SET jit = off; SET plan_cache_mode = force_generic_plan; SET idle_in_transaction_session_timeout = '2s';
    SET lock_timeout = '10s'; SET statement_timeout = '30s'
    """

  /// The tables of version 1. `fleets` follows.
  static let tables = """
    CREATE TABLE push_schema (version BIGINT NOT NULL);
    INSERT INTO push_schema VALUES (1);
    -- A replica is seen each second. The others release the routes of one that is not.
    CREATE TABLE replicas (id TEXT PRIMARY KEY, seen TIMESTAMPTZ NOT NULL);
    -- The owner of a device connection; NULL for none. The epoch grows with each owner.
    CREATE TABLE route (connection TEXT PRIMARY KEY, replica TEXT, epoch BIGINT NOT NULL);
    CREATE INDEX route_by_replica ON route (replica) WHERE replica IS NOT NULL;
    -- A transaction takes a range of numbers.
    CREATE SEQUENCE push_number INCREMENT BY \(numbersAtOnce);
    CREATE TABLE tokens (
      token TEXT PRIMARY KEY, device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL, environment TEXT NOT NULL,
      state TEXT NOT NULL, since DOUBLE PRECISION NOT NULL);
    CREATE INDEX tokens_by_age ON tokens (since, token);
    CREATE UNIQUE INDEX active_tokens ON tokens (device, bundle, use) WHERE state = 'active';
    CREATE INDEX ended_tokens ON tokens (since) WHERE state <> 'active';
    CREATE TABLE due (
      device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL, token TEXT, connection TEXT NOT NULL,
      PRIMARY KEY (device, bundle, use));
    CREATE INDEX due_of_connection ON due (connection);
    CREATE TABLE requests (
      number BIGINT PRIMARY KEY, unique_id UUID NOT NULL, apns_id TEXT NOT NULL, device TEXT, bundle TEXT, use TEXT,
      token TEXT NOT NULL, type TEXT, status SMALLINT NOT NULL, reason TEXT, at DOUBLE PRECISION NOT NULL, detail TEXT,
      next TEXT, next_detail TEXT);
    CREATE UNIQUE INDEX requests_by_id ON requests (unique_id);
    CREATE TABLE steps (
      request BIGINT NOT NULL, place BIGINT GENERATED ALWAYS AS IDENTITY, name TEXT NOT NULL,
      at DOUBLE PRECISION NOT NULL, detail TEXT NOT NULL);
    CREATE INDEX steps_of_request ON steps (request, place);
    -- What is not delivered. State 0: accepted for a replica that has not decided yet; 1: sent; 2: stored.
    CREATE TABLE kept (
      device TEXT NOT NULL, bundle TEXT NOT NULL, use TEXT NOT NULL, number BIGINT NOT NULL, connection TEXT NOT NULL,
      state SMALLINT NOT NULL, type TEXT NOT NULL, priority SMALLINT NOT NULL, collapse_id TEXT, payload TEXT NOT NULL,
      accepted_at DOUBLE PRECISION NOT NULL, expiration DOUBLE PRECISION, is_from_storage BOOLEAN NOT NULL,
      ends DOUBLE PRECISION, PRIMARY KEY (device, bundle, use, number));
    -- One is stored per device, app and use.
    CREATE UNIQUE INDEX kept_stored ON kept (device, bundle, use) WHERE state = 2;
    CREATE INDEX kept_by_end ON kept (ends) WHERE state = 2;
    CREATE INDEX kept_arrived ON kept (number) WHERE state = 0;
    """

  /// What version 2 has more.
  static let fleets = """
    CREATE TABLE fleets (name TEXT PRIMARY KEY, incarnation UUID NOT NULL, secret TEXT NOT NULL);
    -- The counts of a fleet are the sums of those of the replicas.
    CREATE TABLE fleet_pushes (
      fleet TEXT NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, replica TEXT NOT NULL,
      count BIGINT NOT NULL, PRIMARY KEY (fleet, type, name, reason, replica)) WITH (fillfactor = 50);
    CREATE INDEX active_tokens_of_fleets ON tokens (device COLLATE "C", use)
      WHERE state = 'active' AND strpos(device, ':') > 0;
    UPDATE push_schema SET version = 2;
    """

  /// What version 3 changes: a replica takes what has arrived for its own connections, however much has for others.
  static let arrivals = """
    DROP INDEX kept_arrived;
    CREATE INDEX kept_arrived ON kept (connection, number) WHERE state = 0;
    CREATE INDEX unowned_fleets ON route (connection) WHERE replica IS NULL AND right(connection, 1) = ':';
    UPDATE push_schema SET version = 3;
    """

  /// What version 4 changes: what is kept for a device is found without reading what has arrived for it.
  static let decided = """
    DROP INDEX kept_stored;
    CREATE UNIQUE INDEX kept_stored ON kept (connection, device, bundle, use) WHERE state = 2;
    CREATE INDEX kept_sent ON kept (connection, device) WHERE state = 1;
    UPDATE push_schema SET version = 4;
    """
}

/// Marks a schema of a database as used by the push servers of one cluster. The mark is a shared advisory lock: it ends
/// with the connection, however the process ends.
package struct ClusterMark: Sendable {
  /// The same for the replicas of a cluster on all machines.
  private let id: String
  private let folder: String

  /// - Parameters:
  ///   - authority: the certificate of the authority that the replicas share.
  ///   - folder: the folder of the instance.
  package init(authority: Data, folder: String) {
    id = String(decoding: authority, as: UTF8.self)
    self.folder = folder
  }

  /// The name in `pg_stat_activity`, which has at most 63 bytes.
  var connectionName: String { "push server of \(folder.utf8.count > 48 ? "…" + String(folder.suffix(40)) : folder)" }

  /// Sets the mark on a connection.
  ///
  /// - Throws: `PostgresError.objectInUse` if another cluster has one.
  func claim(_ connection: PostgresConnection) throws {
    let schema = "hashtext('widgetlab ' || current_schema())"
    try connection.execute([
      .init("SELECT pg_advisory_lock_shared(\(schema), hashtext($1::text))", [.text(id)])
    ])
    let others = try connection.execute(
      .init(
        """
        SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
          WHERE locktype = 'advisory' AND granted AND mode = 'ShareLock' AND objsubid = 2
            AND datname = current_database() AND classid::int8 = (\(schema)::int8 & 4294967295)
            AND objid::int8 <> (hashtext($1::text)::int8 & 4294967295)
        """, [.text(id)]))
    guard others.count > 0 else { return }
    throw PostgresError(
      state: PostgresError.objectInUse,
      "another cluster uses this database: \(others.text(0, 0) ?? "its name is not known"). Give each cluster its own "
        + "database, or its own schema: ?options=-c%20search_path%3DNAME")
  }
}

extension PostgresPushStore {
  /// Opens the connection of the service, as the first statement does otherwise.
  ///
  /// - Throws: `taken` if the push servers of another cluster use the database, or why it cannot be reached.
  package func connect() throws(PushStoreError) {
    do {
      try perform { _, _ in }
    } catch {
      throw error as? PushStoreError ?? PushStoreError(.refused, "\(error)")
    }
  }
}

/// Vacuums the table of what is kept. Its rows exist for milliseconds, and each page of arrivals steps over the index entries
/// of rows that are gone. PostgreSQL's autovacuum examines a table once a minute, and a crash takes its counts.
///
/// It has its own connection and executor, because a vacuum can take seconds.
actor PostgresVacuum {
  /// After so many rows that this replica has deleted or updated.
  private static let interval = 50_000

  private let url: String
  private let name: String
  private var connection: PostgresConnection?
  private nonisolated let removed = Mutex(0)
  /// The process of PostgreSQL that vacuums.
  private nonisolated let process = Mutex<Int64?>(nil)
  private nonisolated let wishes: AsyncStream<Void>
  private nonisolated let wish: AsyncStream<Void>.Continuation
  private nonisolated let executor = ServiceExecutor("push-vacuum")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ url: String, name: String) {
    self.url = url
    self.name = name
    (wishes, wish) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Counts rows that were deleted or updated. Any thread.
  nonisolated func count(_ rows: Int) {
    let isDue = removed.withLock { removed in
      removed += rows
      guard removed >= Self.interval else { return false }
      removed = 0
      return true
    }
    if isDue { request() }
  }

  /// Requests a vacuum soon, unless the last one of any replica was in the last 10 s. Any thread.
  nonisolated func request() { wish.yield() }

  /// Runs until the task is cancelled, which also ends a vacuum.
  func run() async {
    await withTaskCancellationHandler {
      for await _ in wishes { perform() }
    } onCancel: {
      guard let process = process.withLock({ $0 }) else { return }
      try? PostgresConnection(url, name: name).execute("SELECT pg_cancel_backend(\(process))")
    }
  }

  private func perform() {
    do {
      let session = try connection ?? PostgresConnection(url, name: name)
      connection = session
      let ownPID = try session.execute(.init("SELECT pg_backend_pid()::int8")).int(0, 0)
      process.withLock { $0 = ownPID }
      defer { process.withLock { $0 = nil } }
      guard !Task.isCancelled else { return }
      let isRecent = try session.execute(
        .init(
          """
          SELECT COALESCE(last_vacuum > now() - interval '10 s', false) FROM pg_stat_user_tables
            WHERE relid = 'kept'::regclass
          """)
      ).bool(0, 0)
      guard !isRecent else { return }
      // Another replica may be doing it. `TRUNCATE` would lock the table, and `PARALLEL` take the CPU of the pushes.
      try session.execute("VACUUM (SKIP_LOCKED, TRUNCATE off, PARALLEL 0) kept")
    } catch {
      // The database is away, which the service reports, or the vacuum was cancelled.
      connection = nil
    }
  }
}
