// SPDX-License-Identifier: Apache-2.0

import DefaultsLog
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

/// What background transfers may load, and what they say about their product.
@Suite(.timeLimit(.minutes(1))) struct TransferClientTests {
  private func configuration(_ list: [String: Any] = [:], headers: [[String]] = []) -> SessionConfiguration {
    SessionConfiguration(
      httpAdditionalHeaders: headers,
      client: ClientProfile(
        infoDictionary: list.merging(["CFBundleName": "Weather", "CFBundleVersion": "42"]) { $1 },
        processName: "weather", systemVersion: "26.0", languages: ["de-CH"]))
  }

  private func exchange(
    _ url: String, _ configuration: SessionConfiguration, headers: [[String]] = []
  ) throws(TransferFault) -> HTTPExchange {
    try HTTPExchange(TransferRequest(url: url, headers: headers), configuration, rangeHeaders: [], isUpload: false)
  }

  private func domains(_ isAllowed: Bool) -> [String: Any] {
    let domain = ["NSExceptionAllowsInsecureHTTPLoads": isAllowed]
    return ["NSAppTransportSecurity": ["NSExceptionDomains": ["figures.example": domain]]]
  }

  @Test(.rule("NETWORK-01", "NETWORK-03", "NETWORK-07"), arguments: [true, false])
  func `a transfer without TLS fails with -1022 unless its product has an exception, and is not retried`(
    isAllowed: Bool
  ) throws {
    let policy = configuration(domains(isAllowed))
    for url in ["https://figures.example/", "http://localhost/", "http://127.0.0.1:1/"] {
      _ = try exchange(url, policy)
    }
    if isAllowed {
      _ = try exchange("http://figures.example/", policy)
    } else {
      let fault = #expect(throws: TransferFault.self) { try exchange("http://figures.example/", policy) }
      #expect(fault?.code == -1022 && fault?.failure.message == TransportSecurity.message && fault?.next == .never)
    }
    #expect(throws: TransferFault.self) { try exchange("http://figures.example/", SessionConfiguration()) }
  }

  @Test(.rule("NETWORK-08"), arguments: [true, false])
  func `a redirection is checked like a request`(isAllowed: Bool) throws {
    var started = try exchange("https://figures.example/", configuration(domains(isAllowed)))
    if isAllowed {
      let isRedirected = try started.redirect(302, to: "http://figures.example/", limit: 5)
      #expect(isRedirected)
    } else {
      let fault = #expect(throws: TransferFault.self) {
        try started.redirect(302, to: "http://figures.example/", limit: 5)
      }
      #expect(fault?.code == -1022 && fault?.next == .never)
    }
  }

  @Test(.rule("NETWORK-10", "NETWORK-11", "NETWORK-12"))
  func `a transfer says what its product is, unless the request or the session says it`() throws {
    func values(_ exchange: HTTPExchange) -> [String?] {
      ["user-agent", "accept-language"].map { name in exchange.headers.first { $0[0].lowercased() == name }?[1] }
    }
    let agent = "Weather/42 CFNetwork/3860.100.1 Darwin/25.0.0"
    let url = "https://figures.example/"
    #expect(values(try exchange(url, configuration())) == [agent, "de-CH,de;q=0.9"])
    let own = try exchange(url, configuration(), headers: [["user-agent", "mine"]])
    #expect(values(own) == ["mine", "de-CH,de;q=0.9"])
    let ofSession = try exchange(url, configuration(headers: [["Accept-Language", "fr"]]))
    #expect(values(ofSession) == [agent, "fr"])
  }

  @Test(.rule("NETWORK-13", "NETWORK-15"), arguments: [true, false])
  func `a transfer sends and stores cookies as its session says, on its way over redirections`(isUsed: Bool)
    async throws
  {
    let fixture = try AttemptFixture()
    let server = try await RawServer.start { seen in
      seen.line.contains("/away")
        ? [response("", status: "302 Found", "Location: /here", "Set-Cookie: a=1", "Set-Cookie: b=2; Max-Age=9")]
        : [response(seen.header("Cookie") ?? "none", "Set-Cookie: c=3; Max-Age=0")]
    }
    let storage = CookieStorage(in: fixture.folder)
    let (url, now) = (try #require(URL(string: server.url)), Date())
    storage.store(["c=0; Max-Age=9"], from: url, at: now)
    let cookies = AttemptCookies(storage: storage, use: CookieUse(sends: isUsed, stores: isUsed), now: { now })
    let target = url.deletingLastPathComponent().appending(path: "away")
    var attempt = TransferAttempt(
      request: TransferRequest(url: target.absoluteString), configuration: configuration(), path: fixture.path,
      network: fixture.network, report: { _ in }, setHead: { _, _ in })
    attempt.cookies = cookies
    let result = try await attempt.perform(knowing: TransferAttempt.Known())
    #expect(String(decoding: result.content ?? [], as: UTF8.self) == (isUsed ? "a=1; b=2; c=0" : "none"))
    #expect(storage.header(for: url, at: now) == (isUsed ? "a=1; b=2" : "c=0"))
    await fixture.end()
    await server.stop()
  }
}
