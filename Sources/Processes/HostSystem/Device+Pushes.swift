import Archive
import Cluster
import Conversations
import Foundation
import Gallery
import Launching
import MessageBus
import Pushes
import Timelines

// Pushes: what the host hears of the push server and of the authors, and the way of the room's intents to the others.

extension Device {
  nonisolated func listenForPushes() {
    bus.onEvent(DeliverPush.self) { [pushes] event, _ in try await pushes.received(event.notification) }
    bus.onEvent(TokenReplaced.self) { [pushes] event, _ in try await pushes.replaced(event) }
    bus.onRequest(AskPushInfo.self) { [pushes] _, from in await pushes.info(from) }
    bus.onRequest(RegisterForPushes.self) { [pushes] request, from in try await pushes.register(request, from) }
    bus.onRequest(SetPower.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the device is going down", isDefinite: false) }
      return try await set(request)
    }
    bus.onPresence { [weak self] presence in
      guard presence.isPresent, presence.address == .pushServer else { return }
      Task { await self?.tellReach() }
    }
  }

  /// Goes on with what the last life of the host left.
  func beginPushes() async {
    let reloads = await timelines.pushes.flatMap { placement, pushed in
      pushed.map { PlacementReport(push: $0.push, placement: placement, outcome: ReloadOutcome($0.state)) }
    }
    await pushes.begin(pushWidgets, reloads: reloads, isOnline: network.path != .off)
    tellReach()
  }

  /// What is declared or placed is another.
  func tellPushes() async { await pushes.know(pushWidgets) }

  /// The handlers and the placed widgets of each extension, as far as pushes go.
  private var pushWidgets: [String: PushWidgets] {
    let known = gallery.decision.state
    return known.declarations.reduce(into: [:]) { widgets, declared in
      let bundle = declared.key
      let taking = declared.value.filter { $0.pushHandler != nil && !$0.isControl }
      let kinds = Set(taking.map(\.kind))
      widgets[bundle] = PushWidgets(
        handlers: Set(taking.compactMap(\.pushHandler)).sorted(),
        placements: known.placements.filter { $0.bundle == bundle && kinds.contains($0.kind) })
    }
  }

  // MARK: How the device is reached

  private func set(_ request: SetPower) throws -> SetPower.Reply {
    if let isAwake = request.isAwake {
      try store.set(isAwake, named: DeviceStore.power)
      self.isAwake = isAwake
      tellReach()
    }
    return SetPower.Reply(isAwake: isAwake, network: network)
  }

  /// Tells the push server, when there is one: what was said before and not heard is said no more.
  func tellReach() {
    guard configuration.pushServer != nil else { return }
    let reach = DeviceReach(isOnline: network.path != .off, isAwake: isAwake)
    reaching?.cancel()
    reaching = Task { [bus] in
      do throws(BusError) {
        try await bus.deliver(reach, to: .pushServer)
      } catch {
        // Something newer is said, or the host goes down.
      }
    }
  }

  // MARK: From room to room

  func route(_ intent: PushIntent) async {
    switch intent {
    case .wantAwake(let address, let reason): await launcher.want(address, because: Assertion(reason))
    case .release(let address, let reason): await launcher.release(address, because: Assertion(reason))
    case .evict(let address, let why):
      guard let life = await launcher.awakeLife(of: address) else { return }
      await launcher.evict(address, generation: life.generation, why: why)
    case .reload(let push): await reload(push)
    case .handOver(let push, let app, let wakes): await handOver(push, to: app, wakes: wakes)
    case .broken(let reason): broken(reason)
    }
  }

  /// Each placement is owed a timeline, on disk: Timelines takes each push once.
  private func reload(_ push: UUID) async {
    for placement in await pushes.begin(push) {
      do {
        try await timelines.reload(placement, because: .push, Story(correlation: push))
      } catch {
        // The keeper has said that it is broken.
      }
    }
  }

  /// Source: `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`; an app that is not in front is told of
  /// what has `content-available` alone, and the person sees the rest.
  private func handOver(_ push: UUID, to app: Address, wakes: Bool) async {
    guard configuration.product(app.bundleIdentifier ?? "")?.isExtension == false else {
      return await pushes.discarded(push, "the device has no app \(app.bundleIdentifier ?? "")")
    }
    if await launcher.isInFront(app) || wakes {
      if await launcher.isQuit(app) {
        return await pushes.discarded(push, "a person force-quit the app: it is not started before a person opens it")
      }
      await pushes.expect(push)
      await launcher.want(app, because: Assertion(NotificationDecision.assertion(push)))
    } else {
      await pushes.shown(push)
    }
  }
}

extension ReloadOutcome {
  init(_ state: PushedReload.State) {
    self =
      switch state {
      case .owed: .owed
      case .delayed(let rule, let until): .delayed(rule: rule, until: until)
      case .refused(let rule): .refused(rule: rule)
      case .stored: .stored
      case .failed(let reason): .failed(reason)
      case .gaveUp(let reason): .gaveUp(reason)
      case .superseded: .superseded
      }
  }
}

extension ClusterConfiguration {
  /// The products, as far as pushes go.
  var pushProducts: [PushProduct] {
    products.map { product in
      let app = apps.first { app in extensions(ofApp: app.bundle).contains(product) }
      return PushProduct(
        address: product.address(on: device.name), app: app?.bundle ?? product.bundle,
        environment: product.pushEnvironment)
    }
  }

  /// Source: the availability of `WidgetPushHandler`.
  var hasWidgetPushes: Bool { device.majorVersion >= 26 }
}
