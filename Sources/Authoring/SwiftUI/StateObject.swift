/// An object whose changes a view could follow. Archived views follow none: the system asks for new ones. Source:
/// `Combine.ObservableObject`, which SwiftUI exports.
public protocol ObservableObject: AnyObject {}

/// A value of an observable object. Source: `Combine.Published`.
@propertyWrapper public struct Published<Value> {
  /// The value.
  public var wrappedValue: Value
  /// A value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  /// A value.
  public init(initialValue: Value) { wrappedValue = initialValue }
}

extension Published: Sendable where Value: Sendable {}

/// An object that is made when it is first asked for, and kept as long as the process lives. Source:
/// `SwiftUI.StateObject`.
@MainActor @preconcurrency @propertyWrapper public struct StateObject<ObjectType: ObservableObject> {
  private final class Storage {
    var make: (() -> ObjectType)?
    var object: ObjectType?
    init(_ make: @escaping () -> ObjectType) { self.make = make }
  }

  private let storage: Storage

  /// An object, which is not made yet.
  public init(wrappedValue thunk: @autoclosure @escaping () -> ObjectType) { storage = Storage(thunk) }

  /// The object.
  public var wrappedValue: ObjectType {
    if let object = storage.object { return object }
    guard let make = storage.make else { preconditionFailure("a StateObject has neither an object nor its maker") }
    let object = make()
    (storage.object, storage.make) = (object, nil)
    return object
  }
}
