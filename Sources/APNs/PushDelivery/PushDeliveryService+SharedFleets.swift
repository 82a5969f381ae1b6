// SPDX-License-Identifier: Apache-2.0

import FleetTokenDerivation
import Foundation
import Messages

// Fleets of a replica. All devices of a fleet share one connection, so that a fleet has one owner.

extension PushDeliveryService {
  /// Adds what a job needs.
  ///
  /// - Returns: the devices about which it decides.
  func need(_ job: FleetJob, in scope: inout SharedScope) -> [String] {
    switch job {
    case .join: return []
    case .tokens(let fleet, let change, _, _):
      scope.connections.insert(FleetDevice.connection(of: fleet))
      let ended = change.action == .end ? change.serial : change.serial - 1
      guard ended >= 0, let tokens = fleetTokens[fleet] else { return [] }
      return change.devices.indices.map { index in
        let subject = PushSubject(device: FleetDevice.id(fleet, index), bundle: change.bundle, use: change.use)
        scope.tokens.append(tokens.token(index, change.bundle, change.use, serial: ended))
        need(subject, in: &scope)
        return subject.device
      }
    case .reach(let fleet, let reach, _, _):
      scope.connections.insert(FleetDevice.connection(of: fleet))
      guard !reach.isFirst, reach.online.count + reach.awake.count <= Self.fleetDevicesAtOnce else { return [] }
      return reach.online.indices.map { FleetDevice.id(fleet, $0) }
        + reach.awake.indices.map { FleetDevice.id(fleet, $0) }
    case .presence(let fleet, _, _), .handOver(let fleet):
      scope.connections.insert(FleetDevice.connection(of: fleet))
      return []
    case .replied(let fleet, let reply):
      scope.connections.insert(FleetDevice.connection(of: fleet))
      return reply.acknowledged.map(\.subject.device) + reply.refused.map(\.subject.device)
    }
  }

  /// Reads the secrets that the jobs need. Call before the transaction is opened.
  func learnSecrets(of jobs: [PushJobQueue.Job]) throws {
    for case .fleet(.tokens(let fleet, _, _, _)) in jobs { try learnSecret(of: fleet) }
  }

  /// This replica is the new owner of a fleet, or its owner again. What it had in memory may be obsolete.
  func beginOwning(_ fleet: String, _ claimed: ClaimedRoutes) {
    let connection = FleetDevice.connection(of: fleet)
    stateMachine.unload(stateMachine.devices.keys.filter { PushSubject.connection(of: $0) == connection })
    senders[fleet] = FleetSender(epoch: claimed.epochs[connection] ?? 0)
    // A report of all devices is about to be handled, unless this replica has one.
    if stateMachine.reaches.knows(fleet) { handOver(to: fleet) }
  }

  /// Some single attempts of former transactions have been forgotten with their devices. Counts those that are on their
  /// way again, and the others as interrupted.
  func interruptForgotten(in batch: inout Batch) {
    batch.changes.interruptsOpen = true
    for device in stateMachine.devices.values {
      for push in device.queues.values.lazy.flatMap(\.sent) where push.isForOnce && push.isSent {
        let notification = push.notification
        guard let fleet = FleetDevice.fleet(of: notification.subject.device) else { continue }
        for (name, count) in [(FleetPushCount.open, 1), (FleetPushCount.interrupted, -1)] {
          let key = FleetPushCount(fleet: fleet, type: notification.type.rawValue, name: name, reason: "")
          batch.changes.counts[key, default: 0] += count
        }
      }
    }
  }
}

extension PushStateMachine.Action {
  /// The device that it is about.
  var device: String {
    switch self {
    case .keep(let push), .drop(let push), .step(let push, _, _): push.notification.subject.device
    case .send(let notification): notification.subject.device
    }
  }
}
