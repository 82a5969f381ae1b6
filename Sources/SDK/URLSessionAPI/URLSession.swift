// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
import Synchronization

/// A group of transfers with one configuration and one delegate. Source: `Foundation.URLSession`.
///
/// The host system performs the downloads and uploads of a background session, even after this process has exited. A
/// relaunched process creates a session with the same identifier and receives the results. All other tasks are
/// performed in this process, and end when it exits.
public final class URLSession: NSObject, Sendable {
  let core: SessionCore

  /// Creates a session that retains its delegate until it is invalid. Any thread.
  ///
  /// A process has one background session per identifier: a second object refers to the same session, which keeps its
  /// first delegate (observed on iOS). A line on standard error reports this.
  ///
  /// - Parameters:
  ///   - configuration: copied.
  ///   - delegate: receives all events.
  ///   - queue: the queue of the delegate calls; `nil` creates a serial one.
  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {
    core = SessionRegistry.current.session(configuration.values, delegate: delegate, queue: queue)
    configuration.values.noticeUnsimulated(in: core.process)
    super.init()
    core.setObject(self)
  }

  /// Creates a session without a delegate.
  public convenience init(configuration: URLSessionConfiguration) {
    self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
  }

  init(_ core: SessionCore) {
    self.core = core
    super.init()
    core.setObject(self)
  }

  /// The session of the process, with the default configuration and without a delegate. It cannot be invalidated.
  public class var shared: URLSession { SessionRegistry.current.shared }

  /// A copy of the configuration.
  public var configuration: URLSessionConfiguration { URLSessionConfiguration(core.configuration) }
  /// The delegate; `nil` once the session is invalid.
  public var delegate: (any URLSessionDelegate)? { core.delegate }
  /// The queue of the delegate calls.
  public var delegateQueue: OperationQueue { core.queue }
  public var sessionDescription: String? {
    get { core.state.withLock { $0.description } }
    set { core.state.withLock { $0.description = newValue } }
  }

  // MARK: Tasks

  /// A task that passes on the response as it arrives. It is suspended until `resume()`. Creating any task in an
  /// invalidated session is a programming error.
  public func dataTask(with request: URLRequest) -> URLSessionDataTask { data(request) }
  /// A task that loads a URL.
  public func dataTask(with url: URL) -> URLSessionDataTask { data(URLRequest(url: url)) }

  /// A task that downloads to a file. It is suspended until `resume()`. In a background session the call may wait up to
  /// five seconds for the host, which has the task identifiers of earlier process instances.
  public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { download(request) }
  /// A task that downloads a URL.
  public func downloadTask(with url: URL) -> URLSessionDownloadTask { download(URLRequest(url: url)) }
  /// A task that resumes an earlier download.
  public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
    download(.resuming, source: .resumeData(resumeData))
  }

  /// A task that sends a file. In a background session the file must exist until the task has ended.
  public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
    upload(request, source: .file(fileURL))
  }
  /// A task that sends data. A programming error in a background session.
  public func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
    upload(request, source: .data(bodyData))
  }
  /// A task that sends a stream: the request's, or else the delegate's. A programming error in a background session.
  public func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
    upload(request, source: .stream)
  }

  // MARK: Invalidation

  /// Creates no new tasks, and becomes invalid when the running ones have ended. Returns at once.
  public func finishTasksAndInvalidate() { core.invalidate(cancelling: false) }
  /// Cancels all tasks and becomes invalid. Returns at once.
  public func invalidateAndCancel() { core.invalidate(cancelling: true) }

  /// Deletes cookies, credentials and cached responses, then calls the handler on the delegate queue.
  public func reset(completionHandler: @escaping @Sendable () -> Void) {
    core.process.startTask { [core] in
      await core.reset()
      core.queue.addOperation { completionHandler() }
    }
  }
  /// Deletes cookies, credentials and cached responses.
  public func reset() async { await core.reset() }

  /// Calls the handler on the delegate queue. There is no cached data to write.
  public func flush(completionHandler: @escaping @Sendable () -> Void) {
    core.queue.addOperation { completionHandler() }
  }
  /// Returns at once. There is no cached data to write.
  public func flush() async {}
}

// MARK: - Running tasks

extension URLSession {
  /// Calls `completionHandler` on the delegate queue with the tasks that were resumed and whose end has not been
  /// reported.
  public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
    core.whenOpened { [core] in
      core.queue.addOperation { completionHandler(core.runningTasks) }
    }
  }

  /// The tasks that were resumed and whose end has not been reported.
  public var allTasks: [URLSessionTask] {
    get async {
      await withCheckedContinuation { continuation in
        getAllTasks { continuation.resume(returning: $0) }
      }
    }
  }

  /// Calls `completionHandler` with the tasks of `allTasks`, by type.
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

  /// The tasks of `allTasks`, by type.
  public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
    get async {
      await withCheckedContinuation { continuation in
        getTasksWithCompletionHandler { continuation.resume(returning: ($0, $1, $2)) }
      }
    }
  }
}

// MARK: - Creating tasks

extension URLSession {
  func data(_ request: URLRequest, _ completion: TaskCore.Completion? = nil) -> URLSessionDataTask {
    made(.data, request: request, source: .none, completion: completion)
  }

  func download(
    _ request: URLRequest, source: TaskCore.Source = .none, completion: TaskCore.Completion? = nil
  ) -> URLSessionDownloadTask {
    made(.download, request: request, source: source, completion: completion)
  }

  func upload(
    _ request: URLRequest, source: TaskCore.Source, completion: TaskCore.Completion? = nil
  ) -> URLSessionUploadTask {
    made(.upload, request: request, source: source, completion: completion)
  }

