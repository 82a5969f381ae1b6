// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation

/// The content of one file on a disk that may lose power: what is synchronised, and the changes since.
struct DiskFile {
  /// The unit that a disk writes whole, in bytes.
  static let page = 4096

  /// A change of the content since the last synchronisation.
  struct Pending {
    enum Change {
      case write(at: Int, [UInt8])
      case resize(to: Int)
    }

    let call: Int
    let change: Change
    /// The length after this change.
    let length: Int
    var hasEnded = false
  }

  /// What the disk has in any case.
  private(set) var durable: [UInt8]
  /// What a process reads now.
  private(set) var current: [UInt8]
  /// In the order in which the calls began.
  private(set) var pending: [Pending] = []

  init(_ content: [UInt8] = []) {
    durable = content
    current = content
  }

  mutating func begin(_ change: Pending.Change, call: Int) {
    Self.apply(change, to: &current)
    pending.append(Pending(call: call, change: change, length: current.count))
  }

  mutating func end(call: Int) {
    guard let index = pending.lastIndex(where: { $0.call == call }) else { return }
    pending[index].hasEnded = true
  }

  /// The changes that a synchronisation which begins now will cover.
  var covered: Set<Int> { Set(pending.filter(\.hasEnded).map(\.call)) }

  /// A synchronisation has ended: the changes that it covers are on the disk.
  mutating func synchronize(_ covered: Set<Int>) {
    for item in pending where covered.contains(item.call) { Self.apply(item.change, to: &durable) }
    pending.removeAll { covered.contains($0.call) }
  }

  /// What the disk may have after a power failure now: of each page any version since the last synchronisation, and one
  /// of the lengths since then. A page that the disk does not have is 0.
  func afterFailure(_ chance: DiskChance, using generator: inout SplitMix64) -> [UInt8] {
    guard !pending.isEmpty else { return durable }
    var lengths = [durable.count]
    for item in pending { lengths.append(item.length) }
    let length = lengths[chance.count(upTo: pending.count, using: &generator)]
    var content = durable
    let longest = lengths.max() ?? 0
    Self.lengthen(&content, to: longest)
    // For each page, the changes that concern it, in order.
    var versions: [Int: [Int]] = [:]
    var formerLength = durable.count
    for (index, item) in pending.enumerated() {
      let range = Self.range(of: item.change, former: formerLength)
      formerLength = item.length
      guard !range.isEmpty else { continue }
      for page in range.lowerBound / Self.page...(range.upperBound - 1) / Self.page {
        versions[page, default: []].append(index)
      }
    }
    for (page, changes) in versions.sorted(by: { $0.key < $1.key }) {
      let bounds = page * Self.page..<(page + 1) * Self.page
      for index in changes.prefix(chance.count(upTo: changes.count, using: &generator)) {
        Self.apply(pending[index].change, to: &content, within: bounds)
      }
    }
    return Array(content.prefix(length))
  }

  /// The bytes that a change writes; those behind a new end become 0.
  private static func range(of change: Pending.Change, former formerLength: Int) -> Range<Int> {
    switch change {
    case .write(let offset, let bytes): offset..<offset + bytes.count
    case .resize(let length): length..<max(length, formerLength)
    }
  }

  private static func apply(_ change: Pending.Change, to content: inout [UInt8]) {
    switch change {
    case .write(let offset, let bytes):
      lengthen(&content, to: offset + bytes.count)
      copy(bytes, from: offset, to: &content, within: offset..<offset + bytes.count)
    case .resize(let length):
      if length < content.count { content.removeSubrange(length...) }
      lengthen(&content, to: length)
    }
  }

  private static func lengthen(_ content: inout [UInt8], to length: Int) {
    if length > content.count { content += [UInt8](repeating: 0, count: length - content.count) }
  }

  /// Applies the part of a change within a page. `content` is long enough.
  private static func apply(_ change: Pending.Change, to content: inout [UInt8], within bounds: Range<Int>) {
    switch change {
    case .write(let offset, let bytes): copy(bytes, from: offset, to: &content, within: bounds)
    case .resize(let length):
      let part = (length..<max(length, content.count)).clamped(to: bounds)
      for index in part { content[index] = 0 }
    }
  }

  /// Copies the bytes of a write at an offset that are within bounds; without a loop, which a debug build would not
  /// optimise.
  private static func copy(_ bytes: [UInt8], from offset: Int, to content: inout [UInt8], within bounds: Range<Int>) {
    let part = (offset..<offset + bytes.count).clamped(to: bounds)
    guard !part.isEmpty else { return }
    content.withUnsafeMutableBytes { target in
      bytes.withUnsafeBytes { source in
        UnsafeMutableRawBufferPointer(rebasing: target[part])
          .copyMemory(
            from: UnsafeRawBufferPointer(rebasing: source[part.lowerBound - offset..<part.upperBound - offset]))
      }
    }
  }
}

/// How much of what is not synchronised a disk has.
enum DiskChance: CaseIterable {
  case nothing, everything, any

  /// A number from 0 to `limit`.
  func count(upTo limit: Int, using generator: inout SplitMix64) -> Int {
    switch self {
    case .nothing: 0
    case .everything: limit
    case .any: Int.random(in: 0...limit, using: &generator)
    }
  }
}
