// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import NIOSSL
import Testing

@testable import Device
@testable import DeviceRules

/// Servers that require credentials or are not trusted.
@Suite(.timeLimit(.minutes(1))) struct ChallengeTests {
  private static let basic = "Basic " + Data("ada:lovelace".utf8).base64EncodedString()
  private let credential = AnswerChallenge.Reply(disposition: .useCredential, user: "ada", password: "lovelace")

  /// Responds with the secret to a request with the password, and with a 401 to any other.
  private static let gate: @Sendable (RawServer.Seen) -> [RawServer.Step] = { request in
    request.header("Authorization") == basic
      ? [response("secret")]
      : [response("which client?", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"a, \\\"b\\\"\"")]
  }

  @Test(.rule("TRANSFER-38"))
  func `an attempt sends the credentials that the owner supplies for a challenge`() async throws {
    try await withServer(reply: credential, Self.gate) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == 200)
      #expect(fixture.bytes == Array("secret".utf8))
      #expect(
        fixture.challenges == [
          Challenge(
            method: "NSURLAuthenticationMethodHTTPBasic", host: "127.0.0.1", port: server.port, scheme: "http",
            realm: "a, \"b\"", previousFailures: 0)
        ])
    }
  }

  @Test(.rule("TRANSFER-38"), arguments: [AnswerChallenge.Disposition.performDefaultHandling, .rejectProtectionSpace])
  func `without credentials, the 401 response and its body are the result of the transfer`(
    disposition: AnswerChallenge.Disposition
  ) async throws {
    try await withServer(reply: AnswerChallenge.Reply(disposition: disposition), Self.gate) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == 401)
      #expect(fixture.bytes == Array("which client?".utf8))
      #expect(fixture.challenges.count == 1)
    }
  }

  @Test(.rule("TRANSFER-40")) func `cancelling a challenge ends the task with error -999`() async throws {
    let cancel = AnswerChallenge.Reply(disposition: .cancelAuthenticationChallenge)
    try await withServer(reply: cancel, Self.gate) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -999)
      #expect(fault?.next == .never)
    }
  }

  @Test(.rule("TRANSFER-39"))
  func `wrong credentials cause a new challenge with the number of previous failures`() async throws {
    let server = try await RawServer.start(Self.gate)
    let fixture = try AttemptFixture { challenge in
      AnswerChallenge.Reply(
        disposition: .useCredential, user: "ada", password: challenge.previousFailures < 2 ? "byron" : "lovelace")
    }
    #expect(try await fixture.attempt(TransferRequest(url: server.url)).response.status == 200)
    #expect(fixture.challenges.map(\.previousFailures) == [0, 1, 2])
    await fixture.end()
    await server.stop()
  }

  @Test func `an upload sends its body again with the credentials`() async throws {
    try await withServer(reply: credential, Self.gate) { fixture, server in
      try Data("hello".utf8).write(to: URL(fileURLWithPath: fixture.folder + "/body"))
      try await fixture.attempt(TransferRequest(url: server.url, method: "PUT"), upload: fixture.folder + "/body")
      #expect(server.seen.map(\.body) == [Array("hello".utf8), Array("hello".utf8)])
      #expect(fixture.bytes == Array("secret".utf8))
    }
  }

  @Test(.rule("TRANSFER-41"))
  func `a transfer from an untrusted server succeeds when the owner accepts its certificate`() async throws {
    let accept = AnswerChallenge.Reply(disposition: .useCredential)
    try await withServer(certificate: TestCertificates.expired, reply: accept, { _ in [response("secret")] }) {
      fixture, server in
      for count in 1...2 {
        try await fixture.attempt(TransferRequest(url: "https://localhost:\(server.port)/file"))
        #expect(fixture.bytes == Array("secret".utf8))
        #expect(fixture.challenges.count == count, "each attempt asks")
      }
      #expect(fixture.challenges.allSatisfy { $0.method == "NSURLAuthenticationMethodServerTrust" })
    }
  }

  @Test(.rule("TRANSFER-41")) func `a transfer from a server that the device trusts asks nothing`() async throws {
    let certificate = TestCertificates.selfSigned
    let server = try await RawServer.start(certificate: certificate) { _ in [response("secret")] }
    let roots = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
    let fixture = try AttemptFixture(trusting: .certificates(roots))
    #expect(
      try await fixture.attempt(TransferRequest(url: "https://localhost:\(server.port)/file")).response.status == 200)
    #expect(fixture.bytes == Array("secret".utf8) && fixture.challenges.isEmpty)
    await fixture.end()
    await server.stop()
  }

  @Test(.rule("TRANSFER-38"))
  func `the Digest scheme is preferred to Basic, regardless of their order in the headers`() {
    let offer = AuthenticationOffer(["Basic realm=\"a\"", "Digest realm=\"b\", nonce=\"n\", qop=\"auth,auth-int\""])
    #expect(offer?.scheme == .digest)
    #expect(offer?.realm == "b")
    let line = AuthenticationOffer(["Digest realm=\"b\", nonce=\"n\", Basic realm=\"a\", Bearer x=y"])
    #expect(line?.scheme == .digest)
  }

  @Test(
    .rule("TRANSFER-38"),
    arguments: [
      "Bearer realm=\"a\"", "Negotiate", "", "Digest realm=\"a\"", "=", ",,,", "\"", "Digest nonce=n, qop=auth-int",
    ])
  func `an unknown or malformed WWW-Authenticate value is not a challenge`(value: String) {
    #expect(AuthenticationOffer([value]) == nil)
  }

  /// The example of RFC 2617, section 3.5, also with SHA-256.
  @Test(
    arguments: [
      ("MD5", "6629fae49393a05397450978507c4ef1"),
      ("SHA-256", "5abdd07184ba512a22c53f41470e5eea7dcaa3a93a59b630c13dfe0a5dc6e38b"),
    ])
  func `a Digest authorization matches the example of RFC 2617, with MD5 and with SHA-256`(
    algorithm: String, response: String
  ) throws {
    let offer = try #require(
      AuthenticationOffer([
        """
        Digest realm="testrealm@host.com", qop="auth,auth-int", algorithm=\(algorithm), \
        nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"
        """
      ]))
    let authorization = offer.authorization(
      user: "Mufasa", password: "Circle Of Life", method: "GET", uri: "/dir/index.html", clientNonce: "0a4f113b")
    #expect(authorization.contains("response=\"\(response)\""))
    #expect(authorization.contains("opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""))
  }
}
