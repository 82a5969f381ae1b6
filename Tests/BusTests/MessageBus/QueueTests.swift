// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MessageBus

@Suite struct `A queue of messages` {
  @Test func `returns the elements in the order in which they were appended`() {
    var queue = Queue<Int>()
    var returned: [Int] = []
    for number in 0..<1000 {
      queue.append(number)
      #expect(queue.first == returned.count)
      if number.isMultiple(of: 3) { returned += queue.popFirst().map { [$0] } ?? [] }
      #expect(queue.count == number + 1 - returned.count)
    }
    #expect(queue.elements == Array(returned.count..<1000))
    while let number = queue.popFirst() { returned.append(number) }
    #expect(returned == Array(0..<1000))
    #expect(queue.isEmpty && queue.first == nil && queue.elements.isEmpty)
  }

  @Test func `moves no more elements than it removes, and keeps no more than twice its elements`() {
    var queue = Queue<Int>()
    for number in 0..<10_000 { queue.append(number) }
    var moved = 0
    for number in 0..<10_000 {
      // A steady number of elements, as at the limit of a session.
      if number < 5000 { queue.append(number) }
      let appended = queue.slots.count
      _ = queue.popFirst()
      if queue.slots.count < appended { moved += queue.count }
      #expect(queue.slots.count <= 2 * queue.count)
    }
    #expect(moved <= 10_000)
  }

  @Test func `releases an element when it removes it`() {
    final class Frame {}
    var queue = Queue<Frame>()
    weak var first: Frame?
    do {
      let frame = Frame()
      first = frame
      queue.append(frame)
    }
    for _ in 1...3 { queue.append(Frame()) }
    #expect(first != nil)
    _ = queue.popFirst()
    #expect(first == nil)
    queue.removeAll()
    #expect(queue.isEmpty && queue.slots.isEmpty)
  }
}
