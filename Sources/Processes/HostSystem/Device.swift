package import Cluster
import Foundation
package import GRDB
import Gallery
import Launching
package import MessageBus
import Messages
import ProcessActions
import Pushes
import Timekeeping
import Timelines
import Transfers

/// The assembled device: its services, the messages that they receive, and the routing of requests between them.
///
/// It writes settings and encodes screens, so it does not run on the thread of the bus handlers that call it.
package actor Device {
  let configuration: ClusterConfiguration
  let bus: any BusConnection
  let clock: AdjustableClock
  let store: DeviceStore
  let containers: Containers
  let launcher: LaunchService
  let transfers: TransferService
  let broken: @Sendable (String) -> Void
  private let faults: Faults
  let timelines: TimelineService
  let gallery: GalleryService
  let pushes: PushService
  /// Extensions whose widgets use the location.
  let wantingLocation: Set<String>
  /// Callers that wait for the widgets of an extension that never ran.
  var learning: [Address: [CheckedContinuation<Void, Never>]] = [:]
  private var routes: [Task<Void, Never>] = []
  /// Apps that the user opened and that have not been notified yet.
  var opening: Set<Address> = []
  private var activations: [Address: Task<Void, Never>] = [:]
  /// App intents that are being performed.
  var performing: [Address: Set<Task<Void, any Error>>] = [:]
  /// Controls that were tapped, by placement, until the timeline that follows; each tap has a number.
  var touched: [Int: (control: Int, number: Int)] = [:]
  var lastTouch = 0
  /// The state of the network.
  var network: NetworkState
  /// Whether the push server may wake the device at any time.
  var isAwake: Bool
  /// The report to the push server that is under way.
  var reaching: Task<Void, Never>?
  /// The network state that each process received last.
  var sentNetwork: [Address: SentNetwork] = [:]
  /// When the stacks are checked again.
  var stackAlarm: (instant: Date, alarm: ClockAlarm)?
  /// The last check of the stacks: the next one follows it.
  var turning: Task<Void, Never>?
  /// Processes that do not run and are not launched, for updates.
  var prevented: Set<Address> = []
  /// Updates that wait for the end of a process.
  var ending: [Address: [CheckedContinuation<Void, Never>]] = [:]
  /// The last change of the clock: the next one follows it.
  var clockChange: Task<Void, any Error>?
  private nonisolated let executor = ServiceExecutor("device")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Reads the database and creates the folders of the device. Nothing runs before `resume()`.
  ///
  /// - Parameters:
  ///   - bus: not started yet, because handlers are registered here.
  ///   - broken: called once if state cannot be persisted; the process should exit then.
  /// - Throws: `instance-folder`, `configuration` with the file that it concerns, or errors of the database.
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
    let launcher = try LaunchService(
      programs: programs, database: database, bus: bus, clock: clock, suspendAfter: settings.suspendAfter.seconds,
      backoff: Backoff(first: settings.crashBackoffFirst.seconds, limit: settings.crashBackoffMax.seconds))
    self.launcher = launcher
    self.transfers = try TransferService(
      folder: folder.transfers, database: database, bus: bus, clock: clock, settings: TransferSettings(settings),
      families: AppFamilies(apps: configuration.apps.map(\.bundle)),
      isAwake: { await launcher.awakeInstance(of: $0) != nil },
      container: { $0.bundleIdentifier.flatMap(containers.path) }, deliverTo: faults.deliverTo)
    let gallery = try GalleryService(
      device: WidgetDevice(configuration), apps: configuration.apps.map(\.bundle),
      placesEachKind: settings.gallery.placesEachKind, database: database, bus: bus, clock: clock)
    self.gallery = gallery
    self.pushes = try PushService(
      device: device, products: configuration.pushProducts, hasWidgetPushes: configuration.hasWidgetPushes,
      database: database, bus: bus, clock: clock)
    self.timelines = try TimelineService(
      extensions: configuration.extensions.map { $0.address(on: device) },
      apps: configuration.apps.map { .app(device, $0.bundle) }, database: database, bus: bus, clock: clock,
      settings: TimelineSettings(settings),
      policy: try settings.budget.map { BudgetPolicy(try BudgetFile(file: $0)) } ?? BudgetPolicy(),
      environment: { gallery.stateMachine.environment(of: $0) },
      container: { $0.bundleIdentifier.flatMap(containers.path) }
    )
  }

  /// Resumes after a host restart: the downloads at once, without the bus.
  package func resume() async throws {
    listen()
    listenToUser()
    listenToGallery()
    listenForLaunches()
    listenForTimelines()
    listenForPushes()
    listenForMoves()
    listenToStacks()
    await resumeUpdates()
    await sendWithheld()
    routes = [
      Task { [launcher] in for await output in launcher.outputs { await route(output) } },
      Task { [transfers] in for await output in transfers.outputs { await route(output) } },
      Task { [timelines] in for await output in timelines.outputs { await route(output) } },
      Task { [gallery] in for await output in gallery.outputs { await route(output) } },
      Task { [pushes] in for await output in pushes.outputs { await route(output) } },
    ]
    try await transfers.begin(network: network)
    try await cancelTransfersOfQuitApps()
    try await handAll()
    await beginPushes()
    await timelines.begin()
    await turnStacks()
  }

  /// The bus is connected: asks the agents for their processes.
  package func connected() async { await launcher.begin() }

  /// Stops all work in progress; the next start resumes it.
  package func leave() async {
    await transfers.leave()
    await timelines.leave()
    await pushes.leave()
    await gallery.leave()
    for task in routes { task.cancel() }
    reaching?.cancel()
  }

  /// What the device waits for: agents that have not reported their processes.
  package func waitingFor() async -> [String] { await launcher.silentAgents.map(\.text) }

  // MARK: Messages

  private nonisolated func listen() {
    StandingProcess.answerPeers(on: bus) { [weak self] in await self?.waitingFor() ?? ["the device"] }
    bus.onPresence { [launcher] presence in
      guard presence.isPresent, presence.address.role == .agent else { return }
      launcher.agentConnected(presence.address)
    }
    bus.onEvent(AgentStarted.self) { [launcher] event, from in try await launcher.started(event, agent: from.source) }
    bus.onEvent(ProcessExited.self) { [launcher] event, _ in try await launcher.exited(event) }
    bus.onEvent(MemoryExceeded.self) { [launcher] event, _ in try await launcher.exceededMemory(event) }
    bus.onRequest(ProcessReady.self) { [weak self, launcher] request, from in
      await self?.sendNetwork(from.source, generation: from.sourceGeneration)
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
      guard let self else { throw BusError(.closed, "the device is shutting down") }
      return try await status()
    }
  }

  private func status() async throws -> DeviceStatus.Reply {
    DeviceStatus.Reply(
      device: configuration.device.name, processes: await launcher.status, sessions: try await transfers.status(),
      timelines: await timelines.status())
  }

  // MARK: Routing

  private func route(_ output: LaunchOutput) async {
    switch output {
    case .awake(let address, let instance, let woken):
      if address.role == .app { await setFront(address, await launcher.isInFront(address)) }
      sendNetwork(address, generation: instance.generation)
      await transfers.awake(address, generation: instance.generation, woken: woken)
      if address.role == .widgetExtension { await timelines.awake(address) }
      if address.role == .app { await launched(address) }
      await pushes.awake(address)
      if opening.remove(address) != nil { activate(address) }
    case .suspended(let address, let instance): await transfers.suspended(address, generation: instance.generation)
    case .ended(let address, let instance, _):
      activations.removeValue(forKey: address)?.cancel()
      for task in performing.removeValue(forKey: address) ?? [] { task.cancel() }
      if address.role == .app { await setFront(address, false) }
      sentNetwork[address] = nil
      await transfers.ended(address, generation: instance.generation)
      await endedByUser(address)
      if address.role == .widgetExtension { await timelines.ended(address) }
      await pushes.ended(address)
      await endedOnScreen(address)
    case .launchesPrevented(let address): finishWaiting(forEndOf: address)
    case .broken(let reason): broken(reason)
    }
  }

  /// What any service needs from a process. `LaunchStateMachine` decides it together with the state of the process.
  func route(_ action: ProcessAction) async { await launcher.perform(action) }

  private func route(_ output: TransferOutput) async {
    switch output {
    case .process(let action): await route(faults.relaunches ? action : action.withoutLaunch)
    case .broken(let reason): broken(reason)
    }
  }

  /// Notifies an app that it entered or left the foreground.
  func activate(_ app: Address, isActive: Bool = true) {
    activations[app]?.cancel()
    activations[app] = Task { [bus] in
      do throws(BusError) {
        try await bus.deliver(AppActivation(isActive: isActive), to: app)
      } catch {
        // The app has exited or refuses the event: the user sees that it is not in the foreground.
      }
    }
  }
}

extension ClusterConfiguration.Settings {
  fileprivate var extensionMemory: MemoryLimit? {
    guard extensionMemoryLimit > 0 else { return nil }
    return MemoryLimit(bytes: extensionMemoryLimit << 20, interval: memoryInterval.seconds)
  }

  /// The rules of `widgetlab.yaml` for the device's processes.
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
