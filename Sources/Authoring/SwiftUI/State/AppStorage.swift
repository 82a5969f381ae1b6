public import Foundation

/// A value of the person's settings. Source: `SwiftUI.AppStorage`. An app group's are a store of their own.
@propertyWrapper public struct AppStorage<Value>: DynamicProperty {
  private let read: () -> Value
  private let write: (Value) -> Void

  /// The value.
  public var wrappedValue: Value {
    get { read() }
    nonmutating set { write(newValue) }
  }
  /// A binding to the value.
  public var projectedValue: Binding<Value> { Binding(get: read, set: write) }

  private init(
    _ key: String, _ store: UserDefaults?, _ standard: Value, read: @escaping (Any) -> Value?,
    write: @escaping (Value) -> Any?
  ) {
    let store = store ?? .standard
    self.read = { store.object(forKey: key).flatMap(read) ?? standard }
    self.write = { store.set(write($0), forKey: key) }
  }
}

extension AppStorage where Value == Bool {
  /// A switch.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store, wrappedValue, read: { $0 as? Bool }, write: { $0 })
  }
}

extension AppStorage where Value == Bool? {
  /// A switch that may lack.
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store, nil, read: { $0 as? Bool }, write: { $0 })
  }
}

extension AppStorage where Value == Int {
  /// A number.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store, wrappedValue, read: { $0 as? Int }, write: { $0 })
  }
}

extension AppStorage where Value == Int? {
  /// A number that may lack.
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store, nil, read: { $0 as? Int }, write: { $0 })
  }
}

extension AppStorage where Value == Double {
  /// A number.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store, wrappedValue, read: { $0 as? Double }, write: { $0 })
  }
}

extension AppStorage where Value == Double? {
  /// A number that may lack.
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store, nil, read: { $0 as? Double }, write: { $0 })
  }
}

extension AppStorage where Value == String {
  /// A text.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store, wrappedValue, read: { $0 as? String }, write: { $0 })
  }
}

extension AppStorage where Value == String? {
  /// A text that may lack.
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store, nil, read: { $0 as? String }, write: { $0 })
  }
}

extension AppStorage where Value == Data {
  /// Bytes.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store, wrappedValue, read: { $0 as? Data }, write: { $0 })
  }
}

extension AppStorage where Value == Data? {
  /// Bytes that may lack.
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store, nil, read: { $0 as? Data }, write: { $0 })
  }
}

extension AppStorage where Value == URL {
  /// A URL.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(
      key, store, wrappedValue, read: { ($0 as? String).flatMap { URL(string: $0) } }, write: { $0.absoluteString })
  }
}

extension AppStorage where Value: RawRepresentable, Value.RawValue == Int {
  /// A value that is kept as a number.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(
      key, store, wrappedValue, read: { ($0 as? Int).flatMap(Value.init(rawValue:)) }, write: { $0.rawValue })
  }
}

extension AppStorage where Value: RawRepresentable, Value.RawValue == String {
  /// A value that is kept as a text.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(
      key, store, wrappedValue, read: { ($0 as? String).flatMap(Value.init(rawValue:)) }, write: { $0.rawValue })
  }
}
