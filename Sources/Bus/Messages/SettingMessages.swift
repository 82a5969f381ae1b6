// SPDX-License-Identifier: Apache-2.0

package import Archive

// The settings of the device that views and the author's code read.

/// The user reads or changes a setting of the device. A change survives a restart of the host.
package struct ChangeSetting: Request {
  package static let kind: Kind = "setting.change"
  package enum Change: Codable, Hashable, Sendable {
    /// Changes nothing.
    case ask
    /// The value as `DeviceSettings.set(_:to:)` reads it.
    case set(SettingName, String)
    /// Back to the value of `widgetlab.yaml`.
    case reset(SettingName)
  }
  package let change: Change
  package init(_ change: Change) { self.change = change }

  /// The settings after the change.
  package struct Reply: Codable, Hashable, Sendable {
    package let settings: DeviceSettings
    /// What the user changed, in the order of `SettingName`.
    package let changed: [SettingName]
    package let appearance: ColorSchemeName
    package init(settings: DeviceSettings, changed: [SettingName], appearance: ColorSchemeName) {
      self.settings = settings
      self.changed = changed
      self.appearance = appearance
    }
  }
}

/// A setting changed, or a process receives the current settings: it applies locale and time zone to itself.
package struct SettingChanged: Notice {
  package static let kind: Kind = "setting.changed"
  /// As they apply to the receiver.
  package let settings: DeviceSettings
  /// `nil` for a process that receives several changes.
  package let name: SettingName?
  package init(settings: DeviceSettings, name: SettingName? = nil) {
    self.settings = settings
    self.name = name
  }
}
