// SPDX-License-Identifier: Apache-2.0

package import Foundation

// Fleets: messages between a fleet of light devices and the push server, and for the operator's control of both. One
// envelope is about many devices.

extension BusError.Code {
  /// The push server knows another fleet of this name. Definite.
  package static let fleetExists = BusError.Code("fleet-exists")
  /// The sender is not a fleet that has joined. Definite.
  package static let noSuchFleet = BusError.Code("no-such-fleet")
}

// MARK: Between a fleet and the push server

/// A fleet joins the push server: sent at each start, before its other messages.
package struct JoinFleet: Request {
  package static let kind: Kind = "fleet.join"
  /// Identifies the database of the fleet, so that two fleets of one name are noticed.
  package let incarnation: UUID
  package init(incarnation: UUID) { self.incarnation = incarnation }
  package struct Reply: Codable, Hashable, Sendable {
    /// 32 bytes, hexadecimal. Both sides derive the fleet's device tokens from it, so that no token is sent or stored by
    /// the fleet.
    package let secret: String
    package init(secret: String) { self.secret = secret }
  }
}

/// Issues or ends device tokens of many devices. The reply follows when they are on the push server's disk.
package struct ChangeFleetTokens: Request {
  package static let kind: Kind = "fleet.tokens"
  package typealias Reply = Done
  package enum Action: String, Codable, Hashable, Sendable {
    /// The token with this serial number is active, and the one before it is unregistered.
    case issue
    /// The token with this serial number is unregistered.
    case end
  }
  package struct Change: Codable, Hashable, Sendable {
    package let action: Action
    package let bundle: String
    package let use: PushTokenUse
    /// How often the token was replaced.
    package let serial: Int
    package let devices: DeviceSet
    package init(action: Action, bundle: String, use: PushTokenUse, serial: Int, devices: DeviceSet) {
      self.action = action
      self.bundle = bundle
      self.use = use
      self.serial = serial
      self.devices = devices
    }
  }
  package let environment: PushEnvironment
  package let changes: [Change]
  package init(environment: PushEnvironment, changes: [Change]) {
    self.environment = environment
    self.changes = changes
  }
}

/// Which devices of a fleet can be reached. The devices in none of the sets are as they were.
package struct FleetReach: Event {
  package static let kind: Kind = "fleet.reach"
  /// The first report of this process instance, or after the push server connected: all devices are offline and awake
  /// before it.
  package let isFirst: Bool
  package let online: DeviceSet
  package let offline: DeviceSet
  package let awake: DeviceSet
  package let asleep: DeviceSet
  package init(isFirst: Bool, online: DeviceSet, offline: DeviceSet, awake: DeviceSet, asleep: DeviceSet) {
    self.isFirst = isFirst
    self.online = online
    self.offline = offline
    self.awake = awake
    self.asleep = asleep
  }
}

/// Delivers notifications to devices of a fleet. The reply follows when they are on the fleet's disk.
package struct DeliverToFleet: Request {
  package static let kind: Kind = "fleet.deliver"
  /// Identifies the batches of one push server from when it became responsible for the fleet.
  package let run: UUID
  /// Grows with each push server that becomes responsible for the fleet. A fleet refuses batches of a former one. 0 for a
  /// push server without replicas.
  package let epoch: Int64
  /// 1, 2, 3 … within the run.
  package let batch: Int64
  /// The push server has recorded the replies to this batch and to all before it: it will not send their notifications
  /// again.
  package let settled: Int64
  package let notifications: [PushedNotification]
  package init(run: UUID, epoch: Int64 = 0, batch: Int64, settled: Int64, notifications: [PushedNotification]) {
    self.run = run
    self.epoch = epoch
    self.batch = batch
    self.settled = settled
    self.notifications = notifications
  }
  /// Why a device did not take a notification.
  package struct Refusal: Codable, Hashable, Sendable {
    /// The position in `notifications`.
    package let index: Int
    /// `offline`, `expired` or `no-such-token`.
    package let code: BusError.Code
    package init(index: Int, code: BusError.Code) {
      self.index = index
      self.code = code
    }
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// All others are on the disk.
    package let refused: [Refusal]
    package init(refused: [Refusal]) { self.refused = refused }
  }
}

/// How many requests about devices of a fleet had which result, as the push server has it on its disk.
package struct CountFleetPushes: Request {
  package static let kind: Kind = "fleet.pushes"
  package let fleet: String
  package init(fleet: String) { self.fleet = fleet }
  package struct Count: Codable, Hashable, Sendable {
    /// `apns-push-type` as sent; empty when missing.
    package let type: String
    /// The name of a `PushStep`: `accepted`, `refused` or a result. `open`: a single attempt that is on its way.
    /// `interrupted`: a single attempt whose result is unknown, because the push server ended before it had it.
    package let name: String
    /// Of a refused request; empty for the others.
    package let reason: String
    package let count: Int
    package init(type: String, name: String, reason: String, count: Int) {
      self.type = type
      self.name = name
      self.reason = reason
      self.count = count
    }
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let counts: [Count]
    /// Accepted notifications that are stored or on their way, by push type.
    package let kept: [String: Int]
    /// Active device tokens of the fleet, by use without its number.
    package let tokens: [String: Int]
    package init(counts: [Count], kept: [String: Int], tokens: [String: Int]) {
      self.counts = counts
      self.kept = kept
      self.tokens = tokens
    }
  }
}

// MARK: The operator's control of a fleet

/// The state of a fleet.
package struct FleetStatus: Request {
  package static let kind: Kind = "fleet.status"
  package init() {}
  package typealias Reply = FleetState
}

/// A page of a fleet's devices.
package struct ListFleetDevices: Request {
  package static let kind: Kind = "fleet.devices"
  /// The index of the first one.
  package let first: UInt32
  /// At most 1,000.
  package let limit: Int
  package init(first: UInt32, limit: Int) {
    self.first = first
    self.limit = limit
  }
  package struct Token: Codable, Hashable, Sendable {
    package let use: PushTokenUse
    package let bundle: String
    /// Lower-case hexadecimal.
    package let token: String
    /// Whether the backend has it.
    package let isRegistered: Bool
    package init(use: PushTokenUse, bundle: String, token: String, isRegistered: Bool) {
      self.use = use
      self.bundle = bundle
      self.token = token
      self.isRegistered = isRegistered
    }
  }
  package struct Device: Codable, Hashable, Sendable {
    package let id: String
    package let isInstalled: Bool
    package let isOnline: Bool
    package let isAwake: Bool
    /// How many events of its day have happened.
    package let events: Int
    /// Notifications since the process started.
    package let received: Int
    package let tokens: [Token]
    /// The numbers of its Live Activities.
    package let activities: [Int]
    package init(
      id: String, isInstalled: Bool, isOnline: Bool, isAwake: Bool, events: Int, received: Int, tokens: [Token],
      activities: [Int]
    ) {
      self.id = id
      self.isInstalled = isInstalled
      self.isOnline = isOnline
      self.isAwake = isAwake
      self.events = events
      self.received = received
      self.tokens = tokens
      self.activities = activities
    }
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let devices: [Device]
    /// The index after the last one of the page; `nil` when there is no other.
    package let next: UInt32?
    package init(devices: [Device], next: UInt32?) {
      self.devices = devices
      self.next = next
    }
  }
}

/// Takes the network from all devices of a fleet, or gives it back to all at once. Their day goes on.
package struct SetFleetNetwork: Request {
  package static let kind: Kind = "fleet.network"
  package typealias Reply = Done
  package let isOn: Bool
  package init(isOn: Bool) { self.isOn = isOn }
}
