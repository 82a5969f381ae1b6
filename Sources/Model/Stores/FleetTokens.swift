// SPDX-License-Identifier: Apache-2.0

import Archive
import Crypto
import Foundation
package import Messages

/// Derives the device tokens of a fleet. The push server and the fleet share a secret and derive the same tokens, so that
/// neither sends them to the other, and the fleet needs two bytes for one.
package struct FleetTokens: Sendable {
  private let key: SymmetricKey

  /// - Parameter secret: 32 bytes, hexadecimal; `nil` for other texts.
  package init?(secret: String) {
    guard let bytes = Data(hexadecimal: secret), bytes.count == 32 else { return nil }
    key = SymmetricKey(data: bytes)
  }

  /// A secret of the system's random number generator.
  package static func makeSecret() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { $0.hexadecimal } }

  /// A token, lower-case hexadecimal.
  ///
  /// - Parameter serial: how often it was replaced.
  package func token(_ index: UInt32, bundle: String, use: PushTokenUse, serial: Int) -> String {
    let length = use.tokenLength
    var bytes: [UInt8] = []
    bytes.reserveCapacity(96)
    var part = 0
    while bytes.count < length {
      let text = "\(index) \(serial) \(part) \(use.rawValue) \(bundle)"
      bytes += HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
      part += 1
    }
    return bytes.prefix(length).hexadecimal
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
