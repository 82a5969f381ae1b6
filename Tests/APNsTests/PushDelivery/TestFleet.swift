// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import MessageBus
import Messages
import Stores
import Synchronization
import Testing

@testable import PushDelivery

/// A fleet on the in-memory bus, which takes or refuses notifications.
final class TestFleet: Sendable {
  let line: Connection
  let tokens: FleetTokens
  let arrived: AsyncStream<PushedNotification>
  /// Where it joins.
  private let server: Address

  /// - Parameter refuse: the code for a notification that is not taken.
  init(
    _ bus: InMemoryBus, incarnation: UUID = UUID(), devices: UInt32 = 10, at server: Address = .pushServer,
    refuse: @escaping @Sendable (PushedNotification) async -> BusError.Code? = { _ in nil }
  ) async throws {
    let line = bus.connection(.fleet("load"))
    let (arrived, continuation) = AsyncStream.makeStream(of: PushedNotification.self)
    self.line = line
    self.server = server
    self.arrived = arrived
    let keep = Batches()
    keptBatches = keep
    line.onRequest(DeliverToFleet.self) { request, _ in
      keep.add(request)
      var refused: [DeliverToFleet.Refusal] = []
      for (index, push) in request.notifications.enumerated() {
        if let code = await refuse(push) {
          refused.append(DeliverToFleet.Refusal(index: index, code: code))
        } else {
          continuation.yield(push)
        }
      }
      return DeliverToFleet.Reply(refused: refused)
    }
    _ = try await line.start()
    let secret = try await line.request(JoinFleet(incarnation: incarnation), to: server).secret
    tokens = try #require(FleetTokens(secret: secret))
    try await change(.issue, 0, devices: DeviceSet(0..<devices))
  }

  private final class Batches: Sendable {
    private let all = Mutex<[DeliverToFleet]>([])
    func add(_ batch: DeliverToFleet) { all.withLock { $0.append(batch) } }
    var value: [DeliverToFleet] { all.withLock { $0 } }
  }
  private let keptBatches: Batches
  var received: [DeliverToFleet] { keptBatches.value }

  func change(_ action: ChangeFleetTokens.Action, _ serial: Int, devices: DeviceSet, at other: Address? = nil)
    async throws
  {
    let change = ChangeFleetTokens.Change(
      action: action, bundle: PushDeliveryFixture.bundle, use: .app, serial: serial, devices: devices)
    _ = try await line.request(ChangeFleetTokens(environment: .development, changes: [change]), to: other ?? server)
  }

  func reach(
    online: DeviceSet = DeviceSet(), offline: DeviceSet = DeviceSet(), isFirst: Bool = false, at other: Address? = nil
  ) async throws {
    try await line.deliver(
      FleetReach(isFirst: isFirst, online: online, offline: offline, awake: DeviceSet(), asleep: DeviceSet()),
      to: other ?? server)
  }

  func token(_ device: UInt32, serial: Int = 0) -> String {
    tokens.token(device, bundle: PushDeliveryFixture.bundle, use: .app, serial: serial)
  }

  static func subject(_ device: UInt32) -> PushSubject {
    PushSubject(device: "load:\(device)", bundle: PushDeliveryFixture.bundle, use: .app)
  }

  /// Returns the next notifications, by device.
  func next(_ count: Int) async -> [String] {
    var devices: [String] = []
    for await push in arrived {
      devices.append(push.subject.device)
      if devices.count == count { break }
    }
    return devices.sorted()
  }

  /// What the push server has counted, by name, with the sums of what is kept and of the tokens.
  func counts(at other: Address? = nil) async throws -> [String: Int] {
    let reply = try await line.request(CountFleetPushes(fleet: "load"), to: other ?? server)
    var counts = Dictionary(reply.counts.map { ($0.name, $0.count) }, uniquingKeysWith: +)
    counts["kept"] = reply.kept.values.reduce(0, +)
    counts["tokens"] = reply.tokens.values.reduce(0, +)
    return counts
  }

  /// Waits until the counts are these.
  func reaches(_ expected: [String: Int], at other: Address? = nil) async throws {
    while !Task.isCancelled {
      let counts = try await counts(at: other)
      if expected.allSatisfy({ counts[$0.key, default: 0] == $0.value }) { return }
      await Task.yield()
    }
  }

  /// Accepts a notification for each of these devices.
  func accept(
    _ devices: Range<UInt32>, service: PushDeliveryService, fixture: PushDeliveryFixture, once: Bool = false
  ) async throws {
    for device in devices {
      _ = try await fixture.accept(
        service, token(device), for: TestFleet.subject(device), expiration: once ? Date(timeIntervalSince1970: 0) : nil)
    }
  }
}
