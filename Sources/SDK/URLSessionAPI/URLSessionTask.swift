// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
import Messages

/// A transfer of a session. Source: `Foundation.URLSessionTask`.
@ConstantAfterInit open class URLSessionTask: NSObject {
  /// The state of a task. Source: `Foundation.URLSessionTask.State`.
  public enum State: Int, Sendable {
    /// In progress.
    case running = 0
    /// Not resumed yet, or suspended since.
    case suspended = 1
    /// Cancelled; the end has not been reported.
    case canceling = 2
    /// Ended; the end has been or is about to be reported.
    case completed = 3
  }

  public nonisolated static let defaultPriority: Float = 0.5
  public nonisolated static let lowPriority: Float = 0.25
  public nonisolated static let highPriority: Float = 0.75

  nonisolated let core: TaskCore

  nonisolated init(_ core: TaskCore) { self.core = core }

  /// Unique within the session. In a background session, the same after a relaunch.
  public nonisolated var taskIdentifier: Int { core.identifier }
  /// The request that the task was created with.
  public nonisolated var originalRequest: URLRequest? { core.request }
  /// The current request, after redirections.
  public nonisolated var currentRequest: URLRequest? { core.values.currentRequest ?? core.request }
  public nonisolated var response: URLResponse? { core.values.response }
  public nonisolated var state: State { core.values.state }
  public nonisolated var error: (any Error)? { core.values.error }
  /// The progress of the task. Cancelling it cancels the task.
  public nonisolated var progress: Progress { core.progress(of: self) }
  /// Receives this task's events before the session's delegate. Not supported for background sessions (documented).
  public nonisolated var delegate: (any URLSessionTaskDelegate)? {
    get { core.values.delegate }
    set { core.take(newValue) }
  }
  /// A text of the author. In a background session it is preserved across relaunches.
  public nonisolated var taskDescription: String? {
    get { core.values.description }
    set { core.describe(newValue) }
  }
  /// A hint, from 0 to 1.
  public nonisolated var priority: Float {
    get { core.values.priority }
    set { core.prioritize(newValue) }
  }
  /// Only for background sessions: the task does not start before this date.
  public nonisolated var earliestBeginDate: Date? {
    get { core.values.earliestBeginDate }
    set { core.begin(notBefore: newValue) }
  }
  /// A hint: the bytes to send, including header fields.
  public nonisolated var countOfBytesClientExpectsToSend: Int64 {
    get { core.values.bytesClientExpectsToSend }
    set { core.change { $0.bytesClientExpectsToSend = newValue } }
  }
  /// A hint: the bytes to receive, including header fields.
  public nonisolated var countOfBytesClientExpectsToReceive: Int64 {
    get { core.values.bytesClientExpectsToReceive }
    set { core.change { $0.bytesClientExpectsToReceive = newValue } }
  }
  /// Bytes of the request's body that were sent, according to the last event of this process.
  public nonisolated var countOfBytesSent: Int64 { core.values.bytesSent }
  /// Bytes of the response's body that were received, according to the last event of this process.
  public nonisolated var countOfBytesReceived: Int64 { core.values.bytesReceived }
  /// In bytes; -1 when unknown, 0 without a body.
  public nonisolated var countOfBytesExpectedToSend: Int64 { core.values.bytesExpectedToSend }
  /// In bytes; -1 when unknown.
  public nonisolated var countOfBytesExpectedToReceive: Int64 { core.values.bytesExpected }

  /// Starts or continues the task. In a background session the call returns when the host has stored the task on disk,
  /// so that it survives this process. If the host does not reply for five seconds, the task fails with
  /// `backgroundSessionWasDisconnected` (-997).
  public nonisolated func resume() {
    if HostedProcess.currentMethod == HostedProcess.appearance {
      HostedProcess.current?.noticeLoader(
        HostedProcess.appearance, "a request begins, and its response comes after the view was archived")
    }
    core.resume(self)
  }
  /// Suspends the task until `resume()`.
  public nonisolated func suspend() { core.suspend(self) }
  /// Cancels the task; `didCompleteWithError` follows with `cancelled` (-999).
  public nonisolated func cancel() { core.cancel(self, producingResumeData: nil) }
}

/// A task that passes on the response as it arrives. Source: `Foundation.URLSessionDataTask`.
@ConstantAfterInit open class URLSessionDataTask: URLSessionTask {
  nonisolated override init(_ core: TaskCore) { super.init(core) }
}

/// A task that sends a body. Source: `Foundation.URLSessionUploadTask`.
@ConstantAfterInit public final class URLSessionUploadTask: URLSessionDataTask {
  nonisolated override init(_ core: TaskCore) { super.init(core) }
}

/// A task that downloads to a file. Source: `Foundation.URLSessionDownloadTask`.
@ConstantAfterInit public final class URLSessionDownloadTask: URLSessionTask {
  nonisolated override init(_ core: TaskCore) { super.init(core) }

  /// Cancels the task and keeps the received bytes.
  ///
  /// - Parameter completionHandler: receives the resume data for `downloadTask(withResumeData:)`, or `nil` when the
  ///   download cannot be resumed.
  public nonisolated func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
    core.cancel(self, producingResumeData: completionHandler)
  }

  /// Cancels the task and keeps the received bytes. Returns the resume data for `downloadTask(withResumeData:)`, or
  /// `nil` when the download cannot be resumed.
  public nonisolated func cancelByProducingResumeData() async -> Data? {
    await withCheckedContinuation { continuation in
      cancel { continuation.resume(returning: $0) }
    }
  }
}

/// Metrics of a task. Source: `Foundation.URLSessionTaskMetrics`.
@ConstantAfterInit public final class URLSessionTaskMetrics: NSObject {
  /// From `resume()` to the end.
  public nonisolated let taskInterval: DateInterval
  /// The number of redirections.
  public nonisolated let redirectCount: Int
  /// The last request and its response.
  public nonisolated let transactionMetrics: [URLSessionTaskTransactionMetrics]

  nonisolated init(_ metrics: TransferMetrics, request: URLRequest, response: URLResponse?) {
    taskInterval = DateInterval(start: metrics.began, end: max(metrics.began, metrics.ended))
    redirectCount = metrics.redirectCount
    transactionMetrics = [
      URLSessionTaskTransactionMetrics(request, response, began: metrics.began, ended: metrics.ended)
    ]
  }
}

/// Metrics of one request. Source: `Foundation.URLSessionTaskTransactionMetrics`.
@ConstantAfterInit public final class URLSessionTaskTransactionMetrics: NSObject {
  public nonisolated let request: URLRequest
  public nonisolated let response: URLResponse?
  /// The start of the task.
  public nonisolated let fetchStartDate: Date?
  /// The end of the task.
  public nonisolated let responseEndDate: Date?

  nonisolated init(_ request: URLRequest, _ response: URLResponse?, began: Date, ended: Date) {
    (self.request, self.response, fetchStartDate, responseEndDate) = (request, response, began, ended)
  }
}
