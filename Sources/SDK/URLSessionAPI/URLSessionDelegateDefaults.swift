// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
