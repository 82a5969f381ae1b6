// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import DeviceRules
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

extension DeviceConditionsService.Storage {
  /// Writes the conditions to the device's settings.
  init(_ transactions: DeviceTransactions) {
    @Sendable func save(_ value: Data, _ name: String) throws {
      try transactions.writeNow { try DeviceStore.set(value, named: name, $0) }
    }
    self.init(
      saveNetwork: { try save(try BodyCoding.data($0), DeviceStore.network) },
      savePower: { try save(try BodyCoding.data($0), DeviceStore.power) },
      saveSettings: { try save(try BodyCoding.data($0), DeviceStore.settings) },
      saveAnnounced: { settings in
        let value = try BodyCoding.data(settings)
        try transactions.write(.lasting) { try DeviceStore.set(value, named: DeviceStore.settings, $0) }
      })
  }
}

extension AppLifecycleService.ContainerMoves {
  /// Moves the containers of the device.
  init(_ containers: Containers) {
    self.init(
      pending: { containers.moving }, begin: { try containers.beginMove(of: $0) },
      complete: { try containers.endMove(of: $0) })
  }
}

extension ClusterConfiguration {
  /// The apps of the device with their extensions.
  var installedApps: [InstalledApp] {
    apps.map { app in
      InstalledApp(
        address: app.address(on: device.name),
        extensions: extensions(ofApp: app.bundle).map { $0.address(on: device.name) })
    }
  }
}

extension ClusterConfiguration {
  /// What the launch service runs: apps and extensions, each with the environment that it has at its start.
  ///
  /// - Parameter groups: the folders of the app groups, by identifier.
  func programs(
    groups: [String: String], _ containers: Containers, in instance: InstanceFolder
  ) -> [Program] {
    let (name, settings) = (device.name, self.settings)
    let folder = instance.device(name)
    return products.map { product in
      Program(
        address: product.address(on: name), agent: .agent(name, product.agent), executable: product.executable,
        container: { containers.path(of: product.bundle) ?? "" }, groups: groups,
        memory: product.isExtension ? settings.extensionMemory : nil, rules: settings.processRules,
        environment: { deviceSettings in
          try containers.make(product.bundle)
          return try environment(of: product, in: instance, deviceSettings)
            .merging(
              [
                DeviceFolder.clockPageVariable: folder.clockPage, KeychainVariables.folder: folder.keychain,
                KeychainVariables.groups: product.keychainGroups.joined(separator: ","),
              ]) { $1 }
        })
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

  /// The rules of `widgetlab.yaml` for the device's processes.
  var processRules: ProcessRules {
    var rules = ProcessRules()
    rules.callDeadline = callDeadline.seconds
    rules.inlineRedirectLimit = inlineRedirectLimit
    rules.firstCompletionCounts = firstCompletionCounts
    rules.callsProvidersConcurrently = concurrentTimelines > 1 || requestsTimelinesTwice
    return rules
  }
}

extension Duration {
  /// The duration in seconds.
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
