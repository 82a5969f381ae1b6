// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
import Messages
import Synchronization

// The delegates of sessions. On Apple's systems the methods are optional, and those with a completion handler have an
// asynchronous form. Here each form is a requirement with a default implementation. A session calls the asynchronous
// form, whose default calls the completion handler form on the delegate queue.

/// The delegate of a session, called on the session's delegate queue. Source: `Foundation.URLSessionDelegate`.
@preconcurrency public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
  /// The session is invalid. Called last.
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

  /// All waiting events of this session have been delivered. Call the completion handler that the handler for
  /// background session events received.
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

  /// A server requests credentials for the connection, or server trust must be evaluated.
  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

  /// A server requests credentials for the connection, or server trust must be evaluated.
  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

/// Events of all tasks. Source: `Foundation.URLSessionTaskDelegate`.
@preconcurrency public protocol URLSessionTaskDelegate: URLSessionDelegate {
  /// A task was created. Called on the thread that creates it, before the creating call returns.
  func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

  /// The task has ended. Called last. Without an error the transfer succeeded, whatever HTTP status the server sent.
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)

  /// The task's metrics, just before `didCompleteWithError`.
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

  /// A part of the body was sent.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64)

  /// No network that the task may use is available yet. Never called for a background session.
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

  /// The earliest begin date of a task has come. Only called for background sessions.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

  /// The earliest begin date of a task has come. Only called for background sessions.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
  ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

  /// The server redirects. `nil` accepts the redirection itself as the response. Never called for downloads and uploads
  /// of a background session, which follow redirections.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

  /// The server redirects. `nil` accepts the redirection itself as the response.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) async -> URLRequest?

  /// A server requests credentials for a request.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

  /// A server requests credentials for a request.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

  /// A streamed upload needs its body.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

  /// A streamed upload needs its body.
  func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

  /// The server sent an interim response, such as 103. Never called for downloads and uploads of a background session.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)
}

/// Events of data and upload tasks. Source: `Foundation.URLSessionDataDelegate`.
@preconcurrency public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  /// The head of the response has arrived. Never called for a background session's uploads.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

  /// The head of the response has arrived.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
  ) async -> URLSession.ResponseDisposition

  /// The task continues as a download. The data task has no further events.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

  /// The next bytes of the body.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

  /// The complete response may be cached. Nothing is cached here: the answer has no effect.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)

  /// The complete response may be cached. Nothing is cached here: the answer has no effect.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) async -> CachedURLResponse?
}

/// Events of download tasks. Source: `Foundation.URLSessionDownloadDelegate`.
@preconcurrency public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
  /// The download is complete. The file is deleted when this method returns: read or move it before.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

  /// Bytes arrived. Only called while the process is running.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

  /// The download resumes at this offset.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64)
}

extension URLSession {
  /// How to continue after a response. Source: `Foundation.URLSession.ResponseDisposition`.
  public enum ResponseDisposition: Int, Sendable {
    /// Ends the task with `cancelled`.
    case cancel = 0
    /// Receives the body.
    case allow = 1
    /// Continues as a download to a file.
    case becomeDownload = 2
  }

  /// How to start a delayed task. Source: `Foundation.URLSession.DelayedRequestDisposition`.
  public enum DelayedRequestDisposition: Int, Sendable {
    /// Sends the original request.
    case continueLoading = 0
    /// Sends another request.
    case useNewRequest = 1
    /// Ends the task with `cancelled`.
    case cancel = 2
  }
}

// Default implementations of optional methods.

extension URLSessionDelegate {
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
  public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}

  /// Continues with the task's method.
  public func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    DelegateMethod.isMissing()
    completionHandler(.performDefaultHandling, nil)
  }

  /// Calls the completion handler form.
  public func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    await session.onDelegateQueue { done in
      self.urlSession(session, didReceive: challenge) { done(($0, $1)) }
    }
  }
}

