// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import JournalAnalysis
import Messages

/// Reads the messages that a page asks for.
struct MessageReader: Sendable {
  /// From where a page reads.
  enum Direction: Equatable {
    case newest
    case before(UInt64)
    case after(UInt64)
    case around(UInt64)
  }

  struct Page: Encodable {
    struct Scan: Encodable {
      let from: UInt64
      let to: UInt64
    }
    let rows: [MessageRow]
    let first: UInt64
    let last: UInt64
    let scanned: Scan?
    let isComplete: Bool
  }

  /// How long one answer searches.
  static let patience = Duration.milliseconds(100)
  private static let slice: UInt64 = 256

  let pages: JournalPages

  /// Reads rows.
  ///
  /// - Parameter filter: nil for all messages.
  func page(_ direction: Direction, limit: Int, where filter: FilterExpression?) throws -> Page {
    guard let bounds = try pages.bounds() else {
      return Page(rows: [], first: 0, last: 0, scanned: nil, isComplete: true)
    }
    let deadline = ContinuousClock.now + Self.patience
    var search = Search(pages: pages, bounds: bounds, filter: filter, deadline: deadline)
    switch direction {
    case .newest: try search.backward(from: bounds.upperBound, limit)
    case .before(let sequence):
      if sequence > bounds.lowerBound { try search.backward(from: min(sequence - 1, bounds.upperBound), limit) }
    case .after(let sequence):
      if sequence < bounds.upperBound { try search.forward(from: max(sequence + 1, bounds.lowerBound), limit) }
    case .around(let sequence):
      let middle = min(max(sequence, bounds.lowerBound), bounds.upperBound)
      try search.backward(from: middle, limit / 2 + 1)
      search.deadline = .now + Self.patience
      if middle < bounds.upperBound { try search.forward(from: middle + 1, max(1, limit / 2)) }
    }
    return search.page
  }

  private struct Search {
    let pages: JournalPages
    let bounds: ClosedRange<UInt64>
    let filter: FilterExpression?
    var deadline: ContinuousClock.Instant
    var rows: [MessageRow] = []
    var scanned: ClosedRange<UInt64>?
    var isComplete = true

    var page: Page {
      Page(
        rows: rows, first: bounds.lowerBound, last: bounds.upperBound,
        scanned: scanned.map { Page.Scan(from: $0.lowerBound, to: $0.upperBound) }, isComplete: isComplete)
    }

    private mutating func scan(_ range: ClosedRange<UInt64>) {
      scanned =
        min(
          scanned?.lowerBound ?? range.lowerBound, range.lowerBound)...max(
          scanned?.upperBound ?? range.upperBound, range.upperBound)
    }

    private func size(_ missing: Int) -> UInt64 { filter == nil ? UInt64(missing) : MessageReader.slice }

    mutating func backward(from start: UInt64, _ limit: Int) throws {
      var (high, missing) = (start, limit)
      while missing > 0 {
        high = max(try pages.last(upTo: high), bounds.lowerBound)
        let low = high - bounds.lowerBound < size(missing) ? bounds.lowerBound : high - size(missing) + 1
        let foundEnvelopes = try pages.read(low...high).filter { filter?.matches($0) ?? true }
        let used = foundEnvelopes.suffix(missing)
        rows = used.map(MessageRow.init) + rows
        missing -= used.count
        // Envelopes that were not used are found again from the first row on.
        scan((foundEnvelopes.count > used.count ? used.first?.header.sequence ?? low : low)...high)
        if low == bounds.lowerBound || filter == nil { return }
        guard missing == 0 || ContinuousClock.now < deadline else {
          isComplete = false
          return
        }
        high = low - 1
      }
    }

    mutating func forward(from start: UInt64, _ limit: Int) throws {
      var (low, missing) = (start, limit)
      while missing > 0 {
        low = min(try pages.first(from: low), bounds.upperBound)
        let high = bounds.upperBound - low < size(missing) ? bounds.upperBound : low + size(missing) - 1
        let foundEnvelopes = try pages.read(low...high).filter { filter?.matches($0) ?? true }
        let used = foundEnvelopes.prefix(missing)
        rows += used.map(MessageRow.init)
        missing -= used.count
        scan(low...(foundEnvelopes.count > used.count ? used.last?.header.sequence ?? high : high))
        if high == bounds.upperBound || filter == nil { return }
        guard missing == 0 || ContinuousClock.now < deadline else {
          isComplete = false
          return
        }
        low = high + 1
      }
    }
  }
}

