// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An IPv4 or IPv6 address.
struct InternetAddress: Hashable {
  /// 4 or 16 bytes, the first of the address first.
  let bytes: [UInt8]

  /// - Parameter text: such as `192.168.1.2` or `fe80::1%eth0`; `nil` for any other.
  init?(_ text: String) {
    let plain = String(text.prefix { $0 != "%" })
    if let bytes = Self.bytes(plain, AF_INET, count: 4) ?? Self.bytes(plain, AF_INET6, count: 16) {
      self.bytes = bytes
    } else {
      return nil
    }
  }

  private static func bytes(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }

  /// `127.0.0.0/8` and `::1`.
  var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
  }
}

/// A range of addresses in CIDR notation, such as `2001:db8:12::/48`, or a single address.
struct AddressRange: Hashable {
  let address: InternetAddress
  /// The number of bits that all addresses of the range have in common.
  let prefixLength: Int

  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = parts.first.flatMap({ InternetAddress(String($0)) }) else { return nil }
    let bits = address.bytes.count * 8
    guard let length = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(length) else { return nil }
    self.address = address
    prefixLength = length
  }

  func contains(_ other: InternetAddress) -> Bool {
    guard other.bytes.count == address.bytes.count else { return false }
    return zip(address.bytes, other.bytes).enumerated().allSatisfy { index, pair in
      let bits = min(max(prefixLength - index * 8, 0), 8)
      return bits == 0 || (pair.0 ^ pair.1) >> (8 - bits) == 0
    }
  }
}
