// SPDX-License-Identifier: Apache-2.0

import Apps
import Cluster
import Conditions
import Messages

// What the device's services get from `widgetlab.yaml`, from the database and from the containers.

extension DeviceConditionsStateMachine {
  /// Reads the conditions that the previous host wrote.
  init(_ store: DeviceStore, hasPushServer: Bool) throws {
    self.init(
      network: try store.setting(NetworkState.self, named: DeviceStore.network) ?? NetworkState(),
      isAwake: try store.setting(Bool.self, named: DeviceStore.power) ?? true, hasPushServer: hasPushServer)
  }
}

extension DeviceConditionsService.Storage {
  /// Writes the conditions to the device's settings.
  init(_ store: DeviceStore) {
    self.init(
      saveNetwork: { try store.set($0, named: DeviceStore.network) },
      savePower: { try store.set($0, named: DeviceStore.power) },
      saveSettings: { try store.set($0, named: DeviceStore.settings) })
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

extension ClusterConfiguration.Settings {
  /// The memory limit of an extension; `nil` for none.
  var extensionMemory: MemoryLimit? {
    guard extensionMemoryLimit > 0 else { return nil }
    return MemoryLimit(bytes: extensionMemoryLimit << 20, interval: memoryInterval.seconds)
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
