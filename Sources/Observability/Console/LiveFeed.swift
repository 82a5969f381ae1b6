// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import JournalAnalysis
import Messages
import Synchronization

/// The end of the journal for all clients: the last messages as rows, and what changed when. Any thread.
///
/// A client reads at its own speed from its own position; nothing waits for it and nothing is stored for it. A position
/// that is older than the kept rows is read from the journal.
final class LiveFeed: Sendable {
  struct Entry: Sendable {
    let envelope: Envelope
    let row: [UInt8]
  }

  private struct State {
    var entries: [Entry] = []
    /// The number of the last message that was published.
    var last: UInt64
    /// The version at which each topic changed last.
    var changes: [ConsoleTopic: UInt64] = [:]
    var version: UInt64 = 0
    var waiting: [UInt64: AsyncStream<Void>.Continuation] = [:]
    /// Those in `waiting` that belong to a browser.
    var clients: Set<UInt64> = []
    /// Counts the heartbeats.
    var beat: UInt64 = 0
    var nextWaiting: UInt64 = 0
    var hasEnded = false

    mutating func mark(_ topics: Set<ConsoleTopic>) {
      guard !topics.isEmpty else { return }
      version += 1
      for topic in topics { changes[topic] = version }
    }

    func wake() {
      for continuation in waiting.values { continuation.yield() }
    }
  }

  private static let kept = 4096
  private let state: Mutex<State>

  /// - Parameter last: the number of the last message of the journal.
  init(last: UInt64) { state = Mutex(State(last: last)) }

  /// The number of the last message.
  var last: UInt64 { state.withLock { $0.last } }

  /// The version of the topics.
  var version: UInt64 { state.withLock { $0.version } }

  /// The number of clients.
  var clients: Int { state.withLock { $0.clients.count } }

  /// The number of heartbeats.
  var beat: UInt64 { state.withLock { $0.beat } }

  /// Makes each client write something, so that dead connections are noticed.
  func heartbeat() {
    state.withLock { state in
      state.beat += 1
      state.wake()
    }
  }

  /// Publishes messages with what they change.
  func publish(_ envelopes: [Envelope]) {
    guard let last = envelopes.last?.header.sequence else { return }
    let entries = envelopes.map { Entry(envelope: $0, row: MessageRow($0).json) }
    let topics = envelopes.reduce(into: Set<ConsoleTopic>()) { $0.formUnion(ConsoleTopic.changed(by: $1.header)) }
    state.withLock { state in
      state.entries.append(contentsOf: entries)
      if state.entries.count > 2 * Self.kept { state.entries.removeFirst(state.entries.count - Self.kept) }
      state.last = last
      state.mark(topics)
      state.wake()
    }
  }

  /// Publishes that something else than the journal changed.
  func publish(_ topics: Set<ConsoleTopic>) {
    guard !topics.isEmpty else { return }
    state.withLock { state in
      state.mark(topics)
      state.wake()
    }
  }

  /// The topics that changed after a version, with the current version and the last number.
  func topics(after version: UInt64) -> (topics: [ConsoleTopic], version: UInt64, last: UInt64) {
    state.withLock { state in
      (ConsoleTopic.allCases.filter { state.changes[$0] ?? 0 > version }, state.version, state.last)
    }
  }

  /// The kept messages from a number on, at most `limit`; nil when that number is no longer kept.
  func entries(from sequence: UInt64, limit: Int) -> [Entry]? {
    state.withLock { state in
      guard sequence <= state.last else { return [] }
      guard let first = state.entries.first?.envelope.header.sequence, sequence >= first else { return nil }
      // The numbers have no gaps.
      let start = Int(sequence - first)
      guard start < state.entries.count, state.entries[start].envelope.header.sequence == sequence else { return nil }
      return Array(state.entries[start..<min(start + limit, state.entries.count)])
    }
  }

  /// Ends all streams of elements: another journal is shown from now on.
  func end() {
    let waiting = state.withLock { state in
      state.hasEnded = true
      return state.waiting.values
    }
    for continuation in waiting { continuation.finish() }
  }

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// An element after each publication, several as one. Ends with `leave` or `end`.
  func join(isClient: Bool) -> (id: UInt64, signals: AsyncStream<Void>) {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
    let id = state.withLock { state in
      state.nextWaiting += 1
      if state.hasEnded { continuation.finish() }
      state.waiting[state.nextWaiting] = continuation
      if isClient { state.clients.insert(state.nextWaiting) }
      return state.nextWaiting
    }
    return (id, signals)
  }

  func leave(_ id: UInt64) {
    let continuation = state.withLock { state in
      state.clients.remove(id)
      return state.waiting.removeValue(forKey: id)
    }
    continuation?.finish()
  }
}
