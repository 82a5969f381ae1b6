// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

@testable import URLSessionAPI

/// Redirections, cancellation, suspension, timeouts, challenges and failures of a request.
@Suite(.timeLimit(.minutes(1))) struct InterruptionTests {
  @Test(.rule("INLINE-11")) func `a redirection is followed, and its own body is not delivered`() async throws {
    try await CurlFixture.run(Self.redirecting) { fixture in
      let recorder = Recorder()
      fixture.session(recorder).dataTask(with: fixture.server.url("/a")).resume()
      await recorder.waitFor("end")
      #expect(recorder.all == ["redirect 302 GET /b", "response 200", "data there", "end 0"])
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test(.rule("INLINE-11")) func `a redirection that the delegate refuses is delivered as the response`() async throws {
    try await CurlFixture.run(Self.redirecting) { fixture in
      let recorder = Recorder(Recorder.Answers(follows: false))
      fixture.session(recorder).dataTask(with: fixture.server.url("/a")).resume()
      await recorder.waitFor("end")
      #expect(recorder.all == ["redirect 302 GET /b", "response 302", "data elsewhere", "end 0"])
    }
  }

  private static let redirecting: @Sendable (LocalServer.Request) -> LocalServer.Reply = {
    $0.path == "/a" ? .text("elsewhere", 302, ["Location": "b"]) : .text("there")
  }

  @Test(.rule("INLINE-11"), arguments: [20, 2])
  func `a redirection loop ends with -1007 at the redirect limit`(limit: Int)
    async throws
  {
    var rules = ProcessRules()
    rules.inlineRedirectLimit = limit
    try await CurlFixture.run(rules: rules, { _ in .text("", 301, ["Location": "/"]) }) { fixture in
      let session = fixture.session()
      #expect(await failure { try await session.data(from: fixture.server.url()) }?.code == .httpTooManyRedirects)
      #expect(fixture.server.requests.count == limit + 1)
    }
  }

  @Test(.rule("INLINE-12"))
  func `a 307 redirection sends the body again, and a 303 becomes a GET without a body`() async throws {
    try await CurlFixture.run({ request in
      switch request.path {
      case "/307": .text("", 307, ["Location": "/end"])
      case "/303": .text("", 303, ["Location": "/end"])
      default: .text("\(request.method) \(text(request.body))")
      }
    }) { fixture in
      let session = fixture.session()
      for (path, expected) in [("/307", "POST sent"), ("/303", "GET ")] {
        var request = URLRequest(url: fixture.server.url(path))
        request.httpMethod = "POST"
        let answer = try await session.upload(for: request, from: Data("sent".utf8)).0
        #expect(answer == Data(expected.utf8))
      }
    }
  }

  @Test(.rule("INLINE-11"), arguments: [302, 307], [false, true])
  func `the request that a delegate returns for a redirection is sent with its body`(status: Int, streams: Bool)
    async throws
  {
    try await CurlFixture.run({ request in
      request.path == "/end"
        ? .text("\(request.method) \(text(request.body))") : .text("", status, ["Location": "/end"])
    }) { fixture in
      let session = fixture.session(Recorder(.init(body: Data("other".utf8), streams: streams)))
      var request = URLRequest(url: fixture.server.url("/begin"))
      request.httpMethod = "POST"
      request.httpBody = Data("first".utf8)
      let answer = try await session.text(for: request)
      #expect(answer == "POST other")
    }
  }

  @Test func `cancelling a task or its Swift task ends the request with -999`() async throws {
    try await CurlFixture.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { fixture in
      let recorder = Recorder()
      let task = fixture.session(recorder).dataTask(with: fixture.server.url())
      task.resume()
      await recorder.waitFor("data a")
      task.cancel()
      await recorder.waitFor("end")
      #expect(recorder.all.last == "end -999")
      let session = fixture.session()
      let work = Task { await failure { try await session.data(from: fixture.server.url()) }?.code }
      _ = await fixture.server.next()
      _ = await fixture.server.next()
      work.cancel()
      #expect(await work.value == .cancelled)
    }
  }

  @Test(.rule("INLINE-14"))
  func `a request to a server that stops sending ends with -1001 at the request or resource timeout`() async throws {
    try await CurlFixture.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { fixture in
      let session = fixture.session()
      let request = URLRequest(url: fixture.server.url(), timeoutInterval: 0.2)
      #expect(await failure { try await session.data(for: request) }?.code == .timedOut)
      let limited = fixture.session { $0.timeoutIntervalForResource = 0.2 }
      #expect(await failure { try await limited.data(from: fixture.server.url()) }?.code == .timedOut)
    }
  }

  @Test(.rule("INLINE-14")) func `a request that waits for a free connection does not time out`() async throws {
    try await CurlFixture.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { fixture in
      let recorder = Recorder()
      let session = fixture.session(recorder) { $0.httpMaximumConnectionsPerHost = 1 }
      session.dataTask(with: fixture.server.url()).resume()
      await recorder.waitFor("data a")
      session.dataTask(with: URLRequest(url: fixture.server.url(), timeoutInterval: 2)).resume()
      // The test needs this time: it is longer than the timeout.
      try await Task.sleep(for: .milliseconds(2200))
      for _ in 1...2 { fixture.server.release() }
      for _ in 1...2 { await recorder.waitFor("end 0") }
      #expect(fixture.server.requests.count == 2)
    }
  }

  @Test(.rule("INLINE-14")) func `a suspended task waitFor no data and does not time out`() async throws {
    try await CurlFixture.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { fixture in
      let recorder = Recorder(Recorder.Answers(suspendsAt: "a"))
      let session = fixture.session(recorder) { $0.timeoutIntervalForRequest = 4 }
      let task = session.dataTask(with: fixture.server.url())
      task.resume()
      await recorder.waitFor("data a")
      fixture.server.release()
      // The test needs this time: it is longer than the timeout.
      try await Task.sleep(for: .milliseconds(4200))
      #expect(recorder.all == ["response 200", "data a"])
      task.resume()
      await recorder.waitFor("end")
      #expect(recorder.all == ["response 200", "data a", "data b", "end 0"])
    }
  }

  @Test(.rule("INLINE-23"))
  func `a request ends with -1005 when its process was suspended for longer than inlineSuspensionLimit`() async throws {
    let result = await #expect(processExitsWith: .exitCode(7)) { try await InterruptionTests.suspends() }
    _ = result
  }

  /// Suspends this process for two seconds during one request that permits it, and during one that does not.
  @inline(never) private static func suspends() async throws {
    for (limit, expected) in [(60, nil), (0, nil), (0.7, URLError.Code.networkConnectionLost)] {
      var rules = ProcessRules()
      rules.inlineSuspensionLimit = limit
      try await CurlFixture.run(rules: rules, { _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) {
        fixture in
        let (session, url) = (fixture.session(), fixture.server.url())
        let code = Task { await failure { try await session.data(from: url) }?.code }
        _ = await fixture.server.next()
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        // The shell stops this process: nothing that is slow here makes the suspension shorter.
        shell.arguments = ["-c", "kill -STOP \(getpid()); sleep 2; kill -CONT \(getpid())"]
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        shell.terminationHandler = { _ in end.yield() }
        try shell.run()
        for await _ in ends { break }
        fixture.server.release()
        let found = await code.value
        guard found == expected else {
          FileHandle.standardError.write(Data("inlineSuspensionLimit \(limit): \(found, default: "no error")\n".utf8))
          exit(1)
        }
      }
    }
    exit(7)
  }

  @Test(
    .rule("INLINE-21"),
    arguments: [
      ("cut", URLError.Code.networkConnectionLost), ("garbage", .cannotParseResponse),
      ("HTTP/1.1 000 Zero\r\nContent-Length: 2\r\n\r\nok", .cannotParseResponse),
      ("HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n", .cannotParseResponse),
      ("silence", .networkConnectionLost),
    ])
  func `a truncated, malformed or empty response fails with its error code`(fault: String, code: URLError.Code)
    async throws
  {
    try await CurlFixture.run({ _ in
      switch fault {
      case "cut": LocalServer.Reply(body: Data("whole".utf8), cutsAfter: 2)
      case "garbage": LocalServer.Reply(raw: "no HTTP at all\r\n\r\n")
      case "silence": LocalServer.Reply(raw: "")
      default: LocalServer.Reply(raw: fault)
      }
    }) { fixture in
      let session = fixture.session()
      #expect(await failure { try await session.data(from: fixture.server.url()) }?.code == code)
    }
  }

  @Test(
    .rule("INLINE-21"),
    arguments: [
      ("GET", "a b", "1"), ("GET", "", "1"), ("GET", "a", "1\r\nb: 2"), ("GET", "a", "1\0"), ("G T", "a", "1"),
    ])
  func `a method or a header field that HTTP does not allow fails with -1 and is not sent`(
    method: String, name: String, value: String
  ) async throws {
    try await CurlFixture.run({ _ in .text("") }) { fixture in
      let session = fixture.session()
      var request = URLRequest(url: fixture.server.url())
      request.httpMethod = method
      request.setValue(value, forHTTPHeaderField: name)
      let error = await failure { try await session.data(for: request) }
      #expect(error?.code == .unknown)
      #expect(error?.localizedDescription.contains("HTTP does not allow") == true)
      #expect(fixture.server.requests.isEmpty)
    }
  }

  @Test(.rule("INLINE-21"))
  func `an unreachable host, unknown host, unsupported scheme or bad URL fails with its error code`() async throws {
    try await CurlFixture.run({ _ in .text("") }) { fixture in
      let session = fixture.session()
      let cases: [(String, URLError.Code)] = [
        ("http://127.0.0.1:1/", .cannotConnectToHost), ("https://no.such.host.invalid/", .cannotFindHost),
        ("ftp://127.0.0.1/", .unsupportedURL), ("http:///path", .badURL), ("http://127.0.0.1:65536/", .badURL),
        ("http://127.0.0.1:99999999999999999999/", .badURL),
      ]
      for (text, code) in cases {
        let url = try #require(URL(string: text))
        let error = await failure { try await session.data(from: url) }
        #expect(error?.code == code, "\(text): \(String(describing: error))")
      }
    }
  }

  @Test(.rule("INLINE-16"), arguments: [#"Basic realm="figures""#, #"Digest realm="figures", nonce="1", qop="auth""#])
  func `the delegate's credentials answer a challenge, and refused credentials cause another challenge`(
    offer: String
  ) async throws {
    let scheme = offer.hasPrefix("Basic") ? "Basic" : "Digest"
    try await CurlFixture.run({ request in
      let isMet = request.headers["authorization"]?.hasPrefix(scheme) == true && request.path == "/good"
      return isMet ? .text("in") : .text("out", 401, ["WWW-Authenticate": offer])
    }) { fixture in
      let credential = URLCredential(user: "user", password: "word", persistence: .forSession)
      let recorder = Recorder(Recorder.Answers(credential: credential))
      let session = fixture.session(recorder)
      session.dataTask(with: fixture.server.url("/good")).resume()
      await recorder.waitFor("end")
      let asked = "challenge NSURLAuthenticationMethodHTTP\(scheme) figures"
      #expect(recorder.all == ["\(asked) 0", "response 200", "data in", "end 0"])
      session.dataTask(with: fixture.server.url("/bad")).resume()
      await recorder.waitFor("end")
      #expect(recorder.all.dropFirst(4) == ["\(asked) 0", "\(asked) 1", "response 401", "data out", "end 0"])
    }
  }

  @Test func `a cancelled download resumes at the byte at which it stopped`() async throws {
    try await CurlFixture.run({ request in
      guard request.headers["range"] == nil else {
        return .text("b", 206, ["Content-Range": "bytes 1-1/2", "ETag": "\"1\""])
      }
      return LocalServer.Reply(
        headers: ["ETag": "\"1\"", "Accept-Ranges": "bytes"], body: Data("ab".utf8), holdsAfter: 1)
    }) { fixture in
      let recorder = Recorder()
      let session = fixture.session(recorder)
      let task = session.downloadTask(with: fixture.server.url())
      task.resume()
      while task.countOfBytesReceived == 0 {
        try Task.checkCancellation()
        await Task.yield()
      }
      let data = await task.cancelByProducingResumeData()
      await recorder.waitFor("end -999")
      session.downloadTask(withResumeData: try #require(data)).resume()
      await recorder.waitFor("end 0")
      #expect(recorder.all.contains("file ab"))
      #expect(fixture.server.requests.last?.headers["range"] == "bytes=1-")
    }
  }
}
