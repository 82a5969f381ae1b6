// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import Messages
import Synchronization

/// A running task that this process performs. Receives the performer's events and calls the author's delegate.
final class InlineRun: InlineObserver {
  private struct State {
    var task: URLSessionTask
    var exchange: (any InlineExchange)?
    var isHeld = false
    var isCancelled = false
    var hasEnded = false
    /// The error of the session that ended it. It overrides the performer's error.
    var reason: URLError.Code?
    /// Collected for a completion handler.
    var body = Data()
    /// Collected for the delegate, while the response may be cached.
    var cacheable: Data?
    /// The length of a body that may be cached, in bytes.
    var cacheLimit = 0
    /// Set for a download.
    var file: DownloadedFile?
    /// Receives the resume data.
    var handler: (@Sendable (Data?) -> Void)?
    /// It has become a download of the host. Its end is not reported here.
    var isSilent = false
    /// The temporary file to which a stream was written before sending.
    var spool: URL?
  }

  private let session: SessionCore
  private let context: MessageContext
  private let state: Mutex<State>
  /// Limits the parts of a body that wait for the author to 16.
  private let room = DispatchSemaphore(value: 16)

  init(_ task: URLSessionTask, in session: SessionCore, _ context: MessageContext) {
    self.session = session
    self.context = context
    state = Mutex(State(task: task))
  }

  private var task: URLSessionTask { state.withLock { $0.task } }

  // MARK: Start

  func begin(on connections: any InlineConnections) {
    let core = task.core
    var request = session.configuration.completed(core.request)
    do {
      if case .resumeData(let data) = core.source {
        let file = try DownloadedFile(resuming: data)
        state.withLock { $0.file = file }
        request = session.configuration.completed(file.rest)
      } else if core.kind == .download {
        let file = try DownloadedFile()
        state.withLock { $0.file = file }
      }
    } catch {
      return ended(error, InlineRun.nothing)
    }
    switch core.source {
    case .file(let url): exchange(request, .file(url), on: connections)
    case .data(let data): exchange(request, .data(data), on: connections)
    case .stream: spool(request.httpBodyStream.map { BodyStream(stream: $0) }, request, on: connections)
    case .none, .resumeData:
      if let stream = request.httpBodyStream {
        spool(BodyStream(stream: stream), request, on: connections)
      } else {
        exchange(request, request.httpBody.map { .data($0) } ?? .none, on: connections)
      }
    }
  }

  private static var nothing: TransferMetrics {
    let now = Date()
    return TransferMetrics(began: now, ended: now, redirectCount: 0, attempts: 0)
  }

  private func exchange(_ request: URLRequest, _ body: InlineBody, on connections: any InlineConnections) {
    request.cachePolicy.noticeUnsimulated(in: session.process)
    let exchange = makeExchange(request, body, on: connections)
    let (isHeld, isCancelled) = state.withLock { state in
      state.exchange = exchange
      return (state.isHeld, state.isCancelled)
    }
    if isCancelled { exchange.cancel() } else if !isHeld { exchange.resume() }
  }

  /// A request that a class of the author loads, if one wants to, or else one of the performer.
  private func makeExchange(
    _ request: URLRequest, _ body: InlineBody, on connections: any InlineConnections
  ) -> any InlineExchange {
    let (task, session, context) = (task, session, context)
    guard let kind = session.process.asCurrent(context, { session.protocolClass(for: task) }) else {
      return connections.exchange(request, body: body, self)
    }
    var loaded = request
    loaded.httpBody = nil
    loaded.httpBodyStream = body.stream
    return ProtocolLoading(kind, request: loaded, of: task, observer: self) { work in
      session.process.asCurrent(context, work)
    } following: { [loaded] next throws(URLError) in
      let following = try InlineBody(of: next, proposed: loaded, former: body)
      return self.makeExchange(next, following, on: connections)
    }
  }

