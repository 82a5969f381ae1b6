// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// Sessions that perform their requests in the process.
@Suite(.timeLimit(.minutes(1))) struct `Inline sessions` {
  private func url(_ path: String = "figures") throws -> URL { try #require(URL(string: "http://a.example/\(path)")) }

  @Test func `an async function returns the body and response of an inline request, also for a 404`() async throws {
    let fixture = try SDKFixture()
    let (performer, url) = (fixture.perform(), try url())
    let session = fixture.inline()
    async let answer = session.data(from: url)
    try await performer.next().succeed("figures", status: 404)
    let (data, response) = try await answer
    #expect(String(decoding: data, as: UTF8.self) == "figures")
    #expect((response as? HTTPURLResponse)?.statusCode == 404)
  }

  @Test func `an async function throws the error of an inline request with its reason and URL`() async throws {
    let fixture = try SDKFixture()
    let (performer, url) = (fixture.perform(), try url())
    let session = fixture.inline()
    let asking = Task { try await session.data(from: url) }
    let reason = [NSURLErrorNetworkUnavailableReasonKey: 0]
    try await performer.next().end(URLError(.notConnectedToInternet, userInfo: reason))
    let error = await #expect(throws: URLError.self) { try await asking.value }
    #expect(error?.code == .notConnectedToInternet)
    #expect(error?.networkUnavailableReason == .cellular)
    #expect(error?.failingURL == url)
  }

  @Test func `cancelling the Swift task cancels its inline request`() async throws {
    let fixture = try SDKFixture()
    let (performer, url) = (fixture.perform(), try url())
    let session = fixture.inline()
    let asking = Task { try await session.data(from: url) }
    let exchange = try await performer.next()
    asking.cancel()
    let error = await #expect(throws: URLError.self) { try await asking.value }
    #expect(error?.code == .cancelled)
    #expect(exchange.calls.withLock { $0 } == ["resume", "cancel"])
  }

  @Test
  func `an inline completion handler runs on the delegate queue, and the delegate gets neither data nor end`()
    async throws
  {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let session = fixture.inline(delegate)
    let task = Mutex<URLSessionTask?>(nil)
    async let received = withCheckedContinuation { continuation in
      let made = session.dataTask(with: url) { data, response, error in
        let isThere = OperationQueue.current === session.delegateQueue
        continuation.resume(returning: (data, (response as? HTTPURLResponse)?.statusCode, error == nil, isThere))
      }
      made.resume()
      task.withLock { $0 = made }
    }
    try await performer.next().succeed("figures")
    let (data, status, isWell, isThere) = await received
    #expect(data == Data("figures".utf8))
    #expect(status == 200)
    #expect(isWell)
    #expect(isThere)
    await session.flush()
    #expect(delegate.calls == ["create 1", "metrics 1 2.0"])
  }

  @Test
  func `an inline data task calls the delegate with response, data, metrics and end, in this order`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let task = fixture.inline(delegate).dataTask(with: url)
    task.resume()
    let exchange = try await performer.next()
    #expect(await exchange.answer(length: 7))
    exchange.observer.received(Data("fig".utf8))
    exchange.observer.received(Data("ures".utf8))
    exchange.end()
    await delegate.waitFor("end")
    #expect(delegate.calls == ["create 1", "response 200", "data fig", "data ures", "metrics 1 2.0", "end 1 0"])
    #expect(task.state == .completed)
    #expect(task.countOfBytesReceived == 7)
    #expect(task.progress.isFinished)
  }

  /// Records the responses that may be cached, and interim ones.
  private final class CachingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let lines = Mutex<[String]>([])
    let (ends, end) = AsyncStream.makeStream(of: Void.self)

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
      completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
      lines.withLock { $0.append("cache \(String(decoding: proposedResponse.data, as: UTF8.self))") }
      completionHandler(nil)
    }
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) { lines.withLock { $0.append("informed \(response.statusCode)") } }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      lines.withLock { $0.append("data") }
    }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      lines.withLock { $0.append("end") }
      end.yield()
    }
  }

  @Test(
    .rule("INLINE-26"),
    arguments: [
      ("GET", 200, [:], 524_288, true), ("POST", 200, [:], 524_288, false), ("GET", 404, [:], 524_288, false),
      ("GET", 200, ["Cache-Control": "private, no-store"], 524_288, false), ("GET", 200, [:], 6, false),
    ])
  func `willCacheResponse is called before the end of a data task whose response may be cached`(
    method: String, status: Int, fields: [String: String], capacity: Int, isCalled: Bool
  ) async throws {
    let (fixture, delegate) = (try SDKFixture(), CachingDelegate())
    let (performer, url) = (fixture.perform(), try url())
    let configuration = URLSessionConfiguration.default
    configuration.urlCache = URLCache(memoryCapacity: capacity, diskCapacity: 0)
    var request = URLRequest(url: url)
    request.httpMethod = method
    fixture.inline(delegate, configuration).dataTask(with: request).resume()
    try await performer.next().succeed("figures", status: status, headers: fields)
    for await _ in delegate.ends { break }
    #expect(delegate.lines.withLock { $0 } == (isCalled ? ["data", "cache figures", "end"] : ["data", "end"]))
  }

  @Test(.rule("INLINE-27")) func `an interim response is reported to the delegate before the response`() async throws {
    let (fixture, delegate) = (try SDKFixture(), CachingDelegate())
    let (performer, url) = (fixture.perform(), try url())
    fixture.inline(delegate, .default).dataTask(with: url).resume()
    let exchange = try await performer.next()
    exchange.observer.informed(
      by: try #require(HTTPURLResponse(url: url, statusCode: 103, httpVersion: nil, headerFields: nil)))
    await exchange.succeed("figures")
    for await _ in delegate.ends { break }
    #expect(delegate.lines.withLock { $0 } == ["informed 103", "data", "cache figures", "end"])
  }

  @Test func `an inline task ends with -999 when the delegate cancels at the response`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate(.init(response: .cancel)))
    fixture.inline(delegate).dataTask(with: url).resume()
    #expect(try await performer.next().answer() == false)
    await delegate.waitFor("end 1 -999")
  }

  @Test func `an inline data task can become a download`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate(.init(response: .becomeDownload)))
    let session = fixture.inline(delegate)
    session.dataTask(with: url).resume()
    try await performer.next().succeed("figures")
    await delegate.waitFor("end")
    #expect(
      delegate.calls == [
        "create 1", "response 200", "become 1", "wrote 7 7/7", "file figures", "metrics 1 2.0", "end 1 0",
      ])
  }

  @Test(.rule("DELIVERY-07")) func `an inline session calls the async forms of delegate methods`() async throws {
    final class Asynchronous: NSObject, URLSessionDataDelegate, Sendable {
      func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
      ) async -> URLSession.ResponseDisposition { .cancel }
      func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
      ) async -> URLRequest? { nil }
    }
    let fixture = try SDKFixture()
    let (performer, url) = (fixture.perform(), try url())
    let task = fixture.inline(Asynchronous()).dataTask(with: url)
    task.resume()
    let exchange = try await performer.next()
    let other = URLRequest(url: try self.url("other"))
    let response = try #require(HTTPURLResponse(url: url, statusCode: 301, httpVersion: nil, headerFields: nil))
    let next = await withCheckedContinuation { continuation in
      exchange.observer.redirected(by: response, to: other) { continuation.resume(returning: $0) }
    }
    #expect(next == nil)
    #expect(await exchange.answer() == false)
  }

  @Test
  func `an inline task follows a redirection unless the delegate refuses it, and updates currentRequest`() async throws
  {
    for follows in [true, false] {
      let fixture = try SDKFixture()
      let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate(.init(redirects: follows)))
      let task = fixture.inline(delegate).dataTask(with: url)
      task.resume()
      let exchange = try await performer.next()
      let other = URLRequest(url: try self.url("other"))
      let response = try #require(HTTPURLResponse(url: url, statusCode: 301, httpVersion: nil, headerFields: nil))
      let next = await withCheckedContinuation { continuation in
        exchange.observer.redirected(by: response, to: other) { continuation.resume(returning: $0) }
      }
      #expect(next == (follows ? other : nil))
      #expect(task.currentRequest?.url == (follows ? other.url : url))
      #expect(delegate.calls.last == "redirect 301 http://a.example/other")
      exchange.end()
    }
  }

  @Test(.rule("INLINE-02"))
  func `an inline task calls its own delegate first, and the session's for methods that it lacks`() async throws {
    final class Own: NSObject, URLSessionTaskDelegate, Sendable {
      let challenges = Mutex(0)
      func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
      ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        challenges.withLock { $0 += 1 }
        return (.rejectProtectionSpace, nil)
      }
    }
    let fixture = try SDKFixture()
    let (performer, url, delegate, ownDelegate) = (fixture.perform(), try url(), FullDelegate(), Own())
    let task = fixture.inline(delegate).dataTask(with: url)
    task.delegate = ownDelegate
    task.resume()
    let exchange = try await performer.next()
    let reply = await withCheckedContinuation { continuation in
      exchange.observer.challenged(
        InlineChallenge(
          method: NSURLAuthenticationMethodHTTPBasic, host: "a.example", port: 80, scheme: "http", realm: "vault",
          previousFailures: 0, response: nil)
      ) { continuation.resume(returning: $0) }
    }
    #expect(reply.disposition == .rejectProtectionSpace)
    await exchange.succeed("figures")
    await delegate.waitFor("end 1 0")
    #expect(ownDelegate.challenges.withLock { $0 } == 1)
    #expect(!delegate.calls.contains { $0.hasPrefix("task challenge") })
  }

  @Test
  func `an inline upload reports to the delegate that it waits for a network and how much it has sent`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let task = fixture.inline(delegate).uploadTask(with: URLRequest(url: url), from: Data("12345".utf8))
    task.resume()
    let exchange = try await performer.next()
    exchange.observer.waitsForConnectivity()
    exchange.observer.sent(2, of: 5)
    exchange.observer.sent(5, of: 5)
    await exchange.succeed("thanks")
    await delegate.waitFor("end")
    #expect(
      delegate.calls == [
        "create 1", "waits", "sent 2 2/5", "sent 3 5/5", "response 200", "data thanks", "metrics 1 2.0", "end 1 0",
      ])
    guard case .data(Data("12345".utf8)) = exchange.body else {
      Issue.record("\(exchange.body)")
      return
    }
  }

  @Test(.rule("INLINE-05"))
  func `an inline upload sends the stream of its request or delegate, and deletes the copy`() async throws {
    for ofDelegate in [true, false] {
      let fixture = try SDKFixture()
      let (performer, delegate) = (fixture.perform(), FullDelegate(.init(body: "streamed")))
      var request = URLRequest(url: try url())
      if !ofDelegate { request.httpBodyStream = InputStream(data: Data("streamed".utf8)) }
      fixture.inline(delegate).uploadTask(withStreamedRequest: request).resume()
      let exchange = try await performer.next()
      guard case .file(let file) = exchange.body else {
        Issue.record("\(exchange.body)")
        return
      }
      #expect(try String(contentsOf: file, encoding: .utf8) == "streamed")
      #expect(delegate.calls.contains("stream") == ofDelegate)
      exchange.end()
      await delegate.waitFor("end 1 0")
      #expect(!FileManager.default.fileExists(atPath: file.path))
    }
  }

  @Test func `suspend, resume and progress.cancel of an inline task reach its request`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let task = fixture.inline(delegate).dataTask(with: url)
    task.resume()
    let exchange = try await performer.next()
    task.suspend()
    #expect(task.state == .suspended)
    task.resume()
    #expect(exchange.calls.withLock { $0 } == ["resume", "suspend", "resume"])
    task.progress.cancel()
    await delegate.waitFor("end 1 -999")
  }

  @Test(.rule("INLINE-06"))
  func `an inline request takes headers, timeouts and policies from its configuration unless it has its own`()
    async throws
  {
    let fixture = try SDKFixture()
    let performer = fixture.perform()
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-Both": "session", "X-Session": "1"]
    configuration.timeoutIntervalForRequest = 5
    configuration.timeoutIntervalForResource = 50
    configuration.allowsCellularAccess = false
    configuration.waitsForConnectivity = true
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    let session = fixture.inline(nil, configuration)
    var request = URLRequest(url: try url())
    request.setValue("request", forHTTPHeaderField: "x-both")
    session.dataTask(with: request).resume()
    let plain = try await performer.next()
    #expect(plain.request.value(forHTTPHeaderField: "X-Both") == "request")
    #expect(plain.request.value(forHTTPHeaderField: "X-Session") == "1")
    #expect(plain.request.timeoutInterval == 5)
    #expect(plain.request.allowsCellularAccess == false)
    #expect(plain.request.cachePolicy == .reloadIgnoringLocalCacheData)
    request.timeoutInterval = 7
    session.dataTask(with: request).resume()
    #expect(try await performer.next().request.timeoutInterval == 7)
    let set = try #require(performer.configurations.withLock { $0.first })
    #expect(set.timeoutIntervalForResource == 50)
    #expect(set.waitsForConnectivity)
    guard case .ofSession = set.cookies else {
      Issue.record("\(set.cookies)")
      return
    }
    plain.end()
  }

  @Test(.rule("SESSION-14"))
  func `finishTasksAndInvalidate invalidates an inline session after its tasks and releases the delegate`() async throws
  {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let session = fixture.inline(delegate)
    session.dataTask(with: url).resume()
    let exchange = try await performer.next()
    session.finishTasksAndInvalidate()
    await exchange.succeed("figures")
    await delegate.waitFor("invalid 0")
    #expect(delegate.calls.suffix(2) == ["end 1 0", "invalid 0"])
    #expect(session.delegate == nil)
  }

  @Test(.rule("SESSION-13"))
  func `invalidateAndCancel cancels the tasks of an inline session and invalidates it`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let session = fixture.inline(delegate)
    session.dataTask(with: url).resume()
    _ = try await performer.next()
    session.invalidateAndCancel()
    await delegate.waitFor("invalid 0")
    #expect(delegate.calls.suffix(2) == ["end 1 -999", "invalid 0"])
  }

  @Test(.rule("SESSION-13")) func `URLSession.shared is one object and cannot be invalidated`() async throws {
    let fixture = try SDKFixture()
    let (performer, url) = (fixture.perform(), try url())
    let session = fixture.process.asCurrent { URLSession.shared }
    #expect(fixture.process.asCurrent { URLSession.shared } === session)
    session.invalidateAndCancel()
    async let answer = session.data(from: url)
    try await performer.next().succeed("figures")
    #expect(try await answer.0.count == 7)
  }

  @Test func `an inline request fails with resourceUnavailable in a process without a transport`() async throws {
    let fixture = try SDKFixture()
    let (url, session) = (try url(), fixture.inline())
    let error = await #expect(throws: URLError.self) { _ = try await session.data(from: url) }
    #expect(error?.code == .resourceUnavailable)
  }
}
