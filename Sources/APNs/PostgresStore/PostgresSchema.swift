// SPDX-License-Identifier: Apache-2.0

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
