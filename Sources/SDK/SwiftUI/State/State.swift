// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Observation
public import OpenCombine

/// Source: `SwiftUI.State`. A view of a widget starts with the initial value each time; one of an app keeps its value, and a
/// change evaluates the views again.
@propertyWrapper public struct State<Value>: DynamicProperty {
  /// Authors set state on any thread.
  private final class Cell {
    private let lock = NSLock()
    private var guarded: Value
    private var changed: (@Sendable () -> Void)?
    init(_ value: Value) { guarded = value }

    var value: Value { lock.withLock { guarded } }

    /// - Returns: the former value, and what is called when it is another one.
    func set(_ value: Value) -> (former: Value, changed: (@Sendable () -> Void)?) {
      lock.withLock {
        let former = guarded
        guarded = value
        return (former, changed)
      }
    }

    func onChange(_ changed: @escaping @Sendable () -> Void) { lock.withLock { self.changed = changed } }
  }

  private final class Storage {
    var cell: Cell
    init(_ value: Value) { cell = Cell(value) }

    var value: Value {
      get { cell.value }
      set {
        let (former, changed) = cell.set(newValue)
        guard let changed else { return }
        if let former = former as? any Equatable, let new = newValue as? any Equatable, former.isEqual(to: new) {
          return
        }
        changed()
      }
    }
  }

  private let storage: Storage

  public init(wrappedValue value: Value) { storage = Storage(value) }
  @_disfavoredOverload public init(initialValue value: Value) { storage = Storage(value) }

  public var wrappedValue: Value {
    get { storage.value }
    nonmutating set { storage.value = newValue }
  }
  public var projectedValue: Binding<Value> {
    Binding(get: { storage.value }, set: { storage.value = $0 })
  }
}

extension State: LiveProperty {
  func live(in node: LiveNode, _ label: String) {
    let (cell, isNew) = node.cell(label, storage.cell)
    // Other threads may read it.
    if cell !== storage.cell { storage.cell = cell }
    if isNew { cell.onChange(node.changed) }
  }
}

extension State where Value: ExpressibleByNilLiteral {
  public init() { self.init(wrappedValue: nil) }
}

/// Source: `SwiftUI.Binding`.
@propertyWrapper @dynamicMemberLookup public struct Binding<Value>: DynamicProperty {
  private let read: () -> Value
  private let write: (Value) -> Void

  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) { (read, write) = (get, set) }
  public init(projectedValue: Binding<Value>) { self = projectedValue }
  public static func constant(_ value: Value) -> Binding<Value> { Binding(get: { value }, set: { _ in }) }

  public var wrappedValue: Value {
    get { read() }
    nonmutating set { write(newValue) }
  }
  public var projectedValue: Binding<Value> { self }
  public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
    Binding<Subject>(get: { read()[keyPath: keyPath] }, set: { self.wrappedValue[keyPath: keyPath] = $0 })
  }
}

/// Source: `SwiftUI.ObservedObject`.
@propertyWrapper public struct ObservedObject<ObjectType: ObservableObject>: DynamicProperty {
  public var wrappedValue: ObjectType
  public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }
  public init(initialValue: ObjectType) { wrappedValue = initialValue }

  public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }

  /// Source: `SwiftUI.ObservedObject.Wrapper`.
  @dynamicMemberLookup public struct Wrapper {
    let object: ObjectType
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>) -> Binding<Subject>
    {
      Binding(get: { object[keyPath: keyPath] }, set: { object[keyPath: keyPath] = $0 })
    }
  }
}

extension ObservedObject: LiveProperty {
  func live(in node: LiveNode, _ label: String) { node.observe(label, wrappedValue) }
}

extension EnvironmentObject: LiveProperty {
  func live(in node: LiveNode, _ label: String) { node.observe(label, wrappedValue) }
}

/// Source: `SwiftUI.StateObject`. The object is created on first access and kept until the process exits.
@MainActor @preconcurrency @propertyWrapper public struct StateObject<ObjectType: ObservableObject> {
  private final class Storage {
    var make: (() -> ObjectType)?
    var object: ObjectType?
    /// That of the first evaluation of an app's view.
    var first: Storage?
    init(_ make: @escaping () -> ObjectType) { self.make = make }
  }

  private let storage: Storage

  public init(wrappedValue thunk: @autoclosure @escaping () -> ObjectType) { storage = Storage(thunk) }

  public var wrappedValue: ObjectType {
    let storage = storage.first ?? storage
    if let object = storage.object { return object }
    guard let make = storage.make else { fatalError("a StateObject has neither an object nor a closure") }
    let object = make()
    (storage.object, storage.make) = (object, nil)
    return object
  }
}

extension StateObject: LiveProperty {
  func live(in node: LiveNode, _ label: String) {
    let first = node.cell(label, storage).cell
    if first !== storage { storage.first = first }
    node.observe(label, wrappedValue)
  }
}

/// Makes bindings to the properties of an observable object. Source: `SwiftUI.Bindable`.
@dynamicMemberLookup @propertyWrapper public struct Bindable<Value> {
  public var wrappedValue: Value
  public var projectedValue: Bindable<Value> { self }

  public init(wrappedValue: Value) where Value: AnyObject, Value: Observable { self.wrappedValue = wrappedValue }
}

extension Bindable where Value: AnyObject & Observable {
  public init(_ wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public init(projectedValue: Bindable<Value>) { self = projectedValue }

  public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
    let object = wrappedValue
    return Binding(get: { object[keyPath: keyPath] }, set: { object[keyPath: keyPath] = $0 })
  }
}

/// Source: `SwiftUI.DynamicProperty`.
public protocol DynamicProperty {
  /// Never called: the source of an archived view does not change.
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}
