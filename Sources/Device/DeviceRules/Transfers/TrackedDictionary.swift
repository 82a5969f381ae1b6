// SPDX-License-Identifier: Apache-2.0

/// A dictionary that records which keys were changed, so that the database can be updated without comparing all values.
package struct TrackedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  package private(set) var all: [Key: Value]
  private var touched: Set<Key> = []

  package init(_ all: [Key: Value]) { self.all = all }

  package subscript(key: Key) -> Value? {
    get { all[key] }
    _modify {
      touched.insert(key)
      yield &all[key]
    }
  }

  package var keys: Dictionary<Key, Value>.Keys { all.keys }
  package var values: Dictionary<Key, Value>.Values { all.values }
  package var isEmpty: Bool { all.isEmpty }
  package var count: Int { all.count }

  package mutating func removeValue(forKey key: Key) -> Value? {
    touched.insert(key)
    return all.removeValue(forKey: key)
  }

  /// Returns the keys whose value was set, changed or removed since the last call.
  package mutating func takeTouched() -> Set<Key> {
    defer { touched = [] }
    return touched
  }
}
