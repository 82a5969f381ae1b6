// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Foundation
package import Messages
package import PushDelivery
import Synchronization

/// The store in a PostgreSQL database, which several push servers share.
///
/// The service's statements run on one connection, on the executor of the service. Look-ups and pages of the log have a
/// second connection, notifications a third one, and vacuums a fourth one.
package final class PostgresPushStore: SharedPushStore {
  /// The connection of the service.
  struct Session {
    var connection: PostgresConnection?
    /// Whether `begin` has opened a transaction.
    var isOpen = false
    var hasTables = false
  }

  package let replica: String
  package let signals: AsyncStream<SharedPushSignal>
  package var batchLimit: Int { PostgresSchema.numbersAtOnce }
  package var pageLimit: Int { 1_000 }
  let url: String
  let settings: PushSettings
  /// `nil`: the database may be shared with other clusters.
  let cluster: ClusterMark?
  let session = Mutex(Session())
  let reader: PostgresReader
  let listener: PostgresListener
  let vacuum: PostgresVacuum

  /// Does not connect yet.
  ///
  /// - Parameters:
  ///   - url: a connection URI of libpq.
  ///   - address: of this process on the bus.
  ///   - cluster: refuses a database that another cluster uses.
  /// - Throws: `PushStoreError` `refused` when the URI is wrong.
  package init(_ url: String, address: Address, settings: PushSettings, cluster: ClusterMark? = nil) throws {
    if let objection = PostgresConnection.objection(to: url) {
      throw PushStoreError(.refused, "the database cannot be used: \(objection)")
    }
    self.url = url
    self.settings = settings
    self.cluster = cluster
    // Another process instance at this address is another replica: it has other notifications in memory.
    replica = "\(address)#" + UUID().uuidString.prefix(8).lowercased()
    let (signals, continuation) = AsyncStream.makeStream(of: SharedPushSignal.self)
    self.signals = signals
    reader = PostgresReader(url, name: replica)
    listener = PostgresListener(url, replica: replica, signals: continuation)
    vacuum = PostgresVacuum(url, name: replica)
  }

  package func listen() async {
    async let vacuuming: Void = vacuum.run()
    await listener.run()
    await vacuuming
  }

  /// Nothing: all is read when a connection of devices is claimed.
  package func left() throws -> PushesLeft { PushesLeft() }

  // MARK: The connection of the service

  /// Runs statements on the service's connection, and opens it first if that is needed.
  ///
  /// - Throws: `PushStoreError`.
  func perform<Result: Sendable>(
    isCommit: Bool = false, _ body: (PostgresConnection, inout Session) throws -> Result
  ) throws -> Result {
    try session.withLock { session in
      do {
        let connection = try connected(&session)
        return try body(connection, &session)
      } catch let error as PostgresError {
        let ended = error.endsConnection
        if ended {
          session.connection = nil
        } else if let connection = session.connection, connection.isInTransaction {
          // The transaction has failed, whichever statement has.
          do { try connection.execute("ROLLBACK") } catch { session.connection = nil }
        }
        session.isOpen = false
        let code: PushStoreError.Code = error.isTaken ? .taken : error.isConflict ? .conflict : ended ? .away : .refused
        throw PushStoreError(code, error.description, isDefinite: !(isCommit && ended))
      }
    }
  }

  private func connected(_ session: inout Session) throws -> PostgresConnection {
    if let connection = session.connection { return connection }
    let connection = try PostgresConnection(url, name: cluster?.connectionName ?? replica)
    try connection.execute(PostgresSchema.session)
    try cluster?.claim(connection)
    if !session.hasTables {
      try makeTables(connection)
      session.hasTables = true
    }
    try connection.execute(Self.presence(replica))
    session.connection = connection
    session.isOpen = false
    return connection
  }

  /// Reports that a replica runs, also after others have released its routes.
  static func presence(_ replica: String) -> PostgresConnection.Command {
    .init(
      "INSERT INTO replicas (id, seen) VALUES ($1::text, now()) ON CONFLICT (id) DO UPDATE SET seen = now()",
      [.text(replica)])
  }

  private func makeTables(_ connection: PostgresConnection) throws {
    try connection.execute(
      "BEGIN; SET LOCAL lock_timeout = '30s'; SELECT pg_advisory_xact_lock(\(PostgresSchema.schemaLock))")
    let exists = try connection.execute(.init("SELECT to_regclass('push_schema') IS NOT NULL")).bool(0, 0)
    if !exists { try connection.execute(PostgresSchema.tables) }
    var version = try connection.execute(.init("SELECT version FROM push_schema")).int(0, 0)
    if version == 1 {
      try connection.execute(PostgresSchema.fleets)
      version = 2
    }
    if version == 2 {
      try connection.execute(PostgresSchema.arrivals)
      version = 3
    }
    if version == 3 {
      try connection.execute(PostgresSchema.decided)
      version = 4
    }
    try connection.execute("COMMIT")
    guard version == PostgresSchema.version else {
      throw PostgresError(
        state: "0A000",
        "the database has tables of version \(version), and this push server needs version \(PostgresSchema.version)")
    }
  }

  // MARK: Routes

  /// Begins a transaction that changes routes. It fails with a conflict when others do not end theirs within 3 s.
  private static let lockingRoutes: [PostgresConnection.Command] = [
    .init("BEGIN"), .init("SET LOCAL lock_timeout = '3s'"),
    .init("SELECT pg_advisory_xact_lock(\(PostgresSchema.routesLock))"),
  ]

  /// Ends the transactions of replicas that are stopped or cut off, so that they do not block those that continue.
  /// `idle_in_transaction_session_timeout` ends only a session that is idle, and not one that cannot send its rows.
  private static let endStuck = PostgresConnection.Command(
    """
    SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND (classid::int8 << 32 | objid::int8) = \(PostgresSchema.routesLock) AND pid <> pg_backend_pid()
        AND datname = current_database() AND state <> 'idle' AND wait_event_type = 'Client'
        AND state_change < clock_timestamp() - interval '2 s'
    """)

  package func claim(_ connections: [String]) throws -> ClaimedRoutes {
    try perform { connection, _ in
      try connection.execute([Self.endStuck])
      let found = try connection.execute(
        Self.lockingRoutes + [
          .init(
            """
            INSERT INTO route AS former (connection, replica, epoch)
              SELECT connection, $2::text, 1 FROM unnest($1::text[]) AS connection
              ON CONFLICT (connection) DO UPDATE SET replica = excluded.replica, epoch = former.epoch + 1
              RETURNING connection, epoch
            """, [.texts(connections), .text(replica)]),
          .init(
            "SELECT device, bundle, use, token FROM due WHERE connection = ANY($1::text[])", [.texts(connections)]),
          Self.presence(replica),
        ] + claimed(fleets: connections.compactMap(FleetDevice.fleet)) + [.init("COMMIT")])
      var claimed = ClaimedRoutes()
      let (routes, due) = (found[Self.lockingRoutes.count], found[Self.lockingRoutes.count + 1])
      for row in 0..<routes.count { claimed.epochs[routes.text(row, 0) ?? ""] = routes.int(row, 1) }
      // Its new owner reads what is kept for a fleet.
      if connections.contains(where: { FleetDevice.fleet(of: $0) != nil }) { vacuum.request() }
      claimed.due = try (0..<due.count).map { row in (try due.subject(row, 0), due.text(row, 3)) }
      return claimed
    }
  }

  /// The open single attempts of former owners become interrupted ones.
  private func claimed(fleets: [String]) -> [PostgresConnection.Command] {
    fleets.isEmpty ? [] : [interrupt("fleet = ANY($2::text[])", .texts(fleets))]
  }

  package func releaseEnded() throws {
    // After a restart of the database no process has been seen for a while.
    let ended = """
      seen < now() - interval '5 s' AND id <> $1::text AND pg_postmaster_start_time() < now() - interval '10 s'
      """
    try perform { connection, _ in
      let found = try connection.execute(
        .init("SELECT EXISTS (SELECT 1 FROM replicas WHERE \(ended))", [.text(replica)]))
      guard found.bool(0, 0) else { return }
      try connection.execute([Self.endStuck])
      try connection.execute(
        Self.lockingRoutes + [release(ended.replacing("$1", with: "$2")), .init("COMMIT")])
    }
  }

  package func leave() {
    // Without this the other replicas release the routes after 5 s.
    guard session.withLock({ $0.connection != nil }) else { return }
    try? perform { connection, session in
      if session.isOpen { try connection.execute("ROLLBACK") }
      session.isOpen = false
      try connection.execute([Self.endStuck])
      try connection.execute(
        Self.lockingRoutes + [
          .init("UPDATE route SET replica = NULL, epoch = epoch + 1 WHERE replica = $1::text", [.text(replica)]),
          .init("DELETE FROM replicas WHERE id = $1::text", [.text(replica)]),
          interrupt("replica = $2::text", .text(replica)),
          .init("COMMIT"),
        ])
    }
    session.withLock { $0.connection = nil }
  }

  package func announce(_ owners: Set<String>) { listener.announce(owners.map { ($0, "") }) }

  package func announce(ended token: String, of subject: PushSubject, to owner: String) {
    listener.announce([(owner, [token, subject.device, subject.bundle, subject.use.rawValue].joined(separator: "\t"))])
  }
}

