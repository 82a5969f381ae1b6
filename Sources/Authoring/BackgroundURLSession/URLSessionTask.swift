public import Foundation

/// A transfer of a session. Source: `Foundation.URLSessionTask`.
@ConstantAfterInit open class URLSessionTask: NSObject {
  /// What a task is doing. Source: `Foundation.URLSessionTask.State`.
  public enum State: Int, Sendable {
    /// Under way.
    case running = 0
    /// Not resumed yet.
    case suspended = 1
    /// Cancelled, and its end has not been told.
    case canceling = 2
    /// Ended, and its end has been told or is about to be.
    case completed = 3
  }

  nonisolated let core: TaskCore

  nonisolated init(_ core: TaskCore) { self.core = core }

  /// Unique within the session of this identifier, and the same after a relaunch.
  public nonisolated var taskIdentifier: Int { core.identifier }
  /// What was asked for.
  public nonisolated var originalRequest: URLRequest? { core.request }
  /// The request that is under way; after its end, the one that the response answers.
  public nonisolated var currentRequest: URLRequest? { core.currentRequest }
  /// What the server answered.
  public nonisolated var response: URLResponse? { core.values.response }
  /// A text of the author's; what it is at `resume()` is there again after a relaunch.
  public nonisolated var taskDescription: String? {
    get { core.values.description }
    set { core.describe(newValue) }
  }
  /// What the task is doing.
  public nonisolated var state: State { core.values.state }
  /// Why the task failed.
  public nonisolated var error: (any Error)? { core.values.error }
  /// Bytes of the body, as far as this process has been told.
  public nonisolated var countOfBytesReceived: Int64 { core.values.bytesReceived }
  /// Bytes; -1 when unknown.
  public nonisolated var countOfBytesExpectedToReceive: Int64 { core.values.bytesExpected }

  /// Starts the task. Returns when the host has it on disk, so that it is done whatever becomes of this process, or has
  /// not answered for five seconds: then the task fails with `backgroundSessionWasDisconnected` (-997).
  public nonisolated func resume() { core.resume(self) }
  /// Asks for the end of the task; `didCompleteWithError` follows with `cancelled` (-999).
  public nonisolated func cancel() { core.cancel(self) }
}

/// A task that downloads to a file. Source: `Foundation.URLSessionDownloadTask`.
@ConstantAfterInit public final class URLSessionDownloadTask: URLSessionTask {
  nonisolated override init(_ core: TaskCore) { super.init(core) }
}
