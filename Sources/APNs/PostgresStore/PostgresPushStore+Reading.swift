// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
package import PushDelivery
import Synchronization

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
      let found = try connection.execute(commands)
      var view = SharedView()
      func rows(_ name: String) -> PostgresRows? { places[name].map { found[$0] } }
      view.firstNumber = rows("number")?.int(0, 0) ?? 0
      rows("routes")?.each { rows, row in view.add(route: rows, row, 0) }
      try rows("tokens")?.each { rows, row in
        let token = try rows.token(row)
        view.tokens[token.token] = token
      }
      view.held = try rows("held")?.pushes() ?? []
      view.kept = try rows("kept")?.pushes() ?? []
      view.taken = try rows("taken")?.pushes() ?? []
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
