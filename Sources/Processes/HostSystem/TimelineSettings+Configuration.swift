import Archive
import Cluster
import Timekeeping
import Timelines

extension TimelineSettings {
  /// What `widgetlab.yaml` says of timelines.
  init(_ settings: ClusterConfiguration.Settings) {
    self.init()
    deadline = settings.timelineDeadline.seconds
    backoff = Backoff(first: settings.timelineBackoffFirst.seconds, limit: settings.timelineBackoffMax.seconds)
    retriesAfterDeath = settings.retriesAfterDeath
    oneEntryPause = settings.oneEntryPause.seconds
    policyFloor = settings.policyFloor.seconds
    limits = ArchiveLimits(
      bytes: settings.archiveLimit << 10, depth: settings.archiveDepth, imageArea: settings.imageAreaLimit,
      entries: settings.entryLimit)
    developerMode = settings.developerMode
  }
}
