// SPDX-License-Identifier: Apache-2.0

import Cluster
import Launching
import MessageBus
import Messages
import Stores
import Timekeeping
import Transfers

extension TransferService {
  /// The service with the settings of `widgetlab.yaml`.
  ///
  /// - Throws: database errors.
  nonisolated convenience init(
    _ configuration: ClusterConfiguration, folder: String, _ containers: Containers, _ launcher: LaunchService,
    _ underWay: UnderWay, bus: any BusConnection, clock: any ControllableClock, _ transactions: DeviceTransactions
  ) throws {
    let settings = configuration.settings
    try self.init(
      folder: folder, database: transactions.database, bus: bus, clock: clock, settings: TransferSettings(settings),
      families: AppFamilies(apps: configuration.apps.map(\.bundle)), underWay: underWay,
      isAwake: { await launcher.awakeInstance(of: $0) != nil },
      container: { $0.bundleIdentifier.flatMap(containers.path) },
      space: { DiskSpace(at: folder).map { TransferSpace($0, settings) } }, transactions: transactions)
  }
}

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
