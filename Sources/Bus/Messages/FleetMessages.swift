// SPDX-License-Identifier: Apache-2.0

import Archive
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

/// What a fleet reports about itself.
package struct FleetState: Codable, Hashable, Sendable {
  /// Tokens by what is still to be done.
  package struct Tokens: Codable, Hashable, Sendable {
    /// Requested from the push server, without a reply yet.
    package var wanted = 0
    /// Issued, and not registered with the backend yet.
    package var issued = 0
    package var registered = 0
    /// To be ended by the push server.
    package var ending = 0
    package init() {}

    /// The tokens that exist or are requested.
    package var all: Int { wanted + issued + registered }
  }

  /// The progress of registration since the process started.
  package struct Registration: Codable, Hashable, Sendable {
    package var succeeded = 0
    /// Attempts that are made again: by status, `timeout` or the error of the connection.
    package var retried: [String: Int] = [:]
    /// Tokens that the backend refused, by status. They are not sent again.
    package var refused: [String: Int] = [:]
    /// The last error, with the device.
    package var lastError: String?
    /// From the first attempt to the answer, in milliseconds.
    package var latency = LatencyHistogram()
    package init() {}
  }

  /// The results of the notifications of one push type.
  package struct Received: Codable, Hashable, Sendable {
    /// On the disk of the fleet, each once.
    package var delivered = 0
    /// Received again, and recognised.
    package var repeated = 0
    /// Refused, by code.
    package var refused: [String: Int] = [:]
    /// What the device did with the delivered ones: the name of a `PushStep` or of a step of a Live Activity.
    package var outcomes: [String: Int] = [:]
    /// From the acceptance by the push server to the disk of the fleet, in milliseconds.
    package var latency = LatencyHistogram()
    package init() {}
  }

  /// The figures of one second.
  package struct Second: Codable, Hashable, Sendable {
    /// Seconds since 1970.
    package let at: Int
    package var delivered: Int
    package var registered: Int
    package var online: Int
    /// The largest latency, in milliseconds.
    package var slowest: Double
    package init(at: Int, delivered: Int = 0, registered: Int = 0, online: Int = 0, slowest: Double = 0) {
      self.at = at
      self.delivered = delivered
      self.registered = registered
      self.online = online
      self.slowest = slowest
    }
  }

  package var name = ""
  package var pid: Int32 = 0
  package var seed: UInt64 = 0
  package var profile = ""
  package var devices = 0
  package var installed = 0
  package var online = 0
  package var asleep = 0
  /// The operator took the network from all.
  package var isCutOff = false
  package var activities = 0
  /// All wanted tokens are issued, and registered unless the backend refused them.
  package var isReady = false
  /// Seconds from the start of the process until it was ready first.
  package var readyAfter: Double?
  /// The time of the fleet's day.
  package var time = Date(timeIntervalSince1970: 0)
  /// Seconds of the fleet's day in a second.
  package var speed = 1.0
  /// Events of the devices' days so far.
  package var events = 0
  package var tokens = Tokens()
  package var registration = Registration()
  /// By push type.
  package var received: [String: Received] = [:]
  /// What happened to Live Activities with time, by name.
  package var liveActivities: [String: Int] = [:]
  /// The last seconds, oldest first, at most 600.
  package var seconds: [Second] = []
  package init() {}

  /// All push types together.
  package var total: Received {
    received.values.reduce(into: Received()) { total, part in
      total.delivered += part.delivered
      total.repeated += part.repeated
      total.refused.merge(part.refused, uniquingKeysWith: +)
      total.outcomes.merge(part.outcomes, uniquingKeysWith: +)
      total.latency.add(part.latency)
    }
  }
}

/// Counts of durations in classes whose bounds grow by a twelfth of a power of ten, so that a percentile is right to
/// within a tenth. Milliseconds.
package struct LatencyHistogram: Codable, Hashable, Sendable {
  private static let perDecade = 12.0
  /// The lower bound of the second class.
  private static let first = 0.1

  /// By class, up to the last one that is not empty.
  package private(set) var counts: [Int] = []
  package private(set) var longest = 0.0

  package init() {}

  package var count: Int { counts.reduce(0, +) }

  package mutating func add(_ milliseconds: Double) {
    let value = max(0, milliseconds)
    let place = value < Self.first ? 0 : 1 + min(Int(saturating: log10(value / Self.first) * Self.perDecade), 1000)
    if place >= counts.count { counts += Array(repeating: 0, count: place + 1 - counts.count) }
    counts[place] += 1
    longest = max(longest, value)
  }

  package mutating func add(_ other: LatencyHistogram) {
    if counts.count < other.counts.count {
      counts += Array(repeating: 0, count: other.counts.count - counts.count)
    }
    for (place, count) in other.counts.enumerated() { counts[place] += count }
    longest = max(longest, other.longest)
  }

  /// The upper bound of the class in which this share of the durations is reached; `nil` without durations.
  package func percentile(_ share: Double) -> Double? {
    let total = count
    guard total > 0 else { return nil }
    guard share < 1 else { return longest }
    let wanted = max(1, Int(saturating: (Double(total) * share).rounded(.up)))
    var sum = 0
    for (place, count) in counts.enumerated() {
      sum += count
      if sum >= wanted { return min(longest, bound(ofClass: place)) }
    }
    return longest
  }

  /// The upper bound of a class.
  package func bound(ofClass place: Int) -> Double { Self.first * pow(10, Double(place) / Self.perDecade) }
}

