// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Journal
import JournalAnalysis
import Messages
import NIOCore
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
    var waitingContinuations: [UInt64: AsyncStream<Void>.Continuation] = [:]
    /// The keys of `waitingContinuations` that belong to a browser.
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
      for continuation in waitingContinuations.values { continuation.yield() }
    }
  }

  private static let keptCount = 4096
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
      if state.entries.count > 2 * Self.keptCount { state.entries.removeFirst(state.entries.count - Self.keptCount) }
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
    let waitingContinuations = state.withLock { state in
      state.hasEnded = true
      return state.waitingContinuations.values
    }
    for continuation in waitingContinuations { continuation.finish() }
  }

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// An element after each publication, several as one. Ends with `leave` or `end`.
  func join(isClient: Bool) -> (id: UInt64, signals: AsyncStream<Void>) {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
    let id = state.withLock { state in
      state.nextWaiting += 1
      if state.hasEnded { continuation.finish() }
      state.waitingContinuations[state.nextWaiting] = continuation
      if isClient { state.clients.insert(state.nextWaiting) }
      return state.nextWaiting
    }
    return (id, signals)
  }

  func leave(_ id: UInt64) {
    let continuation = state.withLock { state in
      state.clients.remove(id)
      return state.waitingContinuations.removeValue(forKey: id)
    }
    continuation?.finish()
  }
}

/// The server-sent events of one browser.
struct EventStream {
  /// What a browser asked for.
  struct Subscription: Sendable {
    var wantsRows = false
    var filter: FilterExpression?
    /// The number after which it begins; nil for the end of the journal.
    var after: UInt64?
    /// It has read before, and may have missed changes.
    var isResumed = false
  }

  /// The most rows of one event, and the most messages that are looked at for it.
  private static let rowLimit = 500
  private static let scanLimit = 2000

  let subscription: Subscription
  let journal: ConsoleJournal.Contents
  private var position: UInt64
  private var version: UInt64
  private var beat: UInt64
  private var pace = EventPace(at: .now)

  init(_ subscription: Subscription, _ journal: ConsoleJournal.Contents) {
    self.subscription = subscription
    self.journal = journal
    version = journal.feed.version
    position = subscription.after ?? journal.feed.last
    beat = journal.feed.beat
  }

  /// Writes events until the client has gone.
  mutating func run(_ signals: AsyncStream<Void>, _ write: (ByteBuffer) async throws -> Void) async throws {
    // A browser waits this long before it connects again.
    var hello = "retry: 300\n\n"
    if subscription.isResumed { hello += Self.changed(ConsoleTopic.allCases, position, at: position) }
    try await write(ByteBuffer(string: hello))
    for await _ in signals {
      while let bytes = try next() {
        try await write(bytes)
        if let pause = pace.pause(at: .now) { try await Task.sleep(for: pause) }
      }
    }
  }

  /// The next events; nil when there is nothing new.
  private mutating func next() throws -> ByteBuffer? {
    var text = ByteBuffer()
    if subscription.wantsRows {
      try appendRows(&text)
    } else {
      position = max(position, journal.feed.last)
    }
    let new = journal.feed.topics(after: version)
    version = new.version
    if !new.topics.isEmpty { text.writeString(Self.changed(new.topics, new.last, at: position)) }
    let beat = journal.feed.beat
    if beat != self.beat { text.writeString("id: \(position)\n: alive\n\n") }
    self.beat = beat
    return text.readableBytes > 0 ? text : nil
  }

  private mutating func appendRows(_ text: inout ByteBuffer) throws {
    let last = journal.feed.last
    guard position < last else { return }
    var rows: [[UInt8]] = []
    var scanned = 0
    while position < last, rows.count < Self.rowLimit, scanned < Self.scanLimit {
      let entries = try following(position + 1, limit: Self.rowLimit - rows.count)
      scanned += Self.rowLimit - rows.count
      guard let end = entries.last?.envelope.header.sequence else {
        position = min(last, position + UInt64(Self.rowLimit))
        continue
      }
      rows += entries.filter { subscription.filter?.matches($0.envelope) ?? true }.map(\.row)
      position = end
    }
    // Without an event the next look continues the search.
    guard !rows.isEmpty || position < last else { return }
    text.writeString("id: \(position)\nevent: rows\ndata: {\"last\":\(position),\"rows\":[")
    for (index, row) in rows.enumerated() {
      if index > 0 { text.writeString(",") }
      text.writeBytes(row)
    }
    text.writeString("]}\n\n")
  }

  private func following(_ first: UInt64, limit: Int) throws -> [LiveFeed.Entry] {
    if let entries = journal.feed.entries(from: first, limit: limit) { return entries }
    let first = try journal.pages.first(from: first)
    return try journal.pages.read(first...first + UInt64(limit - 1)).map {
      LiveFeed.Entry(envelope: $0, row: MessageRow($0).json)
    }
  }

  private static func changed(_ topics: [ConsoleTopic], _ last: UInt64, at position: UInt64) -> String {
    let names = topics.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
    return "id: \(position)\nevent: changed\ndata: {\"last\":\(last),\"topics\":[\(names)]}\n\n"
  }
}

/// When the next event of a stream may be sent: the first ones at once, so that an action shows its result without a
/// pause, and then at most 40 a second, each with all that has happened in between.
struct EventPace {
  private static let rate = 40.0
  private static let burst = 10.0

  /// How many events may be sent at once.
  private var credit = Self.burst
  private var time: ContinuousClock.Instant

  init(at time: ContinuousClock.Instant) { self.time = time }

  /// Counts an event that was sent.
  ///
  /// - Returns: how long to wait before the next one; nil for not at all.
  mutating func pause(at now: ContinuousClock.Instant) -> Duration? {
    credit = min(Self.burst, credit + (now - time) / .seconds(1) * Self.rate) - 1
    time = now
    return credit < 1 ? .seconds((1 - credit) / Self.rate) : nil
  }
}
