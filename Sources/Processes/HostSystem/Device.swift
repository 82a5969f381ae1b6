// SPDX-License-Identifier: Apache-2.0

import Archive
package import Cluster
import Device
package import DeviceRules
import Dispatch
import Foundation
package import GRDB
package import MessageBus
import Messages
package import Stores
import Synchronization
package import Timekeeping

/// The assembled device: its services, the messages that they receive, and the routing of requests between them.
///
/// The state of the device is the value of `core`. All of it is on one actor. Screens and lists are read and encoded outside of it.
@DeviceActor package final class Device: DevicePart {
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
  let intents = IntentService()
  let defaults: DefaultsDomains
  /// Extensions whose widgets use the location.
  let wantingLocation: Set<String>
  let transactions: DeviceTransactions
  /// What requests leave to be done.
  let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)

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
    let folder = instance.device(configuration.device.name)
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
      if let transactions { try DeviceStore.save(setting, named: DeviceStore.clock, transactions) }
    }
    self.transactions = transactions
    let bus = CommittedBus(bus: bus, transactions: transactions)
    let vendors = try VendorIdentifiers(of: configuration.vendorApps, in: store)
    let programs = configuration.programs(groups: groups, containers, vendors, in: instance)
    let storedDevice = try StoredDevice(
      configuration, programs: programs, store: store, transactions: transactions, underWay: underWay, parts: parts)
    let core = DeviceCore(storedDevice.stateMachine, clock: clock, broken: broken)
    self.configuration = configuration
    self.bus = bus
    self.core = core
    defaults = DefaultsDomains(
      bundles: configuration.products.map(\.bundle), groups: groups, container: containers.path)
    wantingLocation = try configuration.bundlesWantingLocation()
    conditions = DeviceConditionsService(core: core, bus: bus, clock: clock, transactions: transactions)
    let launcher = LaunchService(storedDevice.launching, core: core, bus: bus, clock: clock)
    self.launcher = launcher
    gallery = GalleryService(storedDevice.gallery, core: core, bus: bus) {
      await launcher.launchOutcome(of: $0, within: $1)
    }
    apps = AppLifecycleService(core: core, containers: containers, bus: bus)
    let container: @Sendable (Address) -> String? = { $0.bundleIdentifier.flatMap(containers.path) }
    transfers = try TransferService(
      storedDevice.transfers, core: core, folder: folder.transfers, bus: bus, clock: clock, container: container,
      group: { groups[$0] }, space: { DiskSpace(at: folder.transfers).map { TransferSpace($0, settings) } })
    timelines = TimelineService(
      storedDevice.timelines, core: core, bus: bus, clock: clock, underWay: underWay, container: container,
      closureSizes: { [layout = ClosureLayout()] in await layout.sizes(in: $0, $1) })
    pushes = PushService(storedDevice.pushes, core: core, bus: bus, underWay: underWay)
    activities = ActivityService(
      storedDevice.activities, core: core, bus: bus, clock: clock,
      backoff: Backoff(first: settings.crashBackoffFirst.seconds, limit: settings.crashBackoffMax.seconds),
      environment: WidgetEnvironment(ofActivityOn: configuration.device))
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
    core.connect(launcher, apps, conditions, transfers, timelines, pushes, gallery, activities, self)
    let extensions = Set(configuration.extensions.map(\.bundle))
    try core.record(.gallery(.keep(extensions: extensions, apps: Set(configuration.apps.map(\.bundle)))))
    conditions.begin(running: launcher.runningInstances)
    try transfers.begin(network: conditions.network, suspended: launcher.suspendedInstances)
    try await transfers.keep(Set(configuration.products.map { $0.address(on: configuration.device.name) }))
    apps.begin(quit: launcher.quitApps, inFront: core.state.launching.frontApps)
    try core.record(.gallery(.began))
    // First: an activity that ends now changes tokens, and an event of tokens releases those that it does not know.
    pushes.begin(
      core.state.pushWidgets, reloads: core.state.timelines.reports, activities: core.state.activityTokens,
      isOnline: conditions.network.path != .off)
    activities.begin { [weak self] bundle, request in
      guard let self else { return .failure(DeviceCore.closed) }
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
    let parts: [any DevicePart] = [launcher, transfers, timelines, activities, pushes, apps, gallery]
    for part in parts { await part.leave() }
    await intents.leave()
    await conditions.leave()
    await tasks.end()
    transactions.commit()
    core.disconnect()
  }

  /// What the device waits for: agents that have not reported their processes.
  package func waitingFor() -> [String] { launcher.silentAgents.map(\.text) }

  /// What takes the device several steps.
  package func perform(_ action: DeviceAction) {
    if case .instanceEnded(let address, _) = action { intents.ended(address) }
    if case .apps(.move(_, let products)) = action { replaced(products) }
    guard case .activities(.started(let app)) = action else { return }
    // Not awaited: the author's code may take its time.
    tasks.start { [self] in await launchForToken(.app(configuration.device.name, app), app) }
  }

  // MARK: Messages

  /// Sets what the device does at a request, while it exists.
  private nonisolated func onRequest<R: Request>(
    _ type: R.Type, _ handle: @escaping @DeviceActor (Device, R, Received) async throws -> R.Reply
  ) {
    bus.onRequest(type) { @DeviceActor [weak self] request, from in
      guard let self else { throw DeviceCore.closed }
      return try await handle(self, request, from)
    }
  }

  /// The same for an order, whose reply says only that it was carried out.
  private nonisolated func onOrder<R: Request>(
    _ type: R.Type, _ handle: @escaping @DeviceActor (Device, R, Received) async throws -> Void
  ) where R.Reply == Done {
    onRequest(type) { device, request, from in
      try await handle(device, request, from)
      return Done()
    }
  }

  /// The same for an event.
  private nonisolated func onEvent<E: Event>(
    _ type: E.Type, _ handle: @escaping @DeviceActor (Device, E, Received) async throws -> Void
  ) {
    bus.onEvent(type) { @DeviceActor [weak self] event, from in
      guard let self else { throw DeviceCore.closed }
      try await handle(self, event, from)
    }
  }

  /// Messages of agents, of the push server and of the author's processes.
  private nonisolated func listen() {
    StandingProcess.answerPeers(on: bus) { [weak self] in await self?.waitingFor() ?? ["the device"] }
    bus.onPresence { [launcher, conditions] presence in
      guard presence.isPresent else { return }
      if presence.address.role == .agent { launcher.agentConnected(presence.address) }
      if presence.address == .pushServer { conditions.pushServerConnected() }
    }
    // A push server that was restarted together with the broker has no report.
    bus.onReconnection { [conditions] in conditions.pushServerConnected() }
    onEvent(AgentStarted.self) {
      try $0.core.record(.launching(.agentReported($2.source, incarnation: $1.incarnation, children: $1.children)))
    }
    onEvent(ProcessExited.self) { device, event, _ in try device.launcher.exited(event) }
    onEvent(MemoryExceeded.self) { device, event, _ in
      let instance = ProcessInstance(generation: event.generation, pid: event.pid)
      try device.core.record(.launching(.exceededMemory(event.address, instance, why: event.description)))
    }
    onEvent(LocksHeld.self) { device, event, _ in
      try device.core.record(
        .launching(.process(.evict(event.address, generation: event.generation, why: event.description))))
    }
    onOrder(ProcessReady.self) { try $0.ready($1, $2) }
    onRequest(OpenSession.self) { try $0.transfers.open($1, $2) }
    onOrder(CreateTransfer.self) { try $0.transfers.create($1, $2) }
    onRequest(CancelTransfer.self) { try await $0.transfers.cancel($1, $2) }
    onOrder(ChangeTransfer.self) { try $0.transfers.change($1, $2) }
    onOrder(CloseSession.self) { try $0.transfers.close($1, $2) }
    onEvent(ReloadTimelines.self) { try $0.timelines.reload($1, $2) }
    onEvent(DeliverPush.self) { device, event, _ in
      // The conditions decide. The push server acts on their report, which may be ahead of `setOnline`.
      guard device.conditions.network.path != .off else { throw BusError(.offline, "the device has no network") }
      try await device.pushes.received(event.notification)
    }
    onEvent(TokenReplaced.self) { device, event, _ in
      try device.core.record(.tokens(.replaced(TokenKey(event.bundle, event.use), event.token)))
    }
    onEvent(HoldProcess.self) { device, event, from in try device.hold(event, from) }
    onRequest(AskPushInfo.self) { device, _, from in device.pushes.info(from) }
    onRequest(AskNotificationAccess.self) { device, request, from in
      let bundle = from.source.bundleIdentifier ?? ""
      // An extension reads the permission of its app, and cannot ask for it.
      let isApp = from.source.role == .app
      return try device.conditions.notificationAccess(
        isApp ? request : AskNotificationAccess(), of: isApp ? bundle : device.core.state.gallery.app(of: bundle) ?? "")
    }
    onRequest(RegisterForPushes.self) { try await $0.pushes.register($1, $2) }
    onRequest(RequestActivity.self) { try await $0.request($1, $2) }
    onRequest(ChangeActivity.self) { try $0.change($1, $2) }
    onRequest(ListActivities.self) { $0.list($1, $2) }
  }

  /// Requests of the user. Some are also those of an author's process.
  private nonisolated func listenToUser() {
    onRequest(DeviceStatus.self) { device, _, _ in try await device.status() }
    onRequest(AwaitLaunch.self) { device, request, _ in
      AwaitLaunch.Reply(failures: await device.outcome(of: request))
    }
    onOrder(OpenApp.self) { device, request, from in try device.open(request.bundle, from.context) }
    onOrder(ForceQuitApp.self) { device, request, _ in try await device.forceQuit(request) }
    onOrder(UpdateApp.self) { device, request, _ in try await device.apps.update(request.bundle) }
    onRequest(SetClock.self) { device, request, _ in
      try await device.conditions.change(request.change)
      return device.conditions.clockState
    }
    onRequest(SetNetwork.self) { device, request, _ in
      try device.conditions.set(request.state)
      return request.state
    }
    onRequest(SetPower.self) { device, request, _ in try device.conditions.set(request) }
    onRequest(ChangeSetting.self) { device, request, _ in try device.change(request.change) }
    onRequest(MoveDevice.self) { device, _, from in
      try device.timelines.moved(device.wantingLocation, from.context)
    }
    onRequest(ListSessions.self) { device, request, _ in
      try device.transfers.list(request, clock: device.conditions.clockState)
    }
    onRequest(ReadDefaults.self) { device, request, _ in try device.read(request) }
    onOrder(WriteDefaults.self) { device, request, _ in try device.write(request) }
    onRequest(ListGallery.self) { device, request, _ in await device.list(request) }
    onRequest(AddPlacement.self) { device, request, from in try await device.add(request, from.context) }
    onRequest(EditPlacement.self) { device, request, from in try await device.edit(request, from.context) }
    onRequest(RemovePlacement.self) { try $0.core.ask(.gallery(.remove($1.placement, $2.context))) }
    onRequest(TurnStack.self) { try $0.core.ask(.gallery(.turn(to: $1.placement, $2.context))) }
    onRequest(ListPlacements.self) { device, _, from in
      let bundle = from.source.bundleIdentifier ?? ""
      return ListPlacements.Reply(placements: device.core.state.gallery.placements(askedBy: bundle))
    }
    onRequest(ShowScreen.self) { device, request, _ in try await device.show(request) }
    onRequest(ChangeScreen.self) { device, request, from in try device.change(request.change, from.context) }
    onRequest(TapWidget.self) { device, request, from in try await device.tap(request, from.context) }
    onRequest(ReadImage.self) { device, request, _ in
      try device.activities.image(request) ?? device.timelines.image(request)
    }
    onRequest(TakeSnapshot.self) { device, request, _ in
      if request.bundle == nil { try device.core.state.gallery.requireOneBundle(of: request.widgetKind) }
      return try await device.timelines.snapshot(request)
    }
    onRequest(ArchiveWidget.self) { device, request, _ in try await device.archive(request) }
    onRequest(ListBudget.self) { device, request, _ in try device.timelines.list(request) }
    onRequest(TapActivity.self) { device, request, from in try await device.tap(request, from.context) }
    onRequest(AllowActivities.self) { try $0.core.ask(.activities(.allow($1, $2.context))) }
  }

  private func ready(_ request: ProcessReady, _ from: Received) throws {
    core.handle(.runs(from.source, generation: from.sourceGeneration))
    if from.source.role == .widgetExtension {
      let bundle = from.source.bundleIdentifier ?? ""
      try core.record(.activities(.declared(bundle: bundle, request.activities ?? [])))
      try core.record(.gallery(.learned(from.source, request.widgets, from.context)))
    }
    try core.record(.launching(.ready(from.source, generation: from.sourceGeneration)))
  }

  /// A process has a background task, or has none any more. One of an instance that has ended or is being ended changes
  /// nothing. An app in the foreground has time.
  private func hold(_ event: HoldProcess, _ from: Received) throws {
    guard core.state.launching.isCurrent(from.source, generation: from.sourceGeneration) else { return }
    switch event.state {
    case .begun: try core.record(.launching(.process(.want(from.source, because: .backgroundTask))))
    case .ended: try core.record(.launching(.process(.release(from.source, because: .backgroundTask))))
    case .overdue:
      guard !core.state.launching.isInFront(from.source) else { return }
      let why = "a background task was not ended in time: \(event.names.joined(separator: ", "))"
      try core.record(
        .launching(.process(.evict(from.source, generation: from.sourceGeneration, why: why))))
    }
  }

  @concurrent private nonisolated func status() async throws -> DeviceStatus.Reply {
    let gallery = await core.state.gallery
    // An earlier version of the system may have had the location.
    let missing = gallery.state.placements.filter { gallery.device.refusal(of: $0.location) != nil }
    let unseen = Set(missing.map(\.id))
    return DeviceStatus.Reply(
      device: configuration.device.name, processes: await launcher.status, sessions: try await transfers.status(),
      timelines: await timelines.status().filter { !unseen.contains($0.placement) })
  }
}

