import Cluster
package import Conversations
import Foundation
import Gallery
import Launching
import MessageBus
import Pushes
import Timekeeping
import Transfers

// What a person does to the device.

extension Device {
  nonisolated func listenToPerson() {
    bus.onRequest(OpenApp.self) { [weak self] request, from in
      try await self?.open(request.bundle, from.story)
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

  /// The app comes to the front.
  ///
  /// - Returns: its address.
  @discardableResult
  func open(_ bundle: String, _ story: Story) async throws -> Address {
    let address = try app(bundle).address(on: configuration.device.name)
    try await gallery.open(bundle, story)
    opening.insert(address)
    await launcher.want(address, because: .foreground)
    return address
  }

  /// The app ends, its transfers are cancelled, and nothing but a person starts it again. Its extensions go on (ours).
  private func forceQuit(_ request: ForceQuitApp) async throws {
    let address = try app(request.bundle).address(on: configuration.device.name)
    opening.remove(address)
    try await launcher.quit(address)
    try await transfers.forceQuit(address)
  }

  /// What the app began after its transfers were cancelled and before the signal came is cancelled too.
  func endedByPerson(_ app: Address) async {
    guard await launcher.isQuit(app) else { return }
    do {
      try await transfers.forceQuit(app)
    } catch {
      broken("the transfers of \(app) cannot be cancelled: \(error)")
    }
  }

  /// An earlier life may have died between the two halves of it.
  func cancelTransfersOfQuitApps() async throws {
    for app in configuration.apps.map({ $0.address(on: configuration.device.name) }) where await launcher.isQuit(app) {
      try await transfers.forceQuit(app)
    }
  }

  /// The app and its extensions end, and live again in containers of another path.
  private func update(_ request: UpdateApp) async throws {
    let bundles = [try app(request.bundle).bundle] + configuration.extensions(ofApp: request.bundle).map(\.bundle)
    try containers.beginMove(of: bundles)
    let addresses = addresses(of: bundles)
    await launcher.holdBack(addresses, why: "updated")
    try await move(bundles, addresses)
  }

  /// Ends the updates that an earlier life of the host began. Nothing was started yet.
  func resumeUpdates() async {
    let bundles = containers.moving
    guard !bundles.isEmpty else { return }
    let addresses = addresses(of: bundles)
    await launcher.holdBack(addresses, why: "updated")
    Task {
      do {
        try await move(bundles, addresses)
      } catch {
        broken("an update cannot be ended: \(error)")
      }
    }
  }

  private func move(_ bundles: [String], _ addresses: [Address]) async throws {
    await launcher.ended(addresses)
    let result = Result { try containers.endMove(of: bundles) }
    await launcher.letGo(addresses)
    try result.get()
  }

  private func addresses(of bundles: [String]) -> [Address] {
    bundles.compactMap { configuration.product($0)?.address(on: configuration.device.name) }
  }

  // MARK: Clock

  /// Changes are made one after the other; when this returns, this one has been.
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
        throw BusError(.malformed, "a clock is set to a time from 2001-09-09 to 2199-12-31, and not to \(date)")
      }
      try clock.set(to: date)
    case .rate(let rate):
      guard ClockSetting.rates.contains(rate) else {
        throw BusError(.malformed, "a clock's rate is 0.001 to 100000, and not \(rate); a clock that stands is held")
      }
      try clock.set(rate: rate)
    case .advance(let seconds):
      guard (0...1e9).contains(seconds) else {
        throw BusError(.malformed, "a clock is advanced by 0 to 1000000000 seconds, and not by \(seconds)")
      }
      return try await clock.advance(by: seconds) { recordClock() }
    }
    recordClock()
  }

  private func recordClock() { bus.record(ClockChanged(state: ClockState(clock))) }

  // MARK: Network

  /// What a process was told of the network.
  struct Told: Equatable {
    let generation: UInt32
    let network: NetworkState
  }

  private func set(_ state: NetworkState) async throws {
    guard state.rate.map({ $0 > 0 }) ?? true else {
      throw BusError(.malformed, "a rate is at least 1 byte a second; a network without any is off")
    }
    try store.set(state, named: DeviceStore.network)
    network = state
    bus.record(NetworkChanged(state: state))
    await transfers.setNetwork(state)
    await pushes.setOnline(state.path != .off)
    tellReach()
    for process in await launcher.status where process.state == LaunchDecision.State.running.rawValue {
      tellNetwork(process.address, generation: process.generation)
    }
  }

  /// Tells a life how the network is, unless it knows: before anything else is sent to it, and whenever it changed.
  func tellNetwork(_ address: Address, generation: UInt32) {
    let news = Told(generation: generation, network: network)
    guard told[address] != news else { return }
    told[address] = news
    bus.notify(NetworkChanged(state: network), to: address, story: .none)
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
