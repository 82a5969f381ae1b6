// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Source: `SwiftUI.EnvironmentKey`.
public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

/// Source: `SwiftUI.EnvironmentValues`.
public struct EnvironmentValues: CustomStringConvertible {
  private var values: [ObjectIdentifier: Any] = [:]
  /// Records which keys are read, of this environment and of those that are made from it.
  package var reads: EnvironmentReads?
  /// Receives the bytes of images; `nil` where only the tree of the views is needed.
  package var images: ArchivedImages?
  /// Numbers the closures that need a size; `nil` where they are called once.
  package var closures: ArchivedClosures?

  public init() {}

  public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
    get {
      reads?.record(key)
      return values[ObjectIdentifier(key)].flatMap { $0 as? K.Value } ?? K.defaultValue
    }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  public var description: String { "EnvironmentValues (\(values.count) set)" }
}

extension EnvironmentValues {
  private struct Shared: Sendable {
    // Read by the body that is being evaluated and by the tasks that it starts; never written.
    nonisolated(unsafe) let values: EnvironmentValues
  }

  @TaskLocal private static var around: Shared?

  /// The values of the body that is being evaluated; the defaults outside of one.
  package static var current: EnvironmentValues { around?.values ?? EnvironmentValues() }

  /// Evaluates a body; `@Environment` reads these values in it.
  package func during<Result>(_ body: () -> Result) -> Result {
    Self.$around.withValue(Shared(values: self)) { body() }
  }
}

/// The keys of an environment that an author's views have read. Any thread.
package final class EnvironmentReads: Sendable {
  private let keys = Mutex<Set<ObjectIdentifier>>([])

  package init() {}

  fileprivate func record<K: EnvironmentKey>(_ key: K.Type) { keys.withLock { _ = $0.insert(ObjectIdentifier(key)) } }

  func contains<K: EnvironmentKey>(_ key: K.Type) -> Bool { keys.withLock { $0.contains(ObjectIdentifier(key)) } }
}

/// Source: `SwiftUI.Environment`.
@propertyWrapper public struct Environment<Value>: DynamicProperty {
  private let read: (EnvironmentValues) -> Value

  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { read = { $0[keyPath: keyPath] } }

  public var wrappedValue: Value { read(EnvironmentValues.current) }
}

extension Environment {
  /// Reads an object by its type. Without one, the process terminates as in SwiftUI.
  public init(_ objectType: Value.Type) where Value: AnyObject {
    read = { environment in
      guard let object = environment.object(objectType) else {
        fatalError("no \(objectType) in the environment: an enclosing view must set it with environment(_:)")
      }
      return object
    }
  }

  /// Reads an object by its type; `nil` without one.
  public init<T: AnyObject>(_ objectType: T.Type) where Value == T? { read = { $0.object(objectType) } }
}
