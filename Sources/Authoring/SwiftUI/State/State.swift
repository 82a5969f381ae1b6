/// A value that a view keeps. Source: `SwiftUI.State`. An archived view begins with its first value each time.
@propertyWrapper public struct State<Value>: DynamicProperty {
  private final class Storage {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private let storage: Storage

  /// A value.
  public init(wrappedValue value: Value) { storage = Storage(value) }
  /// A value.
  @_disfavoredOverload public init(initialValue value: Value) { storage = Storage(value) }

  /// The value.
  public var wrappedValue: Value {
    get { storage.value }
    nonmutating set { storage.value = newValue }
  }
  /// A binding to the value.
  public var projectedValue: Binding<Value> {
    Binding(get: { storage.value }, set: { storage.value = $0 })
  }
}

extension State where Value: ExpressibleByNilLiteral {
  /// None.
  public init() { self.init(wrappedValue: nil) }
}

/// A value that is kept elsewhere. Source: `SwiftUI.Binding`.
@propertyWrapper @dynamicMemberLookup public struct Binding<Value>: DynamicProperty {
  private let read: () -> Value
  private let write: (Value) -> Void

  /// A value by its accessors.
  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) { (read, write) = (get, set) }
  /// A binding to the same value.
  public init(projectedValue: Binding<Value>) { self = projectedValue }
  /// A value that stays as it is.
  public static func constant(_ value: Value) -> Binding<Value> { Binding(get: { value }, set: { _ in }) }

  /// The value.
  public var wrappedValue: Value {
    get { read() }
    nonmutating set { write(newValue) }
  }
  /// The binding.
  public var projectedValue: Binding<Value> { self }
  /// A part of the value.
  public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
    Binding<Subject>(get: { read()[keyPath: keyPath] }, set: { self.wrappedValue[keyPath: keyPath] = $0 })
  }
}

/// An object that is kept elsewhere. Source: `SwiftUI.ObservedObject`.
@propertyWrapper public struct ObservedObject<ObjectType: ObservableObject>: DynamicProperty {
  /// The object.
  public var wrappedValue: ObjectType
  /// An object.
  public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }
  /// An object.
  public init(initialValue: ObjectType) { wrappedValue = initialValue }

  /// Bindings to the object's values.
  public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }

  /// Bindings to an object's values. Source: `SwiftUI.ObservedObject.Wrapper`.
  @dynamicMemberLookup public struct Wrapper {
    let object: ObjectType
    /// A binding to one of them.
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>) -> Binding<Subject>
    {
      Binding(get: { object[keyPath: keyPath] }, set: { object[keyPath: keyPath] = $0 })
    }
  }
}
