// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// Which devices can be reached. The devices of a fleet are bits, so that a million need a quarter of a MiB.
struct DeviceReaches: Sendable, Hashable {
  struct Reach: Sendable, Hashable {
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
  subscript(device: String) -> Reach? {
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
  mutating func forget(_ connections: Set<String>) {
    hosts = hosts.filter { !connections.contains(PushSubject.connection(of: $0.key)) }
    fleets = fleets.filter { !connections.contains(PushSubject.connection(of: FleetDevice.id($0.key, 0))) }
  }

  /// The devices of connections that have reported, without those of fleets, in order.
  func known(of connections: Set<String>) -> [String] {
    hosts.keys.filter { connections.contains(PushSubject.connection(of: $0)) }.sorted()
  }

  // MARK: Fleets

  /// Whether a fleet has reported all its devices since its process started.
  func knows(_ fleet: String, _ generation: UInt32) -> Bool { fleets[fleet]?.generation == generation }

  /// Whether a fleet has reported.
  func knows(_ fleet: String) -> Bool { fleets[fleet] != nil }

  /// Whether a fleet has reported, and is on the bus.
  func isPresent(_ fleet: String) -> Bool { fleets[fleet]?.isPresent ?? false }

  /// Applies the report of a fleet.
  mutating func apply(_ reach: FleetReach, of name: String, generation: UInt32) {
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
  mutating func presence(_ name: String, isPresent: Bool, generation: UInt32) -> Bool {
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

  mutating func setFull(_ name: String, isFull: Bool) { fleets[name]?.isFull = isFull }
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

/// The notifications that one fleet must receive: in batches that fit into an envelope, few at a time. What waits
/// for them goes together into the next batch.
struct FleetSender: Sendable {
  struct Batch: Sendable {
    let run: UUID
    let epoch: Int64
    let number: Int64
    let settled: Int64
    let notifications: [PushedNotification]
  }

  /// Batches without a reply at a time.
  static let window = 4
  /// Notifications of a batch.
  static let most = 500
  /// Bytes of a batch, of the 262,144 that an envelope may have.
  static let room = 240_000
  /// From so many notifications on, others are stored, which bounds the memory.
  static let full = 20_000
  /// Stored ones are handed over while there are fewer.
  static let low = 4_000

  /// Identifies the batches since this push server became responsible for the fleet.
  let run = UUID()
  /// The epoch of the fleet's route; 0 without replicas.
  let epoch: Int64
  private var waitingPushes: [PushedNotification] = []
  private var head = 0
  private var last: Int64 = 0
  /// The batches without a reply, or whose reply is not on the disk.
  private var open: [Int64: Int] = [:]
  private var inFlight = 0
  /// The device after which the hand-over continues; `nil` when none is under way.
  var place: String?
  /// The hand-over waits until there is room.
  var isPaused = false
  /// Something was stored that no report of the device announces.
  var hasHeld = false
  /// Something that other replicas have accepted was left to them.
  var hasArrivals = false

  /// Notifications that wait or have no reply.
  private(set) var count = 0

  init(epoch: Int64 = 0) { self.epoch = epoch }

  var isFull: Bool { count >= Self.full }
  var isLow: Bool { count < Self.low }

  mutating func add(_ notification: PushedNotification) {
    waitingPushes.append(notification)
    count += 1
  }

  /// Whether more notifications can be sent soon. What other replicas have accepted waits until then in the database, where
  /// it costs a new owner nothing: what is handed over, the next owner must send again.
  var hasRoom: Bool { isLow && place == nil }

  /// The next batch; `nil` when nothing waits, or as many as may are without a reply.
  mutating func next() -> Batch? {
    guard inFlight < Self.window, head < waitingPushes.count else { return nil }
    var bytes = 0
    var end = head
    while end < waitingPushes.count, end - head < Self.most {
      bytes += waitingPushes[end].longestJSON
      if bytes > Self.room, end > head { break }
      end += 1
    }
    let batch = Array(waitingPushes[head..<end])
    head = end
    if head > waitingPushes.count / 2 {
      waitingPushes.removeFirst(head)
      head = 0
    }
    last += 1
    inFlight += 1
    open[last] = batch.count
    return Batch(run: run, epoch: epoch, number: last, settled: settled, notifications: batch)
  }

  /// All batches up to this one are recorded.
  private var settled: Int64 { (open.keys.min() ?? last + 1) - 1 }

  /// The reply to a batch arrived. It counts as open until `record`.
  mutating func replied() { inFlight -= 1 }

  /// Notifications that are on the fleet's disk. A copy that waits, because a transaction has failed, is not sent: the
  /// fleet forgets their ids when it receives a later batch.
  mutating func drop(_ ids: Set<UUID>) {
    guard head < waitingPushes.count else { return }
    let left = waitingPushes[head...].filter { !ids.contains($0.uniqueID) }
    count -= waitingPushes.count - head - left.count
    (waitingPushes, head) = (left, 0)
  }

  /// The reply to a batch is on the disk.
  mutating func record(_ number: Int64) { count -= open.removeValue(forKey: number) ?? 0 }
}

extension PushedNotification {
  /// An upper bound of its length as JSON.
  var longestJSON: Int {
    let payload = payload.utf8.reduce(0) { length, byte in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): length + 2
      case 0..<0x20, 0x7f: length + 6
      default: length + 1
      }
    }
    return payload + 700 + 6 * (collapseID?.utf8.count ?? 0) + subject.bundle.utf8.count + subject.device.utf8.count
      + apnsID.utf8.count
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
