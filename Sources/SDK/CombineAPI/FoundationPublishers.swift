// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
// OpenCombine has Combine's declarations. This module adds those of Foundation.
@_exported public import OpenCombine
@_exported public import OpenCombineDispatch
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

// Source of all: Foundation's declarations for Combine.

extension NotificationCenter {
  /// Sends the notifications of a center. One that arrives without demand is dropped.
  public struct Publisher: OpenCombine.Publisher {
    public typealias Output = Notification
    public typealias Failure = Never

    public let center: NotificationCenter
    public let name: Notification.Name
    public let object: AnyObject?

    public init(center: NotificationCenter, name: Notification.Name, object: AnyObject? = nil) {
      self.center = center
      self.name = name
      self.object = object
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Notification, S.Failure == Never {
      // A subject of OpenCombine has a lock.
      nonisolated(unsafe) let subject = PassthroughSubject<Notification, Never>()
      // Only given back to the center.
      nonisolated(unsafe) let token = center.addObserver(forName: name, object: object, queue: nil) {
        subject.send($0)
      }
      let center = center
      subject.handleEvents(receiveCancel: { center.removeObserver(token) }).receive(subscriber: subscriber)
    }
  }

  public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Publisher {
    Publisher(center: self, name: name, object: object)
  }
}

extension Timer {
  /// Sends the date at intervals, after `connect()`. Source: `Timer.TimerPublisher`.
  public final class TimerPublisher: ConnectablePublisher {
    public typealias Output = Date
    public typealias Failure = Never

    public let interval: TimeInterval
    public let tolerance: TimeInterval?
    public let runLoop: RunLoop
    public let mode: RunLoop.Mode
    public let options: RunLoop.SchedulerOptions?
    private let subject = PassthroughSubject<Date, Never>()

    public init(
      interval: TimeInterval, tolerance: TimeInterval? = nil, runLoop: RunLoop, mode: RunLoop.Mode,
      options: RunLoop.SchedulerOptions? = nil
    ) {
      self.interval = interval
      self.tolerance = tolerance
      self.runLoop = runLoop
      self.mode = mode
      self.options = options
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Date, S.Failure == Never {
      subject.receive(subscriber: subscriber)
    }

    public func connect() -> any Cancellable {
      // A subject of OpenCombine has a lock.
      nonisolated(unsafe) let subject = subject
      let timer = Timer(timeInterval: interval, repeats: true) { _ in subject.send(Date()) }
      timer.tolerance = tolerance ?? 0
      runLoop.add(timer, forMode: mode)
      return AnyCancellable { timer.invalidate() }
    }
  }

  public static func publish(
    every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop, in mode: RunLoop.Mode,
    options: RunLoop.SchedulerOptions? = nil
  ) -> TimerPublisher {
    TimerPublisher(interval: interval, tolerance: tolerance, runLoop: runLoop, mode: mode, options: options)
  }
}
