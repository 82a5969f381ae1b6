import Conversations
import Foundation
import Testing
import WidgetLabTesting

@testable import BackgroundURLSession

/// What ends, holds or diverts a request.
@Suite(.timeLimit(.minutes(1))) struct InterruptionTests {
  @Test func `a redirection is followed, and its body is not the author's`() async throws {
    try await Scene.run(Self.redirecting) { scene in
      let recorder = Recorder()
      scene.session(recorder).dataTask(with: scene.server.url("/a")).resume()
      await recorder.hears("end")
      #expect(recorder.all == ["redirect 302 GET /b", "response 200", "data there", "end 0"])
      #expect(scene.server.connectionCount == 1)
    }
  }

  @Test func `a redirection that the delegate refuses is the response`() async throws {
    try await Scene.run(Self.redirecting) { scene in
      let recorder = Recorder(Recorder.Answers(follows: false))
      scene.session(recorder).dataTask(with: scene.server.url("/a")).resume()
      await recorder.hears("end")
      #expect(recorder.all == ["redirect 302 GET /b", "response 302", "data elsewhere", "end 0"])
    }
  }

  private static let redirecting: @Sendable (LocalServer.Request) -> LocalServer.Reply = {
    $0.path == "/a" ? .text("elsewhere", 302, ["Location": "b"]) : .text("there")
  }

  @Test(arguments: [20, 2]) func `redirections in a circle end with -1007 after twenty`(limit: Int) async throws {
    var rules = ProcessRules()
    rules.inlineRedirectLimit = limit
    try await Scene.run(rules: rules, { _ in .text("", 301, ["Location": "/"]) }) { scene in
      let session = scene.session()
      #expect(await failure { try await session.data(from: scene.server.url()) }?.code == .httpTooManyRedirects)
      #expect(scene.server.requests.count == limit + 1)
    }
  }

  @Test func `a 307 sends the body again, and a 303 does not`() async throws {
    try await Scene.run({ request in
      switch request.path {
      case "/307": .text("", 307, ["Location": "/end"])
      case "/303": .text("", 303, ["Location": "/end"])
      default: .text("\(request.method) \(text(request.body))")
      }
    }) { scene in
      let session = scene.session()
      for (path, expected) in [("/307", "POST sent"), ("/303", "GET ")] {
        var request = URLRequest(url: scene.server.url(path))
        request.httpMethod = "POST"
        let answer = try await session.upload(for: request, from: Data("sent".utf8)).0
        #expect(answer == Data(expected.utf8))
      }
    }
  }

  @Test func `cancelling ends a request with -999, wherever it is`() async throws {
    try await Scene.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { scene in
      let recorder = Recorder()
      let task = scene.session(recorder).dataTask(with: scene.server.url())
      task.resume()
      await recorder.hears("data a")
      task.cancel()
      await recorder.hears("end")
      #expect(recorder.all.last == "end -999")
      let session = scene.session()
      let work = Task { await failure { try await session.data(from: scene.server.url()) }?.code }
      _ = await scene.server.next()
      _ = await scene.server.next()
      work.cancel()
      #expect(await work.value == .cancelled)
    }
  }

  @Test func `a server that keeps silent ends a request with -1001`() async throws {
    try await Scene.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { scene in
      let session = scene.session()
      let request = URLRequest(url: scene.server.url(), timeoutInterval: 0.2)
      #expect(await failure { try await session.data(for: request) }?.code == .timedOut)
      let limited = scene.session { $0.timeoutIntervalForResource = 0.2 }
      #expect(await failure { try await limited.data(from: scene.server.url()) }?.code == .timedOut)
    }
  }

  @Test func `a suspended task takes nothing, and no time-out runs`() async throws {
    try await Scene.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { scene in
      let recorder = Recorder(Recorder.Answers(suspendsAt: "a"))
      let session = scene.session(recorder) { $0.timeoutIntervalForRequest = 4 }
      let task = session.dataTask(with: scene.server.url())
      task.resume()
      await recorder.hears("data a")
      scene.server.release()
      // Time itself is tested: longer than the time-out.
      try await Task.sleep(for: .milliseconds(4200))
      #expect(recorder.all == ["response 200", "data a"])
      task.resume()
      await recorder.hears("end")
      #expect(recorder.all == ["response 200", "data a", "data b", "end 0"])
    }
  }

  @Test(arguments: [
    ("cut", URLError.Code.networkConnectionLost), ("garbage", .cannotParseResponse),
    ("silence", .networkConnectionLost),
  ])
  func `a server that misbehaves is named by the error`(fault: String, code: URLError.Code) async throws {
    try await Scene.run({ _ in
      switch fault {
      case "cut": LocalServer.Reply(body: Data("whole".utf8), cutsAfter: 2)
      case "garbage": LocalServer.Reply(raw: "no HTTP at all\r\n\r\n")
      default: LocalServer.Reply(raw: "")
      }
    }) { scene in
      let session = scene.session()
      #expect(await failure { try await session.data(from: scene.server.url()) }?.code == code)
    }
  }

  @Test func `what cannot be reached is named by the error`() async throws {
    try await Scene.run({ _ in .text("") }) { scene in
      let session = scene.session()
      let cases: [(String, URLError.Code)] = [
        ("http://127.0.0.1:1/", .cannotConnectToHost), ("http://no.such.host.invalid/", .cannotFindHost),
        ("ftp://127.0.0.1/", .unsupportedURL), ("http:///path", .badURL),
      ]
      for (text, code) in cases {
        let url = try #require(URL(string: text))
        let error = await failure { try await session.data(from: url) }
        #expect(error?.code == code, "\(text): \(String(describing: error))")
      }
    }
  }

  @Test(arguments: [#"Basic realm="figures""#, #"Digest realm="figures", nonce="1", qop="auth""#])
  func `credentials of the delegate answer a challenge, and it is asked again when they are refused`(
    offer: String
  ) async throws {
    let scheme = offer.hasPrefix("Basic") ? "Basic" : "Digest"
    try await Scene.run({ request in
      let isMet = request.headers["authorization"]?.hasPrefix(scheme) == true && request.path == "/good"
      return isMet ? .text("in") : .text("out", 401, ["WWW-Authenticate": offer])
    }) { scene in
      let credential = URLCredential(user: "user", password: "word", persistence: .forSession)
      let recorder = Recorder(Recorder.Answers(credential: credential))
      let session = scene.session(recorder)
      session.dataTask(with: scene.server.url("/good")).resume()
      await recorder.hears("end")
      let asked = "challenge NSURLAuthenticationMethodHTTP\(scheme) figures"
      #expect(recorder.all == ["\(asked) 0", "response 200", "data in", "end 0"])
      session.dataTask(with: scene.server.url("/bad")).resume()
      await recorder.hears("end")
      #expect(recorder.all.dropFirst(4) == ["\(asked) 0", "\(asked) 1", "response 401", "data out", "end 0"])
    }
  }

  @Test func `a cancelled download goes on where it stopped`() async throws {
    try await Scene.run({ request in
      guard request.headers["range"] == nil else {
        return .text("b", 206, ["Content-Range": "bytes 1-1/2", "ETag": "\"1\""])
      }
      return LocalServer.Reply(
        headers: ["ETag": "\"1\"", "Accept-Ranges": "bytes"], body: Data("ab".utf8), holdsAfter: 1)
    }) { scene in
      let recorder = Recorder()
      let session = scene.session(recorder)
      let task = session.downloadTask(with: scene.server.url())
      task.resume()
      while task.countOfBytesReceived == 0 { await Task.yield() }
      let data = await task.cancelByProducingResumeData()
      await recorder.hears("end -999")
      session.downloadTask(withResumeData: try #require(data)).resume()
      await recorder.hears("end 0")
      #expect(recorder.all.contains("file ab"))
      #expect(scene.server.requests.last?.headers["range"] == "bytes=1-")
    }
  }
}
