// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// An object of the app that an intent or a query uses. Source: `AppIntents.AppDependency`.
@propertyWrapper public struct AppDependency<Value: Sendable>: Sendable {
  private let key: AnyHashableSendable?

  public init(key: (any Hashable & Sendable)? = nil) { self.key = key.map { AnyHashableSendable($0) } }

  /// Ends the process when nothing was added for this type, as on a phone.
  public var wrappedValue: Value {
    guard let value: Value = AppDependencyManager.shared.value(key) else {
      fatalError("AppDependency: no \(Value.self) was added to AppDependencyManager before it was used")
    }
    return value
  }
}

/// A key of the author.
private struct AnyHashableSendable: Hashable, Sendable {
  private let text: String
  init(_ key: any Hashable & Sendable) { text = "\(type(of: key)).\(key)" }
}

/// The objects that intents use. Source: `AppIntents.AppDependencyManager`.
public final class AppDependencyManager: Sendable {
  public static let shared = AppDependencyManager()

  private struct Name: Hashable {
    let type: ObjectIdentifier
    let key: AnyHashableSendable?
  }

  private let made = Mutex<[Name: any Sendable]>([:])

  /// Adds an object for its type.
  public func add<Dependency: Sendable>(
    key: (any Hashable & Sendable)? = nil,
    dependency dependencyProvider: @autoclosure @escaping @Sendable () -> Dependency
  ) {
    let value = dependencyProvider()
    made.withLock {
      $0[Name(type: ObjectIdentifier(Dependency.self), key: key.map { AnyHashableSendable($0) })] = value
    }
  }

  fileprivate func value<Value: Sendable>(_ key: AnyHashableSendable?) -> Value? {
    made.withLock { $0[Name(type: ObjectIdentifier(Value.self), key: key)] as? Value }
  }
}

extension AppIntent {
  /// Declares an object of the app that the intent uses.
  public typealias Dependency<Value: Sendable> = AppDependency<Value>
}

extension EntityQuery {
  /// Declares an object of the app that the query uses.
  public typealias Dependency<Value: Sendable> = AppDependency<Value>
}

/// An intent that takes the place of one of an `.intentdefinition`. Source: `AppIntents.CustomIntentMigratedAppIntent`.
/// The values that a user chose for the former one are kept where the parameters have the same names.
public protocol CustomIntentMigratedAppIntent: AppIntent {
  /// The class of the former intent.
  static var intentClassName: String { get }
}

/// An intent that another replaces. Source: `AppIntents.DeprecatedAppIntent`.
public protocol DeprecatedAppIntent: AppIntent {}
