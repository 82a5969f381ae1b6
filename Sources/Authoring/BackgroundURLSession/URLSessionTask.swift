public import Foundation

/// A transfer of a session. Source: `Foundation.URLSessionTask`.
@ConstantAfterInit open class URLSessionTask: NSObject {
  /// What a task is doing. Source: `Foundation.URLSessionTask.State`.
  public enum State: Int, Sendable {
    /// Under way.
    case running = 0
    /// Not resumed yet, or suspended since.
    case suspended = 1
    /// Cancelled, and its end has not been told.
    case canceling = 2
    /// Ended, and its end has been told or is about to be.
    case completed = 3
  }

  /// The priority of a task that has none of its own.
  public nonisolated static let defaultPriority: Float = 0.5
  /// Less than others.
  public nonisolated static let lowPriority: Float = 0.25
  /// More than others.
  public nonisolated static let highPriority: Float = 0.75

  nonisolated let core: TaskCore

  nonisolated init(_ core: TaskCore) { self.core = core }

  /// Unique within the session; of a background session, the same after a relaunch.
  public nonisolated var taskIdentifier: Int { core.identifier }
  /// What was asked for.
  public nonisolated var originalRequest: URLRequest? { core.request }
  /// The request that is under way, after redirections.
  public nonisolated var currentRequest: URLRequest? { core.values.currentRequest ?? core.request }
  /// What the server answered.
  public nonisolated var response: URLResponse? { core.values.response }
  /// What the task is doing.
  public nonisolated var state: State { core.values.state }
  /// Why the task failed.
  public nonisolated var error: (any Error)? { core.values.error }
  /// How far the task is. Cancelling it cancels the task.
  public nonisolated var progress: Progress { core.progress(of: self) }
  /// Told of this task before the session's delegate is. Not supported on background sessions (documented).
  public nonisolated var delegate: (any URLSessionTaskDelegate)? {
    get { core.values.delegate }
    set { core.take(newValue) }
  }
  /// A text of the author's. Of a background session it is there again after a relaunch.
  public nonisolated var taskDescription: String? {
    get { core.values.description }
    set { core.describe(newValue) }
  }
  /// A hint, from 0 to 1.
  public nonisolated var priority: Float {
    get { core.values.priority }
    set { core.prioritize(newValue) }
  }
  /// Only of background sessions: the task does not begin before.
  public nonisolated var earliestBeginDate: Date? {
    get { core.values.earliestBeginDate }
    set { core.begin(notBefore: newValue) }
  }
  /// Bytes that the author expects to send, header fields included; a hint.
  public nonisolated var countOfBytesClientExpectsToSend: Int64 {
    get { core.values.bytesClientExpectsToSend }
    set { core.change { $0.bytesClientExpectsToSend = newValue } }
  }
  /// Bytes that the author expects to receive, header fields included; a hint.
  public nonisolated var countOfBytesClientExpectsToReceive: Int64 {
    get { core.values.bytesClientExpectsToReceive }
    set { core.change { $0.bytesClientExpectsToReceive = newValue } }
  }
  /// Bytes of the request's body that went out, as far as this process has been told.
  public nonisolated var countOfBytesSent: Int64 { core.values.bytesSent }
  /// Bytes of the response's body, as far as this process has been told.
  public nonisolated var countOfBytesReceived: Int64 { core.values.bytesReceived }
  /// Bytes; -1 when unknown, 0 when there is no body.
  public nonisolated var countOfBytesExpectedToSend: Int64 { core.values.bytesExpectedToSend }
  /// Bytes; -1 when unknown.
  public nonisolated var countOfBytesExpectedToReceive: Int64 { core.values.bytesExpected }

  /// Starts the task, or lets it go on. Of a background session it returns when the host has it on disk, so that it is
  /// done whatever becomes of this process, or has not answered for five seconds: then the task fails with
  /// `backgroundSessionWasDisconnected` (-997).
  public nonisolated func resume() { core.resume(self) }
  /// Holds the task until `resume()`.
  public nonisolated func suspend() { core.suspend(self) }
  /// Asks for the end of the task; `didCompleteWithError` follows with `cancelled` (-999).
  public nonisolated func cancel() { core.cancel(self, producingResumeData: nil) }
}

/// A task whose response is handed on as it comes. Source: `Foundation.URLSessionDataTask`.
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

  /// Cancels the task and keeps what came.
  ///
  /// - Parameter completionHandler: called with what `downloadTask(withResumeData:)` goes on from, or `nil` when the
  ///   server cannot resume.
  public nonisolated func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
    core.cancel(self, producingResumeData: completionHandler)
  }

  /// Cancels the task and keeps what came: what `downloadTask(withResumeData:)` goes on from, or `nil` when the server
  /// cannot resume.
  public nonisolated func cancelByProducingResumeData() async -> Data? {
    await withCheckedContinuation { continuation in
      cancel { continuation.resume(returning: $0) }
    }
  }
}
