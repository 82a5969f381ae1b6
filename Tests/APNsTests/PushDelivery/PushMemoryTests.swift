// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Testing

@testable import PushDelivery
@testable import PushRules

private let widgets = PushDeliveryFixture.widgets

/// What the push server has in memory, on disk, and no longer.
@Suite(.timeLimit(.minutes(5))) struct `The memory of the push delivery service` {
  private func other(_ number: Int) -> PushSubject {
    PushSubject(device: "device-\(number)", bundle: PushDeliveryFixture.bundle, use: .widgets)
  }

  private func count(_ fixture: PushDeliveryFixture, _ table: String) async throws -> Int {
    try await fixture.database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(table)") } ?? 0
  }

  @Test(.rule("APNS-22"))
  func `what waits for many devices is on disk, and a device that returns gets its newest notification`() async throws {
    let fixture = try PushDeliveryFixture()
    var settings = PushSettings()
    settings.idleDevices = 3
    let (service, _) = try await fixture.server(settings)
    let (line, _) = try await fixture.device(online: false)
    let token = try await fixture.token(line)
    var rounds: [[UUID]] = []
    for _ in 1...2 {
      var ids: [UUID] = []
      for number in 0..<50 {
        ids.append(try await fixture.accept(service, token, for: other(number)))
        #expect(await service.stateMachine.count <= 3 * settings.idleDevices)
      }
      rounds.append(ids)
    }
    #expect(try await count(fixture, "kept") == 50)
    for number in [0, 31, 49] {
      #expect(try await fixture.steps(service, rounds[0][number]) == [.accepted, .storedOffline, .superseded])
      let (line, delivered) = try await fixture.device(.host(other(number).device))
      var arrivals = delivered.makeAsyncIterator()
      #expect(await arrivals.next()?.uniqueID == rounds[1][number])
      await fixture.reached(.delivered, rounds[1][number])
      await line.leave()
    }
    await service.caughtUp()
    #expect(try await count(fixture, "kept") == 47)
  }

  @Test(.rule("APNS-25"))
  func `a notification that is stored while ended ones are looked for is dropped at its end`() async throws {
    let fixture = try PushDeliveryFixture()
    let (first, firstLine) = try await fixture.server()
    let (line, _) = try await fixture.device(online: false)
    let token = try await fixture.token(line)
    await first.leave()
    await firstLine.leave()
    let next = fixture.bus.connection(.pushServer)
    let service = try PushDeliveryService(database: fixture.database, bus: next, clock: fixture.clock) { reason in
      Issue.record("broken: \(reason)")
    }
    _ = try await next.start()
    let arrival = fixture.arrival(token, expiration: fixture.clock.now + 60)
    // Nothing is looked for before the timer of the start fires, and the notification is not committed then.
    await service.putTogether([.arrival(arrival, then: nil), .event(.timerFired)])
    #expect(try await fixture.steps(service, arrival.uniqueID) == [.accepted, .storedOffline])
    fixture.clock.advance(by: 60)
    await fixture.reached(.expired, arrival.uniqueID)
    #expect(try await count(fixture, "kept") == 0)
  }

  @Test(.rule("APNS-25")) func `many notifications that end at once are dropped in pages`() async throws {
    let fixture = try PushDeliveryFixture()
    var settings = PushSettings()
    settings.idleDevices = 3
    let (service, _) = try await fixture.server(settings)
    let (line, _) = try await fixture.device(online: false)
    let token = try await fixture.token(line)
    let (pages, end) = (2 * PushDatabase.forgottenAtOnce + 1, fixture.clock.now + 60)
    for number in 0..<pages {
      service.handle(fixture.arrival(token, for: other(number), expiration: end)) { _ in }
    }
    let last = try await fixture.accept(service, token, expiration: end + 60)
    fixture.clock.advance(by: 60)
    while try await count(fixture, "kept") > 1 {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(try await fixture.steps(service, last) == [.accepted, .storedOffline])
    fixture.clock.advance(by: 60)
    await fixture.reached(.expired, last)
    #expect(try await count(fixture, "kept") == 0)
  }

  @Test(.rule("APNS-50"), arguments: [30 * 86_400.0, 7_200])
  func `a token is known after its end for as long as its setting says`(endedTokenAge: Double) async throws {
    let fixture = try PushDeliveryFixture()
    var settings = PushSettings()
    settings.endedTokenAge = endedTokenAge
    let (service, _) = try await fixture.server(settings)
    let (line, _) = try await fixture.device()
    let tool = fixture.bus.connection(.operator("1"))
    _ = try await tool.start()
    let formerToken = try await fixture.token(line)
    let change = ChangeToken(subject: widgets, change: .rotate)
    let changed = try await tool.request(change, to: .pushServer).tokens
    let ended = try #require(changed.first)
    fixture.clock.advance(by: endedTokenAge)
    await service.caughtUp()
    #expect(try service.tokens[formerToken] == ended && ended.state == .unregistered, "with the time of its end")
    // Old tokens are deleted once per hour, without traffic.
    fixture.clock.advance(by: 3_600)
    while try await count(fixture, "tokens") > 1 {
      try Task.checkCancellation()
      await Task.yield()
    }
    await service.caughtUp()
    #expect(try service.tokens[formerToken] == nil)
    #expect(try await fixture.token(line) == changed.last?.token)
  }

  @Test func `the tokens are listed in pages, oldest first, and those of a device alone`() async throws {
    let fixture = try PushDeliveryFixture()
    let (_, server) = try await fixture.server()
    try await fixture.database.write { db in
      for number in 0..<600 {
        try db.execute(
          sql: "INSERT INTO tokens VALUES (?, ?, 'com.example.A', 'app', 'development', ?, ?)",
          arguments: [
            "\(number)", "device-\(number % 3)", number < 300 ? "expired" : "active",
            fixture.clock.now.timeIntervalSince1970 + Double(number / 2),
          ])
      }
    }
    let tool = fixture.bus.connection(.operator("1"))
    _ = try await tool.start()
    func list(_ device: String?) async throws -> [Int] {
      var tokens: [DeviceToken] = []
      while true {
        let page = try await tool.request(ListTokens(device: device, after: tokens.last), to: .pushServer).tokens
        if page.isEmpty { return tokens.compactMap { Int($0.token) } }
        tokens += page
      }
    }
    let all = try await list(nil)
    #expect(all.count == 600)
    #expect(all.map { $0 / 2 } == (0..<600).map { $0 / 2 })
    #expect(try await list("device-1").sorted() == (300..<600).filter { $0 % 3 == 1 })
    await server.leave()
  }

  @Test func `a push server that cannot read its database answers nothing and ends`() async throws {
    let database = try DatabaseQueue()
    let (reasons, broken) = AsyncStream.makeStream(of: String.self)
    let fixture = try PushDeliveryFixture()
    let service = try PushDeliveryService(
      database: database, bus: fixture.bus.connection(.pushServer), clock: fixture.clock
    ) { broken.yield($0) }
    let token = DeviceToken(
      token: "00ff", subject: widgets, environment: .development, state: .active, since: fixture.clock.now)
    var changes = PushChanges()
    changes.tokens = [.token(token)]
    try service.store.write(changes)
    #expect(try service.tokens["00ff"] == token)
    try await database.write { try $0.execute(sql: "DROP TABLE kept") }
    let receipt = await withCheckedContinuation { continuation in
      service.handle(fixture.arrival("00ff")) { continuation.resume(returning: $0) }
    }
    #expect(receipt == .broken)
    #expect(await reasons.first { _ in true }?.contains("kept") == true)
    await service.leave()
  }

  @Test(.rule("APNS-25")) func `the next end is known after a clock that was set back`() {
    let now = Date(timeIntervalSince1970: 1_000_000_000)
    var ends = StoredEnds(place: StoredEnd(at: now, subject: widgets, number: 7), next: nil)
    ends.keep(now + 60)
    #expect(ends.next == now + 60 && ends.place.at == now && ends.place.number == 7)
    ends.keep(now - 60)
    #expect(ends.next == now - 60 && ends.place.at == now - 60 && ends.place.number == 0)
  }

  @Test func `old rows are deleted at the date that was announced, and a page at a time`() throws {
    for seconds in stride(from: 0.1, to: 100, by: 0.7) {
      var tidying = PushTidying()
      let now = Date(timeIntervalSince1970: 1_500_000_000 + seconds)
      #expect(tidying.next == nil && tidying.begin(now: now, lastNumber: 0, logLimit: 1000) == 0)
      tidying.end(ForgottenPushes(last: 7, hasMore: true), lastNumber: 0)
      #expect(tidying.hasMore && tidying.begin(now: now, lastNumber: 0, logLimit: 1000) == 7)
      tidying.end(ForgottenPushes(last: 9), lastNumber: 0)
      #expect(!tidying.hasMore && tidying.begin(now: now, lastNumber: 100, logLimit: 1000) == nil)
      #expect(tidying.begin(now: now, lastNumber: 101, logLimit: 1000) == 9, "only later requests")
      let next = try #require(tidying.next)
      #expect(tidying.begin(now: next, lastNumber: 0, logLimit: 1000) == 0, "all requests")
    }
  }
}

extension PushDeliveryService {
  /// Queues jobs that one transaction handles: the worker cannot run in between.
  fileprivate func putTogether(_ jobs: [PushJobQueue.Job]) { for job in jobs { put(job) } }
}