  /// Reads a stream to its end before the request is sent.
  private func spool(_ stream: BodyStream?, _ request: URLRequest, on connections: any InlineConnections) {
    let (task, session, context) = (task, session, context)
    askAuthor {
      let isAsked = stream == nil
      let foundStream =
        isAsked
        ? await session.ask(task, context) {
          BodyStream(stream: await $0.urlSession($1, needNewBodyStreamForTask: task))
        }
        : stream
      Thread {
        guard let stream = foundStream?.stream, let file = try? DownloadedFile(copying: stream) else {
          return self.ended(URLError(.requestBodyStreamExhausted), InlineRun.nothing)
        }
        self.state.withLock { $0.spool = file.url }
        self.exchange(request, .file(file.url), on: connections)
      }.start()
    }
  }

  private var hasDelegate: Bool { session.delegate != nil || task.delegate != nil }

  /// Asks the author's delegate. Its methods are asynchronous and run until they return, also when the task of the
  /// session has ended, as on a phone.
  private func askAuthor(_ question: @escaping @Sendable () async -> Void) {
    Task { await question() }
  }

  // MARK: Requests of the author

  func hold(_ isHeld: Bool) {
    let exchange = state.withLock { state in
      state.isHeld = isHeld
      return state.exchange
    }
    if isHeld { exchange?.suspend() } else { exchange?.resume() }
  }

  func cancel(_ handler: (@Sendable (Data?) -> Void)? = nil) {
    let (exchange, hasEnded) = state.withLock { state in
      state.isCancelled = true
      if let handler, !state.hasEnded { state.handler = handler }
      return (state.exchange, state.hasEnded)
    }
    exchange?.cancel()
    guard hasEnded, let handler else { return }
    session.queue.addOperation { [session, context] in session.process.asCurrent(context) { handler(nil) } }
  }

  /// Ends it with an error of the session.
  func abandon(_ reason: URLError.Code) {
    state.withLock { $0.reason = reason }
    cancel()
  }

  // MARK: Events of the performer

  func waitsForConnectivity() {
    let task = task
    session.queue.addOperation { [session, context] in
      _ = session.callDelegate(task, context: context) { $0.urlSession($1, taskIsWaitingForConnectivity: task) }
    }
  }

  func redirected(
    by response: HTTPURLResponse, to request: URLRequest, _ answer: @escaping @Sendable (URLRequest?) -> Void
  ) {
    let (task, session, context) = (task, session, context)
    guard hasDelegate else {
      task.core.change { $0.currentRequest = request }
      return answer(request)
    }
    askAuthor {
      let followed = await session.ask(task, context) {
        await $0.urlSession($1, task: task, willPerformHTTPRedirection: response, newRequest: request)
      }
      let next = followed ?? request
      if let next { task.core.change { $0.currentRequest = next } }
      answer(next)
    }
  }

  func challenged(_ challenge: InlineChallenge, _ answer: @escaping @Sendable (AnswerChallenge.Reply) -> Void) {
    let (task, session, context) = (task, session, context)
    guard hasDelegate else { return answer(AnswerChallenge.Reply(.performDefaultHandling, nil)) }
    askAuthor { answer(await session.ask(challenge, of: task, context)) }
  }

  func sent(_ total: Int64, of expected: Int64) {
    let task = task
    session.queue.addOperation { [session, context] in
      let former = task.core.values.bytesSent
      task.core.change { ($0.bytesSent, $0.bytesExpectedToSend) = (total, expected) }
      task.core.measure()
      session.deliverCounts(of: task, received: 0, sent: total - former, resumedAt: nil, context)
    }
  }

  func informed(by response: HTTPURLResponse) {
    let task = task
    session.queue.addOperation { [session, context] in
      _ = session.callDelegate(task, context: context) {
        $0.urlSession($1, task: task, didReceiveInformationalResponse: response)
      }
    }
  }

