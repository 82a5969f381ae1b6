// SPDX-License-Identifier: Apache-2.0

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
