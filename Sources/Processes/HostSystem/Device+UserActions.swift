import Cluster
import Foundation
import Gallery
import Launching
import MessageBus
package import Messages
import ProcessActions
import Pushes
import Timekeeping
import Transfers

// User actions on the device.

extension Device {
  nonisolated func listenToUser() {
    bus.onRequest(OpenApp.self) { [weak self] request, from in
      try await self?.open(request.bundle, from.context)
      return Done()
    }
    bus.onRequest(ForceQuitApp.self) { [weak self] request, _ in
      try await self?.forceQuit(request)
      return Done()
    }
    bus.onRequest(UpdateApp.self) { [weak self] request, _ in
      try await self?.update(request)
      return Done()
    }
    bus.onRequest(SetClock.self) { [weak self, clock] request, _ in
      try await self?.change(request.change)
      return ClockState(clock)
    }
    bus.onRequest(SetNetwork.self) { [weak self] request, _ in
      try await self?.set(request.state)
      return request.state
    }
    bus.onRequest(ListSessions.self) { [transfers, clock] request, _ in
      try await transfers.list(request, clock: ClockState(clock))
    }
  }

  // MARK: Apps

  func app(_ bundle: String) throws -> ClusterConfiguration.Product {
    if let app = configuration.apps.first(where: { $0.bundle == bundle }) { return app }
    let apps = configuration.apps.map(\.bundle).joined(separator: ", ")
    throw BusError(.noSuchApp, "the device has no app \(bundle); it has: \(apps.isEmpty ? "none" : apps)")
  }

  /// Brings an app to the foreground.
  ///
  /// - Returns: its address.
  @discardableResult
  func open(_ bundle: String, _ context: MessageContext) async throws -> Address {
    let address = try app(bundle).address(on: configuration.device.name)
    try await gallery.open(bundle, context)
    opening.insert(address)
    await launcher.want(address, because: .foreground)
    return address
  }

  /// Terminates the app and cancels its transfers; only the user can relaunch it. Its extensions continue (ours).
  private func forceQuit(_ request: ForceQuitApp) async throws {
    let address = try app(request.bundle).address(on: configuration.device.name)
    opening.remove(address)
    try await launcher.quit(address)
    try await transfers.forceQuit(address)
  }

  /// Cancels what the app began after its transfers were cancelled and before the signal arrived.
  func endedByUser(_ app: Address) async {
    guard await launcher.isQuit(app) else { return }
    do {
      try await transfers.forceQuit(app)
    } catch {
      broken("the transfers of \(app) cannot be cancelled: \(error)")
    }
  }

  /// Completes force quits that a host exit interrupted.
  func cancelTransfersOfQuitApps() async throws {
    for app in configuration.apps.map({ $0.address(on: configuration.device.name) }) where await launcher.isQuit(app) {
      try await transfers.forceQuit(app)
    }
  }

  /// Terminates the app and its extensions, and relaunches them in containers with another path.
  private func update(_ request: UpdateApp) async throws {
    let bundles = [try app(request.bundle).bundle] + configuration.extensions(ofApp: request.bundle).map(\.bundle)
    try containers.beginMove(of: bundles)
    let addresses = addresses(of: bundles)
    await launcher.preventLaunches(addresses, why: "updated")
    try await move(bundles, addresses)
  }

  /// Completes the updates that began before a host restart. No process has been launched yet.
  func resumeUpdates() async {
    let bundles = containers.moving
    guard !bundles.isEmpty else { return }
    let addresses = addresses(of: bundles)
    await launcher.preventLaunches(addresses, why: "updated")
    Task {
      do {
        try await move(bundles, addresses)
      } catch {
        broken("an update cannot be completed: \(error)")
      }
    }
  }

  private func move(_ bundles: [String], _ addresses: [Address]) async throws {
    await allEnded(addresses)
    let result = Result { try containers.endMove(of: bundles) }
    await launcher.allowLaunches(addresses)
    try result.get()
  }

  private func allEnded(_ addresses: [Address]) async {
    for address in addresses where !prevented.contains(address) {
      await withCheckedContinuation { ending[address, default: []].append($0) }
    }
    prevented.subtract(addresses)
  }

  func finishWaiting(forEndOf address: Address) {
    prevented.insert(address)
    for continuation in ending.removeValue(forKey: address) ?? [] { continuation.resume() }
  }

  private func addresses(of bundles: [String]) -> [Address] {
    bundles.compactMap { configuration.product($0)?.address(on: configuration.device.name) }
  }

  // MARK: Clock

  /// Applies the changes of the clock in order; this one is applied when this returns.
  private func change(_ change: SetClock.Change) async throws {
    if case .ask = change { return }
    let former = clockChange
    let own = Task {
      _ = await former?.result
      try await perform(change)
    }
    clockChange = own
    try await own.value
  }

  private func perform(_ change: SetClock.Change) async throws {
    switch change {
    case .ask: return
    case .hold: try clock.hold()
    case .run: try clock.run()
    case .reset: try clock.reset()
    case .set(let date):
      guard ClockSetting.instants.contains(date) else {
        throw BusError(.malformed, "the clock can be set to a time from 2001-09-09 to 2199-12-31, not to \(date)")
      }
      try clock.set(to: date)
    case .rate(let rate):
      guard ClockSetting.rates.contains(rate) else {
        throw BusError(.malformed, "the clock's rate must be 0.001 to 100000, not \(rate); hold the clock to stop it")
      }
      try clock.set(rate: rate)
    case .advance(let seconds):
      guard (0...1e9).contains(seconds) else {
        throw BusError(.malformed, "the clock can be advanced by 0 to 1000000000 seconds, not by \(seconds)")
      }
      return try await clock.advance(by: seconds) { recordClock() }
    }
    recordClock()
  }

  private func recordClock() { bus.record(ClockChanged(state: ClockState(clock))) }

  // MARK: Network

  /// The network state that a process instance received.
  struct SentNetwork: Equatable {
    let generation: UInt32
    let network: NetworkState
  }

  private func set(_ state: NetworkState) async throws {
    guard state.rate.map({ $0 > 0 }) ?? true else {
      throw BusError(.malformed, "a rate must be at least 1 byte per second; a network without throughput is off")
    }
    try store.set(state, named: DeviceStore.network)
    network = state
    bus.record(NetworkChanged(state: state))
    await transfers.setNetwork(state)
    await pushes.setOnline(state.path != .off)
    sendReach()
    for process in await launcher.status where process.state == LaunchStateMachine.State.running.rawValue {
      sendNetwork(process.address, generation: process.generation)
    }
  }

  /// Sends the network state to a process instance that does not have it: as its first message, and after each change.
  func sendNetwork(_ address: Address, generation: UInt32) {
    let news = SentNetwork(generation: generation, network: network)
    guard sentNetwork[address] != news else { return }
    sentNetwork[address] = news
    bus.notify(NetworkChanged(state: network), to: address, context: .none)
  }
}

extension ClockState {
  init(_ clock: AdjustableClock) {
    let setting = clock.setting
    self.init(now: clock.now, isHeld: setting.isHeld, offset: clock.offset, rate: setting.rate)
  }
}

extension BusError.Code {
  /// The device has no app with this bundle identifier.
  package static let noSuchApp = BusError.Code("no-such-app")
}
