// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Foundation
import Messages
package import PushDelivery

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
    vacuum.count(changes.dropped.count + changes.kept.count)
    return forgotten
  }

  private func insertions(of changes: PushChanges) -> [PostgresConnection.Command] {
    var commands: [PostgresConnection.Command] = []
    if !changes.requests.isEmpty { commands.append(Self.insert(changes.requests)) }
    if !changes.dropped.isEmpty { commands.append(Self.delete(changes.dropped)) }
    let sent = changes.sentFromStorage.values.filter { changes.kept[$0.number] == nil }
    if !sent.isEmpty { commands.append(Self.markSent(sent.sorted { $0.number < $1.number })) }
    // In one order, so that two replicas do not wait for each other.
    let kept = (changes.kept.values.map { ($0, changes.state(of: $0)) } + changes.forwarded.map { ($0, 0) })
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
  private func keep(_ kept: [(push: StoredPush, state: Int)]) -> PostgresConnection.Command {
    let pushes = kept.map(\.push.notification)
    return .init(
      """
      INSERT INTO kept (device, bundle, use, number, connection, state, type, priority, collapse_id, payload, accepted_at,
        expiration, is_from_storage, ends)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::int2[], $7::text[],
          $8::int2[], $9::text[], $10::text[], $11::float8[], $12::float8[], $13::bool[], $14::float8[])
        ON CONFLICT (device, bundle, use, number) DO UPDATE
          SET state = excluded.state, is_from_storage = excluded.is_from_storage, ends = excluded.ends
      """,
      Self.keys(kept.map(\.push)) + [
        .texts(pushes.map(\.subject.connection)), .int16s(kept.map { Int16($0.state) }),
        .texts(pushes.map(\.type.rawValue)), .int16s(pushes.map { Int16($0.priority) }),
        .texts(pushes.map(\.collapseID)), .texts(pushes.map(\.payload)),
        .doubles(pushes.map(\.acceptedAt.timeIntervalSince1970)),
        .doubles(pushes.map { $0.expiration?.timeIntervalSince1970 }), .bools(pushes.map(\.isFromStorage)),
        .doubles(kept.map { $0.state == 2 ? $0.push.end(settings).timeIntervalSince1970 : nil }),
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
