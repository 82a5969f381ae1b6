import Foundation

/// What the system makes by its class alone, as Objective-C would. Authors have no need of it.
///
/// A requirement `init()` would have every class that is not final write `required`, which Xcode does not ask for.
public protocol MadeByItsClass {}

extension MadeByItsClass {
  /// Calls the `init()` of the class, whichever that is. It stands at the same place in the table of every class that
  /// inherits `NSObject`, and is called there as one that Swift lets be called so: `UIResponder`'s.
  @MainActor package init() {
    guard let type = Self.self as? NSObject.Type else {
      fatalError("\(Self.self) cannot be an app's delegate: it does not inherit NSObject")
    }
    let made = unsafeBitCast(type, to: UIResponder.Type.self).init()
    self = unsafeBitCast(made, to: Self.self)
  }
}
