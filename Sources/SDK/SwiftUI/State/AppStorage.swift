// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A value of the user defaults. Source: `SwiftUI.AppStorage`. Each app group has a separate store. A stored number of
/// another type is converted if that is exact, as on Apple's systems.
@propertyWrapper public struct AppStorage<Value>: DynamicProperty {
  private let read: () -> Value
  private let write: (Value) -> Void
  private let key: String
  private let store: UserDefaults

  public var wrappedValue: Value {
    get { read() }
    nonmutating set { write(newValue) }
  }
  public var projectedValue: Binding<Value> { Binding(get: read, set: write) }

  private init(
    _ key: String, store: UserDefaults?, standard: Value, read: @escaping (Any) -> Value?,
    write: @escaping (Value) -> Any?
  ) {
    let store = store ?? .standard
    (self.key, self.store) = (key, store)
    self.read = { store.object(forKey: key).flatMap(read) ?? standard }
    self.write = { store.set(write($0), forKey: key) }
  }
}

extension AppStorage: LiveProperty {
  func live(in node: LiveNode, _ label: String) { node.reads(key, of: store) }
}

extension AppStorage where Value == Bool {
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: wrappedValue, read: { ($0 as? NSNumber) as? Bool }, write: { $0 })
  }
}

extension AppStorage where Value == Bool? {
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: nil, read: { ($0 as? NSNumber) as? Bool }, write: { $0 })
  }
}

extension AppStorage where Value == Int {
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: wrappedValue, read: { ($0 as? NSNumber) as? Int }, write: { $0 })
  }
}

extension AppStorage where Value == Int? {
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: nil, read: { ($0 as? NSNumber) as? Int }, write: { $0 })
  }
}

extension AppStorage where Value == Double {
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: wrappedValue, read: { ($0 as? NSNumber) as? Double }, write: { $0 })
  }
}

extension AppStorage where Value == Double? {
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: nil, read: { ($0 as? NSNumber) as? Double }, write: { $0 })
  }
}

extension AppStorage where Value == String {
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: wrappedValue, read: { $0 as? String }, write: { $0 })
  }
}

extension AppStorage where Value == String? {
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: nil, read: { $0 as? String }, write: { $0 })
  }
}

extension AppStorage where Value == Data {
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: wrappedValue, read: { $0 as? Data }, write: { $0 })
  }
}

extension AppStorage where Value == Data? {
  public init(_ key: String, store: UserDefaults? = nil) {
    self.init(key, store: store, standard: nil, read: { $0 as? Data }, write: { $0 })
  }
}

extension AppStorage where Value == URL {
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    let store = store ?? .standard
    (self.key, self.store) = (key, store)
    self.read = { store.url(forKey: key) ?? wrappedValue }
    self.write = { (url: URL) in store.set(url, forKey: key) }
  }
}

extension AppStorage where Value: RawRepresentable, Value.RawValue == Int {
  /// Stores the raw value as a number.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(
      key, store: store, standard: wrappedValue, read: { (($0 as? NSNumber) as? Int).flatMap(Value.init(rawValue:)) },
      write: { $0.rawValue })
  }
}

extension AppStorage where Value: RawRepresentable, Value.RawValue == String {
  /// Stores the raw value as a string.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) {
    self.init(
      key, store: store, standard: wrappedValue, read: { ($0 as? String).flatMap(Value.init(rawValue:)) },
      write: { $0.rawValue })
  }
}
