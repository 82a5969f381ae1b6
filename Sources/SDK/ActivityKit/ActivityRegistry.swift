// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import MessageBus
import Messages
import Synchronization

/// The Live Activities of this process's app, as the host sent them last. Any thread.
///
/// The host is asked at the first use, so that a process without Live Activities sends and receives nothing.
final class ActivityRegistry: Sendable {
  private struct State {
    var knownActivities: AppActivities?
    var isFollowing = false
    var readers: [UUID: AsyncStream<AppActivities>.Continuation] = [:]
  }

  private let process: HostedProcess
  private let state = Mutex(State())

  init(_ process: HostedProcess) { self.process = process }

  /// The registry of the calling code's process.
  static var current: ActivityRegistry {
    guard let process = HostedProcess.current else {
      fatalError("ActivityKit needs the device of `widgetlab up`; this process was not started by its agent")
    }
    return process.part(ActivityRegistry.self) { ActivityRegistry($0) }
  }

  /// What the host sent last. Blocks at the first use until the host has replied; without a reply, there are none.
  var now: AppActivities {
    if let knownActivities = state.withLock({ $0.knownActivities }) { return knownActivities }
    follow()
    if case .success(let reply) = process.ask(ListActivities(), context: HostedProcess.currentContext) { take(reply) }
    return state.withLock { $0.knownActivities } ?? AppActivities(areEnabled: false)
  }

  /// The present state, and each later one.
  func updates() -> AsyncStream<AppActivities> {
    let now = now
    let (stream, continuation) = AsyncStream.makeStream(of: AppActivities.self, bufferingPolicy: .unbounded)
    let id = UUID()
    continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers[id] = nil } }
    // A newer state than `now` may have arrived during that time. Within the lock, so that the order of the states is kept.
    state.withLock { state in
      state.readers[id] = continuation
      continuation.yield(state.knownActivities ?? now)
    }
    return stream
  }

  /// `Activity.request`. Blocks until the host has replied.
  func request(_ request: RequestActivity) -> Result<AppActivities, BusError> {
    _ = now
    let result = process.ask(request, context: HostedProcess.currentContext)
    if case .success(let reply) = result { take(reply) }
    return result
  }

  /// `Activity.update` and `Activity.end`. Waits for the host, however long that takes.
  func change(_ request: ChangeActivity) async {
    let (process, context) = (process, HostedProcess.currentContext)
    do throws(BusError) {
      take(
        try await process.connection.request(
          request, to: process.host, id: UUID(), context: context, within: .seconds(86_400), whenUnreachable: .wait))
    } catch {
      // As on a device: neither method throws.
      process.log("a Live Activity was not changed: \(error)")
    }
  }

  func log(_ text: String) { process.log(text) }

  private func follow() {
    let isFirst = state.withLock { state in
      defer { state.isFollowing = true }
      return !state.isFollowing
    }
    guard isFirst else { return }
    process.connection.onEvent(ActivitiesChanged.self) { [weak self] event, _ in self?.take(event.activities) }
    // A host that has restarted does not know its followers.
    let process = process
    process.onNewHost { [weak self] in
      do throws(BusError) {
        let reply = try await process.connection.request(ListActivities(), to: process.host)
        self?.take(reply)
      } catch {
        process.log("the Live Activities are not known: \(error)")
      }
    }
  }

  private func take(_ activities: AppActivities) {
    state.withLock { state in
      guard activities.revision >= state.knownActivities?.revision ?? 0, activities != state.knownActivities else {
        return
      }
      state.knownActivities = activities
      for reader in state.readers.values { reader.yield(activities) }
    }
  }
}

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

  private let knownContent: Mutex<Known>

  init(_ record: ActivityContentRecord, _ content: ActivityContent<State>) {
    knownContent = Mutex(Known(record: record, content: content))
  }

  var content: ActivityContent<State> { knownContent.withLock { $0 }.content }

  /// The content of a record; the last one, when its JSON is not the author's type.
  func take(_ record: ActivityContentRecord, _ decode: (String) -> State?) -> ActivityContent<State> {
    var now = knownContent.withLock { $0 }
    guard now.record != record else { return now.content }
    now.record = record
    if let state = decode(record.state) {
      now.content = ActivityContent(state: state, staleDate: record.staleDate, relevanceScore: record.relevanceScore)
    }
    let taken = now
    knownContent.withLock { $0 = taken }
    return taken.content
  }
}
