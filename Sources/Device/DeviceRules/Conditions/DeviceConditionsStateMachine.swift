// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

/// The state machine of the device's conditions: the network, the power, and the order of changes to the clock. A plain
/// value without clock or I/O.
package struct DeviceConditionsStateMachine: Sendable, Hashable {
  package enum Event: Sendable {
    /// The host starts, and these process instances run.
    case began(running: [Address: UInt32])
    case networkSet(NetworkState)
    case powerSet(isAwake: Bool)
    /// The push server connected to the bus.
    case pushServerConnected
    /// A process instance reported ready, or was resumed.
    case runs(Address, generation: UInt32)
    case suspended(Address, generation: UInt32)
    case ended(Address, generation: UInt32)
    /// A change of the clock was requested under this number.
    case clockChangeRequested(Int)
    /// The change of the clock that was in progress is applied, or failed.
    case clockChangeEnded
  }

  package enum Action: Sendable, Equatable {
    case asks(DeviceRequest)
    /// Record the network state in the journal.
    case record(NetworkState)
    /// Send the network state to a process.
    case send(NetworkState, to: Address)
    /// Report the reachability to the push server. The report replaces an earlier one that is not delivered.
    case report(isOnline: Bool, isAwake: Bool)
    /// Apply the change with this number to the clock, then send `clockChangeEnded`.
    case changeClock(Int)
  }

  /// The state of the network.
  package private(set) var network: NetworkState
  /// Whether the push server may wake the device at any time.
  package private(set) var isAwake: Bool
  private let hasPushServer: Bool
  private var instances = InstanceTable<NetworkState>()
  /// The numbers of requested changes of the clock in order. The first one is in progress.
  private var clockChanges: [Int] = []

  /// - Parameter hasPushServer: whether the cluster has a push server to report to.
  package init(network: NetworkState = NetworkState(), isAwake: Bool = true, hasPushServer: Bool = true) {
    self.network = network
    self.isAwake = isAwake
    self.hasPushServer = hasPushServer
  }

  /// Handles one event.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .began(let running):
      instances.began(running)
      return report()
    case .networkSet(let state):
      network = state
      return [.record(state), .asks(.networkChanged(state))] + report() + sendToAll()
    case .powerSet(let isAwake):
      self.isAwake = isAwake
      return report()
    case .pushServerConnected: return report()
    case .runs(let address, let generation):
      return instances.runs(address, generation) ? send(address) : []
    case .suspended(let address, let generation):
      instances.suspended(address, generation)
      return []
    case .ended(let address, let generation):
      instances.ended(address, generation)
      return []
    case .clockChangeRequested(let number):
      clockChanges.append(number)
      return clockChanges.count == 1 ? [.changeClock(number)] : []
    case .clockChangeEnded:
      if !clockChanges.isEmpty { clockChanges.removeFirst() }
      return clockChanges.first.map { [.changeClock($0)] } ?? []
    }
  }

  /// Why a network state is refused; `nil` when it is valid.
  package static func refusal(of state: NetworkState) -> BusError? {
    guard let rate = state.rate, rate <= 0 else { return nil }
    return BusError(.malformed, "a rate must be at least 1 byte per second; a network without throughput is off")
  }

  private func report() -> [Action] {
    guard hasPushServer else { return [] }
    return [.report(isOnline: network.path != .off, isAwake: isAwake)]
  }

  private mutating func sendToAll() -> [Action] { instances.addresses.flatMap { send($0) } }

  /// Sends the network state to a running instance that does not have it.
  private mutating func send(_ address: Address) -> [Action] {
    instances.sends(network, to: address) ? [.send(network, to: address)] : []
  }
}

