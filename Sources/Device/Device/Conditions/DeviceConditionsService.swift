// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
package import MessageBus
package import Messages
package import Stores
package import Timekeeping

/// The conditions of the device: its network, its power, its settings and its clock. It sends network state and changed
/// settings to the device's processes, reports the reachability to the push server, and applies changes of the clock in
/// order.
///
/// State is persisted before it takes effect.
@DeviceActor package final class DeviceConditionsService: DevicePart {
  nonisolated let core: DeviceCore
  private let bus: any BusConnection
  private nonisolated let clock: AdjustableClock
  private let transactions: DeviceTransactions
  /// The report to the push server that is under way.
  private var reporting: Task<Void, Never>?
  /// The change of the clock that is in progress.
  private var changing: Task<Void, Never>?
  /// Callers that wait for their change of the clock, by its number.
  private var waitingCallers: [Int: (change: SetClock.Change, continuation: CheckedContinuation<Void, any Error>)] = [:]
  private var lastChange = 0
  private let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)

  /// - Parameters:
  ///   - clock: the device's clock, which persists its own setting.
  ///   - transactions: of a database with the tables of `DeviceStore`.
  package nonisolated init(
    core: DeviceCore, bus: any BusConnection, clock: AdjustableClock, transactions: DeviceTransactions
  ) {
    self.core = core
    self.bus = bus
    self.clock = clock
    self.transactions = transactions
  }

  private var stateMachine: DeviceConditionsStateMachine { core.state.conditions }

  /// Resumes after a host restart.
  ///
  /// - Parameter running: the process instances that run.
  package func begin(running: [Address: UInt32]) {
    handle(.began(running: running))
    core.handle(.settings(.began(running: running)))
  }

  /// Stops the reports and changes that are under way. Their callers get `closed`. Must be the last call.
  package func leave() async {
    core.stop()
    reporting?.cancel()
    changing?.cancel()
    for caller in waitingCallers.values { caller.continuation.resume(throwing: DeviceCore.closed) }
    waitingCallers = [:]
    await reporting?.value
    await changing?.value
    await tasks.end()
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
    if let failure = core.failure { throw failure }
    try DeviceStore.save(state, named: DeviceStore.network, transactions)
    handle(.networkSet(state))
  }

  /// `device.power`. Persisted when this returns.
  ///
  /// - Throws: errors of the database.
  package func set(_ request: SetPower) throws -> SetPower.Reply {
    if let isAwake = request.isAwake {
      if let failure = core.failure { throw failure }
      try DeviceStore.save(isAwake, named: DeviceStore.power, transactions)
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
      waitingCallers[number] = (change, continuation)
      handle(.clockChangeRequested(number))
    }
  }

  // MARK: Actions

  private func handle(_ event: DeviceConditionsStateMachine.Event) { core.handle(.conditions(event)) }

  package func perform(_ action: DeviceAction) {
    if case .conditions(let action) = action { perform(action) }
    if case .settings(let action) = action { perform(action) }
  }

  private func perform(_ action: DeviceConditionsStateMachine.Action) {
    switch action {
    case .asks: break
    case .record(let state): bus.record(NetworkChanged(state: state))
    case .send(let state, let address): bus.notify(NetworkChanged(state: state), to: address, context: .none)
    case .report(let isOnline, let isAwake): report(DeviceReach(isOnline: isOnline, isAwake: isAwake))
    case .changeClock(let number): apply(number)
    }
  }

  private func report(_ reach: DeviceReach) {
    let formerTask = reporting
    formerTask?.cancel()
    reporting = Task { [bus] in
      await formerTask?.value
      do throws(BusError) {
        try await bus.deliver(reach, to: .pushServer)
      } catch {
        // A newer report replaces it, or the host shuts down.
      }
    }
  }

  private func apply(_ number: Int) {
    guard let change = waitingCallers[number]?.change else { return handle(.clockChangeEnded) }
    changing = Task {
      let result: Result<Void, any Error>
      do {
        result = .success(try await apply(change))
      } catch {
        result = .failure(error)
      }
      waitingCallers.removeValue(forKey: number)?.continuation.resume(with: result)
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

// The settings of the device.

extension DeviceConditionsService {
  /// `setting.change`. Persisted when this returns.
  ///
  /// - Throws: `malformed` (definite), `closed` (indefinite), and errors of the database.
  package func change(_ change: ChangeSetting.Change) throws {
    guard let next = try core.state.settings.changed(by: change) else { return }
    if let failure = core.failure { throw failure }
    try DeviceStore.save(next, named: DeviceStore.settings, transactions)
    core.handle(.settings(.stored(next)))
  }

  /// `notification.access`. That the app has asked is persisted when this returns.
  ///
  /// - Throws: errors of the database.
  package func notificationAccess(
    _ request: AskNotificationAccess, of app: String
  ) throws -> AskNotificationAccess.Reply {
    if let options = request.options, let next = core.state.settings.asked(app, options: options) {
      if let failure = core.failure { throw failure }
      try DeviceStore.save(next, named: DeviceStore.settings, transactions)
      core.handle(.settings(.stored(next)))
    }
    return core.state.settings.notificationAccess(of: app)
  }

  private func perform(_ action: DeviceSettingsStateMachine.Action) {
    switch action {
    case .asks: break
    case .save(let storedConditions):
      // When the consequences of a change are written, and not before. Without it, the next host repeats the reloads.
      guard let data = try? BodyCoding.data(storedConditions) else { return }
      try? transactions.write(.lasting) { try DeviceStore.set(data, named: DeviceStore.settings, $0) }
    case .record(let settings, let name): bus.record(SettingChanged(settings: settings, name: name))
    case .send(let settings, let address):
      bus.notify(SettingChanged(settings: settings), to: address, context: .none)
    }
  }
}

extension DeviceConditionsStateMachine {
  /// Why a change of the clock is refused; `nil` when it can be applied.
  package static func refusal(of change: SetClock.Change) -> BusError? {
    switch change {
    case .ask, .hold, .run, .reset: return nil
    case .set(let date):
      guard !ClockSetting.instants.contains(date) else { return nil }
      return BusError(.malformed, "the clock can be set to a time from 2001-09-09 to 2199-12-31, not to \(date)")
    case .rate(let rate):
      guard !ClockSetting.rates.contains(rate) else { return nil }
      return BusError(
        .malformed, "the clock's rate must be 0.001 to 100000, not \(rate); hold the clock to stop it")
    case .advance(let seconds):
      guard !(0...1e9).contains(seconds) else { return nil }
      return BusError(.malformed, "the clock can be advanced by 0 to 1000000000 seconds, not by \(seconds)")
    }
  }
}
