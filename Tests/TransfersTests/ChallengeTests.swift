import Conversations
import Foundation
import Testing

@testable import Transfers

/// A server that wants credentials, or is not trusted.
@Suite(.timeLimit(.minutes(1))) struct ChallengeTests {
  private static let basic = "Basic " + Data("ada:lovelace".utf8).base64EncodedString()
  private let credential = AnswerChallenge.Reply(disposition: .useCredential, user: "ada", password: "lovelace")

  /// Lets in who knows the password.
  private static let gate: @Sendable (RawServer.Seen) -> [RawServer.Step] = { request in
    request.header("Authorization") == basic
      ? [response("secret")]
      : [response("who are you?", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"a, \\\"b\\\"\"")]
  }

  @Test func `the owner's credentials are sent`() async throws {
    try await withServer(answer: credential, Self.gate) { scene, server in
      let result = try await scene.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == 200)
      #expect(scene.bytes == Array("secret".utf8))
      #expect(
        scene.challenges == [
          Challenge(
            method: "NSURLAuthenticationMethodHTTPBasic", host: "127.0.0.1", port: server.port, scheme: "http",
            realm: "a, \"b\"", previousFailures: 0)
        ])
    }
  }

  @Test(arguments: [AnswerChallenge.Disposition.performDefaultHandling, .rejectProtectionSpace])
  func `without credentials the 401 and its body are the answer`(disposition: AnswerChallenge.Disposition) async throws
  {
    try await withServer(answer: AnswerChallenge.Reply(disposition: disposition), Self.gate) { scene, server in
      let result = try await scene.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == 401)
      #expect(scene.bytes == Array("who are you?".utf8))
      #expect(scene.challenges.count == 1)
    }
  }

  @Test func `a challenge that is cancelled ends the task with -999`() async throws {
    let cancel = AnswerChallenge.Reply(disposition: .cancelAuthenticationChallenge)
    try await withServer(answer: cancel, Self.gate) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -999)
      #expect(fault?.next == .never)
    }
  }

  @Test func `wrong credentials are asked for again, with the failures`() async throws {
    let server = try await RawServer.start(Self.gate)
    let scene = try AttemptScene { challenge in
      AnswerChallenge.Reply(
        disposition: .useCredential, user: "ada", password: challenge.previousFailures < 2 ? "byron" : "lovelace")
    }
    #expect(try await scene.attempt(TransferRequest(url: server.url)).response.status == 200)
    #expect(scene.challenges.map(\.previousFailures) == [0, 1, 2])
    await scene.end()
    await server.stop()
  }

  @Test func `an upload is sent again with the credentials`() async throws {
    try await withServer(answer: credential, Self.gate) { scene, server in
      try Data("hello".utf8).write(to: URL(fileURLWithPath: scene.folder + "/body"))
      try await scene.attempt(TransferRequest(url: server.url, method: "PUT"), upload: scene.folder + "/body")
      #expect(server.seen.map(\.body) == [Array("hello".utf8), Array("hello".utf8)])
      #expect(scene.bytes == Array("secret".utf8))
    }
  }

  @Test func `a server whose certificate is not trusted is heard when its owner accepts it`() async throws {
    let accept = AnswerChallenge.Reply(disposition: .useCredential)
    try await withServer(certificate: TestCertificates.expired, answer: accept, { _ in [response("secret")] }) {
      scene, server in
      try await scene.attempt(TransferRequest(url: "https://localhost:\(server.port)/file"))
      #expect(scene.bytes == Array("secret".utf8))
      #expect(scene.challenges.count == 1)
    }
  }

  @Test func `Digest goes before Basic, whichever is offered first`() {
    let offer = AuthenticationOffer(["Basic realm=\"a\"", "Digest realm=\"b\", nonce=\"n\", qop=\"auth,auth-int\""])
    #expect(offer?.scheme == .digest)
    #expect(offer?.realm == "b")
    let line = AuthenticationOffer(["Digest realm=\"b\", nonce=\"n\", Basic realm=\"a\", Bearer x=y"])
    #expect(line?.scheme == .digest)
  }

  @Test(arguments: [
    "Bearer realm=\"a\"", "Negotiate", "", "Digest realm=\"a\"", "=", ",,,", "\"", "Digest nonce=n, qop=auth-int",
  ])
  func `what is not known is no challenge`(value: String) {
    #expect(AuthenticationOffer([value]) == nil)
  }

  /// The example of RFC 2617, section 3.5, and the same with SHA-256.
  @Test(
    arguments: [
      ("MD5", "6629fae49393a05397450978507c4ef1"),
      ("SHA-256", "5abdd07184ba512a22c53f41470e5eea7dcaa3a93a59b630c13dfe0a5dc6e38b"),
    ])
  func `a Digest is what its standard says`(algorithm: String, response: String) throws {
    let offer = try #require(
      AuthenticationOffer([
        """
        Digest realm="testrealm@host.com", qop="auth,auth-int", algorithm=\(algorithm), \
        nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"
        """
      ]))
    let answer = offer.authorization(
      user: "Mufasa", password: "Circle Of Life", method: "GET", uri: "/dir/index.html", clientNonce: "0a4f113b")
    #expect(answer.contains("response=\"\(response)\""))
    #expect(answer.contains("opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""))
  }
}
