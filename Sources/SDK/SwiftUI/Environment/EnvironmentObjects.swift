// SPDX-License-Identifier: Apache-2.0

import Archive
public import OpenCombine

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

/// Source: `SwiftUI.EnvironmentObject`.
@propertyWrapper public struct EnvironmentObject<ObjectType: ObservableObject>: DynamicProperty {
  /// Reads the object that `environmentObject(_:)` sets.
  public init() {}

  /// The object. Without one, the process terminates as in SwiftUI.
  public var wrappedValue: ObjectType {
    guard let object = EnvironmentValues.current.object(ObjectType.self) else {
      fatalError("no \(ObjectType.self): an enclosing view must set it with environmentObject(_:)")
    }
    return object
  }

  public var projectedValue: ObservedObject<ObjectType>.Wrapper { .init(object: wrappedValue) }
}

extension View {
  nonisolated public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
    modified(.undrawn(.environment), ["\(V.self)": .string("\(value)")]) { $0[keyPath: keyPath] = value }
  }

  nonisolated public func environment<T: AnyObject>(_ object: T?) -> some View {
    EnvironmentView(content: self) { $0.set(object) }
  }

  nonisolated public func environmentObject<T: ObservableObject>(_ object: T) -> some View {
    EnvironmentView(content: self) { $0.set(object) }
  }

  nonisolated public func transformEnvironment<V>(
    _ keyPath: WritableKeyPath<EnvironmentValues, V>, transform: @escaping (inout V) -> Void
  ) -> some View {
    EnvironmentView(content: self) { transform(&$0[keyPath: keyPath]) }
  }
}