/// What the previous host wrote of the device.
struct StoredDevice {
  let launching: LaunchService.Stored
  let transfers: TransferService.Stored
  let timelines: TimelineService.Stored
  let pushes: PushService.Stored
  let gallery: GalleryService.Stored
  let activities: ActivityService.Stored
  let stateMachine: DeviceStateMachine

  /// - Throws: `configuration` with the file that it concerns, or errors of the database.
  init(
    _ configuration: ClusterConfiguration, programs: [Program], store: DeviceStore,
    transactions: DeviceTransactions, underWay: UnderWay, parts: HostParts
  ) throws {
    let settings = configuration.settings
    let deviceSettings = try DeviceSettingsStateMachine(configuration, store)
    // The types of what is stored of timelines take as long as all the rest.
    let timelines = Concurrently {
      try TimelineService.Stored(
        configuration, deviceSettings: deviceSettings.settings, transactions: transactions, reloads: parts.reloads)
    }
    launching = try LaunchService.Stored(
      programs, transactions, suspendAfter: settings.suspendAfter.seconds, endIdleAfter: settings.endIdleAfter.seconds,
      backoff: Backoff(first: settings.crashBackoffFirst.seconds, limit: settings.crashBackoffMax.seconds))
    transfers = try TransferService.Stored(
      transactions, settings: TransferSettings(settings),
      families: AppFamilies(apps: configuration.apps.map(\.bundle)), underWay: underWay)
    pushes = try PushService.Stored(
      transactions, device: configuration.device.name, products: configuration.pushProducts,
      hasWidgetPushes: configuration.hasWidgetPushes)
    gallery = try GalleryService.Stored(
      transactions, device: WidgetDevice(configuration), apps: configuration.apps.map(\.bundle),
      placesEachKind: settings.gallery.placesEachKind)
    let apps = try configuration.installedApps()
    activities = try ActivityService.Stored(configuration, apps: apps, transactions: transactions)
    self.timelines = try timelines.get()
    var stateMachine = DeviceStateMachine()
    stateMachine.launching = launching.stateMachine
    stateMachine.apps = AppLifecycleStateMachine(apps: apps)
    stateMachine.conditions = try DeviceConditionsStateMachine(store, hasPushServer: configuration.pushServer != nil)
    stateMachine.settings = deviceSettings
    (stateMachine.loading, stateMachine.delivery) = (transfers.loading, transfers.delivery)
    stateMachine.timelines = self.timelines.stateMachine
    (stateMachine.tokens, stateMachine.notifications) = (pushes.tokens, pushes.notifications)
    (stateMachine.gallery, stateMachine.screen) = (gallery.gallery, gallery.screen)
    stateMachine.activities = activities.stateMachine
    stateMachine.facts = DeviceFacts(configuration, parts)
    self.stateMachine = stateMachine
  }
}

extension DeviceFacts {
  fileprivate init(_ configuration: ClusterConfiguration, _ parts: HostParts) {
    self.init()
    device = configuration.device.name
    for product in configuration.extensions {
      extensions[product.address(on: device)] = product.dataProtection.isOfUnlockedDevice
    }
    pushReloadsAllWidgets = configuration.settings.pushReloadsAllWidgets
    launchesForEvents = parts.launchesForEvents
  }
}

/// A value that another thread makes while this one continues. For the start of a process, which waits for the disk and
/// decodes what is stored.
struct Concurrently<Value: Sendable>: Sendable {
  private final class Made: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
  }

  private let made = Made()
  private let queue = DispatchQueue(label: "start")

  init(_ make: @escaping @Sendable () throws -> Value) {
    queue.async { [made] in
      let result = Result { try make() }
      made.result.withLock { $0 = result }
    }
  }

  /// Blocks this thread until the value is there.
  ///
  /// - Throws: the error of the other thread.
  func get() throws -> Value {
    queue.sync {}
    guard let result = made.result.withLock({ $0 }) else { preconditionFailure("a serial queue keeps its order") }
    return try result.get()
  }
}
