// SPDX-License-Identifier: Apache-2.0

package import Archive
import DeviceRules
import MessageBus
package import Messages
import Synchronization
import Timekeeping

// The settings of the device.

extension DeviceConditionsService {
  /// The settings of the device. Any thread.
  package nonisolated var settings: DeviceSettings { currentSettings.withLock { $0.settings } }

  /// The settings as they apply to a process. Any thread.
  package nonisolated func settings(of address: Address) -> DeviceSettings {
    currentSettings.withLock { $0.settings(of: address) }
  }

  /// The settings that the user changed. Any thread.
  package nonisolated var changedSettings: [SettingName] { currentSettings.withLock { $0.changed } }

  /// `setting.change`. Persisted when this returns.
  ///
  /// - Throws: `malformed` (definite), `closed` (indefinite), and errors of the database.
  package func change(_ change: ChangeSetting.Change) throws {
    guard let next = try currentSettings.withLock({ state throws(BusError) in try state.changed(by: change) }) else {
      return
    }
    if let failure = core.failure { throw failure }
    try storage.saveSettings(next)
    handle(setting: .stored(next))
  }

  func handle(setting event: DeviceSettingsStateMachine.Event) { core.handle(.settings(event)) }

  func perform(_ action: DeviceSettingsStateMachine.Action) {
    switch action {
    case .output: break
    case .save(let stored):
      do {
        try storage.saveAnnounced(stored)
      } catch {
        // The next host repeats the reloads.
      }
    case .record(let settings, let name): bus.record(SettingChanged(settings: settings, name: name))
    case .send(let settings, let address):
      bus.notify(SettingChanged(settings: settings), to: address, context: .none)
    }
  }
}
