public import Foundation
import Synchronization

/// A group of transfers with one configuration and one delegate. Source: `Foundation.URLSession`.
///
/// The host system performs the downloads and uploads of a background session, whatever becomes of this process: a
/// process that was launched again makes a session with the same identifier and is then told what became of them. All
/// other tasks are performed in this process, and end with it.
public final class URLSession: NSObject, Sendable {
  let core: SessionCore

  /// A session that keeps its delegate until it is invalid. Any thread.
  ///
  /// In one process there is one background session of an identifier: a second object stands for the same session and
  /// leaves it its first delegate (observed on iOS), with a line on standard error.
  ///
  /// - Parameters:
  ///   - configuration: copied.
  ///   - delegate: told of all events.
  ///   - queue: where the delegate is told; `nil` makes a serial one.
  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {
    core = SessionRegistry.current.session(configuration.values, delegate: delegate, queue: queue)
    super.init()
    core.standsFor(self)
  }

  /// A session without a delegate.
  public convenience init(configuration: URLSessionConfiguration) {
    self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
  }

  init(_ core: SessionCore) {
    self.core = core
    super.init()
    core.standsFor(self)
  }

  /// The session of the process, with the default configuration, without a delegate. It is never invalid.
  public class var shared: URLSession { SessionRegistry.current.shared }

  /// A copy of the configuration.
  public var configuration: URLSessionConfiguration { URLSessionConfiguration(core.configuration) }
  /// The delegate; `nil` once the session is invalid.
  public var delegate: (any URLSessionDelegate)? { core.delegate }
  /// Where the delegate is told.
  public var delegateQueue: OperationQueue { core.queue }
  /// A text of the author's.
  public var sessionDescription: String? {
    get { core.state.withLock { $0.description } }
    set { core.state.withLock { $0.description = newValue } }
  }

  // MARK: Tasks

  /// A task that hands on the response as it comes; it does nothing until `resume()`. In a session that has been
  /// invalidated this is a programming error, as making any task is.
  public func dataTask(with request: URLRequest) -> URLSessionDataTask { data(request) }
  /// A task that gets a URL.
  public func dataTask(with url: URL) -> URLSessionDataTask { data(URLRequest(url: url)) }

  /// A task that downloads to a file; it does nothing until `resume()`. In a background session it may wait up to five
  /// seconds for the host, which knows the identifiers of earlier lives' tasks.
  public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { download(request) }
  /// A task that downloads a URL.
  public func downloadTask(with url: URL) -> URLSessionDownloadTask { download(URLRequest(url: url)) }
  /// A task that goes on where an earlier one stopped.
  public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
    download(.resuming, .resumeData(resumeData))
  }

  /// A task that sends a file. In a background session the file must stay until the task has ended.
  public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
    upload(request, .file(fileURL))
  }
  /// A task that sends data. Not in a background session: there it is a programming error.
  public func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
    upload(request, .data(bodyData))
  }
  /// A task that sends what a stream has: the request's, or else the delegate's. Not in a background session: there it is
  /// a programming error.
  public func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask { upload(request, .stream) }

  // MARK: The end

  /// Makes no new tasks, and becomes invalid when the running ones have ended. Returns at once.
  public func finishTasksAndInvalidate() { core.invalidate(cancelling: false) }
  /// Cancels all tasks and becomes invalid. Returns at once.
  public func invalidateAndCancel() { core.invalidate(cancelling: true) }

  /// Forgets cookies, credentials and cached responses, and calls the handler on the delegate queue.
  public func reset(completionHandler: @escaping @Sendable () -> Void) {
    Task { [core] in
      await core.reset()
      core.queue.addOperation { completionHandler() }
    }
  }
  /// Forgets cookies, credentials and cached responses.
  public func reset() async { await core.reset() }

  /// Calls the handler on the delegate queue: nothing is kept that would have to be written.
  public func flush(completionHandler: @escaping @Sendable () -> Void) {
    core.queue.addOperation { completionHandler() }
  }
  /// Returns at once: nothing is kept that would have to be written.
  public func flush() async {}
}

// MARK: - The tasks that run

extension URLSession {
  /// Calls `completionHandler` on the delegate queue with the tasks that were resumed and whose end has not been told.
  public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
    core.whenOpened { [core] in
      core.queue.addOperation { completionHandler(core.runningTasks) }
    }
  }

  /// The tasks that were resumed and whose end has not been told.
  public var allTasks: [URLSessionTask] {
    get async {
      await withCheckedContinuation { continuation in
        getAllTasks { continuation.resume(returning: $0) }
      }
    }
  }

  /// Calls `completionHandler` with the tasks of `allTasks`, by kind.
  public func getTasksWithCompletionHandler(
    _ completionHandler:
      @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void
  ) {
    getAllTasks { tasks in
      let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
      let data = tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
      completionHandler(data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
    }
  }

  /// The tasks of `allTasks`, by kind.
  public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
    get async {
      await withCheckedContinuation { continuation in
        getTasksWithCompletionHandler { continuation.resume(returning: ($0, $1, $2)) }
      }
    }
  }
}

// MARK: - Making tasks

extension URLSession {
  func data(_ request: URLRequest, _ completion: TaskCore.Completion? = nil) -> URLSessionDataTask {
    made(.data, request, .none, completion)
  }

  func download(
    _ request: URLRequest, _ source: TaskCore.Source = .none, _ completion: TaskCore.Completion? = nil
  ) -> URLSessionDownloadTask {
    made(.download, request, source, completion)
  }

  func upload(
    _ request: URLRequest, _ source: TaskCore.Source, _ completion: TaskCore.Completion? = nil
  ) -> URLSessionUploadTask {
    made(.upload, request, source, completion)
  }

  private func made<Made: URLSessionTask>(
    _ kind: TaskCore.Kind, _ request: URLRequest, _ source: TaskCore.Source, _ completion: TaskCore.Completion?
  ) -> Made {
    guard let task = core.makeTask(kind, request, from: source, completion: completion) as? Made else {
      fatalError("a \(kind) task is a \(Made.self)")
    }
    return task
  }
}
