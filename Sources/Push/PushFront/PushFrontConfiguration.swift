import Foundation
import NIOCore
package import NIOSSL

/// Where a front listens, who it is, and whose certificates it believes.
package struct PushFrontConfiguration: Sendable {
  package var host: String
  /// 0 for any that is free.
  package var port: Int
  /// The server's certificate, and those that it stands on.
  package var certificateChain: [NIOSSLCertificate]
  package var privateKey: NIOSSLPrivateKey
  /// DER of the CA whose client certificates count; with `nil` none is asked for.
  package var clientAuthority: [UInt8]?
  package var limits: PushFrontLimits
  /// Threads that serve connections.
  package var eventLoops: Int

  package init(
    host: String = "127.0.0.1", port: Int = 0, certificateChain: [NIOSSLCertificate], privateKey: NIOSSLPrivateKey,
    clientAuthority: [UInt8]? = nil, limits: PushFrontLimits = PushFrontLimits(),
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

  /// The same from PEM files.
  ///
  /// - Throws: `PushFrontError`, with the path of what cannot be read.
  package static func reading(
    certificatePath: String, keyPath: String, authorityPath: String?, host: String = "127.0.0.1", port: Int = 0,
    limits: PushFrontLimits = PushFrontLimits(), eventLoops: Int = min(2, System.coreCount)
  ) throws -> PushFrontConfiguration {
    func read<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
      do { return try body() } catch { throw PushFrontError("\(path) cannot be used for TLS: \(error)") }
    }
    let chain = try read(certificatePath) { try NIOSSLCertificate.fromPEMFile(certificatePath) }
    let key = try read(keyPath) { try NIOSSLPrivateKey(file: keyPath, format: .pem) }
    let authority = try authorityPath.map { path in
      try read(path) {
        guard let first = try NIOSSLCertificate.fromPEMFile(path).first else {
          throw PushFrontError("there is no certificate in it")
        }
        return try first.toDERBytes()
      }
    }
    return PushFrontConfiguration(
      host: host, port: port, certificateChain: chain, privateKey: key, clientAuthority: authority, limits: limits,
      eventLoops: eventLoops)
  }

  /// TLS 1.2 or later, HTTP/2 for those who ask: Apple's *Sending notification requests to APNs*.
  func tls() throws -> NIOSSLContext {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificateChain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
    tls.minimumTLSVersion = .tlsv12
    tls.applicationProtocols = ["h2"]
    tls.shutdownTimeout = .milliseconds(Int64(limits.ending * 1000))
    if let clientAuthority {
      // asked for, and looked at by ourselves: a certificate that does not count is told so in APNs's words
      tls.certificateVerification = .optionalVerification
      tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: clientAuthority, format: .der)])
    }
    return try NIOSSLContext(configuration: tls)
  }
}

/// A front that cannot be: a text for people.
package struct PushFrontError: Error, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}
