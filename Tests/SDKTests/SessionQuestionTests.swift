// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// The host's requests to a session's delegate.
@Suite(.timeLimit(.minutes(1))) struct `The delegate of a background session` {
  @Test(.rule("DELIVERY-10"))
  func `a delegate decides whether a delayed request continues, is cancelled or is replaced`() async throws {
    let other = TransferRequest(url: "http://b.example/")
    let answers: [(FullDelegate.Answers, BeginDelayedRequest.Reply)] = [
      (FullDelegate.Answers(), BeginDelayedRequest.Reply(disposition: .continueLoading)),
      (FullDelegate.Answers(delayed: (.cancel, nil)), BeginDelayedRequest.Reply(disposition: .cancel)),
      (
        FullDelegate.Answers(delayed: (.useNewRequest, URLRequest(other))),
        BeginDelayedRequest.Reply(disposition: .useNewRequest, request: other)
      ),
    ]
    for (answer, reply) in answers {
      let fixture = try SDKFixture()
      try await fixture.begin()
      let delegate = FullDelegate(answer)
      let session = fixture.session(delegate)
      let given = try await fixture.host.connection.request(
        BeginDelayedRequest(session: "daily", task: SDKFixture.snapshot(1)), to: SDKFixture.widget)
      #expect(given == reply)
      #expect(delegate.calls == ["delayed 1"])
      withExtendedLifetime(session) {}
    }
  }

  @Test(.rule("DELIVERY-08"))
  func `an HTTP challenge calls the task-level method, a server trust challenge the session-level method`() async throws
  {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    func challenge(_ method: String) async throws -> AnswerChallenge.Reply {
      try await fixture.host.connection.request(
        AnswerChallenge(
          session: "daily", task: SDKFixture.snapshot(1), wakesHandler: false, method: method, host: "a.example",
          port: 443,
          scheme: "https", realm: "vault", previousFailures: 0), to: SDKFixture.widget)
    }
    let basic = try await challenge(NSURLAuthenticationMethodHTTPBasic)
    #expect(basic == AnswerChallenge.Reply(disposition: .useCredential, user: "user", password: "word"))
    let trust = try await challenge(NSURLAuthenticationMethodServerTrust)
    #expect(trust == AnswerChallenge.Reply(disposition: .useCredential))
    #expect(delegate.calls == ["task challenge vault", "session challenge a.example"])
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-08")) func `an HTTP challenge never calls the session-level method`() async throws {
    final class OnlySession: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
      ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.cancelAuthenticationChallenge, nil) }
    }
    let fixture = try SDKFixture()
    try await fixture.begin()
    let session = fixture.process.asCurrent {
      let configuration = URLSessionConfiguration.background(withIdentifier: "daily")
      configuration.sharedContainerIdentifier = SDKFixture.group
      return URLSession(configuration: configuration, delegate: OnlySession(), delegateQueue: nil)
    }
    let reply = try await fixture.host.connection.request(
      AnswerChallenge(
        session: "daily", task: SDKFixture.snapshot(1), wakesHandler: false, method: NSURLAuthenticationMethodHTTPBasic,
        host: "a.example", port: 443, scheme: "https", realm: "vault", previousFailures: 0), to: SDKFixture.widget)
    #expect(reply.disposition == .performDefaultHandling)
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-09"))
  func `a challenge for a session that is not open calls the handler first, which creates the session`() async throws {
    let fixture = try SDKFixture()
    let delegate = FullDelegate()
    let made = Mutex<URLSession?>(nil)
    let handler = await Handler { [process = fixture.process] in made.withLock { $0 = process.session(delegate) } }
    try await fixture.begin([await handler.handler()])
    let reply = try await fixture.host.connection.request(
      AnswerChallenge(
        session: "daily", task: SDKFixture.snapshot(1), wakesHandler: true, method: NSURLAuthenticationMethodHTTPBasic,
        host: "a.example", port: 443, scheme: "https", realm: "vault", previousFailures: 0), to: SDKFixture.widget)
    #expect(reply.user == "user")
    #expect(await handler.identifiers == ["daily"])
    #expect(delegate.calls == ["task challenge vault", "finish"])
  }
}
