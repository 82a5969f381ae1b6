// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftASN1
import X509

/// Verifies client certificates against our CA.
struct ClientAuthority: Sendable {
  private let certificate: Certificate

  /// - Throws: the error of parsing the DER.
  init(derEncoded: [UInt8]) throws { certificate = try Certificate(derEncoded: derEncoded) }

  /// Returns why a certificate is rejected; `nil` when it is valid.
  func objection(to der: [UInt8], at date: Date) -> String? {
    guard let other = try? Certificate(derEncoded: der) else { return "the client certificate cannot be parsed" }
    guard other.issuer == certificate.subject, certificate.publicKey.isValidSignature(other.signature, for: other)
    else {
      return "the client certificate was not issued by this server's CA"
    }
    guard other.notValidBefore <= date, date <= other.notValidAfter else {
      return "the client certificate is valid only from \(other.notValidBefore) to \(other.notValidAfter)"
    }
    return nil
  }
}
