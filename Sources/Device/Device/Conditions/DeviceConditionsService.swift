// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
package import MessageBus
package import Messages
import OwnedTasks
import Synchronization
package import Timekeeping

/// The conditions of the device: its network, its power, its settings and its clock. It sends network state and changed
/// settings to the device's processes, reports the reachability to the push server, and applies changes of the clock in
/// order.
///
/// State is persisted before it takes effect.
@DeviceActor package final class DeviceConditionsService: DevicePart {
  /// Persists the conditions.
  package struct Storage: Sendable {
    let saveNetwork: @Sendable (NetworkState) throws -> Void
    let savePower: @Sendable (Bool) throws -> Void
    let saveSettings: @Sendable (DeviceSettingsStateMachine.Stored) throws -> Void
    let saveAnnounced: @Sendable (DeviceSettingsStateMachine.Stored) throws -> Void

    /// - Parameter saveAnnounced: writes the settings when the consequences of a change are written, and not before.
    package init(
      saveNetwork: @escaping @Sendable (NetworkState) throws -> Void,
      savePower: @escaping @Sendable (Bool) throws -> Void,
      saveSettings: @escaping @Sendable (DeviceSettingsStateMachine.Stored) throws -> Void,
      saveAnnounced: (@Sendable (DeviceSettingsStateMachine.Stored) throws -> Void)? = nil
    ) {
      self.saveNetwork = saveNetwork
      self.savePower = savePower
      self.saveSettings = saveSettings
      self.saveAnnounced = saveAnnounced ?? saveSettings
    }
  }

  nonisolated let concerns: Set<DeviceConcern> = [.settings]
  nonisolated let core: DeviceCore
  let bus: any BusConnection
  private nonisolated let clock: AdjustableClock
  let storage: Storage
  /// As the device has them, for any thread.
  nonisolated let currentSettings: Mutex<DeviceSettingsStateMachine>
  /// The report to the push server that is under way.
  private var reporting: Task<Void, Never>?
  /// The change of the clock that is in progress.
  private var changing: Task<Void, Never>?
  /// Callers that wait for their change of the clock, by its number.
  private var waiting: [Int: (change: SetClock.Change, continuation: CheckedContinuation<Void, any Error>)] = [:]
  private var lastChange = 0
  private let tasks: TaskOwner

  /// - Parameters:
  ///   - settings: the settings that `core` begins with.
  ///   - clock: the device's clock, which persists its own setting.
  package nonisolated init(
    core: DeviceCore, settings: DeviceSettingsStateMachine, bus: any BusConnection, clock: AdjustableClock,
    storage: Storage
  ) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.core = core
    self.currentSettings = Mutex(settings)
    self.bus = bus
    self.clock = clock
    self.storage = storage
  }

  private var stateMachine: DeviceConditionsStateMachine { core.state.conditions }

  /// Resumes after a host restart.
  ///
  /// - Parameter running: the process instances that run.
  package func begin(running: [Address: UInt32]) {
    handle(.began(running: running))
    handle(setting: .began(running: running))
  }

  /// Stops the reports and changes that are under way. Their callers get `closed`. Must be the last call.
  package func leave() async {
    core.stop()
    reporting?.cancel()
    changing?.cancel()
    for caller in waiting.values { caller.continuation.resume(throwing: Self.closed) }
    waiting = [:]
    await reporting?.value
    await changing?.value
    await tasks.end()
  }

  static var closed: BusError { BusError(.closed, "the device is shutting down", isDefinite: false) }

  /// The push server connected to the bus. Any thread.
  package nonisolated func pushServerConnected() {
    tasks.start { [weak self] in await self?.handle(.pushServerConnected) }
  }

  /// The state of the network.
  package var network: NetworkState { stateMachine.network }

  /// The state of the clock. Any thread.
  package nonisolated var clockState: ClockState {
    let setting = clock.setting
    return ClockState(now: clock.now, isHeld: setting.isHeld, offset: clock.offset, rate: setting.rate)
  }

  // MARK: User actions

  /// `network.set`. Persisted when this returns.
  ///
  /// - Throws: `malformed` (definite), and errors of the database.
  package func set(_ state: NetworkState) throws {
    if let refusal = DeviceConditionsStateMachine.refusal(of: state) { throw refusal }
    if let failure = core.failure { throw failure }
    try storage.saveNetwork(state)
    handle(.networkSet(state))
  }

  /// `device.power`. Persisted when this returns.
  ///
  /// - Throws: errors of the database.
  package func set(_ request: SetPower) throws -> SetPower.Reply {
    if let isAwake = request.isAwake {
      if let failure = core.failure { throw failure }
      try storage.savePower(isAwake)
      handle(.powerSet(isAwake: isAwake))
    }
    return SetPower.Reply(isAwake: stateMachine.isAwake, network: stateMachine.network)
  }

  /// `clock.set`. Changes are applied in the order of their calls; this one is applied when this returns.
  ///
  /// - Throws: `malformed` (definite), `closed` (indefinite), and errors of the database.
  package func change(_ change: SetClock.Change) async throws {
    if case .ask = change { return }
    if let refusal = DeviceConditionsStateMachine.refusal(of: change) { throw refusal }
    lastChange += 1
    let number = lastChange
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      if let failure = core.failure { return continuation.resume(throwing: failure) }
      waiting[number] = (change, continuation)
      handle(.clockChangeRequested(number))
    }
  }

  // MARK: Actions

  private func handle(_ event: DeviceConditionsStateMachine.Event) { core.handle(.conditions(event)) }

  func save(_ step: DeviceStep) {
    let settings = core.state.settings
    currentSettings.withLock { $0 = settings }
  }

  func perform(_ action: DeviceConditionsStateMachine.Action) {
    switch action {
    case .output: break
    case .record(let state): bus.record(NetworkChanged(state: state))
    case .send(let state, let address): bus.notify(NetworkChanged(state: state), to: address, context: .none)
    case .report(let isOnline, let isAwake): report(DeviceReach(isOnline: isOnline, isAwake: isAwake))
    case .changeClock(let number): apply(number)
    }
  }

  private func report(_ reach: DeviceReach) {
    let former = reporting
    former?.cancel()
    reporting = Task { [bus] in
      await former?.value
      do throws(BusError) {
        try await bus.deliver(reach, to: .pushServer)
      } catch {
        // A newer report replaces it, or the host shuts down.
      }
    }
  }

  private func apply(_ number: Int) {
    guard let change = waiting[number]?.change else { return handle(.clockChangeEnded) }
    changing = Task {
      let result: Result<Void, any Error>
      do {
        result = .success(try await apply(change))
      } catch {
        result = .failure(error)
      }
      waiting.removeValue(forKey: number)?.continuation.resume(with: result)
      handle(.clockChangeEnded)
    }
  }

  private func apply(_ change: SetClock.Change) async throws {
    switch change {
    case .ask: return
    case .hold: try clock.hold()
    case .run: try clock.run()
    case .reset: try clock.reset()
    case .set(let date): try clock.set(to: date)
    case .rate(let rate): try clock.set(rate: rate)
    case .advance(let seconds):
      return try await clock.advance(by: seconds) { recordClock() }
    }
    recordClock()
  }

  private func recordClock() { bus.record(ClockChanged(state: clockState)) }
}
