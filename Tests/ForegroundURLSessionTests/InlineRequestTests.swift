import AuthoredProcess
import Foundation
import Synchronization
import Testing
import WidgetLabTesting

@testable import BackgroundURLSession

/// Requests that an author's process performs itself, against a real server.
@Suite(.timeLimit(.minutes(1))) struct InlineRequestTests {
  @Test(arguments: ["shared", "default", "ephemeral"])
  func `a session of each kind brings body, status and header fields`(kind: String) async throws {
    try await Scene.run({ _ in .text("figures", 200, ["Content-Type": "text/plain; charset=utf-8", "X-Day": "1"]) }) {
      scene in
      let session: URLSession =
        switch kind {
        case "shared": scene.process.asCurrent { URLSession.shared }
        case "default": scene.session(nil, .default)
        default: scene.session()
        }
      let (data, response) = try await session.data(from: scene.server.url("/day?1"))
      let head = try #require(response as? HTTPURLResponse)
      #expect(text(data) == "figures")
      #expect(head.statusCode == 200 && head.value(forHTTPHeaderField: "x-day") == "1")
      #expect(head.mimeType == "text/plain" && head.expectedContentLength == 7)
      #expect(head.url == scene.server.url("/day?1"))
    }
  }

  @Test func `a request goes out with its method, its header fields and its body`() async throws {
    try await Scene.run({ .text("\($0.method) \($0.headers["x-day"] ?? "") \(text($0.body))") }) { scene in
      let session = scene.session { $0.httpAdditionalHeaders = ["X-Day": "of the session"] }
      var request = URLRequest(url: scene.server.url())
      request.httpMethod = "PUT"
      request.httpBody = Data("sent".utf8)
      let (data, _) = try await session.data(for: request)
      #expect(text(data) == "PUT of the session sent")
      request.setValue("own", forHTTPHeaderField: "X-Day")
      let answer = try await session.text(for: request)
      #expect(answer == "PUT own sent")
    }
  }

  @Test func `a data task hands over the whole response`() async throws {
    try await Scene.run({ _ in .text("whole") }) { scene in
      let (data, response) = try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<(Data, URLResponse), any Error>) in
        scene.session().dataTask(with: scene.server.url()) { data, response, error in
          if let data, let response { return continuation.resume(returning: (data, response)) }
          continuation.resume(throwing: error ?? URLError(.unknown))
        }.resume()
      }
      #expect(text(data) == "whole" && (response as? HTTPURLResponse)?.statusCode == 200)
    }
  }

  @Test(arguments: [404, 500, 204])
  func `a status is no failure`(status: Int) async throws {
    try await Scene.run({ _ in .text(status == 204 ? "" : "sorry", status) }) { scene in
      let (data, response) = try await scene.session().data(from: scene.server.url())
      #expect((response as? HTTPURLResponse)?.statusCode == status)
      #expect(text(data) == (status == 204 ? "" : "sorry"))
    }
  }

  @Test func `a HEAD request has no body, however long it says that it would be`() async throws {
    try await Scene.run({ _ in .text("seven b") }) { scene in
      var request = URLRequest(url: scene.server.url())
      request.httpMethod = "HEAD"
      let (data, response) = try await scene.session().data(for: request)
      #expect(data.isEmpty && response.expectedContentLength == 7)
    }
  }

  @Test func `a GET request has no body`() async throws {
    try await Scene.run({ _ in .text("") }) { scene in
      var request = URLRequest(url: scene.server.url())
      request.httpBody = Data("sent".utf8)
      let refused = request
      #expect(await failure { try await scene.session().data(for: refused) }?.code == .dataLengthExceedsMaximum)
      #expect(scene.server.requests.isEmpty)
    }
  }

  @Test func `a download is a file that stays until it is moved, or until the completion handler returns`() async throws
  {
    try await Scene.run({ _ in .text("a file") }) { scene in
      let (url, _) = try await scene.session().download(from: scene.server.url())
      #expect(try String(contentsOf: url, encoding: .utf8) == "a file")
      try FileManager.default.removeItem(at: url)
      let handed = await withCheckedContinuation { continuation in
        scene.session().downloadTask(with: scene.server.url()) { url, _, _ in
          let isThere = url.map { FileManager.default.fileExists(atPath: $0.path) } ?? false
          continuation.resume(returning: (url, isThere))
        }.resume()
      }
      #expect(handed.1)
    }
  }

  @Test func `an upload sends data or a file, and the delegate hears how far it is`() async throws {
    try await Scene.run({ .text("\($0.method) \($0.body.count)", 201) }) { scene in
      let recorder = Recorder()
      let session = scene.session(recorder)
      var request = URLRequest(url: scene.server.url())
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

  @Test func `the delegate hears response, data and end, in that order`() async throws {
    try await Scene.run({ _ in .text("body") }) { scene in
      let recorder = Recorder()
      scene.session(recorder).dataTask(with: scene.server.url()).resume()
      await recorder.hears("end")
      #expect(recorder.all == ["response 200", "data body", "end 0"])
    }
  }

  @Test func `a response that the delegate does not want ends the task before its body`() async throws {
    try await Scene.run({ _ in .text("body") }) { scene in
      let recorder = Recorder(Recorder.Answers(disposition: .cancel))
      scene.session(recorder).dataTask(with: scene.server.url()).resume()
      await recorder.hears("end")
      #expect(recorder.all == ["response 200", "end -999"])
    }
  }

  @Test func `requests that follow each other use one connection`() async throws {
    try await Scene.run({ _ in .text("again") }) { scene in
      let session = scene.session()
      for _ in 0..<3 { _ = try await session.data(from: scene.server.url()) }
      #expect(scene.server.connectionCount == 1 && scene.server.requests.count == 3)
    }
  }

  @Test func `no more requests go to a host than the configuration allows`() async throws {
    try await Scene.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { scene in
      let recorder = Recorder()
      let session = scene.session(recorder) { $0.httpMaximumConnectionsPerHost = 2 }
      let tasks = (0..<5).map { _ in session.dataTask(with: scene.server.url()) }
      for task in tasks { task.resume() }
      await recorder.hears("data a")
      await recorder.hears("data a")
      #expect(scene.server.requests.count == 2)
      // One that waits for its turn ends at once when it is cancelled.
      tasks[4].cancel()
      await recorder.hears("end -999")
      for _ in 0..<4 { scene.server.release() }
      for _ in 0..<4 { await recorder.hears("end 0") }
      #expect(scene.server.requests.count == 4 && scene.server.connectionCount <= 2)
    }
  }

  @Test func `cookies are kept: by the process, by one session, or not at all`() async throws {
    try await Scene.run({ .text($0.headers["cookie"] ?? "none", 200, ["Set-Cookie": "day=1"]) }) { scene in
      let (own, other) = (scene.session(), scene.session())
      let without = scene.session(nil, .default) { $0.httpCookieStorage = nil }
      let sessions = [own, own, other, scene.session(nil, .default), scene.session(nil, .default), without]
      var sent: [String] = []
      for session in sessions { sent.append(try await session.text(from: scene.server.url())) }
      #expect(sent == ["none", "day=1", "none", "none", "day=1", "none"])
      await own.reset()
      let answer = try await own.text(from: scene.server.url())
      #expect(answer == "none")
    }
  }
}
