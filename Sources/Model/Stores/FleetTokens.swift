// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
package import Messages

/// Derives the device tokens of a fleet. The push server and the fleet share a secret and derive the same tokens, so that
/// neither sends them to the other, and the fleet needs two bytes for one.
package struct FleetTokens: Sendable {
  private let key: SymmetricKey

  /// - Parameter secret: 32 bytes, hexadecimal; `nil` for other texts.
  package init?(secret: String) {
    let digits = Array(secret.utf8)
    guard digits.count == 64 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: 64, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
      bytes.append(byte)
    }
    key = SymmetricKey(data: bytes)
  }

  /// A secret of the system's random number generator.
  package static func makeSecret() -> String { hexadecimal(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }) }

  /// A token, lower-case hexadecimal.
  ///
  /// - Parameter serial: how often it was replaced.
  package func token(_ index: UInt32, _ bundle: String, _ use: PushTokenUse, serial: Int) -> String {
    let length = use.tokenLength
    var bytes: [UInt8] = []
    bytes.reserveCapacity(96)
    var part = 0
    while bytes.count < length {
      let text = "\(index) \(serial) \(part) \(use.rawValue) \(bundle)"
      bytes += HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
      part += 1
    }
    return Self.hexadecimal(bytes.prefix(length))
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      var place = 0
      for byte in bytes {
        buffer[place] = digits[Int(byte >> 4)]
        buffer[place + 1] = digits[Int(byte & 15)]
        place += 2
      }
      return place
    }
  }
}

extension PushTokenUse {
  /// The length of a token in bytes. Ours: Apple does not promise a length, and a provider that assumes 64 digits fails
  /// here.
  package var tokenLength: Int {
    switch self {
    case .app, .fleet: 32
    case .widgets, .control, .liveActivity, .liveActivityStarts: 80
    }
  }
}
