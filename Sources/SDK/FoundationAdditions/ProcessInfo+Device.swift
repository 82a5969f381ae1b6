// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

extension ProcessInfo {
  /// Always `false`, which the diagnosis `not-simulated` names: the device has no Low Power Mode.
  public var isLowPowerModeEnabled: Bool {
    HostedProcess.current?.noticeUnsimulated("isLowPowerModeEnabled", "the device has no Low Power Mode; it is false")
    return false
  }

  /// Calls the closure with `false`, on another thread. It is not called again before the process is suspended: the
  /// diagnosis `not-simulated` names it.
  public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
    HostedProcess.current?.noticeUnsimulated(
      "performExpiringActivity", "it does not keep the process from being suspended, and no expiry is announced")
    DispatchQueue.global().async { block(false) }
  }

  /// Always `false`: the device is a phone or a tablet.
  public var isiOSAppOnMac: Bool { false }
  /// Always `false`: the device is a phone or a tablet.
  public var isMacCatalystApp: Bool { false }

  /// Source: `Foundation.ProcessInfo.ThermalState`.
  public enum ThermalState: Int, Sendable {
    case nominal, fair, serious, critical
  }

  /// Always nominal.
  public var thermalState: ThermalState { .nominal }
}

extension Notification.Name {
  /// Never posted: there is no Low Power Mode.
  public static let NSProcessInfoPowerStateDidChange = Notification.Name("NSProcessInfoPowerStateDidChangeNotification")
}
