// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// When a device that can be reached accepts notifications of low priority, and background notifications. Apple documents
/// that they are grouped, delivered in bursts and throttled, and no figures. With 0, they are delivered at once.
package struct OpportunityPolicy: Sendable, Hashable {
  /// Seconds from one burst of notifications of priority 5 to the next on a device.
  package var priority5Interval = 0.0
  /// The same for priority 1.
  package var priority1Interval = 0.0
  /// Seconds from one background notification of an app to the next on a device.
  package var backgroundInterval = 0.0

  package init() {}
}

/// The opportunities that devices had, and the next ones.
struct Opportunities: Sendable {
  /// Whose notifications are limited together.
  private enum Group: Hashable, Sendable {
    case priority(Int, device: String)
    case background(app: String, device: String)
  }

  let policy: OpportunityPolicy
  /// When the last burst of each group was delivered. All notifications of one instant are one burst.
  private var bursts: [Group: Date] = [:]
  /// When the burst before the last one of each group was delivered.
  private var formerBursts: [Group: Date] = [:]
  /// The number of groups at which those whose interval is over are removed.
  private var bound = 1_000

  init(_ policy: OpportunityPolicy) { self.policy = policy }

  private func groups(of push: PushedNotification) -> [(group: Group, interval: Double)] {
    let (device, app) = (push.subject.device, push.subject.bundle)
    var groups: [(group: Group, interval: Double)] = []
    func add(_ group: @autoclosure () -> Group, _ interval: Double) {
      if interval > 0 { groups.append((group(), interval)) }
    }
    switch push.priority {
    case 5: add(.priority(5, device: device), policy.priority5Interval)
    case 1: add(.priority(1, device: device), policy.priority1Interval)
    default: break
    }
    if push.type == .background { add(.background(app: app, device: device), policy.backgroundInterval) }
    return groups
  }

  /// When the device accepts a notification; `nil` if it does so now.
  func next(for push: PushedNotification, now: Date) -> Date? {
    groups(of: push).compactMap { group, interval -> Date? in
      guard let burst = bursts[group], burst != now else { return nil }
      let end = burst.addingTimeInterval(interval)
      return end > now ? end : nil
    }.max()
  }

  /// A notification is sent.
  mutating func use(for push: PushedNotification, now: Date) {
    for (group, _) in groups(of: push) where bursts[group] != now {
      formerBursts[group] = bursts[group]
      bursts[group] = now
    }
    if bursts.count > bound { removeOld(now) }
  }

  private mutating func removeOld(_ now: Date) {
    let longest = max(policy.priority5Interval, policy.priority1Interval, policy.backgroundInterval)
    let old = now.addingTimeInterval(-longest)
    bursts = bursts.filter { $0.value >= old }
    formerBursts = formerBursts.filter { $0.value >= old }
    bound = 1_000 + 2 * bursts.count
  }

  /// The device refused a notification: its burst does not count.
  mutating func giveBack(for push: PushedNotification) {
    for (group, _) in groups(of: push) { bursts[group] = formerBursts.removeValue(forKey: group) }
  }
}

extension PushedNotification {
  /// Why it waits for the device's next opportunity.
  func waiting(for opportunity: Date) -> String {
    let what = type == .background ? "background notifications are throttled" : "priority \(priority) is grouped"
    return "\(what): the device accepts it at \(opportunity.formatted(.iso8601))"
  }
}
