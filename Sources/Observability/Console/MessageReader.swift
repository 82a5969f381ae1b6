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
        let found = try pages.read(low...high).filter { filter?.matches($0) ?? true }
        let used = found.suffix(missing)
        rows = used.map(MessageRow.init) + rows
        missing -= used.count
        // Those that were not used are found again from the first row on.
        scan((found.count > used.count ? used.first?.header.sequence ?? low : low)...high)
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
        let found = try pages.read(low...high).filter { filter?.matches($0) ?? true }
        let used = found.prefix(missing)
        rows += used.map(MessageRow.init)
        missing -= used.count
        scan(low...(found.count > used.count ? used.last?.header.sequence ?? high : high))
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
