// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation
import Synchronization

/// The power of the device, as this process knows it: from its environment at its launch, and later by messages.
package final class DevicePower: Sendable {
  /// What the process knows.
  package struct State: Hashable, Sendable {
    package var battery: DeviceBattery
    package var isLowPowerModeOn: Bool
  }

  private struct Known {
    var state: State
    var observers: [@Sendable (_ former: State, _ new: State) -> Void] = []
  }

  private let knownPower: Mutex<Known>

  init(_ environment: [String: String]) {
    let state = State(
      battery: environment["SIMULATOR_BATTERY"].flatMap { DeviceBattery($0) } ?? .usual,
      isLowPowerModeOn: environment["SIMULATOR_LOW_POWER_MODE"] == "on")
    knownPower = Mutex(Known(state: state))
  }

  /// That of a process. Created once; any thread.
  package static func of(_ process: HostedProcess) -> DevicePower {
    process.part(DevicePower.self) { _ in DevicePower(ProcessInfo.processInfo.environment) }
  }

  package var state: State { knownPower.withLock { $0.state } }

  /// Calls a closure after each change, on any thread, while the process runs.
  package func observe(_ change: @escaping @Sendable (_ former: State, _ new: State) -> Void) {
    knownPower.withLock { $0.observers.append(change) }
  }

  /// The device's settings arrived.
  package func set(_ settings: DeviceSettings) {
    let new = State(battery: settings.battery, isLowPowerModeOn: settings.isLowPowerModeOn)
    let (former, observers) = knownPower.withLock { power in
      defer { power.state = new }
      return (power.state, power.observers)
    }
    guard former != new else { return }
    for observer in observers { observer(former, new) }
    guard former.isLowPowerModeOn != new.isLowPowerModeOn else { return }
    NotificationCenter.default.post(
      name: Notification.Name("NSProcessInfoPowerStateDidChangeNotification"), object: ProcessInfo.processInfo)
  }
}
