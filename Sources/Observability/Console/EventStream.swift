// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Journal
import JournalAnalysis
import Messages
import NIOCore

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
