import Archive

private struct ObjectsKey: EnvironmentKey {
  static var defaultValue: [ObjectIdentifier: AnyObject] { [:] }
}

extension EnvironmentValues {
  private var objects: [ObjectIdentifier: AnyObject] {
    get { self[ObjectsKey.self] }
    set { self[ObjectsKey.self] = newValue }
  }

  func object<T: AnyObject>(_ type: T.Type) -> T? { objects[ObjectIdentifier(type)].flatMap { $0 as? T } }

  mutating func set<T: AnyObject>(_ object: T?) { objects[ObjectIdentifier(T.self)] = object }
}

/// An object of the views around. Source: `SwiftUI.EnvironmentObject`.
@propertyWrapper public struct EnvironmentObject<ObjectType: ObservableObject>: DynamicProperty {
  /// An object that `environmentObject(_:)` gives.
  public init() {}

  /// The object; without one, the process ends as it does in SwiftUI.
  public var wrappedValue: ObjectType {
    guard let object = EnvironmentValues.current.object(ObjectType.self) else {
      preconditionFailure("no \(ObjectType.self): a view around must have environmentObject(_:) with one")
    }
    return object
  }

  /// Bindings to the object's values.
  public var projectedValue: ObservedObject<ObjectType>.Wrapper { .init(object: wrappedValue) }
}

extension View {
  /// Gives the views within a value.
  nonisolated public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
    modified("environment", ["\(V.self)": .string("\(value)")]) { $0[keyPath: keyPath] = value }
  }

  /// Gives the views within an object, by its type.
  nonisolated public func environment<T: AnyObject>(_ object: T?) -> some View {
    EnvironmentView(content: self) { $0.set(object) }
  }

  /// Gives the views within an object, by its type.
  nonisolated public func environmentObject<T: ObservableObject>(_ object: T) -> some View {
    EnvironmentView(content: self) { $0.set(object) }
  }

  /// Changes a value for the views within.
  nonisolated public func transformEnvironment<V>(
    _ keyPath: WritableKeyPath<EnvironmentValues, V>, transform: @escaping (inout V) -> Void
  ) -> some View {
    EnvironmentView(content: self) { transform(&$0[keyPath: keyPath]) }
  }
}
