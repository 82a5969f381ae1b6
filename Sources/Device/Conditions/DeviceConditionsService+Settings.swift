// SPDX-License-Identifier: Apache-2.0

package import Archive
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
    guard !hasLeft else { throw Self.closed }
    try storage.saveSettings(next)
    handle(setting: .stored(next))
  }

  /// The consequences of a change are recorded: no later host repeats it.
  package func announced(_ change: SettingChange) { handle(setting: .announced(change)) }

  func handle(setting event: DeviceSettingsStateMachine.Event) {
    guard !hasLeft else { return }
    for action in currentSettings.withLock({ $0.handle(event) }) { perform(action) }
  }

  private func perform(_ action: DeviceSettingsStateMachine.Action) {
    switch action {
    case .output(let output): outputs.yield(output)
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
