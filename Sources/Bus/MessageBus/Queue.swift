// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue. Appending and removing take constant time on average.
///
/// `Deque` of swift-collections does the same. It is not used here because an extension links this module: the first
/// build of an author's package, which needs nothing else of swift-collections, would compile that package for thirty
/// lines.
struct Queue<Element> {
  /// The elements, after `head` empty slots.
  private(set) var slots: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == slots.count }
  var count: Int { slots.count - head }
  /// The oldest element.
  var first: Element? { isEmpty ? nil : slots[head] }
  /// All elements, the oldest first.
  var elements: [Element] { slots[head...].compactMap(\.self) }

  mutating func append(_ element: Element) { slots.append(element) }

  /// Removes and returns the oldest element.
  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = slots[head].take()
    head += 1
    // Removing the empty slots moves fewer elements than were removed since the last time.
    if head > slots.count / 2 {
      slots.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func removeAll() {
    slots = []
    head = 0
  }
}
