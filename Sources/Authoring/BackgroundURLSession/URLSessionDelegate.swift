public import Foundation

/// What a session tells its delegate, on the session's delegate queue. Source: `Foundation.URLSessionDelegate`.
@preconcurrency public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
  /// The last message of a session.
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
  /// All messages that were waiting for this session have been delivered: call the completion handler that the handler
  /// for background session events was given.
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
  /// Does nothing.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
  /// Does nothing.
  public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

/// What a session tells its delegate of any task. Source: `Foundation.URLSessionTaskDelegate`.
@preconcurrency public protocol URLSessionTaskDelegate: URLSessionDelegate {
  /// The last message of a task; without an error the transfer succeeded, whatever status the server answered with.
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
  /// Does nothing.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

/// What a session tells its delegate of download tasks. Source: `Foundation.URLSessionDownloadDelegate`.
@preconcurrency public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
  /// The download is there. The file exists until this method returns: read it or move it before.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
}
