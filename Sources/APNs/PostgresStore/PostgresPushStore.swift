// SPDX-License-Identifier: Apache-2.0

import FaultPoints
package import Foundation
package import Messages
package import PushDelivery
package import PushRules
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
      let results = try connection.execute(
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
      let (routes, due) = (results[Self.lockingRoutes.count], results[Self.lockingRoutes.count + 1])
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
  private func push(_ row: Int) throws -> StoredPush {
    let notification = PushedNotification(
      uniqueID: uuid(row, 4), apnsID: text(row, 5) ?? "", subject: try subject(row, 0), type: try known(row, 8),
      priority: Int(int(row, 9)), collapseID: text(row, 10), payload: text(row, 11) ?? "",
      acceptedAt: date(row, 12) ?? .distantPast, expiration: date(row, 13), isFromStorage: bool(row, 14))
    var push = StoredPush(number: int(row, 3), notification: notification, token: text(row, 6) ?? "")
    push.isHeld = int(row, 7) == 2
    return push
  }
}

extension PostgresPushStore {
  static let columns = """
    kept.device, kept.bundle, kept.use, kept.number, requests.unique_id, requests.apns_id, requests.token, kept.state,
    kept.type, kept.priority, kept.collapse_id, kept.payload, kept.accepted_at, kept.expiration, kept.is_from_storage
    """

  // MARK: One transaction

  package func begin(_ scope: SharedScope) throws -> SharedView {
    try perform { connection, session in
      var commands: [PostgresConnection.Command] = [
        .init("BEGIN"), .init("SET LOCAL lock_timeout = '3s'"),
        .init("SELECT pg_advisory_xact_lock_shared(\(PostgresSchema.routesLock))"),
      ]
      var places: [String: Int] = [:]
      func add(_ name: String, if isNeeded: Bool, _ command: @autoclosure () -> PostgresConnection.Command) {
        guard isNeeded else { return }
        places[name] = commands.count
        commands.append(command())
      }
      let fleets = Set(scope.subjects.map(\.connection)).filter { FleetDevice.fleet(of: $0) != nil }
      add("unowned", if: scope.isTaking || !fleets.isEmpty, Self.lock(unowned: fleets.sorted(), andAll: scope.isTaking))
      add("number", if: scope.requests > 0, .init("SELECT nextval('push_number')"))
      add("routes", if: !scope.connections.isEmpty, Self.routes(scope.connections))
      add("tokens", if: !scope.tokens.isEmpty, Self.tokens(scope.tokens))
      add("held", if: !scope.subjects.isEmpty, Self.held(of: scope.subjects.sorted()))
      add("kept", if: !scope.devices.isEmpty, Self.kept(of: scope.devices))
      add("taken", if: scope.isTaking, taken(except: scope.full))
      add("ended", if: scope.endsBy != nil, ended(by: scope.endsBy ?? .distantPast))
      // A transaction that begins and fails is rolled back by `rollBack`.
      session.isOpen = true
      let results = try connection.execute(commands)
      var view = SharedView()
      func rows(_ name: String) -> PostgresRows? { places[name].map { results[$0] } }
      view.firstNumber = rows("number")?.int(0, 0) ?? 0
      rows("routes")?.each { rows, row in view.add(route: rows, row, 0) }
      try rows("tokens")?.each { rows, row in
        let token = try rows.token(row)
        view.tokens[token.token] = token
      }
      view.held = try rows("held")?.pushes() ?? []
      view.keptPushes = try rows("kept")?.pushes() ?? []
      view.takenPushes = try rows("taken")?.pushes() ?? []
      view.ended = try rows("ended")?.pushes() ?? []
      for name in ["taken", "ended"] { rows(name)?.each { rows, row in view.add(route: rows, row, 15) } }
      return view
    }
  }

  private static func routes(_ connections: Set<String>) -> PostgresConnection.Command {
    .init(
      """
      SELECT connection, replica, epoch FROM route WHERE connection = ANY($1::text[]) AND replica IS NOT NULL
      """, [.texts(connections.sorted())])
  }

  private static func tokens(_ tokens: [String]) -> PostgresConnection.Command {
    .init(
      "SELECT token, device, bundle, use, environment, state, since FROM tokens WHERE token = ANY($1::text[])",
      [.texts(Array(Set(tokens)))])
  }

