// SPDX-License-Identifier: Apache-2.0

import BusTesting
import ClockTesting
import Foundation
import GRDB
import MessageBus
import Messages
import Testing

@testable import PushDelivery

/// A push server without HTTP/2, on an in-memory bus, and a device.
struct PushDeliveryFixture {
  static let host = Address.host("iphone")
  static let bundle = "com.example.A"
  static let widgets = PushSubject(device: "iphone", bundle: bundle, use: .widgets)

  let bus = InMemoryBus()
  let database: DatabaseQueue
  let clock = ManualClock()

  init() throws { database = try DatabaseQueue() }

  /// Starts an instance of the push server.
  func server(_ settings: PushSettings = PushSettings()) async throws -> (
    service: PushDeliveryService, line: Connection
  ) {
    let line = bus.connection(.pushServer)
    let service = try PushDeliveryService(database: database, bus: line, clock: clock, settings: settings) { reason in
      Issue.record("broken: \(reason)")
    }
    service.listen()
    _ = try await line.start()
    await service.begin()
    return (service, line)
  }

  /// Starts a device that reports each received notification and acknowledges it.
  func device(
    _ address: Address = Self.host, online: Bool = true
  ) async throws -> (line: Connection, delivered: AsyncStream<PushedNotification>) {
    let line = bus.connection(address)
    let (stream, continuation) = AsyncStream.makeStream(of: PushedNotification.self)
    line.onEvent(DeliverPush.self) { event, _ in continuation.yield(event.notification) }
    line.onEvent(TokenReplaced.self) { _, _ in }
    _ = try await line.start()
    try await line.deliver(DeviceReach(isOnline: online, isAwake: true), to: .pushServer)
    return (line, stream)
  }

  func token(_ line: Connection, _ use: PushTokenUse = .widgets) async throws -> String {
    let issue = IssueToken(bundle: Self.bundle, use: use, environment: .development)
    return try await line.request(issue, to: .pushServer).token
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
