// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import BusTesting
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing
import WidgetLabTesting

@testable import URLSessionAPI

/// An author's process that performs requests itself, a server for them, and the device's network.
struct CurlFixture {
  let bus = InMemoryBus()
  let process: HostedProcess
  let server: LocalServer

  init(
    rules: ProcessRules = ProcessRules(), _ answer: @escaping @Sendable (LocalServer.Request) -> LocalServer.Reply
  ) throws {
    let address = Address.widgetExtension("phone", "com.example.App.Widget")
    let certificate = LaunchContext(
      address: address, generation: 1, host: .host("phone"), endpoint: "", serverKey: "", publicKey: "", secretKey: "",
      container: NSTemporaryDirectory(), groups: [:], rules: rules, agentPid: 0)
    process = HostedProcess(certificate, connection: bus.connection(address))
    CurlPerformer.serve(process)
    server = try LocalServer(answer)
  }

  /// Sets the network state, as a message of the host does.
  func network(_ path: NetworkState.Path, rate: Int64? = nil, isConstrained: Bool = false) {
    DeviceNetwork.of(process).became(NetworkState(path: path, rate: rate, isConstrained: isConstrained))
  }

  func session(
    _ delegate: (any URLSessionDelegate)? = nil, _ configuration: URLSessionConfiguration = .ephemeral,
    change: (URLSessionConfiguration) -> Void = { _ in }
  ) -> URLSession {
    change(configuration)
    return process.asCurrent { URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil) }
  }

  /// Runs a test's body and then stops the server.
  static func run(
    rules: ProcessRules = ProcessRules(),
    _ answer: @escaping @Sendable (LocalServer.Request) -> LocalServer.Reply,
    _ body: (CurlFixture) async throws -> Void
  ) async throws {
    let fixture = try CurlFixture(rules: rules, answer)
    defer { fixture.server.stop() }
    try await body(fixture)
  }
}

/// The `URLError` that the work throws, or `nil` when it succeeds. Any other error becomes `URLError.unknown`.
func failure<Result>(of work: () async throws -> Result) async -> URLError? {
  do {
    _ = try await work()
    return nil
  } catch {
    return error as? URLError ?? URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "\(error)"])
  }
}

func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

extension URLSession {
  func text(from url: URL) async throws -> String { SDKTests.text(try await data(from: url).0) }
  func text(for request: URLRequest) async throws -> String {
    SDKTests.text(try await data(for: request).0)
  }
}

/// A delegate that records its calls and answers as a test configures.
final class Recorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
  struct Answers: Sendable {
    var follows = true
    /// The body of the POST that follows a redirection; `nil` for the proposed request.
    var body: Data?
    /// Whether that body is a stream.
    var streams = false
    var disposition = URLSession.ResponseDisposition.allow
    var credential: URLCredential?
    var trusts = false
    /// Suspends a data task in the call that delivers this text.
    var suspendsAt: String?
  }

  private let answers: Answers
  private let lines = Mutex<[String]>([])
  private let noted: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init(_ answers: Answers = Answers()) {
    self.answers = answers
    (noted, continuation) = AsyncStream.makeStream()
  }

  var all: [String] { lines.withLock { $0 } }

  /// Waits for a line with this prefix.
  @discardableResult func waitFor(_ beginning: String) async -> String? {
    for await line in noted where line.hasPrefix(beginning) { return line }
    return nil
  }

  private func note(_ line: String) {
    lines.withLock { $0.append(line) }
    continuation.yield(line)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    note("end \((error as? URLError)?.code.rawValue ?? 0)")
  }

  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { note("waits") }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    note("redirect \(response.statusCode) \(request.httpMethod ?? "") \(request.url?.path ?? "")")
    var other = request
    if let body = answers.body {
      other.httpMethod = "POST"
      if answers.streams { other.httpBodyStream = InputStream(data: body) } else { other.httpBody = body }
    }
    completionHandler(answers.follows ? other : nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let space = challenge.protectionSpace
    note("challenge \(space.authenticationMethod) \(space.realm ?? "") \(challenge.previousFailureCount)")
    if let trust = space.serverTrust, answers.trusts {
      return completionHandler(.useCredential, URLCredential(trust: trust))
    }
    let isRefused = challenge.previousFailureCount > 0 || answers.credential == nil
    completionHandler(isRefused ? .performDefaultHandling : .useCredential, isRefused ? nil : answers.credential)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
    completionHandler(answers.disposition)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if text(data) == answers.suspendsAt { dataTask.suspend() }
    note("data \(text(data))")
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    note("sent \(totalBytesSent)/\(totalBytesExpectedToSend)")
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    note("file \((try? String(contentsOf: location, encoding: .utf8)) ?? "none")")
  }
}
