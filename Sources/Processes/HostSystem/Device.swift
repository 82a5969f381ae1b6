// SPDX-License-Identifier: Apache-2.0

import Archive
package import Cluster
import Device
import DeviceRules
import Foundation
package import GRDB
package import MessageBus
import Messages
import OwnedTasks
package import Stores
package import Timekeeping

/// The assembled device: its services, the messages that they receive, and the routing of requests between them.
///
/// The state of the device is the value of `core`. All of it is on one actor. Screens and lists are read and encoded outside of it.
@DeviceActor package final class Device {
  let configuration: ClusterConfiguration
  let bus: any BusConnection
  let core: DeviceCore
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
  let clock: any ControllableClock
  let transactions: DeviceTransactions
  let parts: HostParts
  let broken: @Sendable (String) -> Void
  /// What requests leave to be done.
  let tasks: TaskOwner

  /// Reads the database and creates the folders of the device. Nothing runs before `resume()`.
  ///
  /// - Parameters:
  ///   - bus: not started yet, because handlers are registered here.
  ///   - underWay: what it sets aside is failed and reported.
  ///   - broken: called once if state cannot be persisted; the process should exit then.
  /// - Throws: `instance-folder`, `configuration` with the file that it concerns, or errors of the database.
  package nonisolated init(
    _ configuration: ClusterConfiguration, instance: InstanceFolder, database: any DatabaseWriter,
    bus: any BusConnection, underWay: UnderWay = UnderWay(), parts: HostParts = HostParts(),
    broken: @escaping @Sendable (String) -> Void
  ) throws {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    intents = IntentService()
    let device = configuration.device.name
    let folder = instance.device(device)
    try folder.makeTransfers()
    let synchronized = Concurrently { try folder.synchronizeTransfers() }
    let groups = try folder.makeGroups(configuration.appGroups)
    let settings = configuration.settings
    let store = try DeviceStore(database)
    let containers = try Containers(of: configuration.products.map(\.bundle), in: folder, store)
    let clock = try AdjustableClock(store, ClockPage(path: folder.clockPage), patience: settings.advancePatience)
    let transactions = DeviceTransactions(database, clock: clock) {
      broken("the state of the device cannot be written: \($0)")
    }
    // With what the device has decided before. Shown to its processes after that.
    clock.persist { [weak transactions] setting in
      let value = try BodyCoding.data(setting)
      try transactions?.writeNow { try DeviceStore.set(value, named: DeviceStore.clock, $0) }
    }
    self.clock = clock
    self.transactions = transactions
    let bus = CommittedBus(bus, transactions)
    let programs = configuration.programs(groups: groups, containers, in: instance)
    let stored = try StoredDevice(configuration, programs, store, transactions, underWay, parts)
    let core = DeviceCore(stored.stateMachine, clock: clock, broken: broken)
    let conditions = DeviceConditionsService(
      core: core, settings: stored.stateMachine.settings, bus: bus, clock: clock,
      storage: DeviceConditionsService.Storage(transactions))
    self.configuration = configuration
    self.bus = bus
    self.core = core
    self.conditions = conditions
    self.defaults = DefaultsDomains(
      bundles: configuration.products.map(\.bundle), groups: groups, container: containers.path)
    self.wantingLocation = try configuration.bundlesWantingLocation()
    self.parts = parts
    self.broken = broken
    let launcher = LaunchService(stored.launching, core: core, bus: bus, clock: clock)
    self.launcher = launcher
    let gallery = GalleryService(stored.gallery, core: core, bus: bus) {
      await launcher.launchOutcome(of: $0, within: $1)
    }
    self.gallery = gallery
    apps = AppLifecycleService(core: core, containers: AppLifecycleService.ContainerMoves(containers), bus: bus)
    self.transfers = try TransferService(
      stored.transfers, core: core, configuration, folder: folder.transfers, containers, bus: bus, clock: clock)
    self.timelines = TimelineService(
      stored.timelines, core: core, configuration, gallery, conditions, containers, underWay, bus: bus, clock: clock)
    self.pushes = PushService(stored.pushes, core: core, bus: bus, underWay: underWay)
    activities = ActivityService(
      stored.activities, core: core, bus: bus, clock: clock,
      backoff: Backoff(first: settings.crashBackoffFirst.seconds, limit: settings.crashBackoffMax.seconds),
      environment: {
        WidgetEnvironment(
          ofActivityOn: configuration.device, conditions.settings(of: .widgetExtension(device, $0)))
      })
    try synchronized.get()
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
    connectServices()
    let extensions = Set(configuration.extensions.map(\.bundle))
    try core.record(.gallery(.keep(extensions: extensions, apps: Set(configuration.apps.map(\.bundle)))))
    conditions.begin(running: launcher.runningInstances)
    try transfers.begin(network: conditions.network, suspended: launcher.suspendedInstances)
    try await transfers.keep(Set(configuration.products.map { $0.address(on: configuration.device.name) }))
    apps.begin(quit: launcher.quitApps)
    try core.record(.gallery(.began))
    // First: an activity that ends now changes tokens, and an event of tokens releases those that it does not know.
    beginPushes()
    activities.begin { [weak self] bundle, request in
      guard let self else { return .failure(Self.closed) }
      return await archive(request, by: bundle)
    }
    timelines.begin()
    core.handle(.gallery(.turnStacks))
    core.begin()
  }

  /// The bus is connected: asks the agents for their processes.
  package func connected() { launcher.begin() }

  /// Stops all work in progress; the next start resumes it. Nothing of the device runs when this returns.
  package func leave() async {
    pushes.flush()
    // Nothing is handled any more: an exit that no other service learns of must not be acknowledged.
    core.stop()
    await launcher.leave()
    await transfers.leave()
    await timelines.leave()
    await activities.leave()
    await pushes.leave()
    await apps.leave()
    await gallery.leave()
    await intents.leave()
    await conditions.leave()
    await tasks.end()
    transactions.commit()
    core.disconnect()
  }

  /// What the device waits for: agents that have not reported their processes.
  package func waitingFor() -> [String] { launcher.silentAgents.map(\.text) }

  // MARK: Messages

  private nonisolated static var closed: BusError {
    BusError(.closed, "the device is shutting down", isDefinite: false)
  }

  /// Sets what the device does at a request, while it exists.
  nonisolated func onRequest<R: Request>(
    _ type: R.Type, _ handle: @escaping @DeviceActor (Device, R, Received) async throws -> R.Reply
  ) {
    bus.onRequest(type) { @DeviceActor [weak self] request, from in
      guard let self else { throw Self.closed }
      return try await handle(self, request, from)
    }
  }

  /// The same for an event.
  nonisolated func onEvent<E: Event>(
    _ type: E.Type, _ handle: @escaping @DeviceActor (Device, E, Received) async throws -> Void
  ) {
    bus.onEvent(type) { @DeviceActor [weak self] event, from in
      guard let self else { throw Self.closed }
      try await handle(self, event, from)
    }
  }

  private nonisolated func listen() {
    StandingProcess.answerPeers(on: bus) { [weak self] in await self?.waitingFor() ?? ["the device"] }
    bus.onPresence { [launcher, conditions] presence in
      guard presence.isPresent else { return }
      if presence.address.role == .agent { launcher.agentConnected(presence.address) }
      if presence.address == .pushServer { conditions.pushServerConnected() }
    }
    onEvent(AgentStarted.self) { try $0.launcher.started($1, agent: $2.source) }
    onEvent(ProcessExited.self) { device, event, _ in try device.launcher.exited(event) }
    onEvent(MemoryExceeded.self) { device, event, _ in try device.launcher.exceededMemory(event) }
    onEvent(LocksHeld.self) { device, event, _ in try device.launcher.heldLocks(event) }
    onRequest(ProcessReady.self) { try $0.ready($1, $2) }
    onRequest(OpenSession.self) { try $0.transfers.open($1, $2) }
    onRequest(CreateTransfer.self) { try $0.transfers.create($1, $2) }
    onRequest(CancelTransfer.self) { try await $0.transfers.cancel($1, $2) }
    onRequest(ChangeTransfer.self) { try $0.transfers.change($1, $2) }
    onRequest(CloseSession.self) { try $0.transfers.close($1, $2) }
    onRequest(DeviceStatus.self) { device, _, _ in try await device.status() }
  }

  private func ready(_ request: ProcessReady, _ from: Received) throws -> Done {
    core.handle(.runs(from.source, generation: from.sourceGeneration))
    if from.source.role == .widgetExtension {
      try activities.learned(from.source.bundleIdentifier ?? "", request.activities ?? [])
      try gallery.learned(from.source, request.widgets, from.context)
    }
    try launcher.ready(from.source, generation: from.sourceGeneration)
    return Done()
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