  /// Joins the request of each row of `kept`, by one look-up. Of a plain join PostgreSQL reads all requests for each row
  /// while the tables were empty when it examined them last.
  private static let request = """
    CROSS JOIN LATERAL (
      SELECT unique_id, apns_id, token FROM requests WHERE requests.number = kept.number OFFSET 0) AS requests
    """

  /// Joins the owner of a connection, if it has one, by one look-up.
  private static func route(of connection: String) -> String {
    """
    LEFT JOIN LATERAL (
      SELECT replica, epoch FROM route WHERE route.connection = \(connection) OFFSET 0) AS route ON true
    """
  }

  /// In one order, so that two replicas do not wait for each other.
  static func held(of subjects: [PushSubject]) -> PostgresConnection.Command {
    .init(
      """
      SELECT \(columns) FROM (
          SELECT subject.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
            AS subject (device, bundle, use, connection)
            \(route(of: "subject.connection")) WHERE route.replica IS NULL OFFSET 0) AS subject
        CROSS JOIN LATERAL (
          SELECT * FROM kept WHERE kept.connection = subject.connection AND kept.device = subject.device
            AND kept.bundle = subject.bundle AND kept.use = subject.use AND kept.state = 2 FOR UPDATE) AS kept
        \(request)
      """,
      [
        .texts(subjects.map(\.device)), .texts(subjects.map(\.bundle)), .texts(subjects.map(\.use.rawValue)),
        .texts(subjects.map(\.connection)),
      ])
  }

  /// What is sent or stored. What has arrived is not read, however much that is.
  static func kept(of devices: [String]) -> PostgresConnection.Command {
    .init(
      """
      SELECT \(columns) FROM (
          SELECT * FROM unnest($1::text[], $2::text[]) AS wanted (device, connection) OFFSET 0) AS wanted
        CROSS JOIN LATERAL (
          SELECT * FROM kept WHERE state = 1 AND connection = wanted.connection AND device = wanted.device
          UNION ALL
          SELECT * FROM kept WHERE state = 2 AND connection = wanted.connection AND device = wanted.device) AS kept
        \(request) ORDER BY kept.number
      """, [.texts(devices), .texts(devices.map(PushSubject.connection))])
  }

  /// Locks fleets without an owner: one replica at a time stores for them. Two that store for the same devices would
  /// both fail, each time again if there are many pushes.
  ///
  /// - Parameter all: also those for which something has arrived that their former owner has not handled.
  private static func lock(unowned fleets: [String], andAll all: Bool) -> PostgresConnection.Command {
    let left = """
      UNION SELECT connection FROM route WHERE replica IS NULL AND right(connection, 1) = ':'
        AND EXISTS (SELECT 1 FROM kept WHERE kept.state = 0 AND kept.connection = route.connection)
      """
    return .init(
      """
      SELECT pg_advisory_xact_lock(\(PostgresSchema.fleetLock), hashtext(connection)) FROM (
        SELECT wanted.connection FROM unnest($1::text[]) AS wanted (connection)
          \(route(of: "wanted.connection")) WHERE route.replica IS NULL
        \(all ? left : "")
        ORDER BY connection OFFSET 0) AS unowned
      """, [.texts(fleets)])
  }

  /// What has arrived for connections of this replica, or for those that an owner has left: the oldest page. It finds
  /// each connection by one look-up in the index, and reads at most a page of it. Rows that another transaction is
  /// handing over are left to it.
  ///
  /// - Parameter full: connections of which nothing is taken.
  func taken(except full: Set<String> = []) -> PostgresConnection.Command {
    .init(
      """
      WITH RECURSIVE arrived (connection) AS (
        (SELECT connection FROM kept WHERE state = 0 ORDER BY connection LIMIT 1)
        UNION ALL
        SELECT (SELECT kept.connection FROM kept WHERE state = 0 AND kept.connection > arrived.connection
          ORDER BY kept.connection LIMIT 1) FROM arrived WHERE arrived.connection IS NOT NULL)
      SELECT \(Self.columns), kept.connection, route.replica, route.epoch
        FROM (
          SELECT arrived.connection, route.replica, route.epoch
            FROM arrived \(Self.route(of: "arrived.connection"))
            WHERE arrived.connection IS NOT NULL AND (route.replica = $1::text OR route.replica IS NULL)
              AND arrived.connection <> ALL ($2::text[])
            OFFSET 0) AS route
        CROSS JOIN LATERAL (
          SELECT * FROM kept WHERE kept.state = 0 AND kept.connection = route.connection
            ORDER BY kept.number LIMIT \(pageLimit) FOR UPDATE SKIP LOCKED) AS kept
        \(Self.request)
        ORDER BY kept.number LIMIT \(pageLimit)
      """, [.text(replica), .texts(full.sorted())])
  }

