// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SwiftASN1
import Synchronization
import X509

@testable import APNs
@testable import APNsServer

/// A CA and the certificates that it signed.
struct TestAuthority {
  let certificate: Certificate
  private let key = P256.Signing.PrivateKey()

  init(_ name: String) throws {
    certificate = try TestAuthority.sign(
      name, key: key, issuer: name, issuerKey: key,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
      })
  }

  func issue(_ name: String, validFor seconds: Double = 3600) throws -> (NIOSSLCertificate, NIOSSLPrivateKey) {
    let ownKey = P256.Signing.PrivateKey()
    let leaf = try TestAuthority.sign(
      name, key: ownKey, issuer: TestAuthority.name(of: certificate), issuerKey: key, seconds: seconds,
      extensions: Certificate.Extensions { SubjectAlternativeNames([.dnsName("localhost")]) })
    return (
      try NIOSSLCertificate(bytes: TestAuthority.der(leaf), format: .der),
      try NIOSSLPrivateKey(bytes: Array(ownKey.pemRepresentation.utf8), format: .pem)
    )
  }

  var der: [UInt8] { get throws { try TestAuthority.der(certificate) } }

  private static func name(of certificate: Certificate) -> String { commonName(certificate.subject) }
  private static func commonName(_ name: DistinguishedName) -> String {
    name.description.replacingOccurrences(of: "CN=", with: "")
  }

  private static func der(_ certificate: Certificate) throws -> [UInt8] {
    var serializer = DER.Serializer()
    try certificate.serialize(into: &serializer)
    return serializer.serializedBytes
  }

  private static func sign(
    _ name: String, key: P256.Signing.PrivateKey, issuer: String, issuerKey: P256.Signing.PrivateKey,
    seconds: Double = 3600, extensions: Certificate.Extensions
  ) throws -> Certificate {
    try Certificate(
      version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: Date() - 7200,
      notValidAfter: Date() + seconds, issuer: DistinguishedName { CommonName(issuer) },
      subject: DistinguishedName { CommonName(name) }, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
      issuerPrivateKey: .init(issuerKey))
  }
}

/// A backend controlled by a test. A request with a topic is authorized.
final class TestBackend: APNsBackend {
  typealias Decide = @Sendable (APNsRequest, @escaping @Sendable (APNsAnswer) -> Void) -> Void
  private let decide: Decide
  private let state = Mutex((requests: [APNsRequest](), certificates: [[UInt8]?]()))

  init(_ decide: @escaping Decide = { request, answer in answer(.ok(request)) }) { self.decide = decide }

  var requests: [APNsRequest] { state.withLock { $0.requests } }
  var certificates: [[UInt8]?] { state.withLock { $0.certificates } }

  func open(certificate: [UInt8]?) -> ProviderSession {
    state.withLock { $0.certificates.append(certificate) }
    var session = ProviderSession()
    session.isAuthorized = certificate != nil
    return session
  }

  func receive(
    _ request: APNsRequest, in session: inout ProviderSession, answer: @escaping @Sendable (APNsAnswer) -> Void
  ) {
    state.withLock { $0.requests.append(request) }
    if request["apns-topic"] != nil { session.isAuthorized = true }
    decide(request, answer)
  }
}

extension APNsAnswer {
  static func ok(_ request: APNsRequest) -> APNsAnswer {
    APNsAnswer(status: 200, apnsID: request["apns-id"] ?? "made")
  }
}

/// A server on its own port.
struct TestAPNsServer {
  static let authority = try? TestAuthority("Test CA")

  let front: APNsHTTP2Server
  let log: LogLines

  static func start(
    _ backend: TestBackend = TestBackend(), limits: APNsServerLimits = .unhurried,
    asksForCertificate: Bool = false
  ) async throws -> TestAPNsServer {
    guard let authority else { throw APNsServerError(.certificate, "no CA") }
    let (certificate, key) = try authority.issue("localhost")
    let log = LogLines()
    let front = try await APNsHTTP2Server.start(
      APNsServerConfiguration(
        certificateChain: [certificate], privateKey: key,
        clientAuthority: asksForCertificate ? try authority.der : nil, limits: limits),
      backend: backend, log: log.append)
    return TestAPNsServer(front: front, log: log)
  }

  func connect(
    alpn: [String] = ["h2"], identity: (NIOSSLCertificate, NIOSSLPrivateKey)? = nil,
    change: (inout TLSConfiguration) -> Void = { _ in }
  ) async throws -> TestClient {
    try await TestClient.connect(to: front.port, alpn: alpn, identity: identity, change: change)
  }

  func stop() async { await front.shutDown(within: 0) }
}

/// The log lines of a server, which a test can await.
final class LogLines: Sendable {
  private let (stream, continuation) = AsyncStream<String>.makeStream()
  func append(_ line: String) { continuation.yield(line) }

  /// Waits for the next line with this text.
  func line(with words: String) async -> String? {
    for await line in stream where line.contains(words) { return line }
    return nil
  }
}

extension APNsServerLimits {
  /// Deadlines that a client on a busy machine does not reach: a client of a test may get no processor time for many
  /// seconds. A test of one deadline lowers only this deadline.
  static var unhurried: APNsServerLimits {
    var limits = APNsServerLimits()
    (limits.handshake, limits.request, limits.acknowledgement, limits.unwritable) = (3600, 3600, 3600, 3600)
    // A guard: a connection that waits for its client is closed within a minute.
    limits.ending = 60
    return limits
  }
}
