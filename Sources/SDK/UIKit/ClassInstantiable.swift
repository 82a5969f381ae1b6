// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An object that the system creates from its class, as the Objective-C runtime does. Authors do not use it.
///
/// A requirement `init()` would force every non-final class to declare it `required`, which Xcode does not.
public protocol ClassInstantiable {}

extension ClassInstantiable {
  /// Calls the class's `init()`. The entry has the same index in the vtable of every class that inherits `NSObject`, so
  /// it is called through `UIResponder`, whose `init()` is `required`.
  @MainActor package init() {
    guard let type = Self.self as? NSObject.Type else {
      fatalError("\(Self.self) cannot be an app's delegate: it does not inherit NSObject")
    }
    let made = unsafeBitCast(type, to: UIResponder.Type.self).init()
    self = unsafeBitCast(made, to: Self.self)
  }
}