  private func ended(by date: Date) -> PostgresConnection.Command {
    .init(
      """
      SELECT \(Self.columns), kept.connection, route.replica, route.epoch FROM kept
        \(Self.request) \(Self.route(of: "kept.connection"))
        WHERE kept.state = 2 AND kept.ends <= $2::float8 AND (route.replica = $1::text OR route.replica IS NULL)
        ORDER BY kept.ends LIMIT \(pageLimit) FOR UPDATE OF kept SKIP LOCKED
      """, [.text(replica), .double(date.timeIntervalSince1970)])
  }

  package func held(of subjects: [PushSubject]) throws -> [StoredPush] {
    try perform { connection, _ in try connection.execute(Self.held(of: subjects.sorted())).pushes() }
  }

  package func rollBack() {
    session.withLock { session in
      guard session.isOpen else { return }
      session.isOpen = false
      do { try session.connection?.execute("ROLLBACK") } catch { session.connection = nil }
    }
  }

  // MARK: Without a transaction

  package func kept(of device: String) throws -> [StoredPush] { try kept(of: [device]) }

  package func kept(of devices: [String]) throws -> [StoredPush] {
    try perform { connection, _ in try connection.execute(Self.kept(of: devices)).pushes() }
  }

  /// None: a poll returns those that have ended, see `SharedView`.
  package func ends(after place: StoredEnd, by date: Date?, limit: Int) throws -> [StoredEnd] { [] }

  package func token(_ token: String) throws -> DeviceToken? {
    try perform { connection, _ in
      let found = try connection.execute(Self.tokens([token]))
      return found.count == 0 ? nil : try found.token(0)
    }
  }

  package func active(_ subject: PushSubject) throws -> DeviceToken? {
    try perform { connection, _ in
      let found = try connection.execute(PostgresReader.active(subject))
      return found.count == 0 ? nil : try found.token(0)
    }
  }

  package func tokens(_ tokens: [String]) async throws -> [DeviceToken] {
    try await reader.read { connection in
      let found = try connection.execute(Self.tokens(tokens))
      return try (0..<found.count).map { try found.token($0) }
    }
  }

  package func current(_ subject: PushSubject) async throws -> DeviceToken? {
    try await reader.read { connection in
      let found = try connection.execute(PostgresReader.active(subject))
      return found.count == 0 ? nil : try found.token(0)
    }
  }

  package func page(_ request: ListTokens) async throws -> [DeviceToken] { try await reader.page(request) }

  package func page(_ request: ListPushes) async throws -> ListPushes.Reply { try await reader.page(request) }
}

extension SharedView {
  /// Adds the route in three columns.
  fileprivate mutating func add(route rows: PostgresRows, _ row: Int, _ column: Int) {
    guard let connection = rows.text(row, column), let replica = rows.text(row, column + 1) else { return }
    routes[connection] = PushRoute(replica: replica, epoch: rows.int(row, column + 2))
  }
}

extension PostgresRows {
  func each(_ body: (PostgresRows, Int) throws -> Void) rethrows { for row in 0..<count { try body(self, row) } }

  func pushes() throws -> [StoredPush] { try (0..<count).map { try push($0) } }
}

extension Collection<PushSubject> {
  /// In the order of the rows.
  func sorted() -> [PushSubject] {
    sorted { ($0.device, $0.bundle, $0.use.rawValue) < ($1.device, $1.bundle, $1.use.rawValue) }
  }
}

