// SPDX-License-Identifier: Apache-2.0

import Messages
import Synchronization

/// Values that change with the app's Live Activities. Source: the asynchronous sequences of `ActivityKit.Activity`, each
/// of which has its own type there.
public struct ActivitySequence<Element>: AsyncSequence, Sendable {
  public typealias Failure = Never
  /// The new values in a state of the app's activities.
  typealias Next = (AppActivities) -> [Element]

  private let registry: ActivityRegistry
  // Functions of this module, which capture only ids and types of the author. They are not closures of concurrent code,
  // which would require the author's conformances to be nonisolated.
  private nonisolated(unsafe) let isLast: (Element) -> Bool
  // For the same reason.
  nonisolated(unsafe) let make: () -> Next

  /// - Parameters:
  ///   - isLast: ends the sequence after an element.
  ///   - make: makes the function for one iterator.
  init(
    _ registry: ActivityRegistry, until isLast: @escaping (Element) -> Bool = { _ in false },
    make: @escaping () -> Next
  ) {
    self.registry = registry
    self.isLast = isLast
    self.make = make
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(updates: registry.updates().makeAsyncIterator(), next: make(), isLast: isLast)
  }

  /// Source: the iterators of these sequences.
  public struct Iterator: AsyncIteratorProtocol {
    public typealias Failure = Never
    var updates: AsyncStream<AppActivities>.Iterator
    let next: Next
    let isLast: (Element) -> Bool
    private var pending: [Element] = []
    private var hasEnded = false

    init(
      updates: AsyncStream<AppActivities>.Iterator, next: @escaping Next, isLast: @escaping (Element) -> Bool
    ) {
      self.updates = updates
      self.next = next
      self.isLast = isLast
    }

    public mutating func next() async -> Element? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while pending.isEmpty {
        guard !hasEnded, let activities = await updates.next(isolation: actor) else { return nil }
        pending = next(activities)
      }
      let element = pending.removeFirst()
      hasEnded = hasEnded || isLast(element)
      return element
    }
  }
}

/// The values that differ from the one before.
func changes<Value: Equatable, Element>(
  _ value: @escaping (AppActivities) -> Value?, and element: @escaping (Value) -> Element?
) -> (AppActivities) -> [Element] {
  var before: Value?
  return { activities in
    guard let now = value(activities), now != before else { return [] }
    before = now
    return element(now).map { [$0] } ?? []
  }
}

/// The content of a Live Activity that could be decoded last. Any thread.
final class LastContent<State: Decodable & Encodable & Hashable>: Sendable {
  private struct Known: Sendable {
    var record: ActivityContentRecord
    // The author's value, which is only copied.
    nonisolated(unsafe) var content: ActivityContent<State>
  }

  private let known: Mutex<Known>

  init(_ record: ActivityContentRecord, _ content: ActivityContent<State>) {
    known = Mutex(Known(record: record, content: content))
  }

  var content: ActivityContent<State> { known.withLock { $0 }.content }

  /// The content of a record; the last one, when its JSON is not the author's type.
  func take(_ record: ActivityContentRecord, _ decode: (String) -> State?) -> ActivityContent<State> {
    var now = known.withLock { $0 }
    guard now.record != record else { return now.content }
    now.record = record
    if let state = decode(record.state) {
      now.content = ActivityContent(state: state, staleDate: record.staleDate, relevanceScore: record.relevanceScore)
    }
    let taken = now
    known.withLock { $0 = taken }
    return taken.content
  }
}
