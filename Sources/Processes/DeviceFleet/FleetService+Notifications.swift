// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages

// Notifications from the push server.

extension FleetService {
  /// Receives a batch. It is on the disk when this returns.
  ///
  /// - Throws: `refused` when a push server that was responsible later has sent one. The ids of its notifications may be
  ///   forgotten, so this one would deliver them twice.
  func deliver(_ request: DeliverToFleet) throws(BusError) -> DeliverToFleet.Reply {
    guard request.epoch >= facts.epoch ?? 0 else {
      throw BusError(.refused, "another push server is responsible for the fleet \(plan.name)")
    }
    facts.epoch = request.epoch
    let (machineNow, now) = (Date(), now)
    var refused: [DeliverToFleet.Refusal] = []
    var ids: [UUID] = []
    let second = currentSecond()
    for (index, push) in request.notifications.enumerated() {
      let type = push.type.rawValue
      guard !known.contains(push.uniqueID) else {
        figures.received[type, default: FleetState.Received()].repeated += 1
        metrics?.countRepeated(push.type)
        continue
      }
      let device = FleetDevice.parse(push.subject.device)
      let index32 = device?.fleet == plan.name ? device?.index : nil
      switch machine.receive(push, index32 ?? .max, now: now) {
      case .success(let outcome):
        known.insert(push.uniqueID)
        ids.append(push.uniqueID)
        let milliseconds = machineNow.timeIntervalSince(push.acceptedAt) * 1_000
        figures.received[type, default: FleetState.Received()].count(outcome, after: milliseconds)
        metrics?.countDelivered(push.type, after: milliseconds / 1_000)
        seconds[second].delivered += 1
        seconds[second].slowest = max(seconds[second].slowest, milliseconds)
      case .failure(let failure):
        refused.append(DeliverToFleet.Refusal(index: index, code: failure.code))
        metrics?.countRefused(failure.code)
        figures.received[type, default: FleetState.Received()].refused[failure.code.rawValue, default: 0] += 1
      }
    }
    let settled = request.settled > 0 ? (request.run, request.settled) : nil
    guard save(received: ids.isEmpty ? nil : (request.run, request.batch, ids), settled: settled) else {
      throw BusError(.closed, "the fleet cannot write its database", isDefinite: false)
    }
    metrics?.countBatch()
    return DeliverToFleet.Reply(refused: refused)
  }
}

extension FleetState.Received {
  fileprivate mutating func count(_ outcome: String, after milliseconds: Double) {
    delivered += 1
    outcomes[outcome, default: 0] += 1
    latency.add(milliseconds)
  }
}
