// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
import PushDelivery
import PushRules

// What the database has for fleets: their secrets, and the counts of their pushes. Each replica has its own rows, so
// that no replica waits for the commit of another one. The open single attempts are those of one process instance, and
// become interrupted ones when it does not own the fleet any more.

extension PostgresPushStore {
  /// The name of this replica in the rows of counts, which its next process instance continues.
  private var counter: String { replica.split(separator: "#").first.map(String.init) ?? replica }

  package func join(_ name: String, _ incarnation: UUID, secret: String) throws -> String? {
    try perform { connection, _ in
      let results = try connection.execute([
        .init(
          """
          INSERT INTO fleets (name, incarnation, secret) SELECT $1::text, ($2::uuid[])[1], $3::text
            ON CONFLICT (name) DO NOTHING
          """, [.text(name), .uuids([incarnation]), .text(secret)]),
        .init("SELECT incarnation, secret FROM fleets WHERE name = $1::text", [.text(name)]),
      ])[1]
      return results.uuid(0, 0) == incarnation ? results.text(0, 1) : nil
    }
  }

  package func secret(ofFleet name: String) throws -> String? {
    try perform { connection, _ in
      let found = try connection.execute(.init("SELECT secret FROM fleets WHERE name = $1::text", [.text(name)]))
      return found.count == 0 ? nil : found.text(0, 0)
    }
  }

  package func devicesWithKept(of fleet: String, after device: String, limit: Int) throws -> [String] {
    try perform { connection, _ in
      let found = try connection.execute(Self.devicesWithKept(of: fleet, after: device, limit: limit))
      return (0..<found.count).compactMap { found.text($0, 0) }
    }
  }

  /// Two look-ups for each device, however much is kept or has arrived for it. The order is that of the database.
  static func devicesWithKept(of fleet: String, after device: String, limit: Int) -> PostgresConnection.Command {
    func next(after device: String) -> String {
      let foundTokens = [1, 2].map { state in
        """
        (SELECT kept.device FROM kept WHERE state = \(state) AND connection = $2::text AND kept.device > \(device)
          ORDER BY kept.device LIMIT 1)
        """
      }
      return "(SELECT min(device) FROM (\(foundTokens.joined(separator: " UNION ALL "))) AS next)"
    }
    return .init(
      """
      WITH RECURSIVE devices (device, place) AS (
        SELECT \(next(after: "$1::text")), 1::int8
        UNION ALL
        SELECT \(next(after: "devices.device")), place + 1 FROM devices
          WHERE devices.device IS NOT NULL AND place < $3::int8)
      SELECT device FROM devices WHERE device IS NOT NULL
      """, [.text(device), .text(PushSubject.connection(of: FleetDevice.id(fleet, 0))), .int64(Int64(limit))])
  }

  package func counts(of fleet: String) async throws -> CountFleetPushes.Reply { try await reader.counts(of: fleet) }

  // MARK: Writing

  /// Adds to the counts, in the transaction of what they count.
  func commands(ofCounts changes: PushChanges) -> [PostgresConnection.Command] {
    var commands: [PostgresConnection.Command] = []
    if changes.interruptsOpen { commands.append(interrupt("replica = $2::text", .text(replica))) }
    let counts = changes.counts.filter { $0.value != 0 }.sorted { $0.key.place < $1.key.place }
    guard !counts.isEmpty else { return commands }
    commands.append(
      .init(
        """
        INSERT INTO fleet_pushes AS former (fleet, type, name, reason, replica, count)
          SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int8[])
          ON CONFLICT (fleet, type, name, reason, replica) DO UPDATE SET count = former.count + excluded.count
        """,
        [
          .texts(counts.map(\.key.fleet)), .texts(counts.map(\.key.type)), .texts(counts.map(\.key.name)),
          .texts(counts.map(\.key.reason)),
          .texts(counts.map { $0.key.name == FleetPushCount.open ? replica : counter }),
          .int64s(counts.map { Int64($0.value) }),
        ]))
    return commands
  }

  /// The open single attempts of process instances, or of fleets, become interrupted ones.
  ///
  /// - Parameter condition: for a row; `value` is its parameter `$2`.
  func interrupt(_ condition: String, _ value: PostgresValue) -> PostgresConnection.Command {
    .init(Self.interruption(condition), [.text(counter), value])
  }

  /// Releases the routes of replicas that have ended.
  ///
  /// - Parameter condition: for a row of `replicas`, with the parameter `$2`.
  func release(_ condition: String) -> PostgresConnection.Command {
    .init(
      """
      WITH ended AS (DELETE FROM replicas WHERE \(condition) RETURNING id),
        routes AS (UPDATE route SET replica = NULL, epoch = epoch + 1 WHERE replica IN (SELECT id FROM ended)),
      \(Self.interruption("replica IN (SELECT id FROM ended)", follows: true))
      """, [.text(counter), .text(replica)])
  }

  private static func interruption(_ condition: String, follows: Bool = false) -> String {
    """
    \(follows ? "" : "WITH ")gone AS (
      DELETE FROM fleet_pushes WHERE name = '\(FleetPushCount.open)' AND \(condition) RETURNING fleet, type, count)
    INSERT INTO fleet_pushes AS former (fleet, type, name, reason, replica, count)
      SELECT fleet, type, '\(FleetPushCount.interrupted)', '', $1::text, sum(count)::int8 FROM gone GROUP BY fleet, type
      ON CONFLICT (fleet, type, name, reason, replica) DO UPDATE SET count = former.count + excluded.count
    """
  }
}

extension FleetPushCount {
  /// The order in which rows are written.
  fileprivate var place: (String, String, String, String) { (fleet, type, name, reason) }
}

extension PostgresReader {
  /// What is counted, kept and active at one moment.
  func counts(of fleet: String) throws -> CountFleetPushes.Reply {
    let bounds = FleetDevice.bounds(of: fleet)
    return try read { connection in
      let results = try connection.execute([
        .init("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        .init(
          """
          SELECT fleet, type, name, reason, sum(count)::int8 FROM fleet_pushes WHERE fleet IN ($1::text, '')
            GROUP BY fleet, type, name, reason HAVING sum(count) <> 0 ORDER BY fleet, type, name, reason
          """, [.text(fleet)]),
        .init(
          "SELECT type, count(*) FROM kept WHERE connection = $1::text GROUP BY type",
          [.text(PushSubject.connection(of: FleetDevice.id(fleet, 0)))]),
        .init(
          """
          SELECT use, count(*) FROM tokens WHERE state = 'active' AND strpos(device, ':') > 0
            AND device COLLATE "C" > $1::text AND device COLLATE "C" < $2::text GROUP BY use
          """, [.text(bounds.after), .text(bounds.before)]),
        .init("COMMIT"),
      ])
      let counts = (0..<results[1].count).map { row in
        let isKnown = results[1].text(row, 0) != ""
        return CountFleetPushes.Count(
          type: results[1].text(row, 1) ?? "", name: isKnown ? results[1].text(row, 2) ?? "" : "unknown-token",
          reason: results[1].text(row, 3) ?? "", count: Int(results[1].int(row, 4)))
      }
      var kept: [String: Int] = [:]
      results[2].each { rows, row in kept[rows.text(row, 0) ?? ""] = Int(rows.int(row, 1)) }
      let tokens = (0..<results[3].count).map { (results[3].text($0, 0) ?? "", Int(results[3].int($0, 1))) }
      return CountFleetPushes.Reply(counts: counts, kept: kept, tokens: CountFleetPushes.Reply.sums(tokens))
    }
  }
}
