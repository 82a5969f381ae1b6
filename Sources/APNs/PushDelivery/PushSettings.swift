// SPDX-License-Identifier: Apache-2.0

/// Limits of the push server's storage. All are ours (Documentation/fidelity/apns.md), except for the ages of the log
/// and of stored notifications, which are Apple's.
package struct PushSettings: Sendable, Hashable {
  /// Seconds that a line of the delivery log is kept. Source: 7 days, Apple's *Viewing the status of push
  /// notifications*.
  package var logAge: Double = 7 * 86_400
  /// Maximum number of requests in the delivery log; the oldest are deleted first.
  package var logLimit = 100_000
  /// Maximum number of requests that wait to be written; one more gets `ServiceUnavailable`.
  package var queueLimit = 10_000
  /// Seconds that a notification without an expiration is stored. Source: 30 days, Apple's *Sending notification
  /// requests*.
  package var storageAge: Double = 30 * 86_400
  /// Seconds after its end that a device token is forgotten.
  package var endedTokenAge: Double = 30 * 86_400
  /// Maximum number of device tokens in memory.
  package var cachedTokens = 16_384
  /// Number of devices without unacknowledged notifications whose stored ones are in memory; at most twice as many.
  package var idleDevices = 4_096
  /// Unacknowledged notifications per subject; one more is stored.
  package var inFlight = 32
  /// Seconds until a refused notification is sent again, when the device may not report that the obstacle is gone.
  package var retryAfter: Double = 30
  /// Seconds that a busy server collects requests into one transaction, because each transaction has a fixed cost.
  /// Single requests are written at once.
  package var gathering: Double = 0.003
  /// Requests in a transaction from which the server counts as busy.
  package var busy = 8
  /// When a device that can be reached accepts notifications of low priority.
  package var opportunities = OpportunityPolicy()
  /// Delivery-log lines per second that are also recorded in the journal.
  package var journalRate = 1_000

  package init() {}
}
