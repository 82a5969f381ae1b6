// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import FidelityRules
import Foundation
import Synchronization
import Testing
import WidgetLabTesting

@testable import URLSessionAPI

/// Requests that an author's process performs itself, against a real server.
@Suite(.timeLimit(.minutes(1))) struct InlineRequestTests {
  @Test(.rule("INLINE-01"), arguments: ["shared", "default", "ephemeral"])
  func `a shared, default or ephemeral session returns body, status and header fields`(kind: String) async throws {
    let headers = ["Content-Type": "text/plain; charset=utf-8", "X-Day": "1"]
    try await CurlFixture.run({ _ in .text("figures", 200, headers) }) { fixture in
      let session: URLSession =
        switch kind {
        case "shared": fixture.process.asCurrent { URLSession.shared }
        case "default": fixture.session(nil, .default)
        default: fixture.session()
        }
      let (data, response) = try await session.data(from: fixture.server.url("/day?1"))
      let head = try #require(response as? HTTPURLResponse)
      #expect(text(data) == "figures")
      #expect(head.statusCode == 200 && head.value(forHTTPHeaderField: "x-day") == "1")
      #expect(head.mimeType == "text/plain" && head.expectedContentLength == 7)
      #expect(head.url == fixture.server.url("/day?1"))
    }
  }

  @Test(.rule("INLINE-27")) func `an interim response of a server reaches the delegate with its fields`() async throws {
    final class Informed: NSObject, URLSessionDataDelegate, Sendable {
      let responses = Mutex<[String]>([])
      func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
      ) {
        responses.withLock {
          $0.append("\(response.statusCode) \(response.value(forHTTPHeaderField: "Link") ?? "")")
        }
      }
    }
    let raw = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"
    try await CurlFixture.run({ _ in LocalServer.Reply(raw: raw) }) { fixture in
      let delegate = Informed()
      let session = fixture.session(delegate)
      let answer = try await session.text(from: fixture.server.url())
      #expect(answer == "whole")
      #expect(delegate.responses.withLock { $0 } == ["103 </a>"])
    }
  }

  @Test func `a request is sent with its method, header fields and body`() async throws {
    try await CurlFixture.run({ .text("\($0.method) \($0.headers["x-day"] ?? "") \(text($0.body))") }) { fixture in
      let session = fixture.session { $0.httpAdditionalHeaders = ["X-Day": "of the session"] }
      var request = URLRequest(url: fixture.server.url())
      request.httpMethod = "PUT"
      request.httpBody = Data("sent".utf8)
      let (data, _) = try await session.data(for: request)
      #expect(text(data) == "PUT of the session sent")
      request.setValue("own", forHTTPHeaderField: "X-Day")
      let answer = try await session.text(for: request)
      #expect(answer == "PUT own sent")
    }
  }

  @Test func `a data task's completion handler waitFor the whole body and the response`() async throws {
    try await CurlFixture.run({ _ in .text("whole") }) { fixture in
      let (data, response) = try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<(Data, URLResponse), any Error>) in
        fixture.session().dataTask(with: fixture.server.url()) { data, response, error in
          if let data, let response { return continuation.resume(returning: (data, response)) }
          continuation.resume(throwing: error ?? URLError(.unknown))
        }.resume()
      }
      #expect(text(data) == "whole" && (response as? HTTPURLResponse)?.statusCode == 200)
    }
  }

  @Test(arguments: [404, 500, 204])
  func `a response with status 404, 500 or 204 is not a failure`(status: Int) async throws {
    try await CurlFixture.run({ _ in .text(status == 204 ? "" : "sorry", status) }) { fixture in
      let (data, response) = try await fixture.session().data(from: fixture.server.url())
      #expect((response as? HTTPURLResponse)?.statusCode == status)
      #expect(text(data) == (status == 204 ? "" : "sorry"))
    }
  }

  @Test func `a HEAD request returns the expected length without a body`() async throws {
    try await CurlFixture.run({ _ in .text("seven b") }) { fixture in
      var request = URLRequest(url: fixture.server.url())
      request.httpMethod = "HEAD"
      let (data, response) = try await fixture.session().data(for: request)
      #expect(data.isEmpty && response.expectedContentLength == 7)
    }
  }

  @Test(.rule("INLINE-13")) func `a GET request with a body fails and is not sent`() async throws {
    try await CurlFixture.run({ _ in .text("") }) { fixture in
      var request = URLRequest(url: fixture.server.url())
      request.httpBody = Data("sent".utf8)
      let refused = request
      let failure = await failure { try await fixture.session().data(for: refused) }
      #expect(failure?.code == .dataLengthExceedsMaximum && failure?.code.rawValue == -1103)
      #expect(fixture.server.requests.isEmpty)
    }
  }

  @Test func `a download's file stays for an async caller, and exists while a completion handler runs`() async throws {
    try await CurlFixture.run({ _ in .text("a file") }) { fixture in
      let (url, _) = try await fixture.session().download(from: fixture.server.url())
      #expect(try String(contentsOf: url, encoding: .utf8) == "a file")
      try FileManager.default.removeItem(at: url)
      let handed = await withCheckedContinuation { continuation in
        fixture.session().downloadTask(with: fixture.server.url()) { url, _, _ in
          let isThere = url.map { FileManager.default.fileExists(atPath: $0.path) } ?? false
          continuation.resume(returning: (url, isThere))
        }.resume()
      }
      #expect(handed.1)
    }
  }

  @Test func `an upload sends data or a file and reports its progress to the delegate`() async throws {
    try await CurlFixture.run({ .text("\($0.method) \($0.body.count)", 201) }) { fixture in
      let recorder = Recorder()
      let session = fixture.session(recorder)
      var request = URLRequest(url: fixture.server.url())
      request.httpMethod = "POST"
      let answer = try await session.upload(for: request, from: Data(count: 300_000)).0
      #expect(answer == Data("POST 300000".utf8))
      #expect(recorder.all.contains("sent 300000/300000"))
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try Data(count: 100_000).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let second = try await session.upload(for: request, fromFile: file).0
      #expect(second == Data("POST 100000".utf8))
      let (asked, missing) = (request, file.appendingPathExtension("none"))
      #expect(await failure { try await session.upload(for: asked, fromFile: missing) }?.code == .fileDoesNotExist)
    }
  }

  @Test func `the delegate waitFor response, data and end, in this order`() async throws {
    try await CurlFixture.run({ _ in .text("body") }) { fixture in
      let recorder = Recorder()
      fixture.session(recorder).dataTask(with: fixture.server.url()).resume()
      await recorder.waitFor("end")
      #expect(recorder.all == ["response 200", "data body", "end 0"])
    }
  }

  @Test func `a delegate that cancels at the response ends the task before its body`() async throws {
    try await CurlFixture.run({ _ in .text("body") }) { fixture in
      let recorder = Recorder(Recorder.Answers(disposition: .cancel))
      fixture.session(recorder).dataTask(with: fixture.server.url()).resume()
      await recorder.waitFor("end")
      #expect(recorder.all == ["response 200", "end -999"])
    }
  }

  @Test func `successive requests use one connection`() async throws {
    try await CurlFixture.run({ _ in .text("again") }) { fixture in
      let session = fixture.session()
      for _ in 0..<3 { _ = try await session.data(from: fixture.server.url()) }
      #expect(fixture.server.connectionCount == 1 && fixture.server.requests.count == 3)
    }
  }

  @Test(.rule("INLINE-20"))
  func `concurrent requests to a host stay within httpMaximumConnectionsPerHost`() async throws {
    #expect(URLSessionConfiguration.default.httpMaximumConnectionsPerHost == 6)
    try await CurlFixture.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { fixture in
      let recorder = Recorder()
      let session = fixture.session(recorder) { $0.httpMaximumConnectionsPerHost = 2 }
      let tasks = (0..<5).map { _ in session.dataTask(with: fixture.server.url()) }
      for task in tasks { task.resume() }
      await recorder.waitFor("data a")
      await recorder.waitFor("data a")
      #expect(fixture.server.requests.count == 2)
      // A queued request ends at once when it is cancelled.
      tasks[4].cancel()
      await recorder.waitFor("end -999")
      for _ in 0..<4 { fixture.server.release() }
      for _ in 0..<4 { await recorder.waitFor("end 0") }
      #expect(fixture.server.requests.count == 4 && fixture.server.connectionCount <= 2)
    }
  }

  @Test(.rule("INLINE-19"))
  func `cookies are kept by the process, by an ephemeral session, or not at all`() async throws {
    try await CurlFixture.run({ .text($0.headers["cookie"] ?? "none", 200, ["Set-Cookie": "day=1"]) }) { fixture in
      let (ownSession, other) = (fixture.session(), fixture.session())
      let without = fixture.session(nil, .default) { $0.httpCookieStorage = nil }
      let sessions = [
        ownSession, ownSession, other, fixture.session(nil, .default), fixture.session(nil, .default), without,
      ]
      var sent: [String] = []
      for session in sessions { sent.append(try await session.text(from: fixture.server.url())) }
      #expect(sent == ["none", "day=1", "none", "none", "day=1", "none"])
      await ownSession.reset()
      let answer = try await ownSession.text(from: fixture.server.url())
      #expect(answer == "none")
    }
  }
}