extension PostgresPushStore {
  /// Ends the transaction that `begin` has opened, or is one.
  @discardableResult
  package func write(_ changes: PushChanges, forgetting old: OldPushes?) throws -> ForgottenPushes {
    let points: (before: FaultPoint, after: FaultPoint) =
      changes.tokens.isEmpty
      ? (.pushServerBeforePushesSaved, .pushServerAfterPushesSaved)
      : (.pushServerBeforeTokensSaved, .pushServerAfterTokensSaved)
    var commands = insertions(of: changes)
    let isEmpty = commands.isEmpty && old == nil
    if !isEmpty, let code = points.before.failure() {
      throw PushStoreError(.refused, "\(String(cString: strerror(code))), injected at \(points.before.name)")
    }
    let forgotten = try perform(isCommit: true) { connection, session in
      if !session.isOpen { commands.insert(.init("BEGIN"), at: 0) }
      session.isOpen = true
      var forgotten = ForgottenPushes()
      if let old {
        // Not in one round trip, because the next statement depends on the result.
        if !commands.isEmpty { try connection.execute(commands) }
        commands = []
        forgotten = try forget(old, connection)
      }
      commands.append(.init("COMMIT"))
      try connection.execute(commands)
      session.isOpen = false
      return forgotten
    }
    if !isEmpty { points.after.reached() }
    vacuum.count(changes.dropped.count + changes.keptPushes.count)
    return forgotten
  }

  private func insertions(of changes: PushChanges) -> [PostgresConnection.Command] {
    var commands: [PostgresConnection.Command] = []
    if !changes.requests.isEmpty { commands.append(Self.insert(changes.requests)) }
    if !changes.dropped.isEmpty { commands.append(Self.delete(changes.dropped)) }
    let sentPushes = changes.sentFromStorage.values.filter { changes.keptPushes[$0.number] == nil }
    if !sentPushes.isEmpty { commands.append(Self.markSent(sentPushes.sorted { $0.number < $1.number })) }
    // In one order, so that two replicas do not wait for each other.
    let kept = (changes.keptPushes.values.map { ($0, changes.state(of: $0)) } + changes.forwarded.map { ($0, 0) })
      .sorted { $0.0.notification.subject.place($0.0.number) < $1.0.notification.subject.place($1.0.number) }
    if !kept.isEmpty { commands.append(keep(kept)) }
    if !changes.steps.isEmpty { commands.append(Self.insert(changes.steps)) }
    if !changes.progress.isEmpty { commands.append(Self.insert(changes.progress)) }
    return commands + Self.commands(of: changes.tokens) + self.commands(ofCounts: changes)
  }

  /// Tokens are written together: first those that end, because a subject has one active token.
  private static func commands(of writes: [PushChanges.TokenWrite]) -> [PostgresConnection.Command] {
    var last: [String: DeviceToken] = [:]
    var others: [PostgresConnection.Command] = []
    for write in writes {
      switch write {
      case .token(let token): last[token.token] = token
      case .notificationDue(let subject, let token): others.append(notificationDue(subject, token))
      case .notified(let subject, let token): others.append(notified(subject, token))
      }
    }
    let tokens = last.values.sorted { $0.token < $1.token }
    let ended = tokens.filter { $0.state != .active }
    let active = tokens.filter { $0.state == .active }
    return [ended, active].filter { !$0.isEmpty }.map(insert) + others
  }

  private static func insert(_ requests: [PushChanges.Request]) -> PostgresConnection.Command {
    let results = requests.map { request -> (status: Int16, reason: String?) in
      switch request.arrival.verdict {
      case .accepted: (200, nil)
      case .refused(let status, let reason, _): (Int16(clamping: status), reason)
      }
    }
    return .init(
      """
      INSERT INTO requests (number, unique_id, apns_id, device, bundle, use, token, type, status, reason, at, detail, next,
        next_detail)
        SELECT * FROM unnest($1::int8[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
          $8::text[], $9::int2[], $10::text[], $11::float8[], $12::text[], $13::text[], $14::text[])
      """,
      [
        .int64s(requests.map(\.number)), .uuids(requests.map(\.arrival.uniqueID)),
        .texts(requests.map(\.arrival.apnsID)), .texts(requests.map { $0.arrival.subject?.device }),
        .texts(requests.map { $0.arrival.subject?.bundle }), .texts(requests.map { $0.arrival.subject?.use.rawValue }),
        .texts(requests.map(\.arrival.token)), .texts(requests.map(\.arrival.type)), .int16s(results.map(\.status)),
        .texts(results.map(\.reason)), .doubles(requests.map(\.at.timeIntervalSince1970)),
        .texts(requests.map(\.detail)), .texts(requests.map { $0.next?.name.rawValue }),
        .texts(requests.map { $0.next?.detail }),
      ])
  }

  private static let rows =
    "unnest($1::text[], $2::text[], $3::text[], $4::int8[]) AS row (device, bundle, use, number)"
  private static let isRow = """
    kept.device = row.device AND kept.bundle = row.bundle AND kept.use = row.use AND kept.number = row.number
    """

