// SPDX-License-Identifier: Apache-2.0

import APNs

/// How a connection on which many requests are refused is slowed down and ended. Apple documents that it happens (*Handling
/// notification responses from APNs*) and no figures.
package struct RefusalPolicy: Sendable, Hashable {
  /// From this account on, the connection has `slowedStreams` concurrent streams, until the account is lower; 0 for never.
  package var slowedFrom = 0
  /// At this account, the connection ends after the response; 0 for never.
  package var endedAt = 0
  /// Concurrent streams of a connection that is slowed down. Source: 1 was observed.
  package var slowedStreams = 1
  /// What a BadDeviceToken adds to the account. Any other refusal adds 1, and a success takes 1 away.
  package var badDeviceTokenWeight = 2

  package init() {}
}

/// The account of a connection's refusals: they add to it, and successes take away from it.
struct RefusalAccount: Sendable {
  let policy: RefusalPolicy
  private(set) var value = 0

  init(_ policy: RefusalPolicy) { self.policy = policy }

  /// Whether the client may have few concurrent streams only.
  var isSlowed: Bool { policy.slowedFrom > 0 && value >= policy.slowedFrom }
  var isOver: Bool { policy.endedAt > 0 && value >= policy.endedAt }

  /// Counts a response. Status 410 and those of 500 and above do not count.
  mutating func count(status: Int, reason: String?) {
    switch status {
    case 200: value = max(0, value - 1)
    case 410: break
    case 400..<500: value += reason == APNsReason.badDeviceToken.rawValue ? policy.badDeviceTokenWeight : 1
    default: break
    }
  }
}
