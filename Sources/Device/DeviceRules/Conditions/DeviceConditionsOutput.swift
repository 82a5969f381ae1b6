// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

/// What the conditions request from the rest of the host, in order.
package enum DeviceConditionsOutput: Sendable, Equatable {
  /// The network changed.
  case networkChanged(NetworkState)
  /// The user changed a setting, and the settings now. Call `announced` when its consequences are recorded; otherwise
  /// the next host repeats it.
  case settingChanged(SettingChange, DeviceSettings)
}

/// A change of a setting by the user.
package struct SettingChange: Codable, Sendable, Equatable {
  package let name: SettingName
  /// Its number among the changes of all settings.
  package let revision: Int
}
