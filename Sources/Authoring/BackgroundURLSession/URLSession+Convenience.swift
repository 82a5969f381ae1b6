public import Foundation

// Tasks with a completion handler, and as asynchronous functions. Not in a background session: a closure does not survive
// its process, so that there they are programming errors.

extension URLSession {
  /// A task that hands the whole response to `completionHandler`, on the delegate queue.
  public func dataTask(
    with request: URLRequest,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    data(request, .data(completionHandler))
  }

  /// A task that gets a URL and hands the whole response to `completionHandler`.
  public func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    data(URLRequest(url: url), .data(completionHandler))
  }

  /// A task that sends a file and hands the response to `completionHandler`.
  public func uploadTask(
    with request: URLRequest, fromFile fileURL: URL,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    upload(request, .file(fileURL), .data(completionHandler))
  }

  /// A task that sends data and hands the response to `completionHandler`.
  public func uploadTask(
    with request: URLRequest, from bodyData: Data?,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    upload(request, .data(bodyData ?? Data()), .data(completionHandler))
  }

  /// A task that downloads to a file, which goes when `completionHandler` has returned.
  public func downloadTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(request, .none, .download(keepsFile: false, completionHandler))
  }

  /// A task that downloads a URL to a file, which goes when `completionHandler` has returned.
  public func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(URLRequest(url: url), .none, .download(keepsFile: false, completionHandler))
  }

  /// A task that goes on where an earlier one stopped; the file goes when `completionHandler` has returned.
  public func downloadTask(
    withResumeData resumeData: Data,
    completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(.resuming, .resumeData(resumeData), .download(keepsFile: false, completionHandler))
  }
}

extension URLSession {
  /// The body and the response of a request. Cancelling the Swift task cancels it.
  ///
  /// - Throws: `URLError`; an HTTP status is no failure.
  public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await data(for: request, delegate: nil)
  }

  /// The body and the response of a URL.
  public func data(from url: URL) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url), delegate: nil)
  }

  /// The body and the response of a request, with a delegate of its own.
  public func data(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    try await whole(delegate) { data(request, $0) }
  }

  /// The body and the response of a URL, with a delegate of its own.
  public func data(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url), delegate: delegate)
  }

  /// Sends a file; the response.
  public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
    try await upload(for: request, fromFile: fileURL, delegate: nil)
  }

  /// Sends a file; the response, with a delegate of its own.
  public func upload(
    for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    try await whole(delegate) { upload(request, .file(fileURL), $0) }
  }

  /// Sends data; the response.
  public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
    try await upload(for: request, from: bodyData, delegate: nil)
  }

  /// Sends data; the response, with a delegate of its own.
  public func upload(
    for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    try await whole(delegate) { upload(request, .data(bodyData), $0) }
  }

  /// Downloads to a file, which is the caller's to move or remove.
  public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
    try await download(for: request, delegate: nil)
  }

  /// Downloads a URL to a file, which is the caller's to move or remove.
  public func download(from url: URL) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), delegate: nil)
  }

  /// Goes on where an earlier download stopped.
  public func download(resumeFrom resumeData: Data) async throws -> (URL, URLResponse) {
    try await download(resumeFrom: resumeData, delegate: nil)
  }

  /// Downloads to a file, with a delegate of its own.
  public func download(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (URL, URLResponse) {
    try await file(delegate) { download(request, .none, $0) }
  }

  /// Downloads a URL to a file, with a delegate of its own.
  public func download(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), delegate: delegate)
  }

  /// Goes on where an earlier download stopped, with a delegate of its own.
  public func download(
    resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (URL, URLResponse) {
    try await file(delegate) { download(.resuming, .resumeData(resumeData), $0) }
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

  /// Runs a task to its end, or to the end of the Swift task.
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
  /// What a task shows that goes on from resume data, before it has begun.
  static var resuming: URLRequest { URLRequest(nothing: ()) }
}
