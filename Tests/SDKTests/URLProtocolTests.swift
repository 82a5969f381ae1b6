// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// Loads requests to its host as the path says.
private final class Recorded: URLProtocol {
  /// The calls of `startLoading` and `stopLoading`.
  static let calls = AsyncStream.makeStream(of: String.self)

  override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "recorded.example" }

  override class func canonicalRequest(for request: URLRequest) -> URLRequest {
    var request = request
    request.setValue("yes", forHTTPHeaderField: "Canonical")
    return request
  }

  override func startLoading() {
    Self.calls.continuation.yield("start \(request.url?.path ?? "")")
    guard let url = request.url, let client else { return }
    let fields = ["Content-Type": "text/plain", "Canonical": request.value(forHTTPHeaderField: "Canonical") ?? "no"]
    guard let response = HTTPURLResponse(url: url, statusCode: 203, httpVersion: nil, headerFields: fields) else {
      return
    }
    switch url.path {
    case "/error": client.urlProtocol(self, didFailWithError: NSError(domain: "recorded", code: 7))
    case "/silence": break
    case "/redirect":
      guard let next = URL(string: "http://a.example/next") else { return }
      client.urlProtocol(self, wasRedirectedTo: URLRequest(url: next), redirectResponse: response)
    case "/again":
      guard let next = URL(string: "http://a.example/next") else { return }
      var following = request
      following.url = next
      client.urlProtocol(self, wasRedirectedTo: following, redirectResponse: response)
    case "/cached":
      client.urlProtocol(self, cachedResponseIsValid: CachedURLResponse(response: response, data: Data("kept".utf8)))
    case "/echo":
      client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      client.urlProtocol(self, didLoad: body())
      client.urlProtocolDidFinishLoading(self)
    default:
      client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      for part in ["first\n\n", "sec", "ond\r\nthird"] { client.urlProtocol(self, didLoad: Data(part.utf8)) }
      client.urlProtocolDidFinishLoading(self)
    }
  }

  override func stopLoading() { Self.calls.continuation.yield("stop \(request.url?.path ?? "")") }

  private func body() -> Data {
    guard let stream = request.httpBodyStream else { return Data("no stream".utf8) }
    stream.open()
    defer { stream.close() }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = stream.read(&bytes, maxLength: bytes.count)
    return Data(bytes.prefix(max(0, count)))
  }
}

