// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import GRDB
import Messages
import PushRules
import Testing

@testable import APNs
@testable import PushDelivery

private let origin = Date(timeIntervalSince1970: 1_000_000_000)

/// Sends one request per millisecond, each to a different disconnected device.
private struct Provider {
  var random = RandomNumbers()
  var last: Int64 = 0

  /// Returns `count` requests of one transaction, all stored.
  mutating func send(_ count: Int, isRefused: Bool = false) -> PushChanges {
    var changes = PushChanges()
    for _ in 0..<count {
      last += 1
      let now = origin.addingTimeInterval(Double(last) / 1000)
      let push = push(last, id: random.uuid(at: now), now: now)
      let verdict: PushArrival.Verdict =
        isRefused
        ? .refused(status: 400, reason: "BadTopic", explanation: "not a topic")
        : .accepted(push.notification, remark: nil)
      let arrival = PushArrival(
        uniqueID: push.id, apnsID: "id-\(last)", subject: push.notification.subject, token: push.token,
        type: "widgets", verdict: verdict)
      changes.add(last, arrival: arrival, verdict: PushStep(isRefused ? .refused : .accepted, at: now))
      guard !isRefused else { continue }
      changes.keep(push)
      changes.add(PushStep(.storedOffline, at: now, detail: "the device is not connected"), to: last)
    }
    return changes
  }

  func push(_ number: Int64, id: UUID, now: Date) -> StoredPush {
    StoredPush(
      number: number,
      notification: PushedNotification(
        uniqueID: id, apnsID: "id-\(number)",
        subject: PushSubject(device: "device-\(number)", bundle: "com.example.A", use: .widgets), type: .widgets,
        priority: 10, collapseID: nil, payload: "{}", acceptedAt: now, expiration: nil, isFromStorage: true),
      token: "00ff")
  }
}

