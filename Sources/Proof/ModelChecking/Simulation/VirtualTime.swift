// SPDX-License-Identifier: Apache-2.0

import Archive
import ChaosCampaign
import Foundation
import HeapModule
import Messages

/// The random choices of a simulation. Only integers, so that every machine makes the same ones.
struct Dice {
  private var generator: SplitMix64

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  /// A number from 0 to `bound` - 1.
  mutating func below(_ bound: Int) -> Int {
    Int(generator.next().multipliedFullWidth(by: UInt64(max(bound, 1))).high)
  }

  /// True once in `times`.
  mutating func isOne(in times: Int) -> Bool { below(times) == 0 }

  /// An identifier of version 4 (RFC 9562).
  mutating func uuid() -> UUID {
    let (high, low) = (generator.next(), generator.next())
    func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (8 * index)) }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6) & 0x0f | 0x40, byte(high, 7), byte(low, 0) & 0x3f | 0x80, byte(low, 1), byte(low, 2),
        byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }

  /// Hexadecimal digits.
  mutating func hexadecimal(_ words: Int) -> String {
    (0..<words).map { _ in
      let text = String(generator.next(), radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }.joined()
  }
}

/// Microseconds of virtual time.
enum Span {
  static let millisecond: Int64 = 1_000
  static let second: Int64 = 1_000_000
  static let minute: Int64 = 60 * second
  static let hour: Int64 = 60 * minute
}

/// Virtual time: what happens, in the order of its dates. Of one date, in the order in which it was planned.
final class VirtualTime {
  /// 2026-01-05 00:00 UTC, a Monday.
  static let start: Int64 = 1_767_571_200 * Span.second

  private struct Occurrence: Comparable {
    let at: Int64
    let number: UInt64
    let place: String
    let what: String
    let act: () -> Void

    static func < (one: Self, other: Self) -> Bool { (one.at, one.number) < (other.at, other.number) }
    static func == (one: Self, other: Self) -> Bool { one.number == other.number }
  }

  private var heap = Heap<Occurrence>()
  private var planned: UInt64 = 0
  /// Microseconds since 1970.
  private(set) var now = start
  var dice: Dice

  init(_ dice: Dice) { self.dice = dice }

  var date: Date { Date(timeIntervalSince1970: Double(now) / 1e6) }
  var timestamp: Timestamp { Timestamp(microseconds: now) }

  /// Plans something.
  ///
  /// - Parameters:
  ///   - span: microseconds from now.
  ///   - place: where it happens, for a reader.
  ///   - what: what happens.
  func after(_ span: Int64, _ place: String, _ what: String, _ act: @escaping () -> Void) {
    at(now + max(span, 0), place, what, act)
  }

  func at(_ instant: Int64, _ place: String, _ what: String, _ act: @escaping () -> Void) {
    planned += 1
    heap.insert(Occurrence(at: max(instant, now), number: planned, place: place, what: what, act: act))
  }

  /// The date and the name of what happens next.
  var next: (at: Int64, place: String, what: String)? { heap.min.map { ($0.at, $0.place, $0.what) } }

  /// Lets the next one happen.
  ///
  /// - Returns: `false` when nothing is planned.
  func step() -> Bool {
    guard let next = heap.popMin() else { return false }
    now = next.at
    next.act()
    return true
  }

  /// Nothing more happens.
  func end() { heap = Heap() }

  /// How long something takes: at least `least` microseconds, mostly less than `spread` more, and once in 64 times twenty
  /// times as long.
  func span(_ least: Int64, _ spread: Int64) -> Int64 {
    let span = least + Int64(dice.below(Int(spread)))
    return dice.isOne(in: 64) ? span * 20 : span
  }
}

extension Date {
  /// Microseconds since 1970, rounded up.
  var microseconds: Int64 { Int64(saturating: (timeIntervalSince1970 * 1e6).rounded(.up)) }
}
