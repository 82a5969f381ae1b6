// SPDX-License-Identifier: Apache-2.0

import Crypto
import FidelityRules
import Foundation
import Messages
import Testing

@testable import APNs

/// The forms of JSON Web Tokens that real clients and Apple's own samples send.
@Suite struct `Provider tokens` {
  private static let moment = Int(ProviderKeyFixture.now.timeIntervalSince1970)
  private static let header = #"{"alg":"ES256","kid":"KEY0000001"}"#
  private static let claims = #"{"iss":"TEAM567890","iat":\#(moment)}"#

  private struct Sample {
    let name: String
    var header = `Provider tokens`.header
    var claims = `Provider tokens`.claims
    var inDER = false
    var reason: APNsReason?
  }

  private static let samples: [Sample] = [
    Sample(name: "raw signature"),
    Sample(name: "DER signature, as Apple's sample and shell recipe", inDER: true),
    Sample(name: "no alg, as Apple's sample", header: #"{"kid":"KEY0000001"}"#),
    Sample(name: "typ", header: #"{"alg":"ES256","typ":"JWT","kid":"KEY0000001"}"#),
    Sample(name: "kid in the claims too", claims: #"{"iss":"TEAM567890","iat":\#(moment),"kid":"KEY0000001"}"#),
    Sample(name: "float", claims: #"{"iss":"TEAM567890","iat":\#(moment).25}"#),
    Sample(name: "string", claims: #"{"iss":"TEAM567890","iat":"\#(moment)"}"#),
    Sample(name: "string of milliseconds, as Apple's sample", claims: #"{"iss":"TEAM567890","iat":"\#(moment)650"}"#),
    Sample(name: "milliseconds", claims: #"{"iss":"TEAM567890","iat":\#(moment)000}"#),
    Sample(name: "an hour old", claims: #"{"iss":"TEAM567890","iat":\#(moment - 3600)}"#),
    Sample(
      name: "older than an hour", claims: #"{"iss":"TEAM567890","iat":\#(moment - 3601)}"#,
      reason: .expiredProviderToken),
    Sample(name: "issued in 1970", claims: #"{"iss":"TEAM567890","iat":0}"#, reason: .expiredProviderToken),
    Sample(name: "issued in an hour", claims: #"{"iss":"TEAM567890","iat":\#(moment + 3600)}"#),
    Sample(
      name: "issued in more than an hour", claims: #"{"iss":"TEAM567890","iat":\#(moment + 3601)}"#,
      reason: .invalidProviderToken),
    Sample(name: "negative", claims: #"{"iss":"TEAM567890","iat":-1}"#, reason: .invalidProviderToken),
    Sample(name: "no number", claims: #"{"iss":"TEAM567890","iat":true}"#, reason: .invalidProviderToken),
    Sample(name: "infinite", claims: #"{"iss":"TEAM567890","iat":"inf"}"#, reason: .invalidProviderToken),
    Sample(name: "hexadecimal", claims: #"{"iss":"TEAM567890","iat":"0x6b49d200"}"#, reason: .invalidProviderToken),
    Sample(name: "no iat", claims: #"{"iss":"TEAM567890"}"#, reason: .invalidProviderToken),
    Sample(name: "no iss", claims: #"{"iat":\#(moment)}"#, reason: .invalidProviderToken),
    Sample(name: "another team", claims: #"{"iss":"TEAM000000","iat":\#(moment)}"#, reason: .invalidProviderToken),
    Sample(name: "alg none", header: #"{"alg":"none","kid":"KEY0000001"}"#, reason: .invalidProviderToken),
    Sample(name: "alg HS256", header: #"{"alg":"HS256","kid":"KEY0000001"}"#, reason: .invalidProviderToken),
    Sample(name: "alg ES384", header: #"{"alg":"ES384","kid":"KEY0000001"}"#, reason: .invalidProviderToken),
    Sample(name: "alg es256", header: #"{"alg":"es256","kid":"KEY0000001"}"#, reason: .invalidProviderToken),
    Sample(name: "no kid", header: #"{"alg":"ES256"}"#, reason: .invalidProviderToken),
    Sample(name: "unknown kid", header: #"{"alg":"ES256","kid":"KEY9999999"}"#, reason: .invalidProviderToken),
    Sample(name: "kid of another key", header: #"{"alg":"ES256","kid":"KEY0000002"}"#, reason: .invalidProviderToken),
    Sample(name: "header is not JSON", header: "alg", reason: .invalidProviderToken),
    Sample(name: "header is a list", header: "[]", reason: .invalidProviderToken),
    Sample(name: "kid is a number", header: #"{"alg":"ES256","kid":1}"#, reason: .invalidProviderToken),
    Sample(name: "claims are not JSON", claims: "", reason: .invalidProviderToken),
    Sample(name: "deep", claims: String(repeating: "[", count: 2000), reason: .invalidProviderToken),
  ]

  @Test(.rule("APNS-12", "APNS-13", "APNS-14", "APNS-44"), arguments: samples.indices)
  func `a provider token is accepted or refused by its header, claims and signature`(index: Int) {
    let sample = Self.samples[index]
    var lab = ProviderKeyFixture()
    let token = lab.keys["KEY0000001"]?.token(sample.header, sample.claims, inDER: sample.inDER) ?? ""
    let verdict = lab.check(lab.request(["authorization": "bearer " + token]))
    #expect(verdict.reason == sample.reason?.rawValue, "\(sample.name): \(verdict.explanation ?? "")")
    #expect(lab.session.isAuthorized == (sample.reason == nil))
  }

  /// Invalid tokens derived from a valid one.
  private static let forgeries: [(name: String, forge: @Sendable (String) -> String)] = [
    ("two parts", { $0.split(separator: ".").prefix(2).joined(separator: ".") }),
    ("four parts", { $0 + ".AAAA" }),
    ("no signature", { $0.split(separator: ".").prefix(2).joined(separator: ".") + "." }),
    ("other claims", { parts($0, index: 1, text: #"{"iss":"TEAM567890","iat":\#(moment + 1)}"#.base64URL) }),
    ("padding", { $0 + "==" }),
    ("the alphabet of plain base64", { parts($0, index: 2, text: "+/+/" + $0.suffix(82)) }),
    ("zeros for a signature", { parts($0, index: 2, text: Data(repeating: 0, count: 64).base64URL) }),
    ("ones for a signature", { parts($0, index: 2, text: Data(repeating: 255, count: 64).base64URL) }),
    ("garbage for a signature", { parts($0, index: 2, text: Data(0..<200).base64URL) }),
    ("a signature of P-384", { parts($0, index: 2, text: p384($0)) }),
    ("huge", { $0 + String(repeating: "A", count: 8000) }),
    ("a space", { $0.replacing(".", with: ". ") }),
    ("garbage", { _ in "garbage" }),
    ("points", { _ in ".." }),
    ("one letter each", { _ in "A.A.A" }),
    ("letters outside ASCII", { _ in "é.é.é" }),
  ]

  private static func parts(_ token: String, index: Int, text: String) -> String {
    var parts = token.split(separator: ".").map(String.init)
    parts[index] = text
    return parts.joined(separator: ".")
  }

  private static func p384(_ token: String) -> String {
    let signed = token.split(separator: ".").prefix(2).joined(separator: ".")
    return (try? P384.Signing.PrivateKey().signature(for: Data(signed.utf8)))?.rawRepresentation.base64URL ?? ""
  }

  @Test(.rule("APNS-12"), arguments: forgeries.indices)
  func `a forged provider token is refused`(index: Int) {
    let (name, forge) = Self.forgeries[index]
    var lab = ProviderKeyFixture()
    let verdict = lab.check(lab.request(["authorization": "bearer " + forge(lab.jwt())]))
    #expect(verdict.reason == "InvalidProviderToken", "\(name)")
    #expect(!lab.session.isAuthorized)
  }

  @Test(arguments: [
    (nil, APNsReason.missingProviderToken), ("", .missingProviderToken), ("bearer", .missingProviderToken),
    ("bearer ", .missingProviderToken), ("Basic abc", .missingProviderToken), ("bearer a.b.c", .invalidProviderToken),
  ])
  func `a request without a usable provider token is refused`(authorization: String?, reason: APNsReason) {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request(["authorization": authorization])) == reason)
  }

  @Test(arguments: ["bearer ", "Bearer ", "BEARER  "])
  func `the bearer scheme is accepted in any letter case`(scheme: String) {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request(["authorization": scheme + lab.jwt()])) == nil)
  }

  @Test func `a provider token is verified once per connection, and its age is checked with each request`() {
    var lab = ProviderKeyFixture()
    let request = lab.request()
    for _ in 0..<100 where lab.reason(request) != nil { Issue.record("the token was refused") }
    #expect(lab.lookups == 1)
    lab.now += 3601
    #expect(lab.reason(request) == .expiredProviderToken)
    lab.now -= 1
    #expect(lab.reason(request) == nil)
  }

  @Test func `a refused provider token is verified only once per connection`() {
    var lab = ProviderKeyFixture()
    let forged = lab.request(["authorization": "bearer " + lab.jwt("KEY0000002").replacing("A", with: "B")])
    for _ in 0..<100 where lab.reason(forged) != .invalidProviderToken { Issue.record("the token was accepted") }
    #expect(lab.lookups <= 1)
    #expect(lab.reason(lab.request()) == nil)
  }

  @Test func `a randomly changed provider token is refused`() {
    var generator = Seeded(seed: 6)
    var lab = ProviderKeyFixture()
    let good = Array(lab.jwt().utf8)
    for _ in 0..<2000 {
      var bytes = good
      for _ in 0...Int.random(in: 0..<3, using: &generator) {
        let index = Int.random(in: bytes.indices, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 33...126, using: &generator)
        case 1: bytes.remove(at: index)
        default: bytes.insert(UInt8(ascii: "."), at: index)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let reason = lab.reason(lab.request(["authorization": "bearer " + text]))
      // The last letter of a signature has unused bits.
      if reason != .invalidProviderToken, bytes.dropLast() != good.dropLast() { Issue.record("\(text)") }
      lab.session = ProviderSession()
    }
  }
}
