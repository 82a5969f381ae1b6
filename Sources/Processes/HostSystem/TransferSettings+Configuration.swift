import Cluster
import Transfers

extension TransferSettings {
  /// What `widgetlab.yaml` says of transfers.
  init(_ settings: ClusterConfiguration.Settings) {
    self.init(
      completionDeadline: settings.completionDeadline.seconds, redeliveryPause: settings.redeliverAfter.seconds,
      deliveryTries: settings.redeliveries, resumePause: settings.resumeAfter.seconds)
    completionGrace = settings.completionGrace.seconds
    observedEventOrder = settings.observedEventOrder
    maximumLoads = settings.maximumLoads
    discretionaryNeedsWiFi = settings.discretionaryNeedsWiFi
    widgetTransfersAreDiscretionary = settings.widgetTransfersAreDiscretionary
    limiterFirst = settings.limiterFirst.seconds
    limiterAppliesToWidgets = settings.limiterAppliesToWidgets
    limiterIsSharedWithApp = settings.limiterIsSharedWithApp
    delayedRequestLaunches = settings.delayedRequestLaunches
    countsPerSecond = Double(settings.countsPerSecond)
    keepsParts = settings.keepsResumeData.seconds
    forceQuitCancelsExtensions = settings.forceQuitCancelsExtensions
  }
}