  func answered(_ response: URLResponse, _ answer: @escaping @Sendable (_ goesOn: Bool) -> Void) {
    let (task, file) = state.withLock { ($0.task, $0.file) }
    let offset = file?.goesOn(with: response) ?? 0
    let length = response.expectedContentLength
    task.core.answered(response)
    task.core.change { ($0.bytesReceived, $0.bytesExpected) = (offset, length < 0 ? length : length + offset) }
    if offset > 0 {
      session.queue.addOperation { [session, context] in
        session.deliverCounts(of: task, received: 0, sent: 0, resumedAt: offset, context)
      }
    }
    if case .bytes(let arrivals) = task.core.completion { arrivals.answered(response) }
    guard let task = task as? URLSessionDataTask, task.core.completion == nil else { return answer(true) }
    if InlineRun.mayCache(response, to: task.currentRequest), let cache = session.configuration.cache {
      // "about 5% of the disk cache size"; without a disk cache, whatever fits in the memory.
      let limit = cache.diskCapacity > 0 ? cache.diskCapacity / 20 : cache.memoryCapacity
      state.withLock { ($0.cacheable, $0.cacheLimit) = (limit > 0 ? Data() : nil, limit) }
    }
    let (session, context) = (session, context)
    askAuthor {
      let disposition = await session.ask(task, context) { delegate, session in
        guard let delegate = delegate as? any URLSessionDataDelegate else {
          DelegateMethod.isMissing()
          return URLSession.ResponseDisposition.allow
        }
        return await delegate.urlSession(session, dataTask: task, didReceive: response)
      }
      switch disposition ?? .allow {
      case .allow: answer(true)
      case .cancel:
        task.core.change { $0.state = .canceling }
        answer(false)
      case .becomeDownload: await self.becomeDownload(task, response: response, answer: answer)
      }
    }
  }

  /// Whether a response may be cached: it is the successful one to a GET, and no header field forbids it.
  private static func mayCache(_ response: URLResponse, to request: URLRequest?) -> Bool {
    guard let response = response as? HTTPURLResponse, (200..<300).contains(response.statusCode) else { return false }
    return request?.httpMethod == "GET"
      && response.value(forHTTPHeaderField: "Cache-Control")?.lowercased().contains("no-store") != true
  }

  func received(_ data: Data) {
    let (task, file) = state.withLock { state in
      if state.file == nil, case .data = state.task.core.completion { state.body += data }
      state.cacheable?.append(data)
      if state.cacheable?.count ?? 0 > state.cacheLimit { state.cacheable = nil }
      return (state.task, state.file)
    }
    do {
      try file?.append(data)
    } catch {
      abandon(.cannotWriteToFile)
    }
    room.wait()
    session.queue.addOperation { [session, context, room] in
      task.core.change { $0.bytesReceived += Int64(data.count) }
      task.core.measure()
      if case .bytes(let arrivals) = task.core.completion {
        return arrivals.received(data) { room.signal() }
      }
      defer { room.signal() }
      guard task.core.completion == nil else { return }
      if let task = task as? URLSessionDataTask {
        session.deliverData(data, of: task, context)
      } else {
        session.deliverCounts(of: task, received: Int64(data.count), sent: 0, resumedAt: nil, context)
      }
    }
  }

  func ended(_ failure: (any Error)?, _ metrics: TransferMetrics) {
    let state = state.withLock { state in
      defer { (state.file, state.handler, state.exchange, state.hasEnded) = (nil, nil, nil, true) }
      return state
    }
    if let spool = state.spool { try? FileManager.default.removeItem(at: spool) }
    if state.isSilent { return }
    guard failure == nil, let body = state.cacheable, let task = state.task as? URLSessionDataTask,
      let response = task.response
    else { return finish(state, failure, metrics) }
    let (session, context) = (session, context)
    askAuthor {
      // After the calls for the body, which are on the queue.
      await session.onQueue {}
      let answer = await session.ask(task, context) { delegate, session in
        guard let delegate = delegate as? any URLSessionDataDelegate else {
          DelegateMethod.isMissing()
          return CachedURLResponse?.none
        }
        return await delegate.urlSession(
          session, dataTask: task, willCacheResponse: CachedURLResponse(response: response, data: body))
      }
      if answer != nil { session.process.noticeUnsimulated("willCacheResponse", "no response is cached") }
      self.finish(state, nil, metrics)
    }
  }

