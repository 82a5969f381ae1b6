import Timekeeping

/// The rules that Apple does not state. Seconds. Source of the values: Documentation/fidelity.md.
package struct TransferSettings: Hashable, Sendable {
  /// From the hand-over of the events that woke the owner until it is told that its time is running out.
  package var completionDeadline: Double
  /// After the owner was told that its time is running out, until it is evicted.
  package var completionGrace = 5.0
  /// Whether the handler is called after the messages where the session is there already, and the finish is told to an
  /// owner that was not woken too, as developers saw it; or as Apple documents it.
  package var observedEventOrder = false
  /// After a hand-over that was not acknowledged in time, doubling.
  package var redeliveryPause: Double
  /// Unacknowledged hand-overs after which the events are held until a process creates the session.
  package var deliveryTries: Int
  /// After an attempt to download that failed, and after an owner died over its events again; doubling.
  package var resumePause: Double
  /// The longest pause of those.
  package var resumePauseLimit = 60.0
  /// Tasks of the device that load at the same time; what is more waits for its turn.
  package var maximumLoads = 64
  /// Whether a discretionary task waits for Wi-Fi.
  package var discretionaryNeedsWiFi = true
  /// Whether what an extension creates counts as discretionary; what an app creates behind the front always does.
  package var widgetTransfersAreDiscretionary = false
  /// The first delay of the resume rate limiter; off when 0.
  package var limiterFirst = 60.0
  /// The longest delay of the limiter.
  package var limiterLimit = 86_400.0
  /// Whether the limiter holds what an extension creates.
  package var limiterAppliesToWidgets = true
  /// Whether wakes of an extension and of its app raise one limiter.
  package var limiterIsSharedWithApp = false
  /// Whether an owner that does not run is woken to be asked about a task with an earliest date.
  package var delayedRequestLaunches = true
  /// How often a running owner is told of a task's bytes, besides the last time.
  package var countsPerSecond = 4.0
  /// How long the part of a file that resume data names is kept.
  package var keepsParts = 604_800.0
  /// After so many redirections a task fails with -1007.
  package var redirectLimit = 16
  /// A body of at most so many bytes begins anew rather than to be resumed.
  package var resumableFrom: Int64 = 65_536
  /// How long an owner that was asked may take to answer a challenge, which is then handled as by default; 0 for any
  /// time.
  package var challengeDeadline = 0.0
  /// Whether tasks that have ended and whose owner was not told yet are listed.
  package var listsEndedTasks = true
  /// Whether ending an app cancels its extensions' transfers too.
  package var forceQuitCancelsExtensions = false

  package init(
    completionDeadline: Double = 30, redeliveryPause: Double = 60, deliveryTries: Int = 5, resumePause: Double = 1
  ) {
    self.resumePause = resumePause
    self.completionDeadline = completionDeadline
    self.redeliveryPause = redeliveryPause
    self.deliveryTries = deliveryTries
  }

  /// How long after failed attempts the next one comes.
  var retries: Backoff { Backoff(first: resumePause, limit: resumePauseLimit) }
}
