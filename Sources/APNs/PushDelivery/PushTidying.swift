// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushRules
import Timekeeping

/// When the database deletes what is old: once per hour, and the log once per hundredth of its limit. It deletes one page
/// with each transaction, until all pages are deleted.
struct PushTidying: Sendable {
  private static let interval = 3_600.0
  private var at = Date.distantPast
  private var number: Int64 = 0
  /// The requests up to this number were examined. Some are kept, and are examined again after an hour.
  private var examined: Int64 = 0
  private(set) var hasMore = false

  /// The next date at which `begin` returns a number.
  var next: Date? { at == .distantPast ? nil : at.addingTimeInterval(Self.interval) }

  /// - Returns: the number after which requests are examined; `nil` when nothing is deleted now.
  mutating func begin(now: Date, lastNumber: Int64, logLimit: Int) -> Int64? {
    if hasMore { return examined }
    if next.map({ now >= $0 }) ?? true {
      at = now
      examined = 0
      return 0
    }
    return lastNumber - number > max(100, Int64(logLimit / 100)) ? examined : nil
  }

  /// A page is deleted.
  mutating func end(_ forgotten: ForgottenPushes, lastNumber: Int64) {
    examined = forgotten.last ?? examined
    hasMore = forgotten.hasMore
    if !hasMore { number = lastNumber }
  }
}

/// The dates at which stored notifications end.
struct StoredEnds: Sendable {
  /// The ends up to here are handled. The notifications that are still stored were sent, and await an acknowledgement.
  private(set) var place = StoredEnd.first
  /// No end after `place` is earlier; `nil` for none. At first, those of the previous process instance are due.
  private(set) var next: Date? = .distantPast

  init() {}

  init(place: StoredEnd, next: Date?) {
    self.place = place
    self.next = next
  }

  /// A notification is stored.
  mutating func keep(_ end: Date) {
    next = next.map { min($0, end) } ?? end
    // The clock was set back.
    if end <= place.at { place = StoredEnd(before: end) }
  }
}

extension PushDeliveryService {
  /// Writes a batch, and with it deletes what is old, a page at a time.
  func write(_ batch: Batch) throws {
    let now = clock.now
    guard let after = tidying.begin(now: now, lastNumber: lastNumber, logLimit: settings.logLimit) else {
      try store.write(batch.changes)
      return table.commit()
    }
    let old = OldPushes(
      date: now.addingTimeInterval(-settings.logAge), number: lastNumber - Int64(settings.logLimit), after: after,
      ended: now.addingTimeInterval(-settings.endedTokenAge))
    let forgotten = try store.write(batch.changes, forgetting: old)
    tidying.end(forgotten, lastNumber: lastNumber)
    table.commit(removing: forgotten.tokens)
  }
}
