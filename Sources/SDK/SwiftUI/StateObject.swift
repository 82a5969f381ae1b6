// SPDX-License-Identifier: Apache-2.0

public import OpenCombine

/// Source: `SwiftUI.StateObject`. The object is created on first access and kept until the process exits.
@MainActor @preconcurrency @propertyWrapper public struct StateObject<ObjectType: ObservableObject> {
  private final class Storage {
    var make: (() -> ObjectType)?
    var object: ObjectType?
    init(_ make: @escaping () -> ObjectType) { self.make = make }
  }

  private let storage: Storage

  public init(wrappedValue thunk: @autoclosure @escaping () -> ObjectType) { storage = Storage(thunk) }

  public var wrappedValue: ObjectType {
    if let object = storage.object { return object }
    guard let make = storage.make else { fatalError("a StateObject has neither an object nor a closure") }
    let object = make()
    (storage.object, storage.make) = (object, nil)
    return object
  }
}
