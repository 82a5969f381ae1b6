// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Synchronization

@testable import AuthorRuntime
@testable import URLSessionAPI

/// Performs inline requests under a test's control.
final class PerformerModel: InlinePerformer {
  /// A request of a session.
  final class Exchange: InlineExchange {
    let request: URLRequest
    let body: InlineBody
    let observer: any InlineObserver
    /// The calls `resume`, `suspend` and `cancel`, in order.
    let calls = Mutex<[String]>([])
    private let begins: AsyncStream<Exchange>.Continuation
    private let isOver = Mutex(false)

    init(
      _ request: URLRequest, body: InlineBody, observer: any InlineObserver,
      begins: AsyncStream<Exchange>.Continuation
    ) {
      self.request = request
      self.body = body
      self.observer = observer
      self.begins = begins
    }

    func resume() {
      let isFirst = calls.withLock { calls in
        calls.append("resume")
        return calls.count == 1
      }
      if isFirst { begins.yield(self) }
    }

    func suspend() { calls.withLock { $0.append("suspend") } }

    func cancel() {
      calls.withLock { $0.append("cancel") }
      end(URLError(.cancelled))
    }

    /// Ends the request, unless it has ended.
    func end(_ failure: URLError? = nil) {
      let isFirst = isOver.withLock { isOver in
        defer { isOver = true }
        return !isOver
      }
      guard isFirst else { return }
      let began = Date(timeIntervalSince1970: 1000)
      observer.ended(
        failure, TransferMetrics(began: began, ended: began.addingTimeInterval(2), redirectCount: 1, attempts: 1))
    }

    /// Sends the head of the response. Returns whether the session wants the body.
    func answer(_ status: Int = 200, _ headers: [String: String] = [:], length: Int? = nil) async -> Bool {
      var headers = headers
      if let length { headers["Content-Length"] = "\(length)" }
      guard let url = request.url,
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: headers)
      else { return false }
      let goesOn = await withCheckedContinuation { continuation in
        observer.answered(response) { continuation.resume(returning: $0) }
      }
      if !goesOn { end(URLError(.cancelled)) }
      return goesOn
    }

    /// Sends the whole response.
    func succeed(_ body: String, status: Int = 200, headers: [String: String] = [:]) async {
      guard await answer(status, headers, length: body.utf8.count) else { return }
      observer.received(Data(body.utf8))
      end()
    }
  }

  private final class Connections: InlineConnections {
    let begins: AsyncStream<Exchange>.Continuation
    let log: Mutex<[String]>

    init(_ begins: AsyncStream<Exchange>.Continuation) {
      self.begins = begins
      log = Mutex([])
    }

    func exchange(
      _ request: URLRequest, body: InlineBody, _ observer: any InlineObserver
    ) -> any InlineExchange {
      Exchange(request, body: body, observer: observer, begins: begins)
    }

    func reset() async {}
    func close() { begins.finish() }
  }

  /// The configurations of the sessions.
  let configurations = Mutex<[InlineConfiguration]>([])
  /// The requests that were sent. The stream ends when a session closes its connections.
  let begun: AsyncStream<Exchange>
  private let begins: AsyncStream<Exchange>.Continuation

  init() { (begun, begins) = AsyncStream.makeStream(of: Exchange.self) }

  func session(_ configuration: InlineConfiguration) -> any InlineConnections {
    configurations.withLock { $0.append(configuration) }
    return Connections(begins)
  }

  /// The next request that is sent.
  func next() async throws -> Exchange {
    for await exchange in begun { return exchange }
    throw CancellationError()
  }
}

extension SDKFixture {
  /// Makes a new model perform the process's inline requests from now on.
  func perform() -> PerformerModel {
    let performer = PerformerModel()
    InlineRequests.of(process).performed { performer }
    return performer
  }

  /// A session that is not a background session.
  func inline(
    _ delegate: (any URLSessionDelegate)? = nil, _ configuration: URLSessionConfiguration = .default
  ) -> URLSession {
    process.asCurrent {
      URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
  }
}

/// Records every call of a delegate, in the forms with completion handlers.
final class FullDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
  struct Answers: Sendable {
    var response = URLSession.ResponseDisposition.allow
    var redirects = true
    var delayed: (URLSession.DelayedRequestDisposition, URLRequest?) =
      (.continueLoading, nil)
    var body: String?
  }

  let lines = Mutex<[String]>([])
  private let answers: Answers
  private let noted: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init(_ answers: Answers = Answers()) {
    self.answers = answers
    (noted, continuation) = AsyncStream.makeStream(of: String.self)
  }

  var calls: [String] { lines.withLock { $0 } }

  /// Waits for a line with this prefix.
  func waitFor(_ beginning: String) async {
    for await line in noted where line.hasPrefix(beginning) { return }
  }

  private func note(_ line: String) {
    lines.withLock { $0.append(line) }
    continuation.yield(line)
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    note("invalid \((error as? URLError)?.code.rawValue ?? 0)")
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { note("finish") }

  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) ->
      Void
  ) {
    note("session challenge \(challenge.protectionSpace.host)")
    completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
  }

  func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
    note("create \(task.taskIdentifier)")
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    note("end \(task.taskIdentifier) \((error as? URLError)?.code.rawValue ?? 0)")
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {
    note("metrics \(metrics.redirectCount) \(metrics.taskInterval.duration)")
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    note("sent \(bytesSent) \(totalBytesSent)/\(totalBytesExpectedToSend)")
  }

  func urlSession(
    _ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask
  ) { note("waits") }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willBeginDelayedRequest request: URLRequest,
    completionHandler:
      @escaping @Sendable (
        URLSession.DelayedRequestDisposition, URLRequest?
      ) -> Void
  ) {
    note("delayed \(task.taskIdentifier)")
    completionHandler(answers.delayed.0, answers.delayed.1)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    note("redirect \(response.statusCode) \(request)")
    completionHandler(answers.redirects ? request : nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) ->
      Void
  ) {
    note("task challenge \(challenge.protectionSpace.realm ?? "none")")
    completionHandler(.useCredential, URLCredential(user: "user", password: "word", persistence: .forSession))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    note("stream")
    completionHandler(answers.body.map { InputStream(data: Data($0.utf8)) })
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
    completionHandler(answers.response)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
  ) {
    note("become \(downloadTask.taskIdentifier)")
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    note("data \(String(decoding: data, as: UTF8.self))")
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask,
    didFinishDownloadingTo location: URL
  ) {
    note("file \((try? String(contentsOf: location, encoding: .utf8)) ?? "no file")")
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    note("wrote \(bytesWritten) \(totalBytesWritten)/\(totalBytesExpectedToWrite)")
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask,
    didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64
  ) {
    note("resumed at \(fileOffset)/\(expectedTotalBytes)")
  }
}
