public import Foundation

// The delegates of sessions. On Apple's systems their methods are optional, and those with a completion handler have an
// asynchronous form; here each form is a requirement of its own with a default. A session calls the asynchronous form,
// whose default calls the other one on the delegate queue.

/// What a session tells its delegate, on the session's delegate queue. Source: `Foundation.URLSessionDelegate`.
@preconcurrency public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
  /// The last message of a session.
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

  /// All messages that were waiting for this session have been delivered: call the completion handler that the handler
  /// for background session events was given.
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

  /// A server wants credentials for the connection, or the trust in it is to be judged.
  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

  /// A server wants credentials for the connection, or the trust in it is to be judged.
  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

/// What a session tells its delegate of any task. Source: `Foundation.URLSessionTaskDelegate`.
@preconcurrency public protocol URLSessionTaskDelegate: URLSessionDelegate {
  /// A task was made. Called on the thread that makes it, before it has it.
  func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

  /// The last message of a task; without an error the transfer succeeded, whatever status the server answered with.
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)

  /// What was measured; just before the last message.
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

  /// A part of the body went out.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64)

  /// There is no network that the task may use yet. Never of a background session.
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

  /// The time of a task with an earliest date has come. Only of background sessions.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

  /// The time of a task with an earliest date has come. Only of background sessions.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
  ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

  /// The server sends elsewhere; `nil` takes the redirection itself as the response. Never of a background session's
  /// downloads and uploads, which follow.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

  /// The server sends elsewhere; `nil` takes the redirection itself as the response.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) async -> URLRequest?

  /// A server wants credentials for a request.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

  /// A server wants credentials for a request.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

  /// The body of a streamed upload is wanted.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

  /// The body of a streamed upload is wanted.
  func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?
}

/// What a session tells its delegate of data and upload tasks. Source: `Foundation.URLSessionDataDelegate`.
@preconcurrency public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  /// The head of the response is there. Never of a background session's uploads.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

  /// The head of the response is there.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
  ) async -> URLSession.ResponseDisposition

  /// The task goes on as a download; it has no more messages itself.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

  /// The next bytes of the body.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

/// What a session tells its delegate of download tasks. Source: `Foundation.URLSessionDownloadDelegate`.
@preconcurrency public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
  /// The download is there. The file exists until this method returns: read it or move it before.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

  /// Bytes came, to a process that runs.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

  /// The download goes on from here.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64)
}

extension URLSession {
  /// What becomes of a response. Source: `Foundation.URLSession.ResponseDisposition`.
  public enum ResponseDisposition: Int, Sendable {
    /// The task ends with `cancelled`.
    case cancel = 0
    /// The body follows.
    case allow = 1
    /// The body goes to a file.
    case becomeDownload = 2
  }

  /// What becomes of a task whose earliest date has come. Source: `Foundation.URLSession.DelayedRequestDisposition`.
  public enum DelayedRequestDisposition: Int, Sendable {
    /// The original request goes out.
    case continueLoading = 0
    /// Another one goes out.
    case useNewRequest = 1
    /// The task ends with `cancelled`.
    case cancel = 2
  }
}
