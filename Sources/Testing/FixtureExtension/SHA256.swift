// SPDX-License-Identifier: Apache-2.0

/// SHA-256 (FIPS 180-4), for an extension that links no cryptographic library.
enum SHA256 {
  private static let primes: [UInt64] = {
    var primes: [UInt64] = []
    var number: UInt64 = 2
    while primes.count < 64 {
      if primes.allSatisfy({ !number.isMultiple(of: $0) }) { primes.append(number) }
      number += 1
    }
    return primes
  }()

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let rounds = primes.map { root($0, power: 3) }

  /// The first 32 bits of the fractional part of the root of degree `power`: the low half of the greatest number whose
  /// power is at most the shifted prime.
  private static func root(_ prime: UInt64, power: Int) -> UInt32 {
    var low: UInt64 = 0
    var high: UInt64 = 1 << 37
    while high - low > 1 {
      let middle = (low + high) / 2
      var product = Wide(middle)
      for _ in 1..<power { product.multiply(by: middle) }
      if product.isAtMost(prime, shiftedLeftBy: 32 * power) { low = middle } else { high = middle }
    }
    return UInt32(truncatingIfNeeded: low)
  }

  /// The digest in 64 hexadecimal digits.
  static func hexadecimal(of message: [UInt8]) -> String {
    var state = primes.prefix(8).map { root($0, power: 2) }
    let tail = padding(messageLength: message.count)
    let whole = message.count / 64 * 64
    for start in stride(from: 0, to: whole, by: 64) { compress(message[start..<start + 64], into: &state) }
    let rest = Array(message[whole...]) + tail
    for start in stride(from: 0, to: rest.count, by: 64) { compress(rest[start..<start + 64], into: &state) }
    return state.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  private static func padding(messageLength length: Int) -> [UInt8] {
    let zeros = (64 + 55 - length % 64) % 64
    let bits = UInt64(length) * 8
    return [0x80] + Array(repeating: 0, count: zeros)
      + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
  }

  private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var words = [UInt32](repeating: 0, count: 64)
    for (index, byte) in block.enumerated() { words[index / 4] = words[index / 4] << 8 | UInt32(byte) }
    for index in 16..<64 {
      let (a, b) = (words[index - 15], words[index - 2])
      let first = a.rotated(7) ^ a.rotated(18) ^ (a >> 3)
      let second = b.rotated(17) ^ b.rotated(19) ^ (b >> 10)
      words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let choice = (e & f) ^ (~e & g)
      let first = h &+ (e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)) &+ choice &+ rounds[index] &+ words[index]
      let second = (a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)) &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }
}

extension UInt32 {
  fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}

/// An unsigned integer of 192 bits, which the cubes need.
private struct Wide {
  private var limbs: [UInt64]

  init(_ value: UInt64) { limbs = [value, 0, 0] }

  mutating func multiply(by factor: UInt64) {
    var carry: UInt64 = 0
    for index in limbs.indices {
      let (high, low) = limbs[index].multipliedFullWidth(by: factor)
      let (sum, overflow) = low.addingReportingOverflow(carry)
      limbs[index] = sum
      carry = high + (overflow ? 1 : 0)
    }
  }

  func isAtMost(_ value: UInt64, shiftedLeftBy shift: Int) -> Bool {
    var bound: [UInt64] = [0, 0, 0]
    bound[shift / 64] = value << UInt64(shift % 64)
    if shift % 64 > 0, shift / 64 < 2 { bound[shift / 64 + 1] = value >> UInt64(64 - shift % 64) }
    for index in limbs.indices.reversed() where limbs[index] != bound[index] { return limbs[index] < bound[index] }
    return true
  }
}
