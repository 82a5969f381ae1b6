import Foundation
import SwiftASN1
import X509

/// Whether a client's certificate is one of our CA's.
struct ClientAuthority: Sendable {
  private let certificate: Certificate

  /// - Throws: what is wrong with the DER.
  init(derEncoded: [UInt8]) throws { certificate = try Certificate(derEncoded: derEncoded) }

  /// Why a certificate does not count; `nil` when it does.
  func objection(to der: [UInt8], at date: Date) -> String? {
    guard let other = try? Certificate(derEncoded: der) else { return "the client's certificate is not to be read" }
    guard other.issuer == certificate.subject, certificate.publicKey.isValidSignature(other.signature, for: other)
    else {
      return "the client's certificate is not of this server's CA"
    }
    guard other.notValidBefore <= date, date <= other.notValidAfter else {
      return "the client's certificate is valid from \(other.notValidBefore) to \(other.notValidAfter)"
    }
    return nil
  }
}
