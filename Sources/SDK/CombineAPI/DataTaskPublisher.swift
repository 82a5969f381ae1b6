// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OpenCombine
public import URLSessionAPI

extension URLSession {
  /// Performs a request for each subscriber. Source: `URLSession.DataTaskPublisher`.
  public struct DataTaskPublisher: Publisher, Sendable {
    public typealias Output = (data: Data, response: URLResponse)
    public typealias Failure = URLError

    public let request: URLRequest
    public let session: URLSession

    public init(request: URLRequest, session: URLSession) {
      self.request = request
      self.session = session
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == URLError {
      let loaded = Loading()
      Deferred {
        Future<Output, URLError> { promise in
          // Called once, by the task.
          nonisolated(unsafe) let promise = promise
          let task = session.dataTask(with: request) { data, response, error in
            if let data, let response, error == nil { return promise(.success((data, response))) }
            promise(.failure(error as? URLError ?? URLError(.unknown)))
          }
          loaded.start(task)
        }
      }
      .handleEvents(receiveCancel: { loaded.cancel() })
      .receive(subscriber: subscriber)
    }
  }

  public func dataTaskPublisher(for url: URL) -> DataTaskPublisher { dataTaskPublisher(for: URLRequest(url: url)) }
  public func dataTaskPublisher(for request: URLRequest) -> DataTaskPublisher {
    DataTaskPublisher(request: request, session: self)
  }
}

/// The task of a subscriber, which its cancellation cancels.
private final class Loading: Sendable {
  private let lock = NSLock()
  // Read and written only while the lock is held.
  nonisolated(unsafe) private var task: URLSessionDataTask?

  func start(_ task: URLSessionDataTask) {
    lock.withLock { self.task = task }
    task.resume()
  }
  func cancel() { lock.withLock { task }?.cancel() }
}
