// SPDX-License-Identifier: Apache-2.0

import Cluster
import Transfers

extension TransferSettings {
  /// The transfer settings of `widgetlab.yaml`.
  init(_ settings: ClusterConfiguration.Settings) {
    self.init(
      completionDeadline: settings.completionDeadline.seconds, redeliverAfter: settings.redeliverAfter.seconds,
      redeliveries: settings.redeliveries, resumeAfter: settings.resumeAfter.seconds)
    resumeAfterMax = settings.resumeAfterMax.seconds
    completionGrace = settings.completionGrace.seconds
    observedEventOrder = settings.observedEventOrder
    maximumLoads = settings.maximumLoads
    discretionaryNeedsWiFi = settings.discretionaryNeedsWiFi
    widgetTransfersAreDiscretionary = settings.widgetTransfersAreDiscretionary
    limiterFirst = settings.limiterFirst.seconds
    limiterMax = settings.limiterMax.seconds
    limiterAppliesToWidgets = settings.limiterAppliesToWidgets
    limiterIsSharedWithApp = settings.limiterIsSharedWithApp
    delayedRequestLaunches = settings.delayedRequestLaunches
    countsPerSecond = Double(settings.countsPerSecond)
    keepsResumeData = settings.keepsResumeData.seconds
    redirectLimit = settings.redirectLimit
    expansionLimit = settings.expansionLimit
    resumableFrom = Int64(settings.resumableFrom) << 10
    challengeDeadline = settings.challengeDeadline.seconds
    listsEndedTasks = settings.listsEndedTasks
    forceQuitCancelsExtensions = settings.forceQuitCancelsExtensions
  }
}

extension TransferSpace {
  /// The space of a disk, of which downloads leave `diskReserve` of `widgetlab.yaml` free.
  init(_ space: DiskSpace, _ settings: ClusterConfiguration.Settings) {
    self.init(
      folder: space.folder, free: space.free, reserve: settings.diskReserve.map { Int64($0) << 20 } ?? space.reserve)
  }
}
