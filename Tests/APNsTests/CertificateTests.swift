import Conversations
import Crypto
import Foundation
import SwiftASN1
import Testing
import X509

@testable import APNs

@Suite struct `a connection with a client certificate` {
  private static func certificate(
    _ bundle: String = Lab.bundle, _ environments: Set<PushEnvironment> = [.development, .production]
  ) throws -> [UInt8] {
    try withCredentials { folder in
      let credentials = try PushCredentials.make(in: folder)
      let listed = try PushCredentials.addCertificate(in: folder, bundle: bundle, environments: environments)
      let text = try String(contentsOfFile: credentials.paths(of: listed).certificate, encoding: .utf8)
      return try PEMDocument(pemString: text).derBytes
    }
  }

  /// A certificate of one's own making.
  private static func certificate(
    subject: DistinguishedName, from: Date = Lab.now.addingTimeInterval(-10),
    until: Date = Lab.now.addingTimeInterval(10)
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

  private func lab(_ certificate: [UInt8]) -> Lab {
    var lab = Lab()
    lab.now = Date()
    lab.session = ProviderSession(certificate: certificate)
    return lab
  }

  @Test func `may send to the topics of its extensions, whatever its authorization says`() throws {
    var lab = lab(try Self.certificate())
    #expect(lab.session.isAuthorized)
    #expect(
      ClientCertificate(derEncoded: try Self.certificate()).topics
        == Set(["", ".voip", ".complication"].map { Lab.bundle + $0 }))
    for authorization in [nil, "bearer nonsense", "bearer " + lab.jwt("PROD000001")] {
      #expect(lab.reason(lab.alert(["authorization": authorization])) == nil)
    }
    let background: KeyValuePairs<String, String?> = ["apns-push-type": "background", "apns-priority": "5"]
    #expect(lab.reason(lab.alert(background)) == nil)
    let voip = lab.alert(["apns-push-type": "voip", "apns-topic": Lab.bundle + ".voip"])
    #expect(lab.reason(voip) == .deviceTokenNotForTopic)
    #expect(lab.reason(lab.request()) == .topicDisallowed, "widgets stand in no certificate")
    #expect(lab.reason(lab.alert(["apns-topic": "com.example.Other"])) == .topicDisallowed)
    #expect(lab.reason(lab.alert(["apns-topic": nil])) == .missingTopic, "it has three")
    for type in [PushType.liveactivity, .location] {
      let request = lab.alert(["apns-push-type": type.rawValue, "apns-topic": Lab.bundle + type.topicSuffix])
      #expect(lab.reason(request) == .forbidden)
    }
  }

  @Test func `is of its environments`() throws {
    for environment in PushEnvironment.allCases {
      var lab = lab(try Self.certificate(Lab.bundle, [environment]))
      for port in PushEnvironment.allCases {
        lab.environment = port
        let verdict = lab.check(lab.alert())
        #expect((verdict.reason == "BadCertificateEnvironment") == (port != environment))
        #expect((verdict.answer.manner == .responseAndGoAway) == (port != environment))
      }
    }
  }

  @Test func `of one topic has it by default`() throws {
    var lab = Lab()
    lab.session = ProviderSession(certificate: try Self.certificate(subject: Self.name(Lab.bundle)))
    #expect(lab.reason(lab.alert(["apns-topic": nil])) == nil)
    #expect(lab.reason(lab.alert()) == nil)
    #expect(lab.reason(lab.request()) == .topicDisallowed)
  }

  @Test func `is refused when it is none for pushes, out of its time, or cannot be read`() throws {
    let nobody = try DistinguishedName { CommonName("nobody") }
    let day = 86_400.0
    let wrong = [
      try Self.certificate(subject: nobody), [1, 2, 3], [],
      try Self.certificate(subject: Self.name(Lab.bundle), until: Lab.now.addingTimeInterval(-1)),
      try Self.certificate(subject: Self.name(Lab.bundle), from: Lab.now + 1, until: Lab.now + day),
    ]
    for certificate in wrong {
      var lab = Lab()
      lab.session = ProviderSession(certificate: certificate)
      let verdict = lab.check(lab.alert())
      #expect(verdict.reason == "BadCertificate")
      #expect(verdict.answer.manner == .responseAndGoAway)
    }
  }
}
