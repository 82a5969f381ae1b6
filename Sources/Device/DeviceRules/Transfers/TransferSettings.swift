// SPDX-License-Identifier: Apache-2.0

/// The rules that Apple does not state. Times are in seconds. Source of the values: Documentation/fidelity.
package struct TransferSettings: Hashable, Sendable {
  /// From the delivery of the events that woke the owner until it is notified that its time is running out.
  package var completionDeadline: Double
  /// From that notification until the owner is evicted.
  package var completionGrace = 5.0
  /// `true`: as developers observed, the handler is called after the delegate calls if the session already exists, and
  /// owners that were not woken receive the finish too. `false`: as Apple documents it.
  package var observedEventOrder = false
  /// The pause after a delivery that was not acknowledged in time, doubled each time.
  package var redeliverAfter: Double
  /// The number of unacknowledged deliveries after which the events wait until a process creates the session.
  package var redeliveries: Int
  /// The pause after a failed download attempt and after an owner repeatedly exited during a delivery; doubled each
  /// time.
  package var resumeAfter: Double
  /// The limit of that pause.
  package var resumeAfterMax = 60.0
  /// The number of tasks that the device loads at the same time. Further tasks wait for their turn.
  package var maximumLoads = 64
  /// Whether a discretionary task waits for Wi-Fi.
  package var discretionaryNeedsWiFi = true
  /// Whether tasks created by an extension are discretionary. Those that an app creates in the background always are.
  package var widgetTransfersAreDiscretionary = false
  /// The first delay of the resume rate limiter; 0 disables it.
  package var limiterFirst = 60.0
  /// The longest delay of the limiter.
  package var limiterMax = 86_400.0
  /// Whether the limiter delays tasks created by an extension.
  package var limiterAppliesToWidgets = true
  /// Whether wakes of an extension and of its app raise the same limiter.
  package var limiterIsSharedWithApp = false
  /// Whether an owner that does not run is woken and asked before a task with an earliest begin date begins.
  package var delayedRequestLaunches = true
  /// Reports of a task's byte counts per second to a running owner, in addition to the last one.
  package var countsPerSecond = 4.0
  /// How long a part that resume data refers to is kept.
  package var keepsResumeData = 604_800.0
  /// A task fails with -1007 after this many redirects.
  package var redirectLimit = 16
  /// An encoded body may become at most this many times as long; 0 for no limit.
  package var expansionLimit = 200
  /// A body of at most this many bytes is not resumed.
  package var resumableFrom: Int64 = 65_536
  /// How long an owner may take to respond to a challenge before the default handling applies; 0 for no limit.
  package var challengeDeadline = 0.0
  /// Whether lists include tasks that have ended and were not delivered yet.
  package var listsEndedTasks = true
  /// Whether force-quitting an app also cancels its extensions' transfers.
  package var forceQuitCancelsExtensions = false

  package init(
    completionDeadline: Double = 30, redeliverAfter: Double = 60, redeliveries: Int = 5, resumeAfter: Double = 1
  ) {
    self.resumeAfter = resumeAfter
    self.completionDeadline = completionDeadline
    self.redeliverAfter = redeliverAfter
    self.redeliveries = redeliveries
  }

  /// The pauses between failed attempts.
  var resumeBackoff: Backoff { Backoff(first: resumeAfter, limit: resumeAfterMax) }
}
