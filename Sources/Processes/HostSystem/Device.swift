// SPDX-License-Identifier: Apache-2.0

import Activities
import Apps
import Archive
package import Cluster
import Conditions
import Foundation
package import GRDB
import Gallery
import Launching
package import MessageBus
import Messages
import OwnedTasks
import Pushes
package import Stores
import Timekeeping
import Timelines
import Transfers

/// The assembled device: its services, the messages that they receive, and the routing of requests between them.
///
/// The state of the device is in the services. They and this actor run on one executor, so that a call from one to another
/// changes no thread. Screens and lists are read and encoded outside of it.
package actor Device {
  let configuration: ClusterConfiguration
  let bus: any BusConnection
  let launcher: LaunchService
  let apps: AppLifecycleService
  let conditions: DeviceConditionsService
  let transfers: TransferService
  let timelines: TimelineService
  let gallery: GalleryService
  let pushes: PushService
  let activities: ActivityService
  let intents: IntentService
  let defaults: DefaultsDomains
  /// Extensions whose widgets use the location.
  let wantingLocation: Set<String>
  let transactions: DeviceTransactions
  let parts: HostParts
  let broken: @Sendable (String) -> Void
  /// The readers of the services' outputs, and what requests leave to be done.
  let tasks: TaskOwner
  private nonisolated let executor: ServiceExecutor

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Reads the database and creates the folders of the device. Nothing runs before `resume()`.
  ///
  /// - Parameters:
  ///   - bus: not started yet, because handlers are registered here.
  ///   - underWay: what it sets aside is failed and reported.
  ///   - broken: called once if state cannot be persisted; the process should exit then.
  /// - Throws: `instance-folder`, `configuration` with the file that it concerns, or errors of the database.
  package init(
    _ configuration: ClusterConfiguration, instance: InstanceFolder, database: any DatabaseWriter,
    bus: any BusConnection, underWay: UnderWay = UnderWay(), parts: HostParts = HostParts(),
    broken: @escaping @Sendable (String) -> Void
  ) throws {
    let executor = ServiceExecutor("device")
    self.executor = executor
    tasks = TaskOwner(on: executor.taskExecutor)
    intents = IntentService(executor: executor)
    let device = configuration.device.name
    let folder = instance.device(device)
    try folder.makeTransfers()
    let synchronized = Concurrently { try folder.synchronizeTransfers() }
    let groups = try folder.makeGroups(configuration.appGroups)
    let settings = configuration.settings
    let store = try DeviceStore(database)
    let containers = try Containers(of: configuration.products.map(\.bundle), in: folder, store)
    let clock = try AdjustableClock(store, ClockPage(path: folder.clockPage), patience: settings.advancePatience)
    let transactions = DeviceTransactions(database, executor: executor, clock: clock) {
      broken("the state of the device cannot be written: \($0)")
    }
    self.transactions = transactions
    let bus = CommittedBus(bus, transactions)
    let conditions = DeviceConditionsService(
      try DeviceConditionsStateMachine(store, hasPushServer: configuration.pushServer != nil),
      settings: try DeviceSettingsStateMachine(configuration, store), bus: bus, clock: clock,
      storage: DeviceConditionsService.Storage(store), executor: executor)
    self.conditions = conditions
    let gallery = try GalleryService(
      device: WidgetDevice(configuration), apps: configuration.apps.map(\.bundle),
      placesEachKind: settings.gallery.placesEachKind, database: database, bus: bus, clock: clock,
      executor: executor)
    self.gallery = gallery
    // The types of what is stored of timelines take as long as all other services.
    let timelines = Concurrently {
      try TimelineService(
        configuration, gallery, conditions, containers, underWay, database: database, bus: bus, clock: clock,
        transactions: transactions, reloads: parts.reloads)
    }
    let programs = configuration.programs(groups: groups, containers, conditions, in: instance)
    self.configuration = configuration
    self.bus = bus
    self.defaults = DefaultsDomains(
      bundles: configuration.products.map(\.bundle), groups: groups, container: containers.path)
    self.wantingLocation = try configuration.bundlesWantingLocation()
    self.parts = parts
    self.broken = broken
    let launcher = try LaunchService(
      programs: programs, database: database, bus: bus, clock: clock, suspendAfter: settings.suspendAfter.seconds,
      endIdleAfter: settings.endIdleAfter.seconds,
      backoff: Backoff(first: settings.crashBackoffFirst.seconds, limit: settings.crashBackoffMax.seconds),
      transactions: transactions)
    self.launcher = launcher
    self.apps = AppLifecycleService(
      apps: configuration.installedApps, containers: AppLifecycleService.ContainerMoves(containers), bus: bus,
      clock: clock, executor: executor)
    self.transfers = try TransferService(
      configuration, folder: folder.transfers, containers, launcher, underWay, bus: bus, clock: clock, transactions)
    self.pushes = try PushService(
      device: device, products: configuration.pushProducts, hasWidgetPushes: configuration.hasWidgetPushes,
      database: database, bus: bus, clock: clock, underWay: underWay, transactions: transactions)
    let asked = AskedDevice()
    self.activities = try ActivityService(
      configuration, conditions, asked, database: database, bus: bus, clock: clock, transactions: transactions)
    self.timelines = try timelines.get()
    try synchronized.get()
    asked.set(self)
    recordSetAside(underWay)
  }

  private nonisolated func recordSetAside(_ underWay: UnderWay) {
    for work in underWay.setAside {
      bus.record(FaultNoticed(.setAside, subject: "\(work)", details: underWay.reason(work) ?? "set aside"))
    }
  }

  /// Resumes after a host restart: the downloads at once, without the bus.
  package func resume() async throws {
    listen()
    listenToUser()
    listenToGallery()
    listenForLaunches()
    listenForTimelines()
    listenForPushes()
    listenForActivities()
    listenForDefaults()
    await sendWithheld()
    await routeOutputs()
    await conditions.begin(running: await launcher.runningInstances)
    let extensions = Set(configuration.extensions.map(\.bundle))
    try await gallery.keep(extensions: extensions, apps: Set(configuration.apps.map(\.bundle)))
    try await transfers.begin(network: await conditions.network, suspended: await launcher.suspendedInstances)
    try await transfers.keep(Set(configuration.products.map { $0.address(on: configuration.device.name) }))
    await apps.begin(quit: await launcher.quitApps)
    // No process is launched before its container has been moved.
    await apps.outputs.passed()
    try await passOnPlacements()
    await activities.begin()
    await beginPushes()
    await timelines.begin()
    await sendRelevances()
  }

  /// The bus is connected: asks the agents for their processes.
  package func connected() async { await launcher.begin() }

  /// Stops all work in progress; the next start resumes it. Nothing of the device runs when this returns.
  package func leave() async {
    await transfers.leave()
    await timelines.leave()
    await activities.leave()
    await pushes.leave()
    await apps.leave()
    await gallery.leave()
    await intents.leave()
    await launcher.leave()
    await conditions.leave()
    await tasks.end()
    transactions.commit()
  }

  /// What the device waits for: agents that have not reported their processes.
  package func waitingFor() async -> [String] { await launcher.silentAgents.map(\.text) }

  // MARK: Messages

  private nonisolated func listen() {
    StandingProcess.answerPeers(on: bus) { [weak self] in await self?.waitingFor() ?? ["the device"] }
    bus.onPresence { [launcher, conditions] presence in
      guard presence.isPresent else { return }
      if presence.address.role == .agent { launcher.agentConnected(presence.address) }
      if presence.address == .pushServer { conditions.pushServerConnected() }
    }
    bus.onEvent(AgentStarted.self) { [launcher] event, from in try await launcher.started(event, agent: from.source) }
    bus.onEvent(ProcessExited.self) { [launcher] event, _ in try await launcher.exited(event) }
    bus.onEvent(MemoryExceeded.self) { [launcher] event, _ in try await launcher.exceededMemory(event) }
    bus.onEvent(LocksHeld.self) { [launcher] event, _ in try await launcher.heldLocks(event) }
    bus.onRequest(ProcessReady.self) { [weak self, launcher, conditions, activities] request, from in
      await conditions.runs(from.source, generation: from.sourceGeneration)
      if from.source.role == .widgetExtension {
        try await activities.learned(from.source.bundleIdentifier ?? "", request.activities ?? [])
        try await self?.learned(request.widgets, from)
      }
      try await launcher.ready(from.source, generation: from.sourceGeneration)
      return Done()
    }
    bus.onRequest(OpenSession.self) { [transfers] request, from in try await transfers.open(request, from) }
    bus.onRequest(CreateTransfer.self) { [transfers] request, from in try await transfers.create(request, from) }
    bus.onRequest(CancelTransfer.self) { [transfers] request, from in try await transfers.cancel(request, from) }
    bus.onRequest(ChangeTransfer.self) { [transfers] request, from in try await transfers.change(request, from) }
    bus.onRequest(CloseSession.self) { [transfers] request, from in await transfers.close(request, from) }
    bus.onRequest(DeviceStatus.self) { [weak self] _, _ in try await requireDevice(self).status() }
  }

  @concurrent private nonisolated func status() async throws -> DeviceStatus.Reply {
    let gallery = gallery.stateMachine
    // An earlier version of the system may have had the location.
    let missing = gallery.state.placements.filter { gallery.device.refusal(of: $0.location) != nil }
    let unseen = Set(missing.map(\.id))
    return DeviceStatus.Reply(
      device: configuration.device.name, processes: await launcher.status, sessions: try await transfers.status(),
      timelines: await timelines.status().filter { !unseen.contains($0.placement) })
  }
}

/// The device, while it exists.
func requireDevice(_ device: Device?) throws(BusError) -> Device {
  guard let device else { throw BusError(.closed, "the device is shutting down", isDefinite: false) }
  return device
}
