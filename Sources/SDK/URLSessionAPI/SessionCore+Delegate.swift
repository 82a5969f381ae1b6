// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import MessageBus
import Messages
import Synchronization

// Calls of the delegate, and their order.
extension SessionCore {
  /// The delegates that may implement a method of a task, the task's own first.
  private func delegates(of task: URLSessionTask) -> (delegates: [any URLSessionTaskDelegate], object: URLSession)? {
    let (delegate, object) = state.withLock { ($0.delegate as? any URLSessionTaskDelegate, $0.object) }
    guard let object else { return nil }
    return ([task.delegate, delegate].compactMap { $0 }, object)
  }

  /// Calls a method of the first delegate that implements it. On the delegate queue. Returns `false` when none does.
  ///
  /// - Parameter method: the name that is recorded with reloads requested during the call.
  func callDelegate(
    _ task: URLSessionTask, _ context: MessageContext, within method: String? = nil,
    _ call: (any URLSessionTaskDelegate, URLSession) -> Void
  ) -> Bool {
    guard let (delegates, object) = delegates(of: task) else { return false }
    return delegates.contains { delegate in
      process.asCurrent(context, within: method) { DelegateMethod.callDelegate { call(delegate, object) } }
    }
  }

  /// Calls a method with a result on the first delegate that implements it. Any thread. Returns `nil` when none does.
  func ask<Answer>(
    _ task: URLSessionTask, _ context: MessageContext,
    _ call: (any URLSessionTaskDelegate, URLSession) async -> Answer
  ) async -> Answer? {
    guard let (delegates, object) = delegates(of: task) else { return nil }
    for delegate in delegates {
      let answer = await process.asCurrent(context) { await DelegateMethod.ask { await call(delegate, object) } }
      if let answer { return answer }
    }
    return nil
  }

  /// Calls the delegate for a challenge. For a challenge of the connection, the session's method is tried first, then
  /// the task's. For a challenge of a request, only the task's is called (`NSURLSession.h`).
  func ask(_ challenge: InlineChallenge, of task: URLSessionTask, _ context: MessageContext) async
    -> AnswerChallenge.Reply
  {
    let challenge = URLAuthenticationChallenge(challenge)
    var answer: (URLSession.AuthChallengeDisposition, URLCredential?)?
    let (delegate, object) = state.withLock { ($0.delegate, $0.object) }
    if challenge.isOfSession, let delegate, let object {
      answer = await process.asCurrent(context) {
        await DelegateMethod.ask { await delegate.urlSession(object, didReceive: challenge) }
      }
    }
    if answer == nil {
      answer = await ask(task, context) { await $0.urlSession($1, task: task, didReceive: challenge) }
    }
    let (disposition, credential) = answer ?? (.performDefaultHandling, nil)
    return AnswerChallenge.Reply(disposition, credential)
  }

  /// Reports the bytes of a task. On the delegate queue.
  func deliverCounts(
    of task: URLSessionTask, received: Int64, sent: Int64, resumedAt: Int64?, _ context: MessageContext
  ) {
    let values = task.core.values
    if let download = task as? URLSessionDownloadTask {
      if let resumedAt {
        _ = callDelegate(task, context) { delegate, session in
          guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
          delegate.urlSession(
            session, downloadTask: download, didResumeAtOffset: resumedAt, expectedTotalBytes: values.bytesExpected)
        }
      }
      if received > 0 {
        _ = callDelegate(task, context) { delegate, session in
          guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
          delegate.urlSession(
            session, downloadTask: download, didWriteData: received, totalBytesWritten: values.bytesReceived,
            totalBytesExpectedToWrite: values.bytesExpected)
        }
      }
    }
    guard sent > 0 else { return }
    _ = callDelegate(task, context) {
      $0.urlSession(
        $1, task: task, didSendBodyData: sent, totalBytesSent: values.bytesSent,
        totalBytesExpectedToSend: values.bytesExpectedToSend)
    }
  }

