// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

/// What the conditions request from the rest of the host, in order.
package enum DeviceConditionsOutput: Sendable, Equatable {
  /// The network changed.
  case networkChanged(NetworkState)
  /// The user changed a setting, and the settings now. Call `announced` when its consequences are recorded; otherwise
  /// the next host repeats it.
  case settingChanged(SettingName, DeviceSettings)
}
