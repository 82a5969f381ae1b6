// SPDX-License-Identifier: Apache-2.0

package import Archive

/// The rules of timelines that Apple does not document, see Documentation/fidelity/timelines.md.
package struct TimelineSettings: Sendable, Hashable {
  /// How long an extension may take for a reply, seconds of machine time, because author's code runs in it.
  package var deadline = 30.0
  /// How many requests an extension has at once, 1 or more.
  package var concurrentTimelines = 1
  /// Whether each timeline is requested twice at once. The reply that arrives last counts.
  package var requestsTimelinesTwice = false
  /// How long a placement waits after a failed reload, seconds of device time.
  package var backoff = Backoff(first: 60, limit: 3600)
  /// How often an extension that exited during a request is asked again at once.
  package var retriesAfterExit = 1
  /// The system's own pause after a timeline of one entry whose policy is `atEnd`, seconds.
  package var oneEntryPause = 900.0
  /// The shortest time from a reply to the next reload of the timeline's policy, seconds, in developer mode too.
  package var policyFloor = 60.0
  /// The limits of an archive.
  package var limits = ArchiveLimits(depth: 240)
  /// Whether budget and spacing are disabled. Source: WidgetKit Developer Mode.
  package var developerMode = false

  package init() {}
}
