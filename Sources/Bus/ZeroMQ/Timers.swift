// SPDX-License-Identifier: Apache-2.0

/// Identifies a timer of a loop for cancellation.
package struct TimerID: Hashable, Sendable {
  let raw: UInt64
}

/// The timers of one loop: a binary heap ordered by deadline, then by creation. The heap entry of a cancelled timer
/// stays until it reaches the top or until such entries are the majority.
struct Timers {
  private struct Entry {
    let deadline: UInt64
    let id: TimerID
    func isBefore(_ other: Entry) -> Bool { (deadline, id.raw) < (other.deadline, other.id.raw) }
  }

  private var heap: [Entry] = []
  /// By the number of the timer: a key of another type would cost each process a search for its conformance.
  private var actions: [UInt64: @Sendable () -> Void] = [:]

  /// Adds a timer with a deadline in nanoseconds of the monotonic clock.
  mutating func insert(_ id: TimerID, deadline: UInt64, _ action: @escaping @Sendable () -> Void) {
    actions[id.raw] = action
    push(Entry(deadline: deadline, id: id))
  }

  /// False when the timer has fired, was cancelled, or was not inserted yet.
  mutating func remove(_ id: TimerID) -> Bool {
    guard actions.removeValue(forKey: id.raw) != nil else { return false }
    if heap.count > 64, heap.count > 2 * actions.count {
      let live = heap.filter { actions[$0.id.raw] != nil }
      heap.removeAll(keepingCapacity: true)
      for entry in live { push(entry) }
    }
    return true
  }

  mutating func removeAll() {
    heap = []
    actions = [:]
  }

  /// The deadline of the next active timer.
  mutating func nextDeadline() -> UInt64? {
    while let top = heap.first {
      if actions[top.id.raw] != nil { return top.deadline }
      pop()
    }
    return nil
  }

  /// Removes and returns the next timer whose deadline is not after `now`.
  mutating func takeDue(_ now: UInt64) -> (@Sendable () -> Void)? {
    guard let deadline = nextDeadline(), deadline <= now, let id = heap.first?.id else { return nil }
    pop()
    return actions.removeValue(forKey: id.raw)
  }

  private mutating func push(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func pop() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var first = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[first]) {
        first = child
      }
      guard first != parent else { return }
      heap.swapAt(parent, first)
      parent = first
    }
  }
}
