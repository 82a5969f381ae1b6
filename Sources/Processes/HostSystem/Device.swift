package import Cluster
package import Conversations
import Foundation
package import GRDB
import Launching
package import MessageBus
package import Timekeeping
import Timelines
import Transfers

/// The assembled device: its rooms, what they hear from the bus, and the way of each room's intents to the others.
package actor Device {
  private let configuration: ClusterConfiguration
  private let bus: any BusConnection
  private let faults: Faults
  private let launcher: Launcher
  private let transfers: TransferDaemon
  private let timelines: TimelineKeeper
  private let broken: @Sendable (String) -> Void
  private var routes: [Task<Void, Never>] = []
  /// Apps that a person opened and that have not been told yet.
  private var opening: Set<Address> = []
  private var activations: [Address: Task<Void, Never>] = [:]

  /// Reads the database and makes the folders of the device. Nothing moves before `resume()`.
  ///
  /// - Parameters:
  ///   - bus: not started yet: the handlers are set here.
  ///   - broken: the device cannot keep what it must keep; it is told once, and the process should end.
  /// - Throws: `instance-folder`, or what the database says.
  package init(
    _ configuration: ClusterConfiguration, instance: InstanceFolder, database: any DatabaseWriter,
    bus: any BusConnection, clock: any DeviceClock, faults: Faults = Faults(),
    broken: @escaping @Sendable (String) -> Void
  ) throws {
    let device = configuration.device.name
    let folder = instance.device(device)
    try folder.makeTransfers()
    let groups = try folder.makeGroups(configuration.appGroups)
    var containers: [Address: String] = [:]
    for product in configuration.products {
      containers[product.address(on: device)] = try folder.makeContainer(of: product.bundle)
    }
    let settings = configuration.settings
    let programs = configuration.products.map { product in
      Program(
        address: product.address(on: device), agent: .agent(device, product.agent), executable: product.executable,
        container: folder.container(of: product.bundle), groups: groups,
        memory: product.isExtension ? settings.extensionMemory : nil,
        environment: {
          try folder.makeContainer(of: product.bundle)
          return try configuration.environment(of: product, in: instance)
        })
    }
    self.configuration = configuration
    self.bus = bus
    self.faults = faults
    self.broken = broken
    let launcher = try Launcher(
      programs: programs, database: database, bus: bus, clock: clock, suspendAfter: settings.suspendAfter.seconds,
      backoff: Backoff(first: settings.crashBackoffFirst.seconds, limit: settings.crashBackoffMax.seconds))
    self.launcher = launcher
    self.transfers = try TransferDaemon(
      folder: folder.transfers, database: database, bus: bus, clock: clock, settings: TransferSettings(settings),
      families: AppFamilies(apps: configuration.apps.map(\.bundle)),
      isAwake: { await launcher.awakeLife(of: $0) != nil },
      container: { [containers] in containers[$0] }, deliverTo: faults.deliverTo)
    self.timelines = try TimelineKeeper(
      extensions: configuration.extensions.map { $0.address(on: device) }, database: database, bus: bus, clock: clock,
      limit: settings.timelineDeadline.seconds)
  }

  /// Goes on with what the last life of the host left: the downloads at once, without the bus.
  package func resume() async throws {
    listen()
    routes = [
      Task { [launcher] in for await intent in launcher.intents { await route(intent) } },
      Task { [transfers] in for await intent in transfers.intents { await route(intent) } },
      Task { [timelines] in for await intent in timelines.intents { await route(intent) } },
    ]
    try await transfers.begin()
    await timelines.begin()
  }

  /// The bus is there: ask the agents who lives.
  package func connected() async { await launcher.begin() }

  /// Stops what is under way where it is; the next life goes on.
  package func leave() async {
    await transfers.leave()
    for task in routes { task.cancel() }
  }

  /// What keeps the device from doing its work now: agents that have not said what they hold.
  package func waitingFor() async -> [String] { await launcher.unheardAgents.map(\.text) }

  // MARK: What is heard

  private nonisolated func listen() {
    StandingProcess.answerPeers(on: bus) { [weak self] in await self?.waitingFor() ?? ["the device"] }
    bus.onPresence { [launcher] presence in
      guard presence.isPresent, presence.address.role == .agent else { return }
      Task { await launcher.agentCame(presence.address) }
    }
    bus.onEvent(AgentStarted.self) { [launcher] event, from in try await launcher.started(event, agent: from.source) }
    bus.onEvent(ProcessExited.self) { [launcher] event, _ in try await launcher.exited(event) }
    bus.onEvent(MemoryExceeded.self) { [launcher] event, _ in try await launcher.exceededMemory(event) }
    bus.onRequest(ProcessReady.self) { [launcher, timelines] request, from in
      if from.source.role == .widgetExtension { try await timelines.learned(from.source, kinds: request.widgetKinds) }
      try await launcher.ready(from.source, generation: from.sourceGeneration)
      return Done()
    }
    bus.onRequest(OpenSession.self) { [transfers] request, from in try await transfers.open(request, from) }
    bus.onRequest(CreateTransfer.self) { [transfers] request, from in try await transfers.create(request, from) }
    bus.onRequest(CancelTransfer.self) { [transfers] request, from in try await transfers.cancel(request, from) }
    bus.onRequest(ChangeTransfer.self) { [transfers] request, from in try await transfers.change(request, from) }
    bus.onRequest(CloseSession.self) { [transfers] request, from in await transfers.close(request, from) }
    bus.onEvent(ReloadTimelines.self) { [timelines] event, from in try await timelines.reload(event, from) }
    bus.onRequest(OpenApp.self) { [weak self] request, _ in
      try await self?.open(request)
      return Done()
    }
    bus.onRequest(DeviceStatus.self) { [weak self] _, _ in
      guard let self else { throw BusError(.closed, "the device is going down") }
      return try await status()
    }
  }

  private func status() async throws -> DeviceStatus.Reply {
    DeviceStatus.Reply(
      device: configuration.device.name, processes: await launcher.status, sessions: try await transfers.status(),
      timelines: try await timelines.status())
  }

  private func open(_ request: OpenApp) async throws {
    guard let app = configuration.apps.first(where: { $0.bundle == request.bundle }) else {
      let apps = configuration.apps.map(\.bundle).joined(separator: ", ")
      throw BusError(.noSuchApp, "the device has no app \(request.bundle); it has: \(apps.isEmpty ? "none" : apps)")
    }
    let address = app.address(on: configuration.device.name)
    opening.insert(address)
    await launcher.want(address, because: .foreground)
  }

  // MARK: From room to room

  private func route(_ intent: LaunchIntent) async {
    switch intent {
    case .awake(let address, let life, let woken):
      if address.role == .app { await transfers.setFront(address, await launcher.isInFront(address)) }
      await transfers.awake(address, generation: life.generation, woken: woken)
      if address.role == .widgetExtension { await timelines.awake(address) }
      if opening.remove(address) != nil { activate(address) }
    case .suspended(let address, let life): await transfers.suspended(address, generation: life.generation)
    case .ended(let address, let life, _):
      activations.removeValue(forKey: address)?.cancel()
      if address.role == .app { await transfers.setFront(address, false) }
      await transfers.ended(address, generation: life.generation)
      if address.role == .widgetExtension { await timelines.ended(address) }
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ intent: TransferIntent) async {
    switch intent {
    case .wantAwake(let owner, let reason, let launches):
      let isAwake = await launcher.awakeLife(of: owner) != nil
      guard isAwake || (launches && faults.relaunches) else { return }
      await launcher.want(owner, because: Assertion(reason))
    case .release(let owner, let reason): await launcher.release(owner, because: Assertion(reason))
    case .evict(let owner, let generation, let why):
      await launcher.evict(owner, generation: generation, why: why)
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ intent: TimelineIntent) async {
    switch intent {
    case .wantAwake(let address, let reason): await launcher.want(address, because: Assertion(reason))
    case .release(let address, let reason): await launcher.release(address, because: Assertion(reason))
    case .halt(let address, let reason): await launcher.halt(address, because: Assertion(reason))
    case .broken(let reason): broken(reason)
    }
  }

  private func activate(_ app: Address) {
    activations[app]?.cancel()
    activations[app] = Task { [bus] in
      do throws(BusError) {
        try await bus.deliver(AppActivation(isActive: true), to: app)
      } catch {
        // The app is gone, or does not want to hear it: the person sees that it is not in front.
      }
    }
  }
}

extension ClusterConfiguration.Settings {
  fileprivate var extensionMemory: MemoryLimit? {
    guard extensionMemoryLimit > 0 else { return nil }
    return MemoryLimit(bytes: extensionMemoryLimit << 20, interval: memoryInterval.seconds)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

extension TransferSettings {
  /// What `widgetlab.yaml` says of transfers.
  fileprivate init(_ settings: ClusterConfiguration.Settings) {
    self.init(
      completionDeadline: settings.completionDeadline.seconds, redeliveryPause: settings.redeliverAfter.seconds,
      deliveryTries: settings.redeliveries, resumePause: settings.resumeAfter.seconds)
    completionGrace = settings.completionGrace.seconds
    observedEventOrder = settings.observedEventOrder
    maximumLoads = settings.maximumLoads
    discretionaryNeedsWiFi = settings.discretionaryNeedsWiFi
    widgetTransfersAreDiscretionary = settings.widgetTransfersAreDiscretionary
    limiterFirst = settings.limiterFirst.seconds
    limiterAppliesToWidgets = settings.limiterAppliesToWidgets
    limiterIsSharedWithApp = settings.limiterIsSharedWithApp
    delayedRequestLaunches = settings.delayedRequestLaunches
    countsPerSecond = Double(settings.countsPerSecond)
    keepsParts = settings.keepsResumeData.seconds
    forceQuitCancelsExtensions = settings.forceQuitCancelsExtensions
  }
}

extension BusError.Code {
  /// The device has no app with this bundle identifier.
  package static let noSuchApp = BusError.Code("no-such-app")
}
