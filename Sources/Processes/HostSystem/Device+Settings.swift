// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import Foundation
import Messages
import Timekeeping

// The settings of the device.

extension Device {
  /// The consequences of the change are recorded when this returns.
  func change(_ change: ChangeSetting.Change) throws -> ChangeSetting.Reply {
    try conditions.change(change)
    return ChangeSetting.Reply(
      settings: conditions.settings, changed: conditions.changedSettings, appearance: gallery.state.colorScheme)
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

extension GalleryStateMachine {
  /// The environment of a placement's views, with the settings as they apply to its extension.
  func environment(of placement: Placement, _ settings: DeviceSettings) -> WidgetEnvironment {
    var environment = environment(of: placement)
    environment.settings = settings
    return environment
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
