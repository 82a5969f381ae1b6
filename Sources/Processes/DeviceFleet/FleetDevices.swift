// SPDX-License-Identifier: Apache-2.0

import Cluster
import Messages

/// The phase of a device token.
enum TokenPhase: UInt16, Sendable {
  /// The device has none.
  case none
  /// Requested from the push server.
  case wanted
  /// On the push server's disk, and not known to the backend yet.
  case issued
  /// The backend has it, or has refused it.
  case registered
  /// The push server must end it.
  case ending
}

/// One token: two bytes.
struct TokenCell: Sendable, Hashable {
  /// 13 bits: how often the token was replaced.
  private static let most: UInt16 = 0x1fff
  var bits: UInt16

  init(bits: UInt16) { self.bits = bits }
  init(_ phase: TokenPhase, serial: UInt16) { bits = phase.rawValue << 13 | serial & Self.most }

  var phase: TokenPhase { TokenPhase(rawValue: bits >> 13) ?? .none }
  var serial: UInt16 { bits & Self.most }

  func with(_ phase: TokenPhase) -> TokenCell { TokenCell(phase, serial: serial) }
  /// The next token; `nil` when the numbers are used up.
  var next: TokenCell? { serial < Self.most ? TokenCell(.wanted, serial: serial + 1) : nil }
}

/// Names one token of a fleet.
struct TokenReference: Sendable, Hashable {
  /// The place of the tokens of Live Activities, after those that a device keeps.
  static let activity = UInt8(FleetProfile.uses.count)

  let device: UInt32
  let slot: UInt8
  /// Of a Live Activity; 0 for the others.
  let number: UInt16

  init(_ device: UInt32, slot: Int) {
    self.device = device
    self.slot = UInt8(slot)
    number = 0
  }

  init(_ device: UInt32, activity: UInt16) {
    self.device = device
    slot = Self.activity
    number = activity
  }

  private static let uses: [PushTokenUse] = FleetProfile.uses.compactMap { name in
    name == "control" ? .control(1) : PushTokenUse(rawValue: name)
  }

  var use: PushTokenUse { slot == Self.activity ? .liveActivity(Int(number)) : Self.uses[Int(slot)] }

  /// The place of a use in the record of a device; `nil` for those of Live Activities, and unknown ones.
  static func slot(of use: PushTokenUse) -> Int? { uses.firstIndex(of: use) }
}

/// The devices of a fleet in arrays: 37 bytes each, with the queue of their next events.
struct FleetDevices: Sendable {
  static let slots = FleetProfile.uses.count
  /// The devices of one row of the database.
  static let inRow = 64
  /// A device in a row: flags, number of events, time of the next one, activities started, tokens.
  private static let length = 1 + 4 + 4 + 2 + 2 * slots

  let count: Int
  var flags: [DeviceFlags]
  var events: [UInt32]
  /// Tenths of a second since the start of the first day.
  var next: [UInt32]
  /// The number of the last Live Activity.
  var activities: [UInt16]
  private var cells: [TokenCell]
  /// Notifications since the process started.
  var received: [UInt32]
  /// The rows that the database does not have.
  private(set) var changed: Set<UInt32> = []

  init(count: Int) {
    self.count = count
    flags = Array(repeating: [], count: count)
    events = Array(repeating: 0, count: count)
    next = Array(repeating: .max, count: count)
    activities = Array(repeating: 0, count: count)
    cells = Array(repeating: TokenCell(bits: 0), count: count * Self.slots)
    received = Array(repeating: 0, count: count)
  }

  subscript(device: UInt32, slot: Int) -> TokenCell {
    get { cells[Int(device) * Self.slots + slot] }
    set {
      cells[Int(device) * Self.slots + slot] = newValue
      touch(device)
    }
  }

  mutating func touch(_ device: UInt32) { changed.insert(device / UInt32(Self.inRow)) }

  /// The number of rows.
  var rows: Int { (count + Self.inRow - 1) / Self.inRow }

  mutating func takeChanged() -> [UInt32] {
    defer { changed = [] }
    return changed.sorted()
  }

  /// The bytes of a row.
  func row(_ row: UInt32) -> [UInt8] {
    let first = Int(row) * Self.inRow
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.inRow * Self.length)
    for device in first..<min(first + Self.inRow, count) {
      bytes.append(flags[device].rawValue)
      bytes.append(events[device])
      bytes.append(next[device])
      bytes.append(activities[device])
      for slot in 0..<Self.slots { bytes.append(cells[device * Self.slots + slot].bits) }
    }
    return bytes
  }

  /// Reads a row.
  ///
  /// - Returns: whether it has the right length.
  mutating func read(row: UInt32, _ bytes: [UInt8]) -> Bool {
    let first = Int(row) * Self.inRow
    guard first < count, bytes.count == (min(first + Self.inRow, count) - first) * Self.length else { return false }
    var place = 0
    for device in first..<first + bytes.count / Self.length {
      flags[device] = DeviceFlags(rawValue: bytes[place])
      events[device] = bytes.integer(at: place + 1)
      next[device] = bytes.integer(at: place + 5)
      activities[device] = bytes.integer(at: place + 9)
      for slot in 0..<Self.slots {
        cells[device * Self.slots + slot] = TokenCell(bits: bytes.integer(at: place + 11 + 2 * slot))
      }
      place += Self.length
    }
    return true
  }
}

extension [UInt8] {
  fileprivate mutating func append<T: FixedWidthInteger>(_ value: T) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate func integer<T: FixedWidthInteger>(at place: Int) -> T {
    withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: T.self)) }
  }
}
