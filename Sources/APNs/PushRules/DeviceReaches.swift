// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// Which devices can be reached. The devices of a fleet are bits, so that a million need a quarter of a MiB.
package struct DeviceReaches: Sendable, Hashable {
  /// The reach of one device.
  package struct Reach: Sendable, Hashable {
    var isPresent: Bool
    var isOnline: Bool
    var isAwake: Bool
    var generation: UInt32
  }

  /// The devices of one fleet.
  private struct Fleet: Sendable, Hashable {
    var isPresent = true
    var generation: UInt32
    /// The fleet has as many notifications as it may.
    var isFull = false
    var online = Bits()
    /// Not awake, so that a fresh set has all awake.
    var asleep = Bits()
  }

  private var hosts: [String: Reach] = [:]
  private var fleets: [String: Fleet] = [:]

  /// The reach of a device; `nil` when it is unknown.
  package internal(set) subscript(device: String) -> Reach? {
    get {
      guard let (name, index) = FleetDevice.parse(device) else { return hosts[device] }
      guard let fleet = fleets[name] else { return nil }
      return Reach(
        isPresent: fleet.isPresent, isOnline: fleet.online[index], isAwake: !fleet.asleep[index],
        generation: fleet.generation)
    }
    set { hosts[device] = newValue }
  }

  /// Why a notification cannot be sent now; `nil` if it can.
  func obstacle(to push: PushedNotification) -> (PushStep.Name, String)? {
    guard let reach = self[push.subject.device] else { return (.storedOffline, "the device's state is unknown") }
    guard reach.isPresent else { return (.storedOffline, "the device is not connected") }
    guard reach.isOnline else { return (.storedOffline, "the device has no network") }
    guard reach.isAwake || push.priority == 10 else {
      return (.storedPower, "the device is asleep; priority \(push.priority) does not wake it")
    }
    if isFull(push.subject.device) { return (.storedOffline, "too many notifications await the fleet's reply") }
    return nil
  }

  private func isFull(_ device: String) -> Bool {
    FleetDevice.fleet(of: device).flatMap { fleets[$0]?.isFull } ?? false
  }

  // MARK: Connections

  /// Forgets the devices of connections, because another replica decides about them.
  package mutating func forget(_ connections: Set<String>) {
    hosts = hosts.filter { !connections.contains(PushSubject.connection(of: $0.key)) }
    fleets = fleets.filter { !connections.contains(PushSubject.connection(of: FleetDevice.id($0.key, 0))) }
  }

  /// The devices of connections that have reported, without those of fleets, in order.
  package func known(of connections: Set<String>) -> [String] {
    hosts.keys.filter { connections.contains(PushSubject.connection(of: $0)) }.sorted()
  }

  // MARK: Fleets

  /// Whether a fleet has reported all its devices since its process started.
  package func knows(_ fleet: String, _ generation: UInt32) -> Bool { fleets[fleet]?.generation == generation }

  /// Whether a fleet has reported.
  package func knows(_ fleet: String) -> Bool { fleets[fleet] != nil }

  /// Whether a fleet has reported, and is on the bus.
  package func isPresent(_ fleet: String) -> Bool { fleets[fleet]?.isPresent ?? false }

  /// Applies the report of a fleet.
  package mutating func apply(_ reach: FleetReach, of name: String, generation: UInt32) {
    var fleet = fleets[name] ?? Fleet(generation: generation)
    if reach.isFirst || fleet.generation != generation {
      let isFull = fleet.isFull
      fleet = Fleet(generation: generation)
      fleet.isFull = isFull
    }
    fleet.isPresent = true
    for run in reach.online.runs { fleet.online.set(run, to: true) }
    for run in reach.offline.runs { fleet.online.set(run, to: false) }
    for run in reach.asleep.runs { fleet.asleep.set(run, to: true) }
    for run in reach.awake.runs { fleet.asleep.set(run, to: false) }
    fleets[name] = fleet
  }

  /// A fleet joined or left the bus.
  ///
  /// - Returns: whether its devices have returned.
  package mutating func presence(_ name: String, isPresent: Bool, generation: UInt32) -> Bool {
    guard var fleet = fleets[name] else { return false }
    guard !isPresent || fleet.generation == generation else {
      // Another process instance reports its own devices.
      fleets[name] = nil
      return false
    }
    fleet.isPresent = isPresent
    fleets[name] = fleet
    return isPresent
  }

  package mutating func setFull(_ name: String, isFull: Bool) { fleets[name]?.isFull = isFull }
}

/// A growing array of bits. Those beyond its end are 0.
private struct Bits: Sendable, Hashable {
  private var words: [UInt64] = []

  subscript(index: UInt32) -> Bool {
    let word = Int(index >> 6)
    return word < words.count && words[word] & (1 << UInt64(index & 63)) != 0
  }

  mutating func set(_ run: Range<UInt32>, to value: Bool) {
    let needed = Int((run.upperBound + 63) >> 6)
    if words.count < needed { words += Array(repeating: 0, count: needed - words.count) }
    for index in run {
      let bit: UInt64 = 1 << UInt64(index & 63)
      if value { words[Int(index >> 6)] |= bit } else { words[Int(index >> 6)] &= ~bit }
    }
  }
}

extension PushSubject {
  /// The connection of its device: the device itself, or its fleet. The devices `f:1` and `f:2` share the connection `f:`.
  package var connection: String { Self.connection(of: device) }

  /// The connection of a device.
  package static func connection(of device: String) -> String {
    device.utf8.firstIndex(of: UInt8(ascii: ":")).map { String(device[...$0]) } ?? device
  }
}
