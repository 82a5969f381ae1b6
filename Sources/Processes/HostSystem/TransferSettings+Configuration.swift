// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import DeviceRules
import MessageBus
import Messages
import Stores
import Timekeeping

extension TransferService {
  /// The service with the containers and the disk of the device.
  ///
  /// - Throws: errors of the database.
  nonisolated convenience init(
    _ stored: Stored, core: DeviceCore, _ configuration: ClusterConfiguration, folder: String,
    _ containers: Containers, bus: any BusConnection, clock: any ControllableClock
  ) throws {
    let settings = configuration.settings
    try self.init(
      stored, core: core, folder: folder, bus: bus, clock: clock,
      isAwake: { await core.state.launching.runningInstance(of: $0) != nil },
      container: { $0.bundleIdentifier.flatMap(containers.path) },
      space: { DiskSpace(at: folder).map { TransferSpace($0, settings) } })
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