  /// Reports a part of a response's body. On the delegate queue.
  func deliverData(_ data: Data, of task: URLSessionDataTask, _ context: MessageContext) {
    _ = callDelegate(task, context) { delegate, session in
      guard let delegate = delegate as? any URLSessionDataDelegate else { return DelegateMethod.isMissing() }
      delegate.urlSession(session, dataTask: task, didReceive: data)
    }
  }

  /// Reports a finished download. The file is deleted when the method has returned. On the delegate queue.
  func deliverFile(_ file: URL, of task: URLSessionDownloadTask, _ context: MessageContext) {
    let handed = HandedFile(file)
    let isNotified = callDelegate(task, context, within: "didFinishDownloadingTo") { delegate, session in
      guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
      delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
    }
    // The body of a server error may be left in place.
    if isNotified, handed.isLeftBehind, (200..<300).contains((task.response as? HTTPURLResponse)?.statusCode ?? 0) {
      notice(
        .fileLeftBehind,
        "the file of task \(task.taskIdentifier) was neither moved nor read when didFinishDownloadingTo returned",
        context
      )
    }
    // Already gone if the author moved it.
    try? FileManager.default.removeItem(at: file)
  }

  /// Reports the metrics. On the delegate queue.
  func callDelegate(_ metrics: TransferMetrics, of task: URLSessionTask, _ context: MessageContext) {
    let metrics = URLSessionTaskMetrics(metrics, task.currentRequest ?? task.core.request, task.response)
    _ = callDelegate(task, context) { $0.urlSession($1, task: task, didFinishCollecting: metrics) }
  }

  /// Reports the end of a task. On the delegate queue.
  ///
  /// - Parameter completion: called instead of the delegate's method.
  func deliverEnd(
    of task: URLSessionTask, _ error: (any Error)?, _ context: MessageContext, completion: (() -> Void)? = nil
  ) {
    task.core.ended(error)
    if (error as? URLError)?.code == .appTransportSecurityRequiresSecureConnection { explainBlock(of: task) }
    if let completion {
      process.asCurrent(context, completion)
    } else if task.core.completion == nil {
      let isNotified = callDelegate(task, context, within: "didCompleteWithError") {
        $0.urlSession($1, task: task, didCompleteWithError: error)
      }
      if isNotified { record("didCompleteWithError", context, task: task, failure: error.map { ($0 as NSError).code }) }
    } else {
      process.asCurrent(context) { task.core.completion?.fail(error) }
    }
    let isOver = state.withLock { state in
      state.tasks[task.taskIdentifier] = nil
      state.made.remove(task.taskIdentifier)
      state.reported.insert(task.taskIdentifier)
      return state.isOver
    }
    if isOver { becomeInvalid(nil) }
  }

  /// Apple's systems write a line to the log, too.
  private func explainBlock(of task: URLSessionTask) {
    let url = task.currentRequest?.url ?? task.originalRequest?.url
    process.log(
      "App Transport Security blocked \(url?.absoluteString ?? "a request"): use https, or add \(url?.host ?? "its host") "
        + "to NSExceptionDomains of this product's Info.plist")
  }

  func onQueue(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      queue.addOperation {
        work()
        continuation.resume()
      }
    }
  }

  /// Records a fault in the author's code in the journal. Only for background sessions.
  func notice(_ fault: FaultNoticed.Fault, _ details: String, _ context: MessageContext) {
    guard isBackground else { return }
    process.connection.record(FaultNoticed(fault, subject: "session \(identifier)", details: details), context: context)
  }

  /// Records a delegate call in the journal. Only for background sessions.
  func record(
    _ method: String, _ context: MessageContext, task: URLSessionTask? = nil, bytes: Int64? = nil,
    sha256: String? = nil, failure: Int? = nil
  ) {
    guard isBackground else { return }
    process.connection.record(
      DelegateCalled(
        session: identifier, method: method, taskIdentifier: task?.taskIdentifier, bytes: bytes, sha256: sha256,
        failureCode: failure),
      context: context)
  }
}

extension TaskCore.Completion {
  /// Reports a failed task.
  func fail(_ error: (any Error)?) {
    switch self {
    case .data(let handler): handler(nil, nil, error)
    case .download(_, let handler): handler(nil, nil, error)
    case .bytes(let arrivals): arrivals.ended(error)
    }
  }
}
