// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

// Key-value observing needs Objective-C, which replaces a property's setter. Here no change is observed: the diagnosis
// `not-simulated` names the use. What is observed initially is reported to the observer.

/// Source: `Foundation.NSKeyValueObservingOptions`.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
  public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// Source: `Foundation.NSKeyValueChangeKey`.
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let kindKey = NSKeyValueChangeKey(rawValue: "kind")
  public static let newKey = NSKeyValueChangeKey(rawValue: "new")
  public static let oldKey = NSKeyValueChangeKey(rawValue: "old")
  public static let indexesKey = NSKeyValueChangeKey(rawValue: "indexes")
  public static let notificationIsPriorKey = NSKeyValueChangeKey(rawValue: "notificationIsPrior")
}

/// Source: `Foundation.NSKeyValueChange`.
public enum NSKeyValueChange: UInt, Sendable {
  case setting = 1
  case insertion, removal, replacement
}

/// Source: `Foundation.NSKeyValueObservedChange`.
public struct NSKeyValueObservedChange<Value> {
  public typealias Kind = NSKeyValueChange
  public let kind: Kind
  public let newValue: Value?
  public let oldValue: Value?
  public let indexes: IndexSet?
  public let isPrior: Bool
}

/// Source: `Foundation.NSKeyValueObservation`.
public final class NSKeyValueObservation: NSObject {
  /// Has no effect: nothing is observed.
  public func invalidate() {}
}

private func noticeObserving(_ declaration: String) {
  HostedProcess.current?.noticeUnsimulated(
    declaration, "no change of the property is observed, because Swift here has no Objective-C")
}

/// Source: `Foundation._KeyValueCodingAndObserving`.
public protocol _KeyValueCodingAndObserving {}

extension NSObject: _KeyValueCodingAndObserving {
  /// Has no effect, and the diagnosis `not-simulated` names it.
  public func addObserver(
    _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer?
  ) { noticeObserving("addObserver(_:forKeyPath:options:context:)") }

  public func removeObserver(_ observer: NSObject, forKeyPath keyPath: String) {}
  public func removeObserver(_ observer: NSObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?) {}
}

extension _KeyValueCodingAndObserving {
  /// Calls the closure once with `initial`, and otherwise never: the diagnosis `not-simulated` names it.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    noticeObserving("observe(_:options:changeHandler:)")
    if options.contains(.initial) {
      let value = options.contains(.new) ? self[keyPath: keyPath] : nil
      changeHandler(
        self,
        NSKeyValueObservedChange(kind: .setting, newValue: value, oldValue: nil, indexes: nil, isPrior: false))
    }
    return NSKeyValueObservation()
  }
}

extension NotificationCenter {
  /// The notifications of a center, from the creation of the sequence's iterator. Source:
  /// `Foundation.NotificationCenter.Notifications`.
  public final class Notifications: AsyncSequence, Sendable {
    public typealias Element = Notification

    private let center: NotificationCenter
    private let name: Notification.Name
    // Only compared by the center.
    nonisolated(unsafe) private let object: AnyObject?

    init(_ center: NotificationCenter, name: Notification.Name, object: AnyObject?) {
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
    Notifications(self, name: name, object: object)
  }
}