  private static func keys(_ pushes: [StoredPush]) -> [PostgresValue] {
    let subjects = pushes.map(\.notification.subject)
    return [
      .texts(subjects.map(\.device)), .texts(subjects.map(\.bundle)), .texts(subjects.map(\.use.rawValue)),
      .int64s(pushes.map(\.number)),
    ]
  }

  private static func delete(_ pushes: [StoredPush]) -> PostgresConnection.Command {
    .init("DELETE FROM kept USING \(rows) WHERE \(isRow)", keys(pushes))
  }

  private static func markSent(_ pushes: [StoredPush]) -> PostgresConnection.Command {
    .init("UPDATE kept SET state = 1 FROM \(rows) WHERE \(isRow)", keys(pushes))
  }

  /// A row exists when another replica has accepted the notification, or when the device has refused it. The transaction
  /// fails, and is repeated, when another replica has stored a notification of the same subject in between.
  private func keep(_ keptPushes: [(push: StoredPush, state: Int)]) -> PostgresConnection.Command {
    let pushes = keptPushes.map(\.push.notification)
    return .init(
      """
      INSERT INTO kept (device, bundle, use, number, connection, state, type, priority, collapse_id, payload, accepted_at,
        expiration, is_from_storage, ends)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::int2[], $7::text[],
          $8::int2[], $9::text[], $10::text[], $11::float8[], $12::float8[], $13::bool[], $14::float8[])
        ON CONFLICT (device, bundle, use, number) DO UPDATE
          SET state = excluded.state, is_from_storage = excluded.is_from_storage, ends = excluded.ends
      """,
      Self.keys(keptPushes.map(\.push)) + [
        .texts(pushes.map(\.subject.connection)), .int16s(keptPushes.map { Int16($0.state) }),
        .texts(pushes.map(\.type.rawValue)), .int16s(pushes.map { Int16($0.priority) }),
        .texts(pushes.map(\.collapseID)), .texts(pushes.map(\.payload)),
        .doubles(pushes.map(\.acceptedAt.timeIntervalSince1970)),
        .doubles(pushes.map { $0.expiration?.timeIntervalSince1970 }), .bools(pushes.map(\.isFromStorage)),
        .doubles(keptPushes.map { $0.state == 2 ? $0.push.end(settings).timeIntervalSince1970 : nil }),
      ])
  }

  private static func insert(_ steps: [(number: Int64, step: PushStep)]) -> PostgresConnection.Command {
    .init(
      """
      INSERT INTO steps (request, name, at, detail)
        SELECT * FROM unnest($1::int8[], $2::text[], $3::float8[], $4::text[])
      """,
      [
        .int64s(steps.map(\.number)), .texts(steps.map(\.step.name.rawValue)),
        .doubles(steps.map(\.step.at.timeIntervalSince1970)), .texts(steps.map { $0.step.detail ?? "" }),
      ])
  }

  /// Inserts the progress of a request once, even if a device reports it twice. Ignores deleted requests.
  private static func insert(_ progress: [PushProgress]) -> PostgresConnection.Command {
    var seen: [UUID: Set<PushStep>] = [:]
    let progress = progress.filter { seen[$0.uniqueID, default: []].insert($0.step).inserted }
    return .init(
      """
      INSERT INTO steps (request, name, at, detail)
        SELECT requests.number, row.name, row.at, row.detail
          FROM unnest($1::uuid[], $2::text[], $3::float8[], $4::text[]) AS row (unique_id, name, at, detail)
          CROSS JOIN LATERAL (SELECT number FROM requests WHERE requests.unique_id = row.unique_id OFFSET 0) AS requests
          WHERE NOT EXISTS (
            SELECT 1 FROM steps WHERE steps.request = requests.number AND steps.name = row.name AND steps.at = row.at
              AND steps.detail = row.detail)
      """,
      [
        .uuids(progress.map(\.uniqueID)), .texts(progress.map(\.step.name.rawValue)),
        .doubles(progress.map(\.step.at.timeIntervalSince1970)), .texts(progress.map { $0.step.detail ?? "" }),
      ])
  }