extension PostgresRows {
  /// The subject in three columns.
  func subject(_ row: Int, _ column: Int) throws -> PushSubject {
    PushSubject(
      device: text(row, column) ?? "", bundle: text(row, column + 1) ?? "", use: try known(row, column + 2))
  }

  func known<Value: RawRepresentable<String>>(_ row: Int, _ column: Int) throws -> Value {
    let text = text(row, column) ?? ""
    guard let value = Value(rawValue: text) else {
      throw PostgresError(
        state: "22000", "the push server's database has \"\(text)\" where a \(Value.self) is expected")
    }
    return value
  }

  /// `token, device, bundle, use, environment, state, since`.
  func token(_ row: Int) throws -> DeviceToken {
    DeviceToken(
      token: text(row, 0) ?? "", subject: try subject(row, 1), environment: try known(row, 4), state: try known(row, 5),
      since: date(row, 6) ?? .distantPast)
  }

  /// The columns of `PostgresPushStore.columns`.
  func push(_ row: Int) throws -> StoredPush {
    let notification = PushedNotification(
      uniqueID: uuid(row, 4), apnsID: text(row, 5) ?? "", subject: try subject(row, 0), type: try known(row, 8),
      priority: Int(int(row, 9)), collapseID: text(row, 10), payload: text(row, 11) ?? "",
      acceptedAt: date(row, 12) ?? .distantPast, expiration: date(row, 13), isFromStorage: bool(row, 14))
    var push = StoredPush(number: int(row, 3), notification: notification, token: text(row, 6) ?? "")
    push.isHeld = int(row, 7) == 2
    return push
  }
}
