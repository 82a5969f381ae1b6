package import Archive
package import Timekeeping

/// The rules of timelines that Apple does not state, see Documentation/fidelity.md.
package struct TimelineSettings: Sendable, Hashable {
  /// How long an extension may take for an answer, seconds of the machine's time: author's code runs in it.
  package var deadline = 30.0
  /// How long a placement is left alone after a reload that came to nothing, seconds of the device's time.
  package var backoff = Backoff(first: 60, limit: 3600)
  /// How often an extension that died while it was asked is asked again at once.
  package var retriesAfterDeath = 1
  /// The system's own pause after a timeline of one entry whose policy is `atEnd`, seconds.
  package var oneEntryPause = 900.0
  /// A timeline's policy brings the next reload no sooner than so many seconds after its answer, in developer mode too.
  package var policyFloor = 60.0
  /// What an archive may not go beyond.
  package var limits = ArchiveLimits(depth: 240)
  /// Neither budget nor spacing holds. Source: WidgetKit Developer Mode.
  package var developerMode = false

  package init() {}
}
