// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Foundation
import Glibc
package import Messages
import SwiftASN1
import X509

/// Signs the certificates of one instance.
struct CertificateAuthority {
  private let certificate: Certificate
  private let key: Certificate.PrivateKey

  private static let day = 86_400.0
  /// Validity of the CA certificate.
  private static let years = 3650 * day
  /// Validity of a server certificate: the maximum that clients accept.
  private static let serverValidity = 397 * day
  private static let renewalMargin = 30 * day

  /// The path of the authority's private key.
  static func keyPath(in folder: String) -> String { PushCredentials.serverFolder(folder) + "/authority-key.pem" }

  /// Reads the certificate authority from a folder, or creates it.
  static func make(in folder: String) throws -> CertificateAuthority {
    let path = PushCredentials.providerFolder(folder) + "/ca.pem"
    let keyPath = keyPath(in: folder)
    if let text = try? String(contentsOfFile: path, encoding: .utf8) {
      guard let keyText = try? String(contentsOfFile: keyPath, encoding: .utf8) else {
        throw PushCredentialsError("\(keyPath) is missing, the key of \(path): remove both; they are created again")
      }
      do {
        return CertificateAuthority(
          certificate: try Certificate(pemEncoded: text), key: try Certificate.PrivateKey(pemEncoded: keyText))
      } catch {
        throw PushCredentialsError("\(path) or \(keyPath) is damaged (\(error)): remove both; they are created again")
      }
    }
    let pair = P256.Signing.PrivateKey()
    let key = Certificate.PrivateKey(pair)
    let name = try DistinguishedName {
      CommonName("WidgetLab push authority")
      OrganizationName("WidgetLab")
    }
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
      notValidBefore: Date(timeIntervalSinceNow: -day), notValidAfter: Date(timeIntervalSinceNow: years),
      issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        SubjectKeyIdentifier(hash: key.publicKey)
      }, issuerPrivateKey: key)
    try PushCredentials.write(pair.pemRepresentation + "\n", to: keyPath)
    try PushCredentials.write(try certificate.serializeAsPEM().pemString + "\n", to: path)
    return CertificateAuthority(certificate: certificate, key: key)
  }

  private func sign(
    _ publicKey: Certificate.PublicKey, subject: DistinguishedName, validity: Double,
    @ExtensionsBuilder extensions: () throws -> Result<Certificate.Extensions, any Error>
  ) throws -> Certificate {
    let end = min(Date(timeIntervalSinceNow: validity), certificate.notValidAfter)
    let identifier = try certificate.extensions.subjectKeyIdentifier?.keyIdentifier
    var all = try Certificate.Extensions {
      Critical(BasicConstraints.notCertificateAuthority)
      Critical(KeyUsage(digitalSignature: true))
      SubjectKeyIdentifier(hash: publicKey)
      AuthorityKeyIdentifier(keyIdentifier: identifier)
    }
    for one in try extensions().get() { try all.append(one) }
    return try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
      notValidBefore: Date(timeIntervalSinceNow: -Self.day), notValidAfter: end, issuer: certificate.subject,
      subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: all, issuerPrivateKey: key)
  }

  // MARK: Server certificate

  /// Why a server certificate cannot be used now; `nil` if it can.
  ///
  /// - Parameter names: those that it must have.
  static func fault(ofServerCertificate path: String, names: [String]) -> String? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8),
      let present = try? PEMDocument.parseMultiple(pemString: text).first.map(Certificate.init(pemDocument:)),
      let has = try? present.extensions.subjectAlternativeNames
    else { return "is not a certificate" }
    if present.notValidAfter < Date() { return "expired on \(present.notValidAfter)" }
    return names.first { !Array(has).contains(name($0)) }.map { "lacks the name \($0)" }
  }

  /// Creates the server certificate, unless a valid one of this CA with these names exists.
  func makeServerCertificate(in folder: String, names: [String]) throws {
    let path = PushCredentials.serverFolder(folder) + "/server.pem"
    let keyPath = PushCredentials.serverFolder(folder) + "/server-key.pem"
    let names = names.map(Self.name)
    if FileManager.default.fileExists(atPath: keyPath), let text = try? String(contentsOfFile: path, encoding: .utf8),
      let present = try? PEMDocument.parseMultiple(pemString: text).first.map(Certificate.init(pemDocument:)),
      let has = try? present.extensions.subjectAlternativeNames, names.allSatisfy(Array(has).contains),
      present.notValidAfter > Date(timeIntervalSinceNow: Self.renewalMargin),
      certificate.publicKey.isValidSignature(present.signature, for: present)
    {
      return
    }
    let pair = P256.Signing.PrivateKey()
    let subject = try DistinguishedName { CommonName("WidgetLab push server") }
    let server = try sign(Certificate.PrivateKey(pair).publicKey, subject: subject, validity: Self.serverValidity) {
      try ExtendedKeyUsage([.serverAuth])
      SubjectAlternativeNames(names)
    }
    try PushCredentials.write(pair.pemRepresentation + "\n", to: keyPath)
    let chain = try [server, certificate].map { try $0.serializeAsPEM().pemString + "\n" }
    try PushCredentials.write(chain.joined(), to: path)
  }

  private static func name(_ text: String) -> GeneralName {
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      return .ipAddress(ASN1OctetString(contentBytes: ArraySlice(withUnsafeBytes(of: four) { Array($0) })))
    }
    var six = in6_addr()
    if inet_pton(AF_INET6, text, &six) == 1 {
      return .ipAddress(ASN1OctetString(contentBytes: ArraySlice(withUnsafeBytes(of: six) { Array($0) })))
    }
    return .dnsName(text)
  }

  // MARK: Client certificates

  /// Creates a client certificate for the pushes of an app, with the extensions of Apple's certificates.
  ///
  /// - Returns: certificate and key in PEM.
  func makeClientCertificate(
    bundle: String, environments: Set<PushEnvironment>
  ) throws -> (certificate: String, key: String) {
    let pair = P256.Signing.PrivateKey()
    let subject = DistinguishedName([
      RelativeDistinguishedName(.init(type: ClientCertificate.userID, utf8String: bundle)),
      RelativeDistinguishedName(
        .init(type: .RDNAttributeType.commonName, utf8String: "Apple Push Services: \(bundle)")),
    ])
    let marks = try ClientCertificate.environmentExtensions.filter { environments.contains($0.environment) }.map {
      Certificate.Extension(oid: $0.identifier, critical: false, value: try Self.encoded(ASN1Null())[...])
    }
    let topics = [(bundle, "app"), (bundle + ".voip", "voip"), (bundle + ".complication", "complication")]
    let value = try Self.encoded(TopicList(topics: topics))
    let client = try sign(Certificate.PrivateKey(pair).publicKey, subject: subject, validity: Self.serverValidity) {
      try ExtendedKeyUsage([.clientAuth])
      Certificate.Extension(oid: ClientCertificate.topicExtensions[0], critical: false, value: value[...])
      for mark in marks { mark }
    }
    return (try client.serializeAsPEM().pemString + "\n", pair.pemRepresentation + "\n")
  }

  private static func encoded(_ value: some DERSerializable) throws -> [UInt8] {
    var serializer = DER.Serializer()
    try serializer.serialize(value)
    return serializer.serializedBytes
  }

  /// A list of topics, each followed by the names of its use.
  private struct TopicList: DERSerializable {
    let topics: [(topic: String, use: String)]

    func serialize(into coder: inout DER.Serializer) throws {
      try coder.appendConstructedNode(identifier: .sequence) { coder in
        for (topic, use) in topics {
          try coder.serialize(ASN1UTF8String(topic))
          try coder.appendConstructedNode(identifier: .sequence) { try $0.serialize(ASN1UTF8String(use)) }
        }
      }
    }
  }
}

