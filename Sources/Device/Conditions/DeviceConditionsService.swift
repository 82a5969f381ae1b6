// SPDX-License-Identifier: Apache-2.0

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
@DeviceActor package final class DeviceConditionsService {
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

  /// In order.
  package nonisolated let outputs: Outputs<DeviceConditionsOutput>
  let bus: any BusConnection
  private nonisolated let clock: AdjustableClock
  let storage: Storage
  private var stateMachine: DeviceConditionsStateMachine
  /// Changed on this actor only, read on any thread.
  nonisolated let currentSettings: Mutex<DeviceSettingsStateMachine>
  /// The report to the push server that is under way.
  private var reporting: Task<Void, Never>?
  /// The change of the clock that is in progress.
  private var changing: Task<Void, Never>?
  /// Callers that wait for their change of the clock, by its number.
  private var waiting: [Int: (change: SetClock.Change, continuation: CheckedContinuation<Void, any Error>)] = [:]
  private var lastChange = 0
  private(set) var hasLeft = false
  private let tasks: TaskOwner

  /// - Parameters:
  ///   - stateMachine: the state that the previous host wrote.
  ///   - settings: the settings, as the previous host wrote them.
  ///   - clock: the device's clock, which persists its own setting.
  package nonisolated init(
    _ stateMachine: DeviceConditionsStateMachine, settings: DeviceSettingsStateMachine, bus: any BusConnection,
    clock: AdjustableClock, storage: Storage
  ) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.stateMachine = stateMachine
    self.currentSettings = Mutex(settings)
    self.bus = bus
    self.clock = clock
    self.storage = storage
    self.outputs = Outputs(clock)
  }

  /// Resumes after a host restart.
  ///
  /// - Parameter running: the process instances that run.
  package func begin(running: [Address: UInt32]) {
    handle(.began(running: running))
    handle(setting: .began(running: running))
  }

  /// Stops the reports and changes that are under way. Their callers get `closed`. Must be the last call.
  package func leave() async {
    hasLeft = true
    reporting?.cancel()
    changing?.cancel()
    for caller in waiting.values { caller.continuation.resume(throwing: Self.closed) }
    waiting = [:]
    await reporting?.value
    await changing?.value
    await tasks.end()
  }

  static var closed: BusError { BusError(.closed, "the device is shutting down", isDefinite: false) }

  // MARK: Input from other services

  /// A process instance reported ready, or was resumed: it receives the network state and the settings if it does not
  /// have them.
  package func runs(_ address: Address, generation: UInt32) {
    handle(.runs(address, generation: generation))
    handle(setting: .runs(address, generation: generation))
  }

  /// A process instance was suspended.
  package func suspended(_ address: Address, generation: UInt32) {
    handle(.suspended(address, generation: generation))
    handle(setting: .suspended(address, generation: generation))
  }

  /// A process instance has ended.
  package func ended(_ address: Address, generation: UInt32) {
    handle(.ended(address, generation: generation))
    handle(setting: .ended(address, generation: generation))
  }

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
    guard !hasLeft else { throw Self.closed }
    try storage.saveNetwork(state)
    handle(.networkSet(state))
  }

  /// `device.power`. Persisted when this returns.
  ///
  /// - Throws: errors of the database.
  package func set(_ request: SetPower) throws -> SetPower.Reply {
    if let isAwake = request.isAwake {
      guard !hasLeft else { throw Self.closed }
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
      guard !hasLeft else { return continuation.resume(throwing: Self.closed) }
      waiting[number] = (change, continuation)
      handle(.clockChangeRequested(number))
    }
  }

  // MARK: Actions

  private func handle(_ event: DeviceConditionsStateMachine.Event) {
    guard !hasLeft else { return }
    for action in stateMachine.handle(event) { perform(action) }
  }

  private func perform(_ action: DeviceConditionsStateMachine.Action) {
    switch action {
    case .output(let output): outputs.yield(output)
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
