// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_exported public import Foundation
import Synchronization

/// Source: `CoreFoundation.CFNotificationName`.
public struct CFNotificationName: RawRepresentable, Hashable, Sendable {
  public let rawValue: CFString
  public init(rawValue: CFString) { self.rawValue = rawValue }
  public init(_ rawValue: CFString) { self.rawValue = rawValue }
}

/// Source: `CoreFoundation.CFNotificationSuspensionBehavior`. Has no effect: an observer always gets a notification at
/// once.
public enum CFNotificationSuspensionBehavior: Int, Sendable {
  case drop = 1
  case coalesce = 2
  case hold = 3
  case deliverImmediately = 4
}

/// Gets the center, the observer, the name, the object and the user info. Source: `CoreFoundation.CFNotificationCallback`.
public typealias CFNotificationCallback =
  @Sendable (
    CFNotificationCenter?, UnsafeMutableRawPointer?, CFNotificationName?, UnsafeRawPointer?, CFDictionary?
  ) -> Void

/// Source: `CoreFoundation.CFNotificationCenter`. The Darwin center connects all processes of a phone. Here it reaches the
/// observers of the same process only, and the diagnosis `not-simulated` names its use.
public final class CFNotificationCenter: Sendable {
  struct Observer: Hashable {
    /// The address of what observes.
    let observer: UInt
    /// `nil`: all names.
    let name: String?
  }

  static let darwin = CFNotificationCenter(isDarwin: true)
  static let local = CFNotificationCenter(isDarwin: false)

  let isDarwin: Bool
  private let observers = Mutex<[Observer: CFNotificationCallback]>([:])

  private init(isDarwin: Bool) { self.isDarwin = isDarwin }

  func add(_ observer: Observer, _ callback: @escaping CFNotificationCallback) {
    observers.withLock { $0[observer] = callback }
  }

  /// - Parameters:
  ///   - observer: `nil` for all.
  ///   - name: `nil` for all.
  func remove(_ observer: UInt?, _ name: String?) {
    observers.withLock { observers in
      observers = observers.filter { entry, _ in
        (observer != nil && entry.observer != observer) || (name != nil && entry.name != name)
      }
    }
  }

  /// Those of a name, in no order.
  func observers(of name: String) -> [(observer: UInt, callback: CFNotificationCallback)] {
    observers.withLock { observers in
      observers.filter { $0.key.name == nil || $0.key.name == name }.map { ($0.key.observer, $0.value) }
    }
  }
}

/// Source: `CoreFoundation.CFNotificationCenterGetDarwinNotifyCenter()`.
public func CFNotificationCenterGetDarwinNotifyCenter() -> CFNotificationCenter! { .darwin }
/// Source: `CoreFoundation.CFNotificationCenterGetLocalCenter()`.
public func CFNotificationCenterGetLocalCenter() -> CFNotificationCenter! { .local }

/// The Darwin center ignores an observer without a name, as on a phone.
/// Source: `CoreFoundation.CFNotificationCenterAddObserver(_:_:_:_:_:_:)`.
public func CFNotificationCenterAddObserver(
  _ center: CFNotificationCenter!, _ observer: UnsafeRawPointer!, _ callBack: CFNotificationCallback!,
  _ name: CFString!, _ object: UnsafeRawPointer!, _ suspensionBehavior: CFNotificationSuspensionBehavior
) {
  guard let callBack, !(center.isDarwin && name == nil) else { return }
  center.add(.init(observer: observer.map { UInt(bitPattern: $0) } ?? 0, name: name), callBack)
}

/// Source: `CoreFoundation.CFNotificationCenterRemoveObserver(_:_:_:_:)`.
public func CFNotificationCenterRemoveObserver(
  _ center: CFNotificationCenter!, _ observer: UnsafeRawPointer!, _ name: CFNotificationName!,
  _ object: UnsafeRawPointer!
) { center.remove(observer.map { UInt(bitPattern: $0) } ?? 0, name?.rawValue) }

/// Source: `CoreFoundation.CFNotificationCenterRemoveEveryObserver(_:_:)`.
public func CFNotificationCenterRemoveEveryObserver(_ center: CFNotificationCenter!, _ observer: UnsafeRawPointer!) {
  center.remove(observer.map { UInt(bitPattern: $0) } ?? 0, nil)
}

/// Calls the observers: those of the local center before it returns, those of the Darwin center on the main queue, without
/// the object and the user info.
/// Source: `CoreFoundation.CFNotificationCenterPostNotification(_:_:_:_:_:)`.
public func CFNotificationCenterPostNotification(
  _ center: CFNotificationCenter!, _ name: CFNotificationName!, _ object: UnsafeRawPointer!, _ userInfo: CFDictionary!,
  _ deliverImmediately: Bool
) {
  guard let center, let name else { return }
  guard center.isDarwin else {
    for entry in center.observers(of: name.rawValue) {
      entry.callback(center, UnsafeMutableRawPointer(bitPattern: entry.observer), name, object, userInfo)
    }
    return
  }
  HostedProcess.current?.noticeUnsimulated(
    "CFNotificationCenterGetDarwinNotifyCenter", "a Darwin notification reaches observers of the same process only")
  DispatchQueue.main.async {
    for entry in center.observers(of: name.rawValue) {
      entry.callback(center, UnsafeMutableRawPointer(bitPattern: entry.observer), name, nil, nil)
    }
  }
}

// The names of Core Foundation's types. Here they are Swift's own types: the conversions that authors write
// (`as CFDictionary`, `as String`) compile, and have no effect.

/// Source: `CoreFoundation.CFString`. Here it is a `String`.
public typealias CFString = String
/// Source: `CoreFoundation.CFData`. Here it is a `Data`.
public typealias CFData = Data
/// Source: `CoreFoundation.CFBoolean`. Here it is a `Bool`.
public typealias CFBoolean = Bool
/// Source: `CoreFoundation.CFNumber`.
public typealias CFNumber = NSNumber
/// Source: `CoreFoundation.CFArray`. Here it is an `Array`.
public typealias CFArray = [Any]
/// Source: `CoreFoundation.CFDictionary`. Here it is a `Dictionary`, and its keys are strings. An `NSDictionary` is
/// none, and needs a conversion with `as? [String: Any]`.
public typealias CFDictionary = [String: Any]
/// Source: `CoreFoundation.CFURL`. Here it is a `URL`.
public typealias CFURL = URL
/// Source: `CoreFoundation.CFError`. Here it is an `NSError`.
public typealias CFError = NSError
/// Source: `CoreFoundation.CFTypeRef`.
public typealias CFTypeRef = AnyObject

/// A result code, such as `errSecSuccess`. Source: `Darwin.OSStatus`.
public typealias OSStatus = Int32
/// Source: `Darwin.noErr`.
public let noErr: OSStatus = 0

/// Source: `CoreFoundation.kCFBooleanTrue`.
public let kCFBooleanTrue: CFBoolean! = true
/// Source: `CoreFoundation.kCFBooleanFalse`.
public let kCFBooleanFalse: CFBoolean! = false
