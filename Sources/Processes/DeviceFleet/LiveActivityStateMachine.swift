// SPDX-License-Identifier: Apache-2.0

import Cluster
import DeviceRules
import Foundation
import HeapModule
import Messages

/// Decides the states of Live Activities, in the sense of a backend: start, update, end, staleness, dismissal, the eight
/// hours, and the budget of priority 10. A plain value without clock or I/O.
///
/// Sources: ActivityKit, *Starting and updating Live Activities with ActivityKit push notifications*; the budget's size
/// is ours.
struct LiveActivityStateMachine: Sendable {
  /// Names one activity.
  struct Key: Sendable, Hashable, Codable {
    let device: UInt32
    let number: UInt16
  }

  typealias Activity = ActivityLifetime

  /// The result of a notification, or what happened with time. The names are in the report.
  enum Outcome: String, Sendable, CaseIterable {
    case started, updated, ended
    /// Beyond the budget of priority 10: the update is not shown.
    case throttled
    /// Its timestamp is older than that of the content.
    case outOfOrder = "out-of-order"
    /// `start` without attributes, or an unknown event.
    case ignored
    /// The device has as many activities as it may.
    case tooMany = "too-many"
    /// The activity has ended.
    case afterEnd = "after-end"
    /// Its stale date has passed.
    case stale
    /// The system ended it after eight hours.
    case endedBySystem = "ended-by-system"
    /// It left the Lock Screen.
    case dismissed
  }

  /// What the fleet must do.
  enum Action: Sendable, Hashable {
    /// A token for updates is needed.
    case began(Key)
    /// The token for updates ends.
    case ended(Key)
    /// The activity is gone.
    case removed(Key)
  }

  private struct Instant: Comparable, Sendable {
    let at: Date
    let key: Key
    static func < (one: Instant, other: Instant) -> Bool { one.at < other.at }
  }

  let rules: FleetProfile.LiveActivities
  private var limits: ActivityLimits { rules.limits }
  private(set) var activities: [Key: Activity] = [:]
  /// How many activities each device has.
  private var numbers: [UInt32: Int] = [:]
  private var instants = Heap<Instant>()

  init(rules: FleetProfile.LiveActivities, activities: [Key: Activity] = [:]) {
    self.rules = rules
    self.activities = activities
    for (key, activity) in activities {
      numbers[key.device, default: 0] += 1
      note(key, activity)
    }
  }

  /// The numbers of a device's activities.
  func numbers(of device: UInt32) -> [Int] {
    guard numbers[device] != nil else { return [] }
    return activities.keys.filter { $0.device == device }.map { Int($0.number) }.sorted()
  }

  /// The app starts an activity.
  mutating func start(_ key: Key, now: Date) -> (Outcome, [Action]) {
    begin(key, payload: LiveActivityPayload(), now: now)
  }

  /// A notification to the token that starts activities.
  ///
  /// - Parameter key: the activity that it would start.
  mutating func receiveStart(_ payload: String, _ key: Key, now: Date) -> (Outcome, [Action]) {
    guard let payload = LiveActivityPayload(payload), payload.event == .start, payload.hasAttributes,
      payload.hasAlert
    else { return (.ignored, []) }
    return begin(key, payload: payload, now: now)
  }

  private mutating func begin(_ key: Key, payload: LiveActivityPayload, now: Date) -> (Outcome, [Action]) {
    guard numbers[key.device, default: 0] < rules.limit else { return (.tooMany, []) }
    let activity = Activity(
      startedAt: now, timestamp: payload.timestamp ?? 0, staleAt: payload.staleDate, limits)
    activities[key] = activity
    numbers[key.device, default: 0] += 1
    note(key, activity)
    return (.started, [.began(key)])
  }

  /// A notification to the token of an activity.
  mutating func receive(_ payload: String, priority: Int, _ key: Key, now: Date) -> (Outcome, [Action]) {
    guard var activity = activities[key], activity.endedAt == nil else { return (.afterEnd, []) }
    guard let payload = LiveActivityPayload(payload), payload.event == .update || payload.event == .end else {
      return (.ignored, [])
    }
    do throws(ActivityLifetime.Refusal) {
      let isPaid = payload.event == .update && priority == 10
      try activity.take(timestamp: payload.timestamp, paying: isPaid ? (now, limits) : nil)
      if payload.event == .end {
        activity.end(now, dismissAt: payload.dismissalDate, limits)
        activities[key] = activity
        note(key, activity)
        return (.ended, [.ended(key)])
      }
    } catch {
      if error == .throttled { activities[key] = activity }
      return (error == .throttled ? .throttled : .outOfOrder, [])
    }
    activity.update(staleAt: payload.staleDate)
    activities[key] = activity
    note(key, activity)
    return (.updated, [])
  }

  /// The device no longer has the app.
  mutating func removeAll(of device: UInt32) -> [Action] {
    let keys = activities.keys.filter { $0.device == device }.sorted { $0.number < $1.number }
    return keys.flatMap { key -> [Action] in
      let isOver = activities[key]?.endedAt != nil
      remove(key)
      return isOver ? [.removed(key)] : [.ended(key), .removed(key)]
    }
  }

  /// Handles what is due.
  mutating func advance(to now: Date) -> [(Outcome, [Action])] {
    var results: [(Outcome, [Action])] = []
    while let first = instants.min, first.at <= now {
      instants.removeMin()
      guard var activity = activities[first.key] else { continue }
      switch activity.advance(to: now, limits) {
      case nil: continue
      case .dismissed:
        remove(first.key)
        results.append((.dismissed, [.removed(first.key)]))
      case .endedBySystem:
        activities[first.key] = activity
        note(first.key, activity)
        results.append((.endedBySystem, [.ended(first.key)]))
      case .stale:
        activities[first.key] = activity
        note(first.key, activity)
        results.append((.stale, []))
      }
    }
    return results
  }

  private mutating func remove(_ key: Key) {
    activities[key] = nil
    numbers[key.device, default: 1] -= 1
    if numbers[key.device] == 0 { numbers[key.device] = nil }
  }

  /// Notes the next date at which something is due. An entry that is no longer true is harmless.
  private mutating func note(_ key: Key, _ activity: Activity) {
    instants.insert(Instant(at: activity.next(limits), key: key))
  }
}

extension FleetProfile.LiveActivities {
  fileprivate var limits: ActivityLimits {
    ActivityLimits(
      atATime: limit, priority10PerHour: priority10PerHour, hours: hours, hoursOnLockScreen: hoursOnLockScreen)
  }
}