@Suite(.timeLimit(.minutes(1))) struct `Requests that the author's own code loads` {
  private func url(_ path: String) throws -> URL { try #require(URL(string: "http://recorded.example/\(path)")) }

  private var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses?.insert(Recorded.self, at: 0)
    return configuration
  }

  @Test func `a class of the configuration loads the requests that it accepts`() async throws {
    let fixture = try SDKFixture()
    let performer = fixture.perform()
    let session = fixture.inline(nil, configuration)
    let (data, response) = try await session.data(from: try url("text"))
    #expect(String(decoding: data, as: UTF8.self) == "first\n\nsecond\r\nthird")
    let answer = try #require(response as? HTTPURLResponse)
    #expect(answer.statusCode == 203)
    #expect(answer.value(forHTTPHeaderField: "Canonical") == "yes")
    let other = try #require(URL(string: "http://a.example/figures"))
    async let figures = session.data(from: other)
    try await performer.next().succeed("figures")
    #expect(try await figures.0 == Data("figures".utf8))
  }

  @Test func `the delegate receives what the class loads, and a download becomes a file`() async throws {
    let fixture = try SDKFixture()
    _ = fixture.perform()
    let delegate = FullDelegate()
    let session = fixture.inline(delegate, configuration)
    session.dataTask(with: try url("cached")).resume()
    await delegate.waitFor("end 1")
    #expect(delegate.calls.filter { !$0.hasPrefix("metrics") } == ["create 1", "response 203", "data kept", "end 1 0"])
    let (file, _) = try await session.download(from: try url("text"))
    #expect(try String(contentsOf: file, encoding: .utf8).hasSuffix("third"))
    try FileManager.default.removeItem(at: file)
  }

  @Test func `a body is a stream, and an error keeps its domain`() async throws {
    let fixture = try SDKFixture()
    _ = fixture.perform()
    let session = fixture.inline(nil, configuration)
    var request = URLRequest(url: try url("echo"))
    request.httpMethod = "POST"
    request.httpBody = Data("espresso".utf8)
    #expect(try await session.data(for: request).0 == Data("espresso".utf8))
    let failing = try url("error")
    let error = await #expect(throws: (any Error).self) { try await session.data(from: failing) }
    #expect((error as NSError?)?.domain == "recorded")
    #expect((error as NSError?)?.code == 7)
  }

  @Test func `a redirection is loaded as a new request`() async throws {
    let fixture = try SDKFixture()
    let performer = fixture.perform()
    let session = fixture.inline(nil, configuration)
    async let answer = session.data(from: try url("redirect"))
    let next = try await performer.next()
    #expect(next.request.url?.path == "/next")
    await next.succeed("moved")
    #expect(try await answer.0 == Data("moved".utf8))
  }

  @Test(.rule("INLINE-11")) func `a request that the class redirects keeps its body`() async throws {
    let fixture = try SDKFixture()
    let performer = fixture.perform()
    let session = fixture.inline(nil, configuration)
    var request = URLRequest(url: try url("again"))
    request.httpMethod = "POST"
    request.httpBody = Data("espresso".utf8)
    async let answer = session.data(for: request)
    let next = try await performer.next()
    let body = if case .data(let data) = next.body { data } else { Data() }
    #expect(body == Data("espresso".utf8))
    await next.succeed("moved")
    #expect(try await answer.0 == Data("moved".utf8))
  }

  @Test func `the class is stopped when the task is cancelled`() async throws {
    let fixture = try SDKFixture()
    _ = fixture.perform()
    let session = fixture.inline(nil, configuration)
    let silent = try url("silence")
    let asking = Task { try await session.data(from: silent) }
    var calls = Recorded.calls.stream.makeAsyncIterator()
    while await calls.next() != "start /silence" {}
    asking.cancel()
    let error = await #expect(throws: URLError.self) { try await asking.value }
    #expect(error?.code == .cancelled)
    while await calls.next() != "stop /silence" {}
  }

  @Test func `a registered class loads requests of the shared session only`() async throws {
    let fixture = try SDKFixture()
    let performer = fixture.perform()
    #expect(URLProtocol.registerClass(Recorded.self))
    defer { URLProtocol.unregisterClass(Recorded.self) }
    #expect(!URLProtocol.registerClass(NSObject.self))
    let url = try url("cached")
    let shared = fixture.process.asCurrent { URLSession.shared }
    #expect(try await shared.data(from: url).0 == Data("kept".utf8))
    let session = fixture.inline()
    async let answer = session.data(from: url)
    try await performer.next().succeed("loaded")
    #expect(try await answer.0 == Data("loaded".utf8))
  }

  @Test func `bytes arrive while the body is loaded, and lines omit empty ones`() async throws {
    let fixture = try SDKFixture()
    let performer = fixture.perform()
    let session = fixture.inline(nil, configuration)
    let (lines, response) = try await session.bytes(from: try url("text"))
    #expect((response as? HTTPURLResponse)?.statusCode == 203)
    var foundTexts: [String] = []
    for try await line in lines.lines { foundTexts.append(line) }
    #expect(foundTexts == ["first", "second", "third"])

    let other = try #require(URL(string: "http://a.example/figures"))
    async let answer = session.bytes(from: other)
    let exchange = try await performer.next()
    _ = await exchange.answer()
    let (bytes, _) = try await answer
    var iterator = bytes.characters.makeAsyncIterator()
    exchange.observer.received(Data("é".utf8) + Data("x".utf8))
    #expect(try await iterator.next() == "é")
    // "x" might go on with a combining mark.
    exchange.end(URLError(.networkConnectionLost))
    let error = await #expect(throws: URLError.self) { try await iterator.next() }
    #expect(error?.code == .networkConnectionLost)
  }
}
