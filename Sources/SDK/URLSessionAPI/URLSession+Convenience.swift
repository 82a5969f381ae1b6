// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
    upload(request, .file(fileURL), .data(completionHandler))
  }

  /// A task that sends data and passes the response to `completionHandler`.
  public func uploadTask(
    with request: URLRequest, from bodyData: Data?,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    upload(request, .data(bodyData ?? Data()), .data(completionHandler))
  }

  /// A task that downloads to a file, which is deleted when `completionHandler` has returned.
  public func downloadTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(request, .none, .download(keepsFile: false, completionHandler))
  }

  /// A task that downloads a URL to a file, which is deleted when `completionHandler` has returned.
  public func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(URLRequest(url: url), .none, .download(keepsFile: false, completionHandler))
  }

  /// A task that resumes an earlier download. The file is deleted when `completionHandler` has returned.
  public func downloadTask(
    withResumeData resumeData: Data,
    completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    download(.resuming, .resumeData(resumeData), .download(keepsFile: false, completionHandler))
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
    try await whole(delegate) { upload(request, .file(fileURL), $0) }
  }

  /// Sends data and returns the response.
  public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
    try await upload(for: request, from: bodyData, delegate: nil)
  }

  /// Sends data and returns the response, with a task delegate.
  public func upload(
    for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)?
  ) async throws -> (Data, URLResponse) {
    try await whole(delegate) { upload(request, .data(bodyData), $0) }
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
    try await file(delegate) { download(request, .none, $0) }
  }

  /// Downloads a URL to a file, with a task delegate.
  public func download(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), delegate: delegate)
  }

  /// Resumes an earlier download, with a task delegate.
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
