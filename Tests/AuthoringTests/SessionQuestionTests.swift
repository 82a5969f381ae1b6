import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing

@testable import AuthoredProcess
@testable import BackgroundURLSession

/// What the host asks the delegate.
@Suite(.timeLimit(.minutes(1))) struct `The delegate of a background session` {
  @Test func `is asked before a delayed request goes out`() async throws {
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
      let stage = try Stage()
      try await stage.begin()
      let delegate = FullDelegate(answer)
      let session = stage.session(delegate)
      let given = try await stage.host.connection.request(
        BeginDelayedRequest(session: "daily", task: Stage.snapshot(1)), to: Stage.widget)
      #expect(given == reply)
      #expect(delegate.told == ["delayed 1"])
      withExtendedLifetime(session) {}
    }
  }

  @Test func `is asked about a request as the task's, and about a connection first as the session's`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    func challenge(_ method: String) async throws -> AnswerChallenge.Reply {
      try await stage.host.connection.request(
        AnswerChallenge(
          session: "daily", task: Stage.snapshot(1), wakesHandler: false, method: method, host: "a.example", port: 443,
          scheme: "https", realm: "vault", previousFailures: 0), to: Stage.widget)
    }
    let basic = try await challenge(NSURLAuthenticationMethodHTTPBasic)
    #expect(basic == AnswerChallenge.Reply(disposition: .useCredential, user: "user", password: "word"))
    let trust = try await challenge(NSURLAuthenticationMethodServerTrust)
    #expect(trust == AnswerChallenge.Reply(disposition: .useCredential))
    #expect(delegate.told == ["task challenge vault", "session challenge a.example"])
    withExtendedLifetime(session) {}
  }

  @Test func `is never asked about a request as the session's`() async throws {
    final class OnlySession: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
      ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.cancelAuthenticationChallenge, nil) }
    }
    let stage = try Stage()
    try await stage.begin()
    let session = stage.process.asCurrent {
      let configuration = URLSessionConfiguration.background(withIdentifier: "daily")
      configuration.sharedContainerIdentifier = Stage.group
      return URLSession(configuration: configuration, delegate: OnlySession(), delegateQueue: nil)
    }
    let reply = try await stage.host.connection.request(
      AnswerChallenge(
        session: "daily", task: Stage.snapshot(1), wakesHandler: false, method: NSURLAuthenticationMethodHTTPBasic,
        host: "a.example", port: 443, scheme: "https", realm: "vault", previousFailures: 0), to: Stage.widget)
    #expect(reply.disposition == .performDefaultHandling)
    withExtendedLifetime(session) {}
  }

  @Test func `is asked after the handler was called, where the session is not open`() async throws {
    let stage = try Stage()
    let delegate = FullDelegate()
    let made = Mutex<URLSession?>(nil)
    let handler = await Handler { [process = stage.process] in made.withLock { $0 = process.session(delegate) } }
    try await stage.begin([await handler.handler()])
    let reply = try await stage.host.connection.request(
      AnswerChallenge(
        session: "daily", task: Stage.snapshot(1), wakesHandler: true, method: NSURLAuthenticationMethodHTTPBasic,
        host: "a.example", port: 443, scheme: "https", realm: "vault", previousFailures: 0), to: Stage.widget)
    #expect(reply.user == "user")
    #expect(await handler.identifiers == ["daily"])
    #expect(delegate.told == ["task challenge vault", "finish"])
  }
}
