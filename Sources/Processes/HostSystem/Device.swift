package import Cluster
import Conversations
import Foundation
package import GRDB
import Gallery
import Launching
package import MessageBus
import Pushes
import Timekeeping
import Timelines
import Transfers

/// The assembled device: its rooms, what they hear from the bus, and the way of each room's intents to the others.
package actor Device {
  let configuration: ClusterConfiguration
  let bus: any BusConnection
  let clock: AdjustableClock
  let store: DeviceStore
  let containers: Containers
  let launcher: Launcher
  let transfers: TransferDaemon
  let broken: @Sendable (String) -> Void
  private let faults: Faults
  let timelines: TimelineKeeper
  let gallery: GalleryKeeper
  let pushes: PushKeeper
  /// Extensions whose widgets want the location.
  let wantingLocation: Set<String>
  /// Who waits for the widgets of an extension that never ran.
  var learning: [Address: [CheckedContinuation<Void, Never>]] = [:]
  private var routes: [Task<Void, Never>] = []
  /// Apps that a person opened and that have not been told yet.
  var opening: Set<Address> = []
  private var activations: [Address: Task<Void, Never>] = [:]
  /// Intents that are being performed.
  var performing: [Address: Set<Task<Void, any Error>>] = [:]
  /// Controls that were touched, by placement, until the timeline that comes of it; each touch has a number.
  var touched: [Int: (control: Int, number: Int)] = [:]
  var lastTouch = 0
  /// How the network is.
  var network: NetworkState
  /// Whether the push server may wake it at any time.
  var isAwake: Bool
  /// What the push server is being told of it.
  var reaching: Task<Void, Never>?
  /// How each process was told that it is.
  var told: [Address: Told] = [:]
  /// When stacks are looked at again.
  var stackAlarm: (instant: Date, alarm: ClockAlarm)?
  /// The last look at the stacks: the next one follows it.
  var turning: Task<Void, Never>?
  /// The last change of the clock: the next one follows it.
  var clockChange: Task<Void, any Error>?

  /// Reads the database and makes the folders of the device. Nothing moves before `resume()`.
  ///
  /// - Parameters:
  ///   - bus: not started yet: the handlers are set here.
  ///   - broken: the device cannot keep what it must keep; it is told once, and the process should end.
  /// - Throws: `instance-folder`, `configuration` of a file that it names, or what the database says.
  package init(
    _ configuration: ClusterConfiguration, instance: InstanceFolder, database: any DatabaseWriter,
    bus: any BusConnection, faults: Faults = Faults(), broken: @escaping @Sendable (String) -> Void
  ) throws {
    let device = configuration.device.name
    let folder = instance.device(device)
    try folder.makeTransfers()
    let groups = try folder.makeGroups(configuration.appGroups)
    let settings = configuration.settings
    let store = try DeviceStore(database)
    let containers = try Containers(of: configuration.products.map(\.bundle), in: folder, store)
    let page = try ClockPage(path: folder.clockPage)
    let clock = AdjustableClock(
      try store.setting(ClockSetting.self, named: DeviceStore.clock) ?? .running(ahead: 0),
      patience: settings.advancePatience, save: { try store.set($0, named: DeviceStore.clock) }, show: page.show)
    let programs = configuration.products.map { product in
      Program(
        address: product.address(on: device), agent: .agent(device, product.agent), executable: product.executable,
        container: { containers.path(of: product.bundle) ?? "" }, groups: groups,
        memory: product.isExtension ? settings.extensionMemory : nil, rules: settings.processRules,
        environment: {
          try containers.make(product.bundle)
          return try configuration.environment(of: product, in: instance)
            .merging([DeviceFolder.clockPageVariable: folder.clockPage]) { $1 }
        })
    }
    self.configuration = configuration
    self.bus = bus
    self.clock = clock
    self.store = store
    self.containers = containers
    self.wantingLocation = try configuration.bundlesWantingLocation()
    self.network = try store.setting(NetworkState.self, named: DeviceStore.network) ?? NetworkState()
    self.isAwake = try store.setting(Bool.self, named: DeviceStore.power) ?? true
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
      container: { $0.bundleIdentifier.flatMap(containers.path) }, deliverTo: faults.deliverTo)
    let gallery = try GalleryKeeper(
      device: WidgetDevice(configuration), apps: configuration.apps.map(\.bundle),
      placesEachKind: settings.gallery.placesEachKind, database: database, bus: bus)
    self.gallery = gallery
    self.pushes = try PushKeeper(
      device: device, products: configuration.pushProducts, hasWidgetPushes: configuration.hasWidgetPushes,
      database: database, bus: bus, clock: clock)
    self.timelines = try TimelineKeeper(
      extensions: configuration.extensions.map { $0.address(on: device) },
      apps: configuration.apps.map { .app(device, $0.bundle) }, database: database, bus: bus, clock: clock,
      settings: TimelineSettings(settings),
      policy: try settings.budget.map { BudgetPolicy(try BudgetFile(file: $0)) } ?? BudgetPolicy(),
      environment: { gallery.decision.environment(of: $0) }, container: { $0.bundleIdentifier.flatMap(containers.path) }
    )
  }

  /// Goes on with what the last life of the host left: the downloads at once, without the bus.
  package func resume() async throws {
    listen()
    listenToPerson()
    listenToGallery()
    listenForLaunches()
    listenForTimelines()
    listenForPushes()
    listenForMoves()
    listenToStacks()
    await resumeUpdates()
    await tellWhatIsWithheld()
    routes = [
      Task { [launcher] in for await intent in launcher.intents { await route(intent) } },
      Task { [transfers] in for await intent in transfers.intents { await route(intent) } },
      Task { [timelines] in for await intent in timelines.intents { await route(intent) } },
      Task { [gallery] in for await intent in gallery.intents { await route(intent) } },
      Task { [pushes] in for await intent in pushes.intents { await route(intent) } },
    ]
    try await transfers.begin(network: network)
    try await cancelTransfersOfQuitApps()
    try await handAll()
    await beginPushes()
    await timelines.begin()
    await turnStacks()
  }

  /// The bus is there: ask the agents who lives.
  package func connected() async { await launcher.begin() }

  /// Stops what is under way where it is; the next life goes on.
  package func leave() async {
    await transfers.leave()
    for task in routes { task.cancel() }
    reaching?.cancel()
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
    bus.onRequest(ProcessReady.self) { [weak self, launcher] request, from in
      await self?.tellNetwork(from.source, generation: from.sourceGeneration)
      if from.source.role == .widgetExtension { try await self?.learned(request.widgets, from) }
      try await launcher.ready(from.source, generation: from.sourceGeneration)
      return Done()
    }
    bus.onRequest(OpenSession.self) { [transfers] request, from in try await transfers.open(request, from) }
    bus.onRequest(CreateTransfer.self) { [transfers] request, from in try await transfers.create(request, from) }
    bus.onRequest(CancelTransfer.self) { [transfers] request, from in try await transfers.cancel(request, from) }
    bus.onRequest(ChangeTransfer.self) { [transfers] request, from in try await transfers.change(request, from) }
    bus.onRequest(CloseSession.self) { [transfers] request, from in await transfers.close(request, from) }
    bus.onRequest(DeviceStatus.self) { [weak self] _, _ in
      guard let self else { throw BusError(.closed, "the device is going down") }
      return try await status()
    }
  }

  private func status() async throws -> DeviceStatus.Reply {
    DeviceStatus.Reply(
      device: configuration.device.name, processes: await launcher.status, sessions: try await transfers.status(),
      timelines: await timelines.status())
  }

  // MARK: From room to room

  private func route(_ intent: LaunchIntent) async {
    switch intent {
    case .awake(let address, let life, let woken):
      if address.role == .app { await setFront(address, await launcher.isInFront(address)) }
      tellNetwork(address, generation: life.generation)
      await transfers.awake(address, generation: life.generation, woken: woken)
      if address.role == .widgetExtension { await timelines.awake(address) }
      if address.role == .app { await launched(address) }
      await pushes.awake(address)
      if opening.remove(address) != nil { activate(address) }
    case .suspended(let address, let life): await transfers.suspended(address, generation: life.generation)
    case .ended(let address, let life, _):
      activations.removeValue(forKey: address)?.cancel()
      for task in performing.removeValue(forKey: address) ?? [] { task.cancel() }
      if address.role == .app { await setFront(address, false) }
      told[address] = nil
      await transfers.ended(address, generation: life.generation)
      await endedByPerson(address)
      if address.role == .widgetExtension { await timelines.ended(address) }
      await pushes.ended(address)
      await endedOnScreen(address)
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

  /// Tells an app that it is in front, or no longer.
  func activate(_ app: Address, isActive: Bool = true) {
    activations[app]?.cancel()
    activations[app] = Task { [bus] in
      do throws(BusError) {
        try await bus.deliver(AppActivation(isActive: isActive), to: app)
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

  /// What `widgetlab.yaml` says of what holds within the device's processes.
  var processRules: ProcessRules {
    var rules = ProcessRules()
    rules.callDeadline = callDeadline.seconds
    rules.inlineRedirectLimit = inlineRedirectLimit
    rules.firstCompletionCounts = firstCompletionCounts
    return rules
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
