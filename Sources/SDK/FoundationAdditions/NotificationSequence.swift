// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension NotificationCenter {
  /// The notifications of a center, from the creation of the sequence's iterator. Source:
  /// `Foundation.NotificationCenter.Notifications`.
  public final class Notifications: AsyncSequence, Sendable {
    public typealias Element = Notification

    private let center: NotificationCenter
    private let name: Notification.Name
    // Only compared by the center.
    nonisolated(unsafe) private let object: AnyObject?

    init(_ center: NotificationCenter, _ name: Notification.Name, _ object: AnyObject?) {
      self.center = center
      self.name = name
      self.object = object
    }

    public func makeAsyncIterator() -> Iterator {
      let (stream, continuation) = AsyncStream.makeStream(of: Received.self)
      // Only given back to the center.
      nonisolated(unsafe) let token = center.addObserver(forName: name, object: object, queue: nil) {
        continuation.yield(Received(notification: $0))
      }
      let center = center
      continuation.onTermination = { _ in center.removeObserver(token) }
      return Iterator(received: stream.makeAsyncIterator())
    }

    fileprivate struct Received: Sendable {
      // Read by the only iterator.
      nonisolated(unsafe) let notification: Notification
    }

    /// Source: `NotificationCenter.Notifications.Iterator`.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate var received: AsyncStream<Received>.Iterator

      public mutating func next() async -> Notification? { await next(isolation: #isolation) }
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
        await received.next(isolation: actor)?.notification
      }
    }
  }

  public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
    Notifications(self, name, object)
  }
}
