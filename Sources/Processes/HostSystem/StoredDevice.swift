// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import DeviceRules
import Stores
import Timekeeping

/// What the previous host wrote of the device.
struct StoredDevice {
  let launching: LaunchService.Stored
  let transfers: TransferService.Stored
  let timelines: TimelineService.Stored
  let pushes: PushService.Stored
  let gallery: GalleryService.Stored
  let activities: ActivityService.Stored
  let stateMachine: DeviceStateMachine

  /// - Throws: `configuration` with the file that it concerns, or errors of the database.
  init(
    _ configuration: ClusterConfiguration, _ programs: [Program], _ store: DeviceStore,
    _ transactions: DeviceTransactions, _ underWay: UnderWay, _ parts: HostParts
  ) throws {
    let settings = configuration.settings
    let deviceSettings = try DeviceSettingsStateMachine(configuration, store)
    // The types of what is stored of timelines take as long as all the rest.
    let timelines = Concurrently {
      try TimelineService.Stored(configuration, deviceSettings.settings, transactions, parts.reloads)
    }
    launching = try LaunchService.Stored(
      programs, transactions, suspendAfter: settings.suspendAfter.seconds, endIdleAfter: settings.endIdleAfter.seconds,
      backoff: Backoff(first: settings.crashBackoffFirst.seconds, limit: settings.crashBackoffMax.seconds))
    transfers = try TransferService.Stored(
      transactions, settings: TransferSettings(settings),
      families: AppFamilies(apps: configuration.apps.map(\.bundle)), underWay: underWay)
    pushes = try PushService.Stored(
      transactions, device: configuration.device.name, products: configuration.pushProducts,
      hasWidgetPushes: configuration.hasWidgetPushes)
    gallery = try GalleryService.Stored(
      transactions, device: WidgetDevice(configuration), apps: configuration.apps.map(\.bundle),
      placesEachKind: settings.gallery.placesEachKind)
    activities = try ActivityService.Stored(configuration, transactions)
    self.timelines = try timelines.get()
    stateMachine = DeviceStateMachine(
      launching: launching.stateMachine, apps: AppLifecycleStateMachine(apps: configuration.installedApps),
      conditions: try DeviceConditionsStateMachine(store, hasPushServer: configuration.pushServer != nil),
      settings: deviceSettings, loading: transfers.loading, delivery: transfers.delivery,
      timelines: self.timelines.stateMachine, tokens: pushes.tokens, notifications: pushes.notifications,
      gallery: gallery.gallery, screen: gallery.screen, activities: activities.stateMachine,
      facts: DeviceFacts(configuration, parts))
  }
}

extension DeviceFacts {
  fileprivate init(_ configuration: ClusterConfiguration, _ parts: HostParts) {
    self.init()
    device = configuration.device.name
    for product in configuration.extensions {
      extensions[product.address(on: device)] = product.dataProtection.isOfUnlockedDevice
    }
    pushReloadsAllWidgets = configuration.settings.pushReloadsAllWidgets
    launchesForEvents = parts.launchesForEvents
  }
}
