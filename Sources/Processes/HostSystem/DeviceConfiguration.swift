// SPDX-License-Identifier: Apache-2.0

import Archive
package import Cluster
import Device
package import DeviceRules
import Foundation
import Messages
import Stores
import Timekeeping

// What the device's services get from `widgetlab.yaml`, from the database and from the containers.

extension DeviceConditionsStateMachine {
  /// Reads the conditions that the previous host wrote.
  init(_ store: DeviceStore, hasPushServer: Bool) throws {
    self.init(
      network: try store.setting(NetworkState.self, named: DeviceStore.network) ?? NetworkState(),
      isAwake: try store.setting(Bool.self, named: DeviceStore.power) ?? true, hasPushServer: hasPushServer)
  }
}

extension AdjustableClock {
  /// The clock of the device, with the setting that was last stored.
  convenience init(_ store: DeviceStore, _ page: ClockPage, patience: Duration) throws {
    self.init(
      try store.setting(ClockSetting.self, named: DeviceStore.clock) ?? .running(ahead: 0), patience: patience,
      executor: DeviceActor.executor, show: page.show)
  }
}

extension ClusterConfiguration {
  /// The apps of the device with their extensions. One without `infoPlist` in `widgetlab.yaml` may have Live Activities.
  ///
  /// - Throws: `configuration` with the file of an app.
  func installedApps() throws(ClusterError) -> [InstalledApp] {
    try apps.map { app throws(ClusterError) in
      InstalledApp(
        address: app.address(on: device.name),
        extensions: extensions(ofApp: app.bundle).map { $0.address(on: device.name) },
        supportsActivities: try app.readInfoPlist()?.supportsLiveActivities ?? true,
        hasPushEntitlement: app.pushEnvironment != nil)
    }
  }
}

extension ClusterConfiguration {
  /// The bundle identifiers from which the vendors of the products follow: those of the apps. An extension without an app
  /// in the file counts as its app.
  var vendorApps: [String] { products.map(vendorApp) }

  private func vendorApp(of product: Product) -> String {
    product.isExtension ? app(ofExtension: product.bundle)?.bundle ?? product.bundle : product.bundle
  }

  /// What the launch service runs: apps and extensions, each with the environment that it has at its start.
  ///
  /// - Parameter groups: the folders of the app groups, by identifier.
  func programs(
    groups: [String: String], _ containers: Containers, _ vendors: VendorIdentifiers, in instance: InstanceFolder
  ) -> [Program] {
    let (name, settings) = (device.name, self.settings)
    let folder = instance.device(name)
    return products.map { product in
      let address = product.address(on: name)
      return Program(address: address, agent: .agent(name, product.agent)) { deviceSettings, reason in
        try containers.make(product.bundle)
        let environment = try environment(of: product, in: instance, deviceSettings)
          .merging(
            [
              DeviceFolder.clockPageVariable: folder.clockPage, KeychainVariables.folder: folder.keychain,
              KeychainVariables.groups: product.keychainGroups.joined(separator: ","),
              LaunchVariables.vendor: vendors[app: vendorApp(of: product)] ?? "",
            ]) { $1 }
        return SpawnProcess(
          address: address, executable: product.executable, environment: environment,
          container: containers.path(of: product.bundle) ?? "", groups: groups,
          memory: product.isExtension ? settings.extensionMemory : nil, rules: settings.processRules, reason: reason)
      }
    }
  }
}

extension ClusterConfiguration.Settings {
  /// The memory limit of an extension; `nil` for none.
  var extensionMemory: MemoryLimit? {
    #if SANITIZED
    // A sanitizer's own memory exceeds any limit.
    return nil
    #else
    guard extensionMemoryLimit > 0 else { return nil }
    return MemoryLimit(bytes: extensionMemoryLimit << 20, interval: memoryInterval.seconds)
    #endif
  }

  /// The rules of `widgetlab.yaml` for the device's processes, with what follows from other settings.
  var processRules: ProcessRules {
    var rules = process
    rules.callsProvidersConcurrently = concurrentTimelines > 1 || requestsTimelinesTwice
    return rules
  }
}