/// The state machine of the device's settings: what the user changed, which changes the rest of the host has not
/// recorded yet, and which settings each process received last. A plain value without clock or I/O.
package struct DeviceSettingsStateMachine: Sendable, Hashable {
  /// What a host writes, and the next host reads.
  package struct Stored: Codable, Sendable, Hashable {
    /// The values that the user chose, by the names of `SettingName`.
    package var changes: [String: String] = [:]
    /// Changes whose reloads are not recorded yet, in order. Of each setting the last one.
    package var pending: [SettingChange] = []
    /// How often the user changed a setting.
    package var revision = 0
    /// The options with which an app has asked for permission to show notifications, by bundle identifier.
    package var askedNotifications: [String: UInt]?
    package init() {}

    fileprivate var values: [SettingName: String] {
      Dictionary(
        uniqueKeysWithValues: changes.compactMap { key, value in SettingName(rawValue: key).map { ($0, value) } })
    }
  }

  /// The settings that `environment` in `widgetlab.yaml` replaces for a process: `LANG` and `TZ`.
  package struct Override: Sendable, Hashable {
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
    case asks(DeviceRequest)
    case save(Stored)
    /// Record the change in the journal.
    case record(DeviceSettings, SettingName)
    /// Send the settings to a process.
    case send(DeviceSettings, to: Address)
  }

  private let configured: DeviceSettings
  private let overrides: [Address: Override]
  private(set) var storedSettings: Stored
  private var instances = InstanceTable<DeviceSettings>()

  /// - Parameters:
  ///   - configured: the settings of `widgetlab.yaml`.
  ///   - overrides: the settings that the environment of a process replaces.
  ///   - storedConditions: what the previous host wrote.
  package init(
    _ configured: DeviceSettings, overrides: [Address: Override] = [:], stored storedConditions: Stored = Stored()
  ) {
    self.configured = configured
    self.overrides = overrides
    self.storedSettings = storedConditions
  }

  /// The settings of the device.
  package var settings: DeviceSettings { configured.applying(storedSettings.values) }

  /// The settings as they apply to a process.
  package func settings(of address: Address) -> DeviceSettings {
    var settings = settings
    if let locale = overrides[address]?.locale { settings.locale = locale }
    if let timeZone = overrides[address]?.timeZone { settings.timeZone = timeZone }
    return settings
  }

  /// What the user changed.
  package var changed: [SettingName] { SettingName.allCases.filter { storedSettings.changes[$0.rawValue] != nil } }

  /// The state after a change, which is to be stored before it takes effect; `nil` if the values stay the same.
  ///
  /// - Throws: `malformed` (definite) for a value that the setting does not have.
  package func changed(by change: ChangeSetting.Change) throws(BusError) -> Stored? {
    var next = storedSettings
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

  /// `UNAuthorizationOptions.provisional`.
  private static let provisional: UInt = 64

  /// The state after an app has asked for permission to show notifications; `nil` if it had asked with these options. A
  /// permission is extended and never lowered.
  package func asked(_ app: String, options: UInt) -> Stored? {
    var options = options
    if let former = storedSettings.askedNotifications?[app] {
      options = (former | options) & ~Self.provisional | former & options & Self.provisional
      guard options != former else { return nil }
    }
    var next = storedSettings
    next.askedNotifications = (next.askedNotifications ?? [:]).merging([app: options]) { $1 }
    return next
  }

  /// The options with which an app asked last, and the resulting status. Source: `UNAuthorizationStatus`.
  package func notificationAccess(of app: String) -> AskNotificationAccess.Reply {
    guard let options = storedSettings.askedNotifications?[app] else {
      return AskNotificationAccess.Reply(status: .notDetermined, options: 0)
    }
    let isProvisional = options & Self.provisional != 0
    let status: AskNotificationAccess.Status =
      switch settings.notificationAnswer {
      case .denied: .denied
      case .allowed: isProvisional ? .provisional : .authorized
      case .unanswered: isProvisional ? .provisional : .notDetermined
      }
    return AskNotificationAccess.Reply(status: status, options: options)
  }

  /// What happens to an alert that only the user can see.
  func showing(to app: String) -> (PushStep.Name, String) {
    switch notificationAccess(of: app).status {
    case .authorized: return (.handled, "shown")
    case .provisional: return (.handled, "shown quietly: the authorization is provisional")
    case .denied: return (.discarded, "not shown: the user has denied notifications")
    case .notDetermined:
      let hasAsked = storedSettings.askedNotifications?[app] != nil
      let reason = hasAsked ? "the user has not answered" : "the app has not asked (requestAuthorization)"
      return (.discarded, "not shown: \(reason)")
    }
  }

  /// Handles one event.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .began(let running):
      instances.began(running)
      return storedSettings.pending.map { .asks(.settingChanged($0, settings)) }
    case .stored(let next):
      let isChange = next.revision != storedSettings.revision
      storedSettings = next
      guard isChange, let change = next.pending.last else { return [] }
      return [.record(settings, change.name)] + sendToAll() + [.asks(.settingChanged(change, settings))]
    case .announced(let change):
      guard storedSettings.pending.contains(change) else { return [] }
      storedSettings.pending.removeAll { $0 == change }
      return [.save(storedSettings)]
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
    let known = storedSettings.revision > 0 ? nil : settings(of: address)
    return instances.runs(address, generation, known: known) ? send(address) : []
  }

  private mutating func sendToAll() -> [Action] { instances.addresses.flatMap { send($0) } }

  /// Sends the settings to a running instance that may not have them.
  private mutating func send(_ address: Address) -> [Action] {
    let current = settings(of: address)
    return instances.sends(current, to: address) ? [.send(current, to: address)] : []
  }
}

/// The process instances of the device, and the value that each of them has. A plain value.
struct InstanceTable<Value: Hashable & Sendable>: Sendable, Hashable {
  private struct Instance: Sendable, Hashable {
    let generation: UInt32
    var isSuspended = false
    /// `nil` if the instance may have an older value.
    var knownValue: Value?
  }

  private var instances: [Address: Instance] = [:]

  /// The addresses, in order.
  var addresses: [Address] { instances.keys.sorted { $0.text < $1.text } }

  /// The host starts, and these instances run.
  mutating func began(_ running: [Address: UInt32]) {
    for (address, generation) in running { instances[address] = Instance(generation: generation) }
  }

  /// An instance reported ready, or was resumed.
  ///
  /// - Parameter knownValue: the value that a new instance has from its beginning.
  /// - Returns: `false` for an instance that has been replaced.
  mutating func runs(_ address: Address, _ generation: UInt32, known knownValue: Value? = nil) -> Bool {
    guard instances[address].map({ $0.generation <= generation }) ?? true else { return false }
    if instances[address]?.generation != generation {
      instances[address] = Instance(generation: generation, knownValue: knownValue)
    }
    instances[address]?.isSuspended = false
    return true
  }

  mutating func suspended(_ address: Address, _ generation: UInt32) {
    if instances[address]?.generation == generation { instances[address]?.isSuspended = true }
  }

  mutating func ended(_ address: Address, _ generation: UInt32) {
    if instances[address]?.generation == generation { instances[address] = nil }
  }

  /// Whether a value is to be sent to an instance: it runs and may not have the value. From then on it has it.
  mutating func sends(_ value: Value, to address: Address) -> Bool {
    guard let instance = instances[address], !instance.isSuspended, instance.knownValue != value else { return false }
    instances[address]?.knownValue = value
    return true
  }
}
