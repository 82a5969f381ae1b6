// SPDX-License-Identifier: Apache-2.0

import Crypto
import FidelityRules
import Foundation
import Messages
import SwiftASN1
import Testing
import X509

@testable import APNs

@Suite struct `Connections with a client certificate` {
  private static func certificate(
    _ bundle: String = ProviderKeyFixture.bundle, _ environments: Set<PushEnvironment> = [.development, .production]
  ) throws -> [UInt8] {
    try withCredentials { folder in
      let credentials = try PushCredentials.make(in: folder)
      let listed = try PushCredentials.addCertificate(in: folder, bundle: bundle, environments: environments)
      let text = try String(contentsOfFile: credentials.paths(of: listed).certificate, encoding: .utf8)
      return try PEMDocument(pemString: text).derBytes
    }
  }

  /// Creates a custom certificate.
  private static func certificate(
    subject: DistinguishedName, from: Date = ProviderKeyFixture.now.addingTimeInterval(-10),
    until: Date = ProviderKeyFixture.now.addingTimeInterval(10)
  ) throws -> [UInt8] {
    let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey, notValidBefore: from,
      notValidAfter: until, issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: Certificate.Extensions(), issuerPrivateKey: key)
    return try certificate.serializeAsPEM().derBytes
  }

  private static func name(_ bundle: String) -> DistinguishedName {
    DistinguishedName([RelativeDistinguishedName(.init(type: ClientCertificate.userID, utf8String: bundle))])
  }

  private func lab(_ certificate: [UInt8]) -> ProviderKeyFixture {
    var lab = ProviderKeyFixture()
    lab.now = Date()
    lab.session = ProviderSession(certificate: certificate)
    return lab
  }

  @Test(.rule("APNS-18"))
  func `a certificate connection sends to the topics of its certificate and ignores the authorization header`() throws {
    var lab = lab(try Self.certificate())
    #expect(lab.session.isAuthorized)
    #expect(
      ClientCertificate(derEncoded: try Self.certificate()).topics
        == Set(["", ".voip", ".complication"].map { ProviderKeyFixture.bundle + $0 }))
    for authorization in [nil, "bearer nonsense", "bearer " + lab.jwt("PROD000001")] {
      #expect(lab.reason(lab.alert(["authorization": authorization])) == nil)
    }
    let background: KeyValuePairs<String, String?> = ["apns-push-type": "background", "apns-priority": "5"]
    #expect(lab.reason(lab.alert(background)) == nil)
    let voip = lab.alert(["apns-push-type": "voip", "apns-topic": ProviderKeyFixture.bundle + ".voip"])
    #expect(lab.reason(voip) == .deviceTokenNotForTopic)
    #expect(lab.reason(lab.request()) == .topicDisallowed, "no certificate has the topic of widgets")
    #expect(lab.reason(lab.alert(["apns-topic": "com.example.Other"])) == .topicDisallowed)
    #expect(lab.reason(lab.alert(["apns-topic": nil])) == .missingTopic, "the certificate has three topics")
    for type in [PushType.liveactivity, .location] {
      let request = lab.alert([
        "apns-push-type": type.rawValue, "apns-topic": ProviderKeyFixture.bundle + type.topicSuffix,
      ])
      #expect(lab.reason(request) == .topicDisallowed)
    }
  }

  @Test func `a client certificate is accepted only in its environments`() throws {
    for environment in PushEnvironment.allCases {
      var lab = lab(try Self.certificate(ProviderKeyFixture.bundle, [environment]))
      for port in PushEnvironment.allCases {
        lab.environment = port
        let verdict = lab.check(lab.alert())
        #expect((verdict.reason == "BadCertificateEnvironment") == (port != environment))
        #expect((verdict.answer.manner == .responseAndGoAway) == (port != environment))
      }
    }
  }

  @Test func `a client certificate with one topic makes that topic the default`() throws {
    var lab = ProviderKeyFixture()
    lab.session = ProviderSession(certificate: try Self.certificate(subject: Self.name(ProviderKeyFixture.bundle)))
    #expect(lab.reason(lab.alert(["apns-topic": nil])) == nil)
    #expect(lab.reason(lab.alert()) == nil)
    #expect(lab.reason(lab.request()) == .topicDisallowed)
  }

  @Test func `a client certificate is refused without push topics, outside its validity, or when it is unreadable`()
    throws
  {
    let withoutTopic = try DistinguishedName { CommonName("no topic") }
    let day = 86_400.0
    let wrong = [
      try Self.certificate(subject: withoutTopic), [1, 2, 3], [],
      try Self.certificate(
        subject: Self.name(ProviderKeyFixture.bundle), until: ProviderKeyFixture.now.addingTimeInterval(-1)),
      try Self.certificate(
        subject: Self.name(ProviderKeyFixture.bundle), from: ProviderKeyFixture.now + 1,
        until: ProviderKeyFixture.now + day),
    ]
    for certificate in wrong {
      var lab = ProviderKeyFixture()
      lab.session = ProviderSession(certificate: certificate)
      let verdict = lab.check(lab.alert())
      #expect(verdict.reason == "BadCertificate")
      #expect(verdict.answer.manner == .responseAndGoAway)
    }
  }
}
