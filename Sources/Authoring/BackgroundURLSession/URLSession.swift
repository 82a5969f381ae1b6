public import Foundation

/// A group of transfers with one configuration and one delegate. Source: `Foundation.URLSession`; only background
/// sessions exist here so far.
///
/// The host system performs the transfers, whatever becomes of this process. A process that was launched again makes a
/// session with the same identifier and is then told what became of them.
public final class URLSession: NSObject, Sendable {
  let core: SessionCore

  /// A session that keeps its delegate until it is invalid. Any thread.
  ///
  /// In one process there is one session of an identifier: a second object stands for the same session and leaves it its
  /// first delegate (observed on iOS), with a line on standard error.
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

  /// A copy of the configuration.
  public var configuration: URLSessionConfiguration { URLSessionConfiguration(core.configuration) }
  /// The delegate; `nil` once the session is invalid.
  public var delegate: (any URLSessionDelegate)? { core.delegate }
  /// Where the delegate is told.
  public var delegateQueue: OperationQueue { core.queue }

  /// A task that downloads to a file; it does nothing until `resume()`. May wait up to five seconds for the host, which
  /// knows the identifiers of earlier lives' tasks. In a session that has been invalidated this is a programming error.
  public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
    core.makeTask(request)
  }

  /// A task that downloads a URL.
  public func downloadTask(with url: URL) -> URLSessionDownloadTask {
    downloadTask(with: URLRequest(url: url))
  }

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

  /// Makes no new tasks, and becomes invalid when the running ones have ended. Returns at once.
  public func finishTasksAndInvalidate() { core.invalidate(cancelling: false) }
  /// Cancels all tasks and becomes invalid. Returns at once.
  public func invalidateAndCancel() { core.invalidate(cancelling: true) }
}
