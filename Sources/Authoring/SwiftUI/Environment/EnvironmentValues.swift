/// A value that views read from what is around them. Source: `SwiftUI.EnvironmentKey`.
public protocol EnvironmentKey {
  /// The value's type.
  associatedtype Value
  /// What a view reads where nobody has set it.
  static var defaultValue: Value { get }
}

/// What a view reads from what is around it. Source: `SwiftUI.EnvironmentValues`.
public struct EnvironmentValues: CustomStringConvertible {
  private var values: [ObjectIdentifier: Any] = [:]

  /// The defaults.
  public init() {}

  /// The value of a key.
  public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
    get { values[ObjectIdentifier(key)].flatMap { $0 as? K.Value } ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  /// For a person: how many values are set.
  public var description: String { "EnvironmentValues (\(values.count) set)" }
}

extension EnvironmentValues {
  private struct Shared: Sendable {
    // Read by the body that is being made; a task that the body starts reads the same, and nobody writes to it.
    nonisolated(unsafe) let values: EnvironmentValues
  }

  @TaskLocal private static var around: Shared?

  /// Those of the body that is being made; the defaults outside.
  package static var current: EnvironmentValues { around?.values ?? EnvironmentValues() }

  /// Makes a body: `@Environment` reads these values in it.
  package func during<Result>(_ body: () -> Result) -> Result {
    Self.$around.withValue(Shared(values: self)) { body() }
  }
}

/// A value that a view reads from what is around it. Source: `SwiftUI.Environment`.
@propertyWrapper public struct Environment<Value>: DynamicProperty {
  private let read: (EnvironmentValues) -> Value

  /// A value by its path.
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { read = { $0[keyPath: keyPath] } }

  /// The value where the view stands.
  public var wrappedValue: Value { read(EnvironmentValues.current) }
}

extension Environment {
  /// An object by its type; without one, the process ends as it does in SwiftUI.
  public init(_ objectType: Value.Type) where Value: AnyObject {
    read = { environment in
      guard let object = environment.object(objectType) else {
        preconditionFailure("no \(objectType) in the environment: a view around must have environment(_:) with one")
      }
      return object
    }
  }

  /// An object by its type, if there is one.
  public init<T: AnyObject>(_ objectType: T.Type) where Value == T? { read = { $0.object(objectType) } }
}
