// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The limits of Live Activities on a device.
package struct ActivityLimits: Sendable, Hashable {
  /// Activities at a time. Source: ours.
  package var atATime: Int
  /// Updates of priority 10 that an activity shows in an hour; more are throttled. Source: ours.
  package var priority10PerHour: Double
  /// When the system ends an activity, in hours. Source: *Displaying live data with Live Activities*: 8.
  package var hours: Double
  /// How long an ended one stays on the Lock Screen at most, in hours. Source: the same: 4.
  package var hoursOnLockScreen: Double
  /// Whether an activity that a push started has no token until the user has allowed the activities of the app.
  /// Source: observed, Apple forum 801072.
  package var tokensNeedConsent: Bool
  package init(
    atATime: Int = 5, priority10PerHour: Double = 20, hours: Double = 8, hoursOnLockScreen: Double = 4,
    tokensNeedConsent: Bool = true
  ) {
    self.atATime = atATime
    self.priority10PerHour = priority10PerHour
    self.hours = hours
    self.hoursOnLockScreen = hoursOnLockScreen
    self.tokensNeedConsent = tokensNeedConsent
  }
}

/// The lifetime of one Live Activity: staleness, end, dismissal, the eight hours, and the budget of priority 10. A plain
/// value without clock or I/O.
///
/// Sources: *Starting and updating Live Activities with ActivityKit push notifications*, *Displaying live data with Live
/// Activities*.
package struct ActivityLifetime: Sendable, Hashable, Codable {
  /// What happens with time.
  package enum Instant: Sendable, Hashable {
    case stale, endedBySystem, dismissed
  }

  /// Why an update is not shown.
  package enum Refusal: Error, Sendable, Hashable {
    /// Its timestamp is older than that of the content.
    case outOfOrder
    /// Beyond the budget of priority 10.
    case throttled
  }

  package let startedAt: Date
  /// `aps.timestamp` of the newest content.
  package var timestamp: Double = 0
  package var staleAt: Date?
  package var isStale = false
  /// When it ended; it stays on the Lock Screen until `dismissAt`.
  package var endedAt: Date?
  package var dismissAt: Date?
  /// Updates of priority 10 that it may still show, as of `budgetAt`.
  package var budget: Double
  var budgetAt: Date

  package init(startedAt now: Date, timestamp: Double = 0, staleAt: Date? = nil, _ limits: ActivityLimits) {
    startedAt = now
    self.timestamp = timestamp
    self.staleAt = staleAt
    budget = limits.priority10PerHour
    budgetAt = now
  }

  /// The next date at which something is due.
  package func next(_ limits: ActivityLimits) -> Date {
    if let dismissAt { return dismissAt }
    let end = startedAt.addingTimeInterval(limits.hours * 3_600)
    return min(end, (isStale ? nil : staleAt) ?? end)
  }

  /// Handles what is due first; `nil` when nothing is.
  package mutating func advance(to now: Date, _ limits: ActivityLimits) -> Instant? {
    if let dismissAt { return dismissAt <= now ? .dismissed : nil }
    let latest = startedAt.addingTimeInterval(limits.hours * 3_600)
    if latest <= now {
      end(latest, dismissAt: nil, limits)
      return .endedBySystem
    }
    guard let staleAt, staleAt <= now, !isStale else { return nil }
    isStale = true
    return .stale
  }

  /// Records the timestamp of a change, unless the change is throttled: its content is not shown.
  ///
  /// - Parameter payment: for an update of priority 10.
  /// - Throws: `outOfOrder`, `throttled`.
  package mutating func take(
    timestamp: Double?, paying payment: (now: Date, limits: ActivityLimits)? = nil
  ) throws(Refusal) {
    let timestamp = timestamp ?? self.timestamp
    guard timestamp >= self.timestamp else { throw .outOfOrder }
    if let payment { try pay(now: payment.now, payment.limits) }
    self.timestamp = timestamp
  }

  /// Pays for an update of priority 10. The budget is renewed evenly in the course of an hour.
  ///
  /// - Throws: `throttled`.
  private mutating func pay(now: Date, _ limits: ActivityLimits) throws(Refusal) {
    let earned = max(0, now.timeIntervalSince(budgetAt)) / 3_600 * limits.priority10PerHour
    budget = min(limits.priority10PerHour, budget + earned)
    budgetAt = now
    guard budget >= 1 else { throw .throttled }
    budget -= 1
  }

  /// New content.
  package mutating func update(staleAt: Date?) {
    self.staleAt = staleAt
    isStale = false
  }

  /// An ended activity stays on the Lock Screen until its dismissal date, and four hours at most.
  package mutating func end(_ now: Date, dismissAt: Date?, _ limits: ActivityLimits) {
    let latest = now.addingTimeInterval(limits.hoursOnLockScreen * 3_600)
    endedAt = now
    self.dismissAt = min(dismissAt ?? latest, latest)
  }
}