/// Reads the messages of one trace, and no others.
struct TraceReader {
  let pages: JournalPages

  struct Answer: Encodable {
    let id: String
    let type: String
    let title: String
    let owner: String
    let state: String
    let summary: [String]
    let command: String
    let total: Double
    let lanes: [String]
    let steps: [Trace.Line]
    let mermaid: String
  }

  /// The messages about process instances, which a trace shows between its own.
  private static let lifecycle: [StaticString] = [
    "process.spawn", "process.signal", "process.started", "process.memory-exceeded", "process.locks-held",
    "process.exited", "process.state", "process.ready", "peer.changed", "bus.started",
  ]
  /// How many messages of processes before the first step are looked at, and how many steps are shown.
  private static let lead: UInt64 = 2000
  private static let stepLimit = 2000

  /// - Parameter suffix: what selects the instance in a command.
  func answer(_ entry: TraceList.Entry, _ owner: Address?, suffix: String) throws -> Answer {
    let trace = Trace(
      TraceSubject(
        correlation: entry.correlation, session: entry.type == "session" ? entry.title : nil, owner: owner),
      in: try envelopes(entry))
    let end = entry.end == nil ? "" : " --until seq:\(entry.last)"
    let digits = entry.correlation.digits.prefix(8)
    var lanes: [String] = []
    for step in trace.steps {
      let header = step.envelope.header
      for address in [header.source, header.destination] where !lanes.contains(address.tailName) {
        lanes.append(address.tailName)
      }
    }
    return Answer(
      id: entry.id, type: entry.type, title: entry.title, owner: entry.owner, state: entry.state,
      summary: trace.summary, command: "widgetlab trace \(digits) --since seq:\(entry.first)\(end)\(suffix)",
      total: Double(trace.total) / 1e6, lanes: lanes, steps: trace.steps.prefix(Self.stepLimit).map(Self.line),
      mermaid: trace.mermaid)
  }

  /// The line of a step. Its addresses have the names of the lanes.
  private static func line(_ step: Trace.Step) -> Trace.Line {
    var line = Trace.Line(step, name: \.tailName)
    if step.note.mark != .none { line.subject = step.note.subject?.tailName }
    return line
  }

  /// The envelopes with the correlation id, what follows from them, what they follow from, and the messages about
  /// processes in the same time.
  private func envelopes(_ entry: TraceList.Entry) throws -> [Envelope] {
    guard let bounds = try pages.bounds(), entry.last >= bounds.lowerBound else { return [] }
    let first = max(bounds.lowerBound, entry.first > Self.lead ? entry.first - Self.lead : 1)
    let wanted = RecordIdentifier(entry.correlation)
    var ids: Set<RecordIdentifier> = []
    var foundEnvelopes = try pages.select(first...max(first, entry.last)) { head in
      if head.sequence >= entry.first, head.correlation == wanted || ids.contains(head.cause) {
        ids.insert(head.id)
        return true
      }
      return Self.lifecycle.contains { head.hasKind($0) }
    }
    // Replies to the last messages, and causes before the first one.
    let replies = min(bounds.upperBound, entry.last + 200)
    if entry.last < replies { foundEnvelopes += try pages.select(entry.last + 1...replies) { ids.contains($0.cause) } }
    var knownIDs = Set(foundEnvelopes.map(\.header.id))
    var open = foundEnvelopes.filter { $0.header.correlation == entry.correlation }.compactMap(\.header.cause)
    while let cause = open.popLast() {
      guard knownIDs.insert(cause).inserted, let envelope = try pages.last(cause, in: first...entry.last) else {
        continue
      }
      foundEnvelopes.append(envelope)
      if let next = envelope.header.cause { open.append(next) }
    }
    return foundEnvelopes.sorted { $0.header.sequence < $1.header.sequence }
  }
}
