// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import GRDB
import MessageBus
import Messages
import PostgresStore
import PushRules
import Synchronization
import Testing
import WidgetLabTesting

@testable import PushDelivery

/// The stores that the tests of behaviour run with.
enum PushStoreKind: String, Sendable, CustomTestStringConvertible {
  case sqlite = "SQLite"
  case postgres = "PostgreSQL"

  /// Without PostgreSQL only SQLite; `SharedStoreTests` reports it.
  static let all: [PushStoreKind] = PostgresCluster.isInstalled ? [.sqlite, .postgres] : [.sqlite]

  var testDescription: String { rawValue }
}

/// A push server without HTTP/2, on an in-memory bus, and a device.
struct PushDeliveryFixture {
  static let host = Address.host("iphone")
  static let bundle = "com.example.A"
  static let widgets = PushSubject(device: "iphone", bundle: bundle, use: .widgets)

  let bus = InMemoryBus()
  let database: DatabaseQueue
  let clock = ManualClock()
  let kind: PushStoreKind
  /// The schema of this test in the server of its suite.
  let schema = "test_" + UUID().uuidString.prefix(8).lowercased()
  /// The last instance of a push server with a shared store, by address.
  private let running = Running()

  private final class Running: Sendable {
    let services = Mutex<[Address: PushDeliveryService]>([:])
  }

  init(_ kind: PushStoreKind = .sqlite) throws {
    self.kind = kind
    database = try DatabaseQueue()
  }

  /// The URI of the test's schema, which is created.
  func url() async throws -> String {
    let server = try #require(PostgresTrait.server, "the suite needs the trait .postgres")
    try await server.query("CREATE SCHEMA IF NOT EXISTS \(schema)")
    return server.url(schema: schema)
  }

  /// Ends the push servers with a shared store. The last call of a test that starts some.
  func end() async {
    for service in running.services.withLock({ Array($0.values) }) { await service.leave() }
  }

  /// Rows of the shared store.
  func query(_ sql: String) async throws -> [String] {
    let server = try #require(PostgresTrait.server)
    return try await server.query("SET search_path = \(schema); \(sql)")
  }

  /// The number of notifications that are not delivered.
  func keptCount() async throws -> Int {
    switch kind {
    case .sqlite: try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM kept") ?? 0 }
    case .postgres: try await query("SELECT count(*) FROM kept").first.flatMap { Int($0) } ?? -1
    }
  }

  /// Makes delivered single attempts open ones of a push server that has ended.
  func forgetResults() async throws {
    switch kind {
    case .sqlite:
      try await database.write { db in
        try db.execute(sql: "DELETE FROM fleetPushes WHERE name = 'open'")
        try db.execute(sql: "UPDATE fleetPushes SET name = 'open' WHERE name = 'delivered'")
      }
    case .postgres:
      _ = try await query(
        """
        DELETE FROM fleet_pushes WHERE name = 'open';
        UPDATE fleet_pushes SET name = 'open', replica = 'push-server#ended' WHERE name = 'delivered'
        """)
    }
  }

  /// Starts an instance of the push server. One with a shared store ends the instance before it.
  func server(_ settings: PushSettings = PushSettings(), at address: Address = .pushServer) async throws -> (
    service: PushDeliveryService, line: Connection
  ) {
    let line = bus.connection(address)
    let service: PushDeliveryService
    switch kind {
    case .sqlite:
      service = try PushDeliveryService(database: database, bus: line, clock: clock, settings: settings) { reason in
        Issue.record("broken: \(reason)")
      }
    case .postgres:
      await running.services.withLock { $0.removeValue(forKey: address) }?.leave()
      let store = try PostgresPushStore(try await url(), address: address, settings: settings)
      service = try PushDeliveryService(store: store, bus: line, clock: clock, settings: settings) { reason in
        Issue.record("broken: \(reason)")
      }
      running.services.withLock { $0[address] = service }
    }
    service.listen()
    _ = try await line.start()
    await service.begin()
    return (service, line)
  }

  /// Starts a device that reports each received notification and acknowledges it.
  func device(
    _ address: Address = Self.host, online: Bool = true, at server: Address = .pushServer
  ) async throws -> (line: Connection, delivered: AsyncStream<PushedNotification>) {
    let line = bus.connection(address)
    let (stream, continuation) = AsyncStream.makeStream(of: PushedNotification.self)
    line.onEvent(DeliverPush.self) { event, _ in continuation.yield(event.notification) }
    line.onEvent(TokenReplaced.self) { _, _ in }
    _ = try await line.start()
    try await line.deliver(DeviceReach(isOnline: online, isAwake: true), to: server)
    return (line, stream)
  }

  func token(
    _ line: Connection, _ use: PushTokenUse = .widgets, at server: Address = .pushServer
  ) async throws -> String {
    let issue = IssueToken(bundle: Self.bundle, use: use, environment: .development)
    return try await line.request(issue, to: server).token
  }

  func accept(
    _ service: PushDeliveryService, _ token: String, for subject: PushSubject = Self.widgets, expiration: Date? = nil
  ) async throws -> UUID {
    let arrival = arrival(token, for: subject, expiration: expiration)
    let promise = await withCheckedContinuation { continuation in
      service.handle(arrival) { continuation.resume(returning: $0) }
    }
    #expect(promise == .kept)
    return arrival.uniqueID
  }

  func arrival(_ token: String, for subject: PushSubject = Self.widgets, expiration: Date? = nil) -> PushArrival {
    let id = UUID()
    let notification = PushedNotification(
      uniqueID: id, apnsID: id.uuidString, subject: subject, type: .widgets, priority: 10, collapseID: nil,
      payload: #"{"aps":{"content-changed":true}}"#, acceptedAt: clock.now, expiration: expiration, isFromStorage: false
    )
    return PushArrival(
      uniqueID: id, apnsID: id.uuidString, subject: subject, token: token, type: "widgets",
      verdict: .accepted(notification, remark: nil))
  }

  func steps(_ service: PushDeliveryService, _ id: UUID) async throws -> [PushStep.Name] {
    try await service.page(ListPushes(uniqueID: id)).pushes.first?.steps.map(\.name) ?? []
  }

  /// Waits until a notification reaches a step.
  func reached(_ name: PushStep.Name, _ id: UUID) async {
    _ = await bus.first { envelope in
      guard envelope.header.kind == PushLogged.kind else { return false }
      let logged = try? BodyCoding.decode(PushLogged.self, from: envelope.body)
      return logged?.uniqueID == id && logged?.step.name == name
    }
  }
}