/// The rights that a client certificate gives.
package struct ClientCertificate: Hashable, Sendable {
  /// The topics of its extension, or only the bundle identifier of its subject; empty when it is not a push
  /// certificate.
  package let topics: Set<String>
  /// The UID of its subject: the bundle identifier, or a topic for managed devices.
  package let bundle: String?
  package let environments: Set<PushEnvironment>
  package let validity: Range<Date>

  /// - Parameter derEncoded: an unreadable certificate is treated as one without topics.
  package init(derEncoded bytes: [UInt8]) {
    guard let certificate = try? Certificate(derEncoded: bytes) else {
      (topics, bundle, environments, validity) = ([], nil, [], .distantPast..<(.distantPast))
      return
    }
    let named = Self.topicExtensions.reduce(into: Set<String>()) { topics, identifier in
      certificate.extensions[oid: identifier].map { topics.formUnion(Self.topics(in: $0.value)) }
    }
    let subject = certificate.subject.lazy.flatMap { $0 }.first { $0.type == Self.userID }
    bundle = subject.flatMap { String($0.value) }
    topics = named.isEmpty ? Set([bundle].compactMap(\.self)) : named
    let marked = Self.environmentExtensions.filter { certificate.extensions[oid: $0.identifier] != nil }
    environments = marked.isEmpty ? Set(PushEnvironment.allCases) : Set(marked.map(\.environment))
    let begin = certificate.notValidBefore
    validity = begin..<max(begin, certificate.notValidAfter)
  }

  /// The extensions that list topics. Source: Apple's *Sending notification requests to APNs*.
  static let topicExtensions: [ASN1ObjectIdentifier] = [
    [1, 2, 840, 113635, 100, 6, 3, 6], [1, 2, 840, 113635, 100, 6, 3, 4],
  ]
  /// The extensions that mark environments. Source: Apple's *WWDR Certification Practice Statement*.
  static let environmentExtensions: [(environment: PushEnvironment, identifier: ASN1ObjectIdentifier)] = [
    (.development, [1, 2, 840, 113635, 100, 6, 3, 1]), (.production, [1, 2, 840, 113635, 100, 6, 3, 2]),
  ]
  /// `UID`: RFC 4519.
  static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

  /// Parses a sequence of topics, each followed by a sequence of names of its use.
  private static func topics(in value: ArraySlice<UInt8>) -> [String] {
    guard let root = try? DER.parse(value), case .constructed(let nodes) = root.content else { return [] }
    return nodes.compactMap { (try? ASN1UTF8String(derEncoded: $0)).map { String(decoding: $0.bytes, as: UTF8.self) } }
  }

  // MARK: Validation

  /// - Throws: `BadCertificate` or `BadCertificateEnvironment`; the connection becomes unusable.
  func check(environment: PushEnvironment, now: Date) throws(APNsRefusal) {
    guard !topics.isEmpty else {
      throw APNsRefusal(
        .badCertificate, "the client certificate has no topic, neither in an extension nor as the UID of its subject",
        endsConnection: true)
    }
    guard validity.contains(now) else {
      throw APNsRefusal(
        .badCertificate,
        "the client certificate is valid only from \(validity.lowerBound) to \(validity.upperBound)",
        endsConnection: true)
    }
    guard environments.contains(environment) else {
      throw APNsRefusal(
        .badCertificateEnvironment,
        "the client certificate is for \(environments.map(\.rawValue).joined(separator: " and ")), but this is the "
          + "\(environment.rawValue) environment", endsConnection: true)
    }
  }

  /// The topic of a request without `apns-topic`.
  var defaultTopic: String? { topics.count == 1 ? topics.first : nil }
}