  /// A token that has ended stays so, and a fleet's token is not issued when a later one is active: the request was
  /// repeated after another one.
  private static func insert(_ tokens: [DeviceToken]) -> PostgresConnection.Command {
    .init(
      """
      INSERT INTO tokens AS former (token, device, bundle, use, environment, state, since)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[])
          AS row (token, device, bundle, use, environment, state, since)
          WHERE row.state <> 'active' OR strpos(row.device, ':') = 0 OR NOT EXISTS (
            SELECT 1 FROM tokens AS later WHERE later.device = row.device AND later.bundle = row.bundle
              AND later.use = row.use AND later.state = 'active' AND later.token <> row.token)
        ON CONFLICT (token) DO UPDATE SET state = excluded.state, since = excluded.since WHERE former.state = 'active'
      """,
      [
        .texts(tokens.map(\.token)), .texts(tokens.map(\.subject.device)), .texts(tokens.map(\.subject.bundle)),
        .texts(tokens.map(\.subject.use.rawValue)), .texts(tokens.map(\.environment.rawValue)),
        .texts(tokens.map(\.state.rawValue)), .doubles(tokens.map(\.since.timeIntervalSince1970)),
      ])
  }

  private static func notificationDue(_ subject: PushSubject, _ token: String?) -> PostgresConnection.Command {
    .init(
      """
      INSERT INTO due (device, bundle, use, connection, token)
        VALUES ($1::text, $2::text, $3::text, $4::text, ($5::text[])[1])
        ON CONFLICT (device, bundle, use) DO UPDATE SET token = excluded.token
      """, key(subject) + [.text(subject.connection), .texts([token])])
  }

  private static func notified(_ subject: PushSubject, _ token: String?) -> PostgresConnection.Command {
    .init(
      """
      DELETE FROM due WHERE device = $1::text AND bundle = $2::text AND use = $3::text
        AND token IS NOT DISTINCT FROM ($4::text[])[1]
      """, key(subject) + [.texts([token])])
  }

  static func key(_ subject: PushSubject) -> [PostgresValue] {
    [.text(subject.device), .text(subject.bundle), .text(subject.use.rawValue)]
  }

  // MARK: Old rows

  /// Deletes a page of old rows, unless another replica does.
  private func forget(_ old: OldPushes, _ connection: PostgresConnection) throws -> ForgottenPushes {
    var forgotten = ForgottenPushes()
    let mine = try connection.execute(
      .init("SELECT pg_try_advisory_xact_lock(\(PostgresSchema.tidyingLock))"))
    guard mine.bool(0, 0) else { return forgotten }
    let requests = try connection.execute(
      .init(
        """
        WITH page AS (
          SELECT number FROM (
            SELECT number, at FROM requests WHERE number > $3::int8 ORDER BY number LIMIT \(pageLimit)) AS oldest
            WHERE at < $1::float8 OR number <= COALESCE(
              (SELECT number FROM requests ORDER BY number DESC OFFSET $2::int8 LIMIT 1), 0)),
        gone AS (
          DELETE FROM requests USING page WHERE requests.number = page.number
            AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.device = requests.device AND kept.bundle = requests.bundle
              AND kept.use = requests.use AND kept.number = requests.number)
            RETURNING requests.number),
        steps_gone AS (DELETE FROM steps USING gone WHERE steps.request = gone.number)
        SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM gone), (SELECT max(number) FROM page)
        """, [.double(old.date.timeIntervalSince1970), .int64(Int64(settings.logLimit)), .int64(old.after)]))
    forgotten.requests = Int(requests.int(0, 1))
    forgotten.last = requests.isNull(0, 2) ? nil : requests.int(0, 2)
    let tokens = try connection.execute(
      .init(
        """
        DELETE FROM tokens WHERE token IN (
          SELECT token FROM tokens WHERE state <> 'active' AND since < $1::float8 ORDER BY since LIMIT \(pageLimit))
          RETURNING token
        """, [.double(old.ended.timeIntervalSince1970)]))
    forgotten.tokens = (0..<tokens.count).compactMap { tokens.text($0, 0) }
    forgotten.hasMore = requests.int(0, 0) == Int64(pageLimit) || forgotten.tokens.count == pageLimit
    return forgotten
  }
}

extension PushChanges {
  /// The state of a kept notification in its row.
  fileprivate func state(of push: StoredPush) -> Int {
    push.notification.isFromStorage && sentFromStorage[push.number] == nil ? 2 : 1
  }
}

extension PushSubject {
  /// The order in which rows are written.
  fileprivate func place(_ number: Int64) -> (String, String, String, Int64) { (device, bundle, use.rawValue, number) }
}
