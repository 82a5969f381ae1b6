// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

/// A CURVE key pair in Z85, 40 characters each. Its description omits the secret key.
package struct CurveKeyPair: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
  package let publicKey: String
  package let secretKey: String

  /// Takes stored keys without checking them; a socket that gets malformed keys throws `EINVAL`.
  package init(publicKey: String, secretKey: String) {
    self.publicKey = publicKey
    self.secretKey = secretKey
  }

  /// Derives the public key. Throws `EINVAL` when the secret key is not 40 characters of Z85.
  package init(secretKey: String) throws(ZMQError) {
    // zmq_curve_public reads past a short string, so its length is checked first.
    guard secretKey.utf8.count == 40 else { throw ZMQError(code: EINVAL, call: "zmq_curve_public") }
    var publicKey = [CChar](repeating: 0, count: 41)
    try check("zmq_curve_public") { secretKey.withCString { zmq_curve_public(&publicKey, $0) } }
    self.init(publicKey: text(publicKey), secretKey: secretKey)
  }

  /// Generates a key pair from libsodium's (or the kernel's) random numbers. Any thread.
  package static func generate() throws(ZMQError) -> CurveKeyPair {
    var publicKey = [CChar](repeating: 0, count: 41)
    var secretKey = [CChar](repeating: 0, count: 41)
    try check("zmq_curve_keypair") { zmq_curve_keypair(&publicKey, &secretKey) }
    return CurveKeyPair(publicKey: text(publicKey), secretKey: text(secretKey))
  }

  package var description: String { "CurveKeyPair(\(publicKey))" }
  package var debugDescription: String { description }
}

/// The text before the first NUL.
private func text(_ buffer: [CChar]) -> String {
  String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