  private func finish(_ state: State, _ failure: (any Error)?, _ metrics: TransferMetrics) {
    let failure: (any Error)? = state.reason.map { URLError(ofHost: $0) } ?? failure
    session.queue.addOperation { [session, context] in
      let task = state.task
      let resumeData = failure == nil ? nil : state.file?.resumeData(of: task)
      if failure != nil, resumeData == nil { state.file?.remove() }
      let error = (failure as? URLError)?.reported(of: task.currentRequest?.url, resumeData) ?? failure
      if let handler = state.handler { session.process.asCurrent(context) { handler(resumeData) } }
      if error == nil, task.core.completion == nil, let file = state.file, let task = task as? URLSessionDownloadTask {
        session.deliverFile(file.url, of: task, context)
      }
      session.callDelegate(metrics, of: task, context)
      let completion = task.core.completion.map { completion in
        { completion.finish(task, body: state.body, file: state.file?.url, error: error) }
      }
      session.deliverEnd(of: task, error, context, completion: completion)
    }
  }

  // MARK: From data task to download

  private func becomeDownload(
    _ task: URLSessionDataTask, response: URLResponse, answer: @escaping @Sendable (Bool) -> Void
  ) async {
    let core = TaskCore(
      task.taskIdentifier, kind: .download, request: task.core.request, in: session, values: task.core.values)
    guard let download = core.object as? URLSessionDownloadTask else { return }
    core.change { ($0.run, $0.hasBegun, $0.state) = (self, true, .running) }
    session.replace(task, by: download)
    await session.onQueue { [session, context] in
      _ = session.callDelegate(task, context: context) { delegate, session in
        guard let delegate = delegate as? any URLSessionDataDelegate else { return DelegateMethod.isMissing() }
        delegate.urlSession(session, dataTask: task, didBecome: download)
      }
      task.core.change { $0.state = .completed }
    }
    if session.isBackground {
      // The host sends a new request. The request of this process ends without a report.
      state.withLock { $0.isSilent = true }
      answer(false)
      session.createAtHost(download)
    } else {
      let file = try? DownloadedFile()
      state.withLock { ($0.task, $0.file) = (download, file) }
      if file == nil { abandon(.cannotCreateFile) } else { answer(true) }
    }
  }
}

extension TaskCore.Completion {
  /// Reports the end of a task.
  func finish(_ task: URLSessionTask, body: Data, file: URL?, error: (any Error)?) {
    guard error == nil else { return fail(error) }
    switch self {
    case .data(let handler): handler(body, task.response, nil)
    case .download(let keepsFile, let handler):
      handler(file, task.response, nil)
      if !keepsFile, let file { try? FileManager.default.removeItem(at: file) }
    case .bytes(let arrivals): arrivals.ended(nil)
    }
  }
}

extension URLError {
  /// Adds the user info that an author expects.
  func reported(of url: URL?, _ resumeData: Data?) -> URLError {
    var information = errorUserInfo
    if let url { information[NSURLErrorFailingURLErrorKey] = url }
    if let resumeData { information[NSURLSessionDownloadTaskResumeData] = resumeData }
    return URLError(code, userInfo: information)
  }
}

extension SessionCore {
  /// Continues a task as another object.
  func replace(_ task: URLSessionTask, by other: URLSessionTask) {
    state.withLock { $0.tasks[task.taskIdentifier] = other }
  }
}
