// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A count that never decreases. Any thread; one atomic addition without a lock.
package final class Counter: Sendable {
  private let count: Atomic<Int>

  package init() { count = Atomic(0) }

  package var value: Int { count.load(ordering: .relaxed) }

  /// - Parameter amount: 0 or more.
  package func add(_ amount: Int = 1) { count.add(amount, ordering: .relaxed) }
}

/// A value that may decrease, and is set by its owner. Any thread.
package final class Gauge: Sendable {
  private let current: Atomic<Int>

  package init(_ value: Int = 0) { current = Atomic(value) }

  package var value: Int { current.load(ordering: .relaxed) }

  package func set(_ value: Int) { current.store(value, ordering: .relaxed) }

  /// - Parameter amount: may be negative.
  package func add(_ amount: Int) { current.add(amount, ordering: .relaxed) }
}

/// One counter for each value of a label. The values are fixed, so that a look-up needs no lock.
package struct LabeledCounters<Key: Hashable & Sendable>: Sendable {
  /// The values in the order of the exposition.
  package let keys: [Key]
  private let counters: [Key: Counter]

  package init(_ keys: some Sequence<Key>) {
    self.keys = Array(keys)
    counters = Dictionary(self.keys.map { ($0, Counter()) }) { first, _ in first }
  }

  /// The counter of a value; `nil` for one that was not named at the creation.
  package subscript(_ key: Key) -> Counter? { counters[key] }
}
