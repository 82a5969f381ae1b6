// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import PushDelivery
import Timekeeping

/// The connection for look-ups and for pages of the log. It has its own executor, because its calls block.
actor PostgresReader {
  /// Maximum number of tokens in a page, because envelopes have a size limit.
  private static let tokensInPage = 250

  private let url: String
  private let name: String
  private var connection: PostgresConnection?
  private nonisolated let executor = ServiceExecutor("push-reader")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ url: String, name: String) {
    self.url = url
    self.name = name
  }

  /// Reads, and once more if the connection has ended.
  ///
  /// - Throws: `PushStoreError`.
  func read<Result: Sendable>(_ body: @Sendable (PostgresConnection) throws -> Result) throws -> Result {
    do {
      let isNew = connection == nil
      do {
        return try body(try connected())
      } catch let error as PostgresError where error.endsConnection && !isNew {
        connection = nil
        return try body(try connected())
      }
    } catch let error as PostgresError {
      // A transaction that has failed would refuse all later statements.
      if error.endsConnection || connection?.isInTransaction == true { connection = nil }
      throw PushStoreError(error.endsConnection ? .away : .refused, error.description)
    }
  }

  private func connected() throws -> PostgresConnection {
    if let connection { return connection }
    let connection = try PostgresConnection(url, name: name)
    try connection.execute(PostgresSchema.session)
    self.connection = connection
    return connection
  }

  /// The statement for the active token of a subject.
  static func active(_ subject: PushSubject) -> PostgresConnection.Command {
    .init(
      """
      SELECT token, device, bundle, use, environment, state, since FROM tokens
        WHERE device = $1::text AND bundle = $2::text AND use = $3::text AND state = 'active'
      """, PostgresPushStore.key(subject))
  }

  // MARK: Pages

  func page(_ request: ListTokens) throws -> [DeviceToken] {
    let after = request.after?.since.timeIntervalSince1970 ?? -.infinity
    let values: [PostgresValue] = [.double(after), .text(request.after?.token ?? "")]
    let columns = "SELECT token, device, bundle, use, environment, state, since FROM tokens"
    let end = "(since, token) > ($1::float8, $2::text) ORDER BY since, token LIMIT \(Self.tokensInPage)"
    let command =
      request.device.map {
        PostgresConnection.Command(
          "\(columns) WHERE device = $3::text AND state = 'active' AND \(end)", values + [.text($0)])
      } ?? PostgresConnection.Command("\(columns) WHERE \(end)", values)
    return try read { connection in
      let found = try connection.execute(command)
      return try (0..<found.count).map { try found.token($0) }
    }
  }

  func page(_ request: ListPushes) throws -> ListPushes.Reply {
    let limit = Int64(request.entryLimit)
    return try read { connection in
      let columns = """
        number, unique_id, apns_id, token, type, status, reason, at, detail, next, next_detail, device, bundle, use
        """
      let (rows, count): (PostgresConnection.Command, PostgresConnection.Command) =
        if let id = request.uniqueID {
          (
            .init("SELECT \(columns) FROM requests WHERE unique_id = ANY($1::uuid[])", [.uuids([id])]),
            .init("SELECT count(*) FROM requests WHERE unique_id = ANY($1::uuid[])", [.uuids([id])])
          )
        } else if request.after != 0 {
          (
            .init(
              "SELECT \(columns) FROM requests WHERE number > $1::int8 ORDER BY number LIMIT $2::int8",
              [.int64(request.after), .int64(limit)]),
            .init("SELECT count(*) FROM requests WHERE number > $1::int8", [.int64(request.after)])
          )
        } else {
          (
            .init(
              """
              SELECT * FROM (SELECT \(columns) FROM requests ORDER BY number DESC LIMIT $1::int8) AS page ORDER BY number
              """, [.int64(limit)]),
            .init("SELECT count(*) FROM requests")
          )
        }
      let results = try connection.execute([rows, count])
      let numbers = (0..<results[0].count).map { results[0].int($0, 0) }
      let steps = try connection.execute(
        .init(
          "SELECT request, name, at, detail FROM steps WHERE request = ANY($1::int8[]) ORDER BY request, place",
          [.int64s(numbers)]))
      var later: [Int64: [PushStep]] = [:]
      for row in 0..<steps.count {
        let detail = steps.text(row, 3) ?? ""
        let step = PushStep(
          try steps.known(row, 1), at: steps.date(row, 2) ?? .distantPast, detail: detail.isEmpty ? nil : detail)
        later[steps.int(row, 0), default: []].append(step)
      }
      let pushes = try (0..<results[0].count).map { try results[0].record($0, later) }
      return try request.reply(pushes, count: Int(results[1].int(0, 0)))
    }
  }
}

extension PostgresRows {
  fileprivate func record(_ row: Int, _ later: [Int64: [PushStep]]) throws -> PushRecord {
    let (number, status, at) = (int(row, 0), Int(int(row, 5)), date(row, 7) ?? .distantPast)
    let first = PushStep(status == 200 ? .accepted : .refused, at: at, detail: text(row, 8))
    let second = isNull(row, 9) ? nil : PushStep(try known(row, 9), at: at, detail: text(row, 10))
    return PushRecord(
      number: number, uniqueID: uuid(row, 1), apnsID: text(row, 2) ?? "",
      subject: isNull(row, 11) ? nil : try subject(row, 11), token: text(row, 3) ?? "", type: text(row, 4),
      status: status, reason: text(row, 6), steps: [first] + [second].compactMap(\.self) + (later[number] ?? []))
  }
}
