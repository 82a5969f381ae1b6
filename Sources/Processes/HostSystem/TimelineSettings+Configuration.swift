// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Timekeeping
import Timelines

extension TimelineSettings {
  /// The timeline settings of `widgetlab.yaml`.
  init(_ settings: ClusterConfiguration.Settings) {
    self.init()
    deadline = settings.timelineDeadline.seconds
    backoff = Backoff(first: settings.timelineBackoffFirst.seconds, limit: settings.timelineBackoffMax.seconds)
    retriesAfterExit = settings.retriesAfterExit
    oneEntryPause = settings.oneEntryPause.seconds
    policyFloor = settings.policyFloor.seconds
    limits = ArchiveLimits(
      bytes: settings.archiveLimit << 10, depth: settings.archiveDepth, imageArea: settings.imageAreaLimit,
      entries: settings.entryLimit)
    concurrentTimelines = settings.concurrentTimelines
    requestsTimelinesTwice = settings.requestsTimelinesTwice
    developerMode = settings.developerMode
  }
}
