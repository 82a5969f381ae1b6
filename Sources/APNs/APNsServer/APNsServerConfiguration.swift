// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import NIOCore
package import NIOSSL
import SwiftASN1
import X509

/// Address, certificate and client CA of an APNs server.
package struct APNsServerConfiguration: Sendable {
  package var host: String
  /// 0 selects a free port.
  package var port: Int
  /// The server certificate, followed by its intermediate and CA certificates.
  package var certificateChain: [NIOSSLCertificate]
  package var privateKey: NIOSSLPrivateKey
  /// DER of the CA for client certificates; with `nil` no client certificate is requested.
  package var clientAuthority: [UInt8]?
  package var limits: APNsServerLimits
  /// Number of threads that serve connections.
  package var eventLoops: Int

  package init(
    host: String = "127.0.0.1", port: Int = 0, certificateChain: [NIOSSLCertificate], privateKey: NIOSSLPrivateKey,
    clientAuthority: [UInt8]? = nil, limits: APNsServerLimits = APNsServerLimits(),
    eventLoops: Int = min(2, System.coreCount)
  ) {
    self.host = host
    self.port = port
    self.certificateChain = certificateChain
    self.privateKey = privateKey
    self.clientAuthority = clientAuthority
    self.limits = limits
    self.eventLoops = eventLoops
  }

  /// Reads the certificates from PEM files.
  ///
  /// - Throws: `APNsServerError`, with the path of the unusable file.
  package static func reading(
    certificatePath: String, keyPath: String, authorityPath: String?, host: String = "127.0.0.1", port: Int = 0,
    limits: APNsServerLimits = APNsServerLimits(), eventLoops: Int = min(2, System.coreCount)
  ) throws -> APNsServerConfiguration {
    func read<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
      do { return try body() } catch { throw APNsServerError(.certificate, "cannot use \(path) for TLS: \(error)") }
    }
    let chain = try read(certificatePath) { try NIOSSLCertificate.fromPEMFile(certificatePath) }
    let key = try read(keyPath) { try NIOSSLPrivateKey(file: keyPath, format: .pem) }
    let authority = try authorityPath.map { path in
      try read(path) {
        guard let first = try NIOSSLCertificate.fromPEMFile(path).first else {
          throw APNsServerError(.certificate, "the file has no certificate")
        }
        return try first.toDERBytes()
      }
    }
    return APNsServerConfiguration(
      host: host, port: port, certificateChain: chain, privateKey: key, clientAuthority: authority, limits: limits,
      eventLoops: eventLoops)
  }

  /// TLS 1.2 or later, with HTTP/2 by ALPN: Apple's *Sending notification requests to APNs*.
  func tls() throws -> NIOSSLContext {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificateChain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
    tls.minimumTLSVersion = .tlsv12
    tls.applicationProtocols = ["h2"]
    tls.shutdownTimeout = .milliseconds(Int64(saturating: min(limits.ending, 1e9) * 1000))
    if let clientAuthority {
      // optional, and verified by `ClientAuthority`, so that a rejected certificate gets a reason of APNs
      tls.certificateVerification = .optionalVerification
      tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: clientAuthority, format: .der)])
    }
    return try NIOSSLContext(configuration: tls)
  }
}

/// Why a server cannot start, as a text for the user.
package struct APNsServerError: Error, CustomStringConvertible {
  /// What cannot be used.
  package enum Code: Sendable {
    /// A certificate or a key.
    case certificate
    /// The host name or the port.
    case endpoint
  }

  package let code: Code
  package let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}

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