/// A set of devices of a fleet, by index. Its cost is that of its runs, so that a million devices are cheap.
///
/// Written as one text: for each run the distance from the end of the one before, and after `x` its length unless that
/// is 1. `0x5 2` has the devices 0 to 4 and 7.
package struct DeviceSet: Codable, Hashable, Sendable {
  /// The largest number of devices of a fleet.
  package static let limit: UInt32 = 1 << 26
  /// The number of devices whose set in any order fits into an envelope.
  package static let span: UInt32 = 65_536

  /// Ascending, not empty, not touching each other.
  package private(set) var runs: [Range<UInt32>] = []

  package init() {}

  package init(_ run: Range<UInt32>) { append(run) }

  /// - Parameter indices: ascending.
  package init(ascending indices: some Sequence<UInt32>) { for index in indices { append(index) } }

  /// The number of devices.
  package var count: Int { runs.reduce(0) { $0 + $1.count } }
  package var isEmpty: Bool { runs.isEmpty }
  /// The indices, ascending.
  package var indices: some Sequence<UInt32> { runs.lazy.joined() }

  /// Adds an index that is not less than all others.
  package mutating func append(_ index: UInt32) { append(index..<index + 1) }

  /// Adds a run that begins after all others, or within the last one.
  package mutating func append(_ run: Range<UInt32>) {
    guard !run.isEmpty else { return }
    if let last = runs.last, run.lowerBound <= last.upperBound {
      runs[runs.count - 1] = last.lowerBound..<max(last.upperBound, run.upperBound)
    } else {
      runs.append(run)
    }
  }

  /// Whether the set has a device.
  package func contains(_ index: UInt32) -> Bool {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].upperBound <= index { low = middle + 1 } else { high = middle }
    }
    return low < runs.count && runs[low].contains(index)
  }

  /// The set in parts of at most this many devices.
  package func parts(of most: Int) -> [DeviceSet] {
    var parts: [DeviceSet] = []
    var part = DeviceSet()
    var count = 0
    for run in runs {
      var rest = run
      while !rest.isEmpty {
        let piece = rest.prefix(most - count)
        part.append(piece.startIndex..<piece.endIndex)
        count += piece.count
        rest = piece.endIndex..<rest.upperBound
        guard count == most else { continue }
        parts.append(part)
        (part, count) = (DeviceSet(), 0)
      }
    }
    return part.isEmpty ? parts : parts + [part]
  }

  // MARK: The text

  package var text: String {
    var text = ""
    var end: UInt32 = 0
    for run in runs {
      if !text.isEmpty { text += " " }
      text += "\(run.lowerBound - end)"
      if run.count > 1 { text += "x\(run.count)" }
      end = run.upperBound
    }
    return text
  }

  /// Reads the text; `nil` when it is malformed, or names a device beyond `limit`.
  package init?(text: String) {
    var end: UInt32 = 0
    for part in text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) where !text.isEmpty {
      let pieces = part.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
      guard pieces.count <= 2, let gap = Self.number(pieces[0]), gap > 0 || runs.isEmpty else { return nil }
      guard let length = pieces.count == 2 ? Self.number(pieces[1]) : 1, length > 0 else { return nil }
      let start = UInt64(end) + UInt64(gap)
      guard start + UInt64(length) <= UInt64(Self.limit) else { return nil }
      end = UInt32(start) + length
      runs.append(UInt32(start)..<end)
    }
  }

  private static func number(_ digits: Substring.UTF8View.SubSequence) -> UInt32? {
    guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt32(Substring(digits))
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let set = DeviceSet(text: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a set of devices")
    }
    self = set
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// The id of a device of a fleet, `FLEET:INDEX`. The name of another device has no `:`.
package enum FleetDevice {
  private static let separator = UInt8(ascii: ":")

  package static func id(_ fleet: String, _ index: UInt32) -> String { "\(fleet):\(index)" }

  /// The fleet and the index of a device; `nil` for a device with its own process.
  package static func parse(_ device: String) -> (fleet: String, index: UInt32)? {
    guard let colon = device.utf8.lastIndex(of: separator) else { return nil }
    guard let index = UInt32(device[device.index(after: colon)...]) else { return nil }
    return (String(device[..<colon]), index)
  }

  /// The name of the fleet; `nil` for a device with its own process.
  package static func fleet(of device: String) -> String? {
    device.utf8.lastIndex(of: separator).map { String(device[..<$0]) }
  }

  /// The texts between which the ids of a fleet's devices are, in the order of bytes.
  package static func bounds(of fleet: String) -> (after: String, before: String) { ("\(fleet):", "\(fleet);") }

  /// Whether a text can be the name of a fleet: letters, digits, `-`, `_`, `.`, at most 40.
  package static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 40 && text != "." && text != ".."
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}

extension Address {
  /// The process that has a device: its host, or its fleet.
  package static func process(ofDevice device: String) -> Address {
    FleetDevice.fleet(of: device).map { .fleet($0) } ?? .host(device)
  }
}
