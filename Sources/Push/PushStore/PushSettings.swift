/// What the push server keeps, and how much of it. All of it is ours, see Documentation/fidelity.md; the age of the log and of
/// stored notifications is Apple's.
package struct PushSettings: Sendable, Hashable {
  /// Seconds that a line of the delivery log is kept. Source: 7 days, Apple's *Viewing the status of push notifications*.
  package var logAge: Double = 7 * 86_400
  /// Requests that the delivery log keeps; the oldest go first.
  package var logLimit = 100_000
  /// Requests that wait to be written; one more is answered `ServiceUnavailable`.
  package var queueLimit = 10_000
  /// Seconds that a notification without an expiration is stored. Source: 30 days, Apple's *Sending notification requests*.
  package var storageAge: Double = 30 * 86_400
  /// Notifications of one subject that are on their way to its device at once; one more takes the place in storage.
  package var inFlight = 32
  /// Seconds until a notification is handed over again that the device did not take, for a reason of which it may not speak again.
  package var retryAfter: Double = 30
  /// Seconds that a busy server gathers requests for before it writes them together, since each transaction has a cost of its
  /// own. Those that come one by one are written at once.
  package var gathering: Double = 0.003
  /// Requests of one transaction from which on it is busy.
  package var busy = 8
  /// Lines of the delivery log that are said to the journal in a second; the others are in the delivery log alone.
  package var journalRate = 1_000

  package init() {}
}