extension URLSessionTaskDelegate {
  public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { DelegateMethod.isMissing() }
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    DelegateMethod.isMissing()
  }
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) { DelegateMethod.isMissing() }
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) { DelegateMethod.isMissing() }
  public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    DelegateMethod.isMissing()
  }

  /// Sends the original request.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
  ) {
    DelegateMethod.isMissing()
    completionHandler(.continueLoading, nil)
  }

  /// Calls the completion handler form.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
  ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
    await session.onDelegateQueue { done in
      self.urlSession(session, task: task, willBeginDelayedRequest: request) { done(($0, $1)) }
    }
  }

  /// Follows the redirection.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    DelegateMethod.isMissing()
    completionHandler(request)
  }

  /// Calls the completion handler form.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) async -> URLRequest? {
    await session.onDelegateQueue { done in
      self.urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request, completionHandler: done)
    }
  }

  /// Performs the default handling.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    DelegateMethod.isMissing()
    completionHandler(.performDefaultHandling, nil)
  }

  /// Calls the completion handler form.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    await session.onDelegateQueue { done in
      self.urlSession(session, task: task, didReceive: challenge) { done(($0, $1)) }
    }
  }

  /// Provides no stream.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    DelegateMethod.isMissing()
    completionHandler(nil)
  }

  /// Calls the completion handler form.
  public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
    await session.onDelegateQueue { (done: @escaping @Sendable (BodyStream) -> Void) in
      self.urlSession(session, task: task) { done(BodyStream(stream: $0)) }
    }.stream
  }

  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
  ) { DelegateMethod.isMissing() }
}

extension URLSessionDataDelegate {
  /// Receives the body.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    DelegateMethod.isMissing()
    completionHandler(.allow)
  }

  /// Calls the completion handler form.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
  ) async -> URLSession.ResponseDisposition {
    await session.onDelegateQueue { done in
      self.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: done)
    }
  }

  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
  ) { DelegateMethod.isMissing() }
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    DelegateMethod.isMissing()
  }

  /// Proposes nothing else.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    DelegateMethod.isMissing()
    completionHandler(proposedResponse)
  }

  /// Calls the completion handler form.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) async -> CachedURLResponse? {
    await session.onDelegateQueue { done in
      self.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: done)
    }
  }
}

// Requirements that nothing here can call. A method of `NSObject` that is declared in an extension cannot be overridden,
// so a delegate that implements one does not compile, and the error names it.
extension NSObject {
  /// Never called: an upload that is resumed is not simulated. Source: `Foundation.URLSessionTaskDelegate`, iOS 17.
  public final func urlSession(
    _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
    completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) { completionHandler(nil) }

  /// The asynchronous form.
  public final func urlSession(
    _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64
  ) async -> InputStream? { nil }
}

extension URLSessionDownloadDelegate {
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) { DelegateMethod.isMissing() }
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) { DelegateMethod.isMissing() }
}

/// One call of an author's delegate. Detects whether the delegate implements the method, which Swift cannot determine
/// before the call.
final class DelegateMethod: Sendable {
  @TaskLocal private static var current: DelegateMethod?
  private let missing = Atomic(false)

  /// Called by the default implementation of a method.
  static func isMissing() { current?.missing.store(true, ordering: .relaxed) }

  /// Calls a method. Returns `false` when the delegate does not implement it.
  static func callDelegate(_ call: () -> Void) -> Bool {
    let method = DelegateMethod()
    $current.withValue(method, operation: call)
    return !method.missing.load(ordering: .relaxed)
  }

  /// Calls a method with a result. Returns `nil` when the delegate does not implement it.
  static func ask<Answer>(_ call: () async -> Answer) async -> Answer? {
    let method = DelegateMethod()
    let answer = await $current.withValue(method, operation: call)
    return method.missing.load(ordering: .relaxed) ? nil : answer
  }

  /// Transfers the current call to another thread.
  static func carried(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let method = current
    return { $current.withValue(method, operation: work) }
  }
}

/// Transfers a stream from the delegate to its reader.
struct BodyStream: Sendable {
  // Passed on once. The sender does not keep a reference.
  nonisolated(unsafe) let stream: InputStream?
}

extension URLSession {
  /// Calls the completion handler form of a delegate's method on the delegate queue.
  func onDelegateQueue<Answer: Sendable>(
    _ call: @escaping @Sendable (_ done: @escaping @Sendable (Answer) -> Void) -> Void
  ) async -> Answer {
    let (core, context) = (core, HostedProcess.currentContext)
    return await withCheckedContinuation { continuation in
      core.queue.addOperation(
        DelegateMethod.carried {
          core.process.asCurrent(context) { call { continuation.resume(returning: $0) } }
        })
    }
  }
}