extension TimelineSettings {
  /// The timeline settings of `widgetlab.yaml`.
  init(_ settings: ClusterConfiguration.Settings) {
    self.init()
    deadline = settings.timelineDeadline.seconds
    backoff = Backoff(first: settings.timelineBackoffFirst.seconds, limit: settings.timelineBackoffMax.seconds)
    retriesAfterExit = settings.retriesAfterExit
    oneEntryPause = settings.oneEntryPause.seconds
    policyFloor = settings.policyFloor.seconds
    policyDelay = settings.policyDelay.seconds
    policyDelaySeed = settings.policyDelaySeed
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
    _ configuration: ClusterConfiguration, deviceSettings: DeviceSettings, transactions: DeviceTransactions,
    reloads: (inout TimelineSettings, inout BudgetPolicy) -> Void
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

extension TransferSettings {
  /// The transfer settings of `widgetlab.yaml`.
  init(_ settings: ClusterConfiguration.Settings) {
    self.init()
    completionDeadline = settings.completionDeadline.seconds
    redeliverAfter = settings.redeliverAfter.seconds
    redeliveries = settings.redeliveries
    resumeAfter = settings.resumeAfter.seconds
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

extension BudgetPolicy {
  /// The policy of a file; missing keys have the values of the built-in `standard`.
  package init(_ file: BudgetFile) {
    self.init()
    name = file.name ?? name
    perDay = file.hasNoBudget ? nil : file.perDay ?? perDay
    initial = file.initial ?? initial
    burst = file.burst ?? burst
    minimumSpacing = file.minimumSpacing ?? minimumSpacing
    window = file.window ?? window
    hours = file.hours ?? hours
    utcOffset = file.utcOffset ?? utcOffset
    unseenAfter = file.unseenAfter ?? unseenAfter
    unseenFactor = file.unseenFactor ?? unseenFactor
    staleAfter = file.staleAfter ?? staleAfter
    standByEvery = file.hasNoStandBy ? nil : file.standByEvery ?? standByEvery
    learningDays = file.learningDays ?? learningDays
    learningFactor = file.learningFactor ?? learningFactor
    afterOpenedFromWidget = file.afterOpenedFromWidget ?? afterOpenedFromWidget
    foregroundSpacing = file.foregroundSpacing ?? foregroundSpacing
    freeCauses = file.freeCauses ?? freeCauses
    isFreeInForeground = file.isFreeInForeground ?? isFreeInForeground
    isFreeAtWork = file.isFreeAtWork ?? isFreeAtWork
  }
}

// The settings of the device.

extension Device {
  /// The consequences of the change are recorded when this returns.
  func change(_ change: ChangeSetting.Change) throws -> ChangeSetting.Reply {
    let former = core.state.settings.settings.timeZone
    try conditions.change(change)
    let settings = core.state.settings
    if settings.settings.timeZone != former { notifyApps(of: .timeChanged, .none) }
    return ChangeSetting.Reply(
      settings: settings.settings, changed: settings.changed, appearance: core.state.screen.state.colorScheme)
  }
}

extension DeviceSettingsStateMachine {
  /// The settings of `widgetlab.yaml`, and what the user changed, as the previous host wrote it.
  init(_ configuration: ClusterConfiguration, _ store: DeviceStore) throws {
    let device = configuration.device
    let overrides = configuration.products.map { ($0.address(on: device.name), $0.override) }
    self.init(
      DeviceSettings(locale: device.locale, timeZone: device.timeZone ?? TimeZone.current.identifier),
      overrides: Dictionary(overrides) { first, _ in first },
      stored: try store.setting(Stored.self, named: DeviceStore.settings) ?? Stored())
  }
}

extension ClusterConfiguration.Product {
  /// The settings that `environment` in `widgetlab.yaml` replaces for this product.
  fileprivate var override: DeviceSettingsStateMachine.Override {
    func value(_ name: String) -> String? {
      environment[name].flatMap {
        try? Expansion.expand($0, Announced(), environment: ProcessInfo.processInfo.environment)
      }
    }
    return DeviceSettingsStateMachine.Override(
      locale: value("LANG").map { DeviceSettings.locale(ofLanguage: $0) }, timeZone: value("TZ"))
  }
}

extension BudgetPolicy {
  /// The policy of `widgetlab.yaml`, in the time zone of the device.
  ///
  /// - Throws: `configuration` with the file.
  init(_ settings: ClusterConfiguration.Settings, timeZone identifier: String) throws {
    if let path = settings.budget { self.init(try BudgetFile(file: path)) } else { self.init() }
    timeZone = TimeZone(identifier: identifier) ?? .gmt
  }
}

// Which widgets use the location. `widgetlab device location` sets where the device is, and that it has moved far.

extension ClusterConfiguration {
  /// The extensions whose widgets use the location, according to their `Info.plist`.
  ///
  /// - Throws: `configuration`, with the file and the key.
  func bundlesWantingLocation() throws(ClusterError) -> Set<String> {
    var bundles: Set<String> = []
    for product in extensions where try product.readInfoPlist()?.wantsLocation == true {
      bundles.insert(product.bundle)
    }
    return bundles
  }
}
