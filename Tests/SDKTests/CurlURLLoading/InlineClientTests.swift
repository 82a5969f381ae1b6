// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

@testable import URLSessionAPI

/// What inline requests may load, and what they say about their product.
@Suite(.timeLimit(.minutes(1))) struct InlineClientTests {
  private func profile(_ info: [String: Any] = [:]) -> ClientProfile {
    ClientProfile(
      infoDictionary: info.merging(["CFBundleName": "Weather", "CFBundleVersion": "42"]) { $1 },
      processName: "weather", systemVersion: "26.0", languages: ["de-CH"])
  }

  private func run(
    _ profile: ClientProfile, answer: @escaping @Sendable (LocalServer.Request) -> LocalServer.Reply,
    body: (CurlFixture) async throws -> Void
  ) async throws {
    try await CurlFixture.run(answer) { fixture in
      _ = fixture.process.part(ClientProfileSource.self) { _ in ClientProfileSource { profile } }
      try await body(fixture)
    }
  }

  @Test(.rule("NETWORK-01", "NETWORK-07"))
  func `a request without TLS fails with -1022 and Apple's text, without a network too`() async throws {
    try await run(profile(), answer: { _ in .text("there") }) { fixture in
      fixture.network(.off)
      let url = try #require(URL(string: "http://figures.invalid/"))
      let error = await failure { try await fixture.session().data(from: url) }
      #expect(error?.code == .appTransportSecurityRequiresSecureConnection && error?.code.rawValue == -1022)
      #expect(error?.localizedDescription == TransportSecurity.message)
    }
  }

  @Test(.rule("NETWORK-03", "NETWORK-08"), arguments: [true, false])
  func `a redirection is checked like a request, by the exceptions of the product`(isAllowed: Bool) async throws {
    let domains = ["localhost": ["NSExceptionAllowsInsecureHTTPLoads": isAllowed]]
    let list = ["NSAppTransportSecurity": ["NSExceptionDomains": domains]]
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { request in
      let host = request.headers["host"]?.replacing("127.0.0.1", with: "localhost") ?? ""
      return request.path == "/away" ? .text("", 302, ["Location": "http://\(host)/here"]) : .text("there")
    }
    try await run(profile(list), answer: answer) { fixture in
      let url = fixture.server.url("/away")
      if isAllowed {
        let text = try await fixture.session().text(from: url)
        #expect(text == "there")
      } else {
        let error = await failure { try await fixture.session().data(from: url) }
        #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
      }
      #expect(fixture.server.requests.count == (isAllowed ? 2 : 1))
    }
  }

  @Test(.rule("NETWORK-10", "NETWORK-11", "NETWORK-12"))
  func `a request says what its product is, unless the request or the session says it`() async throws {
    try await run(profile(), answer: { _ in .text("there") }) { fixture in
      _ = try await fixture.session().text(from: fixture.server.url())
      var request = URLRequest(url: fixture.server.url())
      request.setValue("mine", forHTTPHeaderField: "user-agent")
      _ = try await fixture.session().data(for: request)
      let other = fixture.session { $0.httpAdditionalHeaders = ["Accept-Language": "fr"] }
      _ = try await other.text(from: fixture.server.url())
      let agent = "Weather/42 CFNetwork/3860.100.1 Darwin/25.0.0"
      #expect(fixture.server.requests.map { $0.headers["user-agent"] } == [agent, "mine", agent])
      #expect(
        fixture.server.requests.map { $0.headers["accept-language"] } == ["de-CH,de;q=0.9", "de-CH,de;q=0.9", "fr"])
    }
  }

  @Test(.rule("NETWORK-13", "INLINE-19"), arguments: [true, false])
  func `httpShouldSetCookies decides about sending, and the accept policy about storing`(isEither: Bool) async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = {
      .text($0.headers["cookie"] ?? "none", 200, ["Set-Cookie": "day=1"])
    }
    try await run(profile(), answer: answer) { fixture in
      let session = fixture.session {
        $0.httpShouldSetCookies = isEither
        $0.httpCookieAcceptPolicy = isEither ? .never : .always
      }
      for _ in 1...2 {
        let sent = try await session.text(from: fixture.server.url())
        #expect(sent == "none")
      }
      let usual = fixture.session()
      var request = URLRequest(url: fixture.server.url())
      request.httpShouldHandleCookies = isEither
      _ = try await usual.data(for: request)
      let sent = try await usual.text(from: fixture.server.url())
      #expect(sent == (isEither ? "day=1" : "none"))
      request.setValue("mine=1", forHTTPHeaderField: "Cookie")
      _ = try await usual.data(for: request)
      #expect(fixture.server.requests.last?.headers["cookie"] == "mine=1")
    }
  }

  @Test(.rule("NETWORK-15")) func `a cookie of a redirection is sent with the next request`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { request in
      request.path == "/away"
        ? .text("", 302, ["Location": "/here", "Set-Cookie": "day=1"]) : .text(request.headers["cookie"] ?? "none")
    }
    try await run(profile(), answer: answer) { fixture in
      let sent = try await fixture.session().text(from: fixture.server.url("/away"))
      #expect(sent == "day=1")
    }
  }
}