@Suite(.timeLimit(.minutes(1))) struct `The database of the push server` {
  @Test func `a request writes as many bytes to a database with a long log as with a short one`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-database-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "push.sqlite").path
    let pool = try DatabasePool(path: path)
    // Without checkpoints, so that the growth of the WAL is the number of written bytes.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
    let database = try PushDatabase(pool)
    var provider = Provider()
    func written(_ body: () throws -> Void) throws -> Int {
      func size() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
      }
      let before = try size()
      try body()
      return try size() - before
    }
    try database.write(provider.send(1000))
    let short = try written { try database.write(provider.send(100)) }
    for _ in 0..<20 { try database.write(provider.send(1000)) }
    let long = try written { try database.write(provider.send(100)) }
    #expect(short > 0 && long < short + 10 * 4096, "\(short) bytes and then \(long)")
  }

  @Test func `a notification that is stored and dropped in one transaction is not stored`() throws {
    let database = try PushDatabase(DatabaseQueue())
    var provider = Provider()
    let first = provider.send(1)
    try database.write(first)
    var changes = provider.send(2)
    let at = origin.addingTimeInterval(0.002)
    changes.add(PushStep(.superseded, at: at, detail: "by a later one"), to: 1)
    changes.drop(try #require(first.keptPushes[1]))
    changes.add(PushStep(.superseded, at: origin.addingTimeInterval(0.003), detail: "by a later one"), to: 2)
    changes.drop(try #require(changes.keptPushes[2]))
    #expect(changes.dropped.map(\.number) == [1] && Array(changes.keptPushes.keys) == [3])
    try database.write(changes)
    #expect(try database.kept(of: "device-1").isEmpty && database.kept(of: "device-2").isEmpty)
    #expect(try database.left().lastNumber == 3)
    let kept = try #require(try database.kept(of: "device-3").first)
    #expect(
      kept.id == changes.keptPushes[3]?.id && kept.token == "00ff" && kept.notification.subject.device == "device-3")
  }

  @Test(.rule("APNS-33"))
  func `the log removes its oldest requests page by page and keeps those that are not delivered yet`() async throws {
    let database = try PushDatabase(DatabaseQueue())
    var provider = Provider()
    try database.write(provider.send(2))
    for _ in 0..<3 { try database.write(provider.send(1000, isRefused: true)) }
    var examined: Int64 = 0
    func forget(_ seconds: Double, _ number: Int64) throws -> Int {
      let forgotten = try database.write(
        PushChanges(),
        forgetting: OldPushes(
          date: origin.addingTimeInterval(seconds), number: number, after: examined, ended: .distantPast))
      examined = forgotten.last ?? examined
      #expect(forgotten.hasMore == (forgotten.requests == PushDatabase.forgottenAtOnce))
      return forgotten.requests
    }
    #expect(try forget(0, 0) == 0)
    #expect(try forget(0, 502) == 500)
    #expect(try forget(0.7525, 502) == 250, "the requests of the first 752 milliseconds")
    #expect(try forget(100, 0) == PushDatabase.forgottenAtOnce)
    #expect(try forget(0, 3002) == PushDatabase.forgottenAtOnce)
    #expect(try forget(0, 3002) == 250)
    let page = try await database.page(ListPushes(limit: 10))
    #expect(page.pushes.map(\.number) == [1, 2], "these requests are stored for their devices")
    #expect(page.pushes.first?.steps.map(\.name) == [.accepted, .storedOffline])
    #expect(page.pushes.first?.steps.last?.detail == "the device is not connected")
  }

  @Test func `a step that a device reports twice is stored once`() async throws {
    let database = try PushDatabase(DatabaseQueue())
    var provider = Provider()
    let sentPush = provider.send(1)
    let id = try #require(sentPush.requests.first?.arrival.uniqueID)
    try database.write(sentPush)
    var changes = PushChanges()
    for name in [PushStep.Name.reloading, .reloading, .reloaded] {
      changes.progress.append(PushProgress(uniqueID: id, step: PushStep(name, at: origin, detail: "placement 1")))
    }
    changes.progress.append(PushProgress(uniqueID: UUID(), step: PushStep(.reloaded, at: origin)))
    try database.write(changes)
    let record = try #require(try await database.page(ListPushes(uniqueID: id)).pushes.first)
    #expect(record.steps.map(\.name) == [.accepted, .storedOffline, .reloading, .reloaded])
  }

  private func log(_ count: Int, stepsOfEach: Int) throws -> PushDatabase {
    let database = try PushDatabase(DatabaseQueue())
    var provider = Provider()
    try database.write(provider.send(count))
    var changes = PushChanges()
    for number in 1...Int64(count) {
      for step in 0..<stepsOfEach {
        changes.add(
          PushStep(.refused, at: origin.addingTimeInterval(Double(step)), detail: "the device refused it: \(step)"),
          to: number)
      }
    }
    try database.write(changes)
    return database
  }

  @Test func `a page of the log fits in an envelope, and the next one continues after it`() async throws {
    let database = try log(40, stepsOfEach: 200)
    var (numbers, after, pages) = ([Int64](), Int64(-1), 0)
    while true {
      let page = try await database.page(ListPushes(after: after, limit: 100))
      #expect(try ListPushes.encoded(page).count <= ListPushes.room + 1_024)
      #expect(page.count == 40 - numbers.count)
      guard let last = page.pushes.last else { break }
      #expect(page.pushes.allSatisfy { $0.steps.count == 202 && $0.omittedSteps == nil })
      numbers += page.pushes.map(\.number)
      (after, pages) = (last.number, pages + 1)
    }
    #expect(numbers == Array(1...40))
    #expect(pages > 2)
    let newest = try await database.page(ListPushes(limit: 100))
    #expect(newest.count == 40)
    #expect(newest.pushes.count < 40)
    #expect(newest.pushes.map(\.number) == Array(numbers.suffix(newest.pushes.count)))
  }

  @Test func `an entry with too many steps for an envelope has its first and its newest ones`() async throws {
    let database = try log(2, stepsOfEach: 5_000)
    let page = try await database.page(ListPushes(after: -1))
    #expect(page.count == 2)
    let record = try #require(page.pushes.first)
    #expect(page.pushes.count == 1)
    #expect(record.steps.first?.name == .accepted)
    #expect(record.steps.last?.detail == "the device refused it: 4999")
    #expect(record.steps.count + (record.omittedSteps ?? 0) == 5_002)
    #expect(try ListPushes.encoded(page).count <= Wire.bodyLimit)
  }

  /// A simulated push server has this log in memory.
  @Test func `a log in memory has the pages of the database`() async throws {
    let database = try log(130, stepsOfEach: 1)
    var records: [PushRecord] = []
    while let page = Optional(try await database.page(ListPushes(after: records.last?.number ?? -1, limit: 7))),
      !page.pushes.isEmpty
    { records += page.pushes }
    #expect(records.map(\.number) == Array(1...130))
    let requests = [
      ListPushes(), ListPushes(limit: 0), ListPushes(limit: 3), ListPushes(limit: 1_000), ListPushes(after: -1),
      ListPushes(after: 20, limit: 5), ListPushes(after: 128, limit: 5), ListPushes(after: 130),
      ListPushes(uniqueID: records[50].uniqueID), ListPushes(uniqueID: UUID()),
    ]
    for request in requests {
      let (found, count) = request.selection(from: records, id: \.uniqueID, number: \.number)
      #expect(try request.reply(found, count: count) == (try await database.page(request)))
    }
  }

  @Test func `what is kept for a device is found by its index, in the order of the numbers`() throws {
    let database = try PushDatabase(DatabaseQueue())
    var provider = Provider()
    try database.write(provider.send(1000))
    #expect(try database.kept(of: "device-7").map(\.number) == [7] && database.kept(of: "another").isEmpty)
    let plan = try database.database.read { db in
      try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + PushDatabase.keptOfDevice, arguments: ["device-7"])
        .map { $0["detail"] as String }
    }
    #expect(plan.first?.contains("SEARCH kept USING PRIMARY KEY (device=?)") == true, "\(plan)")
    #expect(plan.dropFirst().first?.contains("SEARCH requests USING INTEGER PRIMARY KEY") == true, "\(plan)")
  }

  @Test(.rule("APNS-25")) func `the ends of stored notifications are read in order, and follow the setting`() throws {
    let queue = try DatabaseQueue()
    var settings = PushSettings()
    settings.storageAge = 60
    let database = try PushDatabase(queue, settings: settings)
    var provider = Provider()
    try database.write(provider.send(5))
    func ends(_ database: PushDatabase, after place: StoredEnd = .first, by date: Date? = nil) throws -> [String] {
      try database.ends(after: place, by: date, limit: 3).map { end in
        "\(end.number) \((1000 * end.at.timeIntervalSince(origin)).rounded() / 1000)"
      }
    }
    #expect(try ends(database) == ["1 60.001", "2 60.002", "3 60.003"])
    #expect(try ends(database, by: origin + 60.0025) == ["1 60.001", "2 60.002"])
    let place = try #require(try database.ends(after: .first, by: nil, limit: 3).last)
    #expect(try ends(database, after: place) == ["4 60.004", "5 60.005"])
    settings.storageAge = 120
    #expect(try ends(PushDatabase(queue, settings: settings)) == ["1 120.001", "2 120.002", "3 120.003"])
  }

  @Test(.rule("APNS-50")) func `tokens that have ended are deleted page by page, the oldest first`() throws {
    let database = try PushDatabase(DatabaseQueue())
    var changes = PushChanges()
    for number in 0..<2500 {
      let token = DeviceToken(
        token: "\(number)", subject: PushSubject(device: "device-\(number)", bundle: "com.example.A", use: .app),
        environment: .development, state: number == 7 ? .active : .unregistered, since: origin + Double(number))
      changes.tokens.append(.token(token))
    }
    try database.write(changes)
    func forget(_ seconds: Double) throws -> [String] {
      try database.write(
        PushChanges(),
        forgetting: OldPushes(date: .distantPast, number: 0, after: 0, ended: origin + seconds)
      ).tokens
    }
    #expect(try forget(0).isEmpty)
    #expect(try forget(3) == ["0", "1", "2"])
    #expect(try forget(2000).count == PushDatabase.forgottenAtOnce)
    #expect(try forget(2000).count == 2000 - 3 - 1 - PushDatabase.forgottenAtOnce)
    #expect(try forget(2000).isEmpty)
    #expect(try database.token("7")?.state == .active, "an active token has no age")
    #expect(try database.token("1999") == nil && database.token("2000")?.state == .unregistered)
  }
}
