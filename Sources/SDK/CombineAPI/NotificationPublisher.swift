// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OpenCombine

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
