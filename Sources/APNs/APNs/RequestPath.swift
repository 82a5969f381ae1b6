// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The resource of a request, from its path.
enum RequestPath: Hashable {
  /// The token as sent; may be empty.
  case device(String)
  /// The bundle identifier as sent.
  case broadcast(String)
  case other(String)

  private static let device: StaticString = "/3/device/"

  init(_ path: String) {
    if let token = path.bytes(after: Self.device) {
      self = token.hasByte({ $0 == UInt8(ascii: "/") }) ? .other(path) : .device(token)
      return
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    if path.hasPrefix("/3/device"), parts.count == 2 || parts.count == 3, parts[2] == "device" {
      self = .device(parts.count == 3 ? String(parts[3]) : "")
    } else if path.hasPrefix("/4/broadcasts/apps/"), parts.count == 4 {
      self = .broadcast(String(parts[4]))
    } else {
      self = .other(path)
    }
  }

  var isBroadcast: Bool { if case .broadcast = self { true } else { false } }
  var token: String? { if case .device(let token) = self { token } else { nil } }
}

extension String {
  /// True when all characters are hexadecimal digits.
  var isHexadecimal: Bool { !hasByte { !$0.isHexadecimalDigit } }

  /// The lower-case text. Returns `self` when it has no upper-case letter, the usual case.
  var inLowerCase: String { hasByte { 0x41...0x5a ~= $0 } ? lowercased() : self }

  /// The text after a prefix, or `nil`. Compares bytes and not characters: a combining mark may follow the prefix.
  func bytes(after prefix: StaticString) -> String? {
    var text = self
    return text.withUTF8 { bytes in
      guard let start = bytes.baseAddress, bytes.count >= prefix.utf8CodeUnitCount,
        memcmp(start, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
      else { return nil }
      return String(decoding: bytes[prefix.utf8CodeUnitCount...], as: UTF8.self)
    }
  }

  /// Searches the bytes in place, without a copy.
  @inline(__always)
  func hasByte(_ isMeant: (UInt8) -> Bool) -> Bool {
    var text = self
    return text.withUTF8 { bytes in
      // Without a branch, the compiler checks many bytes at once.
      var found: UInt8 = 0
      for byte in bytes { found |= isMeant(byte) ? 1 : 0 }
      return found != 0
    }
  }
}

extension UInt8 {
  var isHexadecimalDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
