import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Synchronization

// What the delegate is told, and in which order.
extension SessionCore {
  /// The delegates that may have a method of a task's, the task's own first.
  private func delegates(of task: URLSessionTask) -> (delegates: [any URLSessionTaskDelegate], object: URLSession)? {
    let (delegate, object) = state.withLock { ($0.delegate as? any URLSessionTaskDelegate, $0.object) }
    guard let object else { return nil }
    return ([task.delegate, delegate].compactMap { $0 }, object)
  }

  /// Calls a method of the first delegate that has it. On the delegate queue. `false` when none has.
  ///
  /// - Parameter method: its name, where a reload that it asks for names it.
  func tell(
    _ task: URLSessionTask, _ story: Story, within method: String? = nil,
    _ call: (any URLSessionTaskDelegate, URLSession) -> Void
  ) -> Bool {
    guard let (delegates, object) = delegates(of: task) else { return false }
    return delegates.contains { delegate in
      process.asCurrent(story, within: method) { DelegateMethod.tell { call(delegate, object) } }
    }
  }

  /// Asks the first delegate that has the method. Anywhere. `nil` when none has.
  func ask<Answer>(
    _ task: URLSessionTask, _ story: Story, _ call: (any URLSessionTaskDelegate, URLSession) async -> Answer
  ) async -> Answer? {
    guard let (delegates, object) = delegates(of: task) else { return nil }
    for delegate in delegates {
      let answer = await process.asCurrent(story) { await DelegateMethod.ask { await call(delegate, object) } }
      if let answer { return answer }
    }
    return nil
  }

  /// Asks about a challenge: about the connection the session's method first, then, as about a request, the task's. There
  /// is no other way round (`NSURLSession.h`).
  func ask(_ challenge: InlineChallenge, of task: URLSessionTask, _ story: Story) async -> AnswerChallenge.Reply {
    let challenge = URLAuthenticationChallenge(challenge)
    var answer: (URLSession.AuthChallengeDisposition, URLCredential?)?
    let (delegate, object) = state.withLock { ($0.delegate, $0.object) }
    if challenge.isOfSession, let delegate, let object {
      answer = await process.asCurrent(story) {
        await DelegateMethod.ask { await delegate.urlSession(object, didReceive: challenge) }
      }
    }
    if answer == nil {
      answer = await ask(task, story) { await $0.urlSession($1, task: task, didReceive: challenge) }
    }
    let (disposition, credential) = answer ?? (.performDefaultHandling, nil)
    return AnswerChallenge.Reply(disposition, credential)
  }

  /// Bytes of a task came or went. On the delegate queue.
  func tellCounts(of task: URLSessionTask, received: Int64, sent: Int64, resumedAt: Int64?, _ story: Story) {
    let values = task.core.values
    if let download = task as? URLSessionDownloadTask {
      if let resumedAt {
        _ = tell(task, story) { delegate, session in
          guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
          delegate.urlSession(
            session, downloadTask: download, didResumeAtOffset: resumedAt, expectedTotalBytes: values.bytesExpected)
        }
      }
      if received > 0 {
        _ = tell(task, story) { delegate, session in
          guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
          delegate.urlSession(
            session, downloadTask: download, didWriteData: received, totalBytesWritten: values.bytesReceived,
            totalBytesExpectedToWrite: values.bytesExpected)
        }
      }
    }
    guard sent > 0 else { return }
    _ = tell(task, story) {
      $0.urlSession(
        $1, task: task, didSendBodyData: sent, totalBytesSent: values.bytesSent,
        totalBytesExpectedToSend: values.bytesExpectedToSend)
    }
  }

  /// A part of a response's body is there. On the delegate queue.
  func tellData(_ data: Data, of task: URLSessionDataTask, _ story: Story) {
    _ = tell(task, story) { delegate, session in
      guard let delegate = delegate as? any URLSessionDataDelegate else { return DelegateMethod.isMissing() }
      delegate.urlSession(session, dataTask: task, didReceive: data)
    }
  }

  /// A download is there: the file goes when the method has returned. On the delegate queue.
  func tellFile(_ file: URL, of task: URLSessionDownloadTask, _ story: Story) {
    let handed = HandedFile(file)
    let isTold = tell(task, story, within: "didFinishDownloadingTo") { delegate, session in
      guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
      delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
    }
    // What a server says of its trouble may be left where it is.
    if isTold, handed.isLeftBehind, (200..<300).contains((task.response as? HTTPURLResponse)?.statusCode ?? 0) {
      notice(
        .fileLeftBehind,
        "the file of task \(task.taskIdentifier) was neither moved nor read when didFinishDownloadingTo returned", story
      )
    }
    // Gone already when the author moved it.
    try? FileManager.default.removeItem(at: file)
  }

  /// What was measured. On the delegate queue.
  func tell(_ metrics: TransferMetrics, of task: URLSessionTask, _ story: Story) {
    let metrics = URLSessionTaskMetrics(metrics, task.currentRequest ?? task.core.request, task.response)
    _ = tell(task, story) { $0.urlSession($1, task: task, didFinishCollecting: metrics) }
  }

  /// The last message of a task. On the delegate queue.
  ///
  /// - Parameter completion: called instead of the delegate's method.
  func tellEnd(
    of task: URLSessionTask, _ error: (any Error)?, _ story: Story, completion: (() -> Void)? = nil
  ) {
    task.core.ended(error)
    if let completion {
      process.asCurrent(story, completion)
    } else if task.core.completion == nil {
      let isTold = tell(task, story, within: "didCompleteWithError") {
        $0.urlSession($1, task: task, didCompleteWithError: error)
      }
      if isTold { record("didCompleteWithError", story, task: task, failure: error.map { ($0 as NSError).code }) }
    } else {
      process.asCurrent(story) { task.core.completion?.fail(error) }
    }
    let isOver = state.withLock { state in
      state.tasks[task.taskIdentifier] = nil
      state.made.remove(task.taskIdentifier)
      state.told.insert(task.taskIdentifier)
      return state.isOver
    }
    if isOver { becomeInvalid(nil) }
  }

  func onQueue(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      queue.addOperation {
        work()
        continuation.resume()
      }
    }
  }

  /// A fault in the author's code, for the journal, of background sessions.
  func notice(_ fault: FaultNoticed.Fault, _ details: String, _ story: Story) {
    guard isBackground else { return }
    process.connection.record(FaultNoticed(fault, subject: "session \(identifier)", details: details), story: story)
  }

  /// For the journal, of background sessions.
  func record(
    _ method: String, _ story: Story, task: URLSessionTask? = nil, bytes: Int64? = nil, failure: Int? = nil
  ) {
    guard isBackground else { return }
    process.connection.record(
      DelegateCalled(
        session: identifier, method: method, taskIdentifier: task?.taskIdentifier, bytes: bytes, failureCode: failure),
      story: story)
  }
}

extension TaskCore.Completion {
  /// Tells a task that came to nothing.
  func fail(_ error: (any Error)?) {
    switch self {
    case .data(let handler): handler(nil, nil, error)
    case .download(_, let handler): handler(nil, nil, error)
    }
  }
}
