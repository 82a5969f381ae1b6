// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

/// The state machine of the device's settings: what the user changed, which changes the rest of the host has not
/// recorded yet, and which settings each process received last. A plain value without clock or I/O.
package struct DeviceSettingsStateMachine: Sendable {
  /// What a host writes, and the next host reads.
  package struct Stored: Codable, Sendable, Equatable {
    /// The values that the user chose, by the names of `SettingName`.
    package var changes: [String: String] = [:]
    /// Changes whose reloads are not recorded yet, in order. Of each setting the last one.
    package var pending: [SettingChange] = []
    /// How often the user changed a setting.
    package var revision = 0
    package init() {}

    fileprivate var values: [SettingName: String] {
      Dictionary(
        uniqueKeysWithValues: changes.compactMap { key, value in SettingName(rawValue: key).map { ($0, value) } })
    }
  }

  /// The settings that `environment` in `widgetlab.yaml` replaces for a process: `LANG` and `TZ`.
  package struct Override: Sendable, Equatable {
    package var locale: String?
    /// A value of `TZ`, not necessarily the name of a time zone.
    package var timeZone: String?
    package init(locale: String? = nil, timeZone: String? = nil) {
      self.locale = locale
      self.timeZone = timeZone
    }
  }

  package enum Event: Sendable {
    /// The host starts, and these process instances run.
    case began(running: [Address: UInt32])
    /// The user changed a setting, and the change is stored: the result of `changed(by:)`.
    case stored(Stored)
    /// The reloads of a change are recorded.
    case announced(SettingChange)
    /// A process instance reported ready, or was resumed.
    case runs(Address, generation: UInt32)
    case suspended(Address, generation: UInt32)
    case ended(Address, generation: UInt32)
  }

  package enum Action: Sendable, Equatable {
    case output(DeviceConditionsOutput)
    case save(Stored)
    /// Record the change in the journal.
    case record(DeviceSettings, SettingName)
    /// Send the settings to a process.
    case send(DeviceSettings, to: Address)
  }

  private let configured: DeviceSettings
  private let overrides: [Address: Override]
  package private(set) var stored: Stored
  private var instances = InstanceTable<DeviceSettings>()

  /// - Parameters:
  ///   - configured: the settings of `widgetlab.yaml`.
  ///   - overrides: the settings that the environment of a process replaces.
  ///   - stored: what the previous host wrote.
  package init(
    _ configured: DeviceSettings, overrides: [Address: Override] = [:], stored: Stored = Stored()
  ) {
    self.configured = configured
    self.overrides = overrides
    self.stored = stored
  }

  /// The settings of the device.
  package var settings: DeviceSettings { configured.applying(stored.values) }

  /// The settings as they apply to a process.
  package func settings(of address: Address) -> DeviceSettings {
    var settings = settings
    if let locale = overrides[address]?.locale { settings.locale = locale }
    if let timeZone = overrides[address]?.timeZone { settings.timeZone = timeZone }
    return settings
  }

  /// What the user changed.
  package var changed: [SettingName] { SettingName.allCases.filter { stored.changes[$0.rawValue] != nil } }

  /// The state after a change, which is to be stored before it takes effect; `nil` if the values stay the same.
  ///
  /// - Throws: `malformed` (definite) for a value that the setting does not have.
  package func changed(by change: ChangeSetting.Change) throws(BusError) -> Stored? {
    var next = stored
    let changedName: SettingName
    switch change {
    case .ask: return nil
    case .set(let name, let value):
      var settings = settings
      do {
        try settings.set(name, to: value)
      } catch {
        throw BusError(.malformed, "\(error)")
      }
      guard settings != self.settings else { return nil }
      next.changes[name.rawValue] = settings[name]
      changedName = name
    case .reset(let name):
      guard next.changes.removeValue(forKey: name.rawValue) != nil else { return nil }
      changedName = name
    }
    next.revision += 1
    next.pending.removeAll { $0.name == changedName }
    next.pending.append(SettingChange(name: changedName, revision: next.revision))
    return next
  }

  /// Handles one event.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .began(let running):
      instances.began(running)
      return stored.pending.map { .output(.settingChanged($0, settings)) }
    case .stored(let next):
      stored = next
      guard let change = next.pending.last else { return [] }
      return [.record(settings, change.name)] + sendToAll() + [.output(.settingChanged(change, settings))]
    case .announced(let change):
      guard stored.pending.contains(change) else { return [] }
      stored.pending.removeAll { $0 == change }
      return [.save(stored)]
    case .runs(let address, let generation): return runs(address, generation)
    case .suspended(let address, let generation):
      instances.suspended(address, generation)
      return []
    case .ended(let address, let generation):
      instances.ended(address, generation)
      return []
    }
  }

  /// A process has the settings at its launch in its environment. Since the first change these may be older ones.
  private mutating func runs(_ address: Address, _ generation: UInt32) -> [Action] {
    let known = stored.revision > 0 ? nil : settings(of: address)
    return instances.runs(address, generation, known: known) ? send(address) : []
  }

  private mutating func sendToAll() -> [Action] { instances.addresses.flatMap { send($0) } }

  /// Sends the settings to a running instance that may not have them.
  private mutating func send(_ address: Address) -> [Action] {
    let current = settings(of: address)
    return instances.sends(current, to: address) ? [.send(current, to: address)] : []
  }
}
