// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import MessageBus
import Messages
import Stores
import Timekeeping

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

extension TimelineService.Stored {
  /// Timelines with the settings of `widgetlab.yaml`.
  ///
  /// - Throws: `configuration` with the file of the budget; errors of the database.
  init(
    _ configuration: ClusterConfiguration, _ deviceSettings: DeviceSettings, _ transactions: DeviceTransactions,
    _ reloads: (inout TimelineSettings, inout BudgetPolicy) -> Void
  ) throws {
    let device = configuration.device.name
    var policy = try BudgetPolicy(configuration.settings, timeZone: deviceSettings.timeZone)
    var settings = TimelineSettings(configuration.settings)
    reloads(&settings, &policy)
    try self.init(
      transactions, extensions: configuration.extensions.map { $0.address(on: device) },
      apps: configuration.apps.map { .app(device, $0.bundle) }, settings: settings, policy: policy)
  }
}

extension TimelineService {
  /// The service with the environments and containers of the device.
  nonisolated convenience init(
    _ stored: Stored, core: DeviceCore, _ configuration: ClusterConfiguration, _ gallery: GalleryService,
    _ conditions: DeviceConditionsService, _ containers: Containers, _ underWay: UnderWay, bus: any BusConnection,
    clock: any ControllableClock
  ) {
    let device = configuration.device.name
    self.init(
      stored, core: core, bus: bus, clock: clock, underWay: underWay,
      environment: {
        gallery.stateMachine.environment(of: $0, conditions.settings(of: .widgetExtension(device, $0.bundle)))
      },
      container: { $0.bundleIdentifier.flatMap(containers.path) },
      closureSizes: { [layout = ClosureLayout()] in await layout.sizes(in: $0, $1) })
  }
}