  private func made<Made: URLSessionTask>(
    _ kind: TaskCore.Kind, request: URLRequest, source: TaskCore.Source, completion: TaskCore.Completion?
  ) -> Made {
    guard let task = core.makeTask(kind, request, from: source, completion: completion) as? Made else {
      fatalError("a \(kind) task is not a \(Made.self)")
    }
    return task
  }
}

// Tasks with a completion handler, and asynchronous functions. In a background session they are programming errors,
// because a closure does not survive its process.

extension URLSession {
  /// A task that passes the complete response to `completionHandler`, on the delegate queue.
  public func dataTask(
    with request: URLRequest,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    data(request, .data(completionHandler))
  }

  /// A task that loads a URL and passes the complete response to `completionHandler`.
  public func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    data(URLRequest(url: url), .data(completionHandler))
  }

  /// A task that sends a file and passes the response to `completionHandler`.
  public func uploadTask(
    with request: URLRequest, fromFile fileURL: URL,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    upload(request, source: .file(fileURL), completion: .data(completionHandler))
  }

  /// A task that sends data and passes the response to `completionHandler`.
  public func uploadTask(
    with request: URLRequest, from bodyData: Data?,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    upload(request, source: .data(bodyData ?? Data()), completion: .data(completionHandler))
  }

  /// A task that downloads to a file, which is deleted when `completionHandler` has returned.
  public func downloadTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(request, source: .none, completion: .download(keepsFile: false, completionHandler))
  }

  /// A task that downloads a URL to a file, which is deleted when `completionHandler` has returned.
  public func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(URLRequest(url: url), source: .none, completion: .download(keepsFile: false, completionHandler))
  }

  /// A task that resumes an earlier download. The file is deleted when `completionHandler` has returned.
  public func downloadTask(
    withResumeData resumeData: Data,
    completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(.resuming, source: .resumeData(resumeData), completion: .download(keepsFile: false, completionHandler))
  }
}

extension URLSession {
  /// Returns the body and the response of a request. Cancelling the Swift task cancels the request.
  ///
  /// - Throws: `URLError`. An HTTP status is not an error.
  public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await data(for: request, delegate: nil)
  }

  /// Returns the body and the response for a URL.
  public func data(from url: URL) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url), delegate: nil)
  }

  /// Returns the body and the response of a request, with a task delegate.
  public func data(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    try await whole(delegate) { data(request, $0) }
  }

  /// Returns the body and the response for a URL, with a task delegate.
  public func data(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url), delegate: delegate)
  }

  /// Sends a file and returns the response.
  public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
    try await upload(for: request, fromFile: fileURL, delegate: nil)
  }

  /// Sends a file and returns the response, with a task delegate.
  public func upload(
    for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    try await whole(delegate) { upload(request, source: .file(fileURL), completion: $0) }
  }

  /// Sends data and returns the response.
  public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
    try await upload(for: request, from: bodyData, delegate: nil)
  }

  /// Sends data and returns the response, with a task delegate.
  public func upload(
    for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    try await whole(delegate) { upload(request, source: .data(bodyData), completion: $0) }
  }

  /// Downloads to a file, which the caller moves or deletes.
  public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
    try await download(for: request, delegate: nil)
  }

  /// Downloads a URL to a file, which the caller moves or deletes.
  public func download(from url: URL) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), delegate: nil)
  }

  /// Resumes an earlier download.
  public func download(resumeFrom resumeData: Data) async throws -> (URL, URLResponse) {
    try await download(resumeFrom: resumeData, delegate: nil)
  }

  /// Downloads to a file, with a task delegate.
  public func download(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (URL, URLResponse) {
    try await file(delegate) { download(request, source: .none, completion: $0) }
  }

  /// Downloads a URL to a file, with a task delegate.
  public func download(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), delegate: delegate)
  }

  /// Resumes an earlier download, with a task delegate.
  public func download(
    resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (URL, URLResponse) {
    try await file(delegate) { download(.resuming, source: .resumeData(resumeData), completion: $0) }
  }
}

extension URLSession {
  private func whole(
    _ delegate: (any URLSessionTaskDelegate)?, _ make: (TaskCore.Completion) -> URLSessionTask
  ) async throws -> (Data, URLResponse) {
    try await outcome(delegate) { handler in make(.data { handler($0, $1, $2) }) }
  }

  private func file(
    _ delegate: (any URLSessionTaskDelegate)?, _ make: (TaskCore.Completion) -> URLSessionTask
  ) async throws -> (URL, URLResponse) {
    try await outcome(delegate) { handler in make(.download(keepsFile: true) { handler($0, $1, $2) }) }
  }

  /// Waits for the end of a task. Cancelling the Swift task cancels it.
  private func outcome<Body: Sendable>(
    _ delegate: (any URLSessionTaskDelegate)?,
    _ make: (@escaping @Sendable (Body?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
  ) async throws -> (Body, URLResponse) {
    let end = AsyncStream.makeStream(of: Result<(Body, URLResponse), any Error>.self)
    let task = make { body, response, error in
      if let body, let response {
        end.continuation.yield(.success((body, response)))
      } else {
        end.continuation.yield(.failure(error ?? URLError(.badServerResponse)))
      }
      end.continuation.finish()
    }
    task.delegate = delegate
    return try await withTaskCancellationHandler {
      task.resume()
      for await result in end.stream { return try result.get() }
      throw URLError(.cancelled)
    } onCancel: {
      task.cancel()
    }
  }
}

extension URLRequest {
  /// The request of a task from resume data, before it has started.
  static var resuming: URLRequest { URLRequest(nothing: ()) }
}
