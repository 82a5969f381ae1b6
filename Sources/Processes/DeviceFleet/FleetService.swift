// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import Glibc
import Logging
import MessageBus
import Messages
import Stores
import Timekeeping

/// The service of a fleet: lets the devices' day pass, requests tokens, registers them with the backend, and receives
/// notifications. What changed is on the disk before it is announced or acknowledged.
actor FleetService {
  nonisolated let plan: FleetPlan
  /// The path of the profile.
  nonisolated let profileName: String
  nonisolated let bus: any BusConnection
  nonisolated let database: FleetDatabase
  nonisolated let registrar: Registrar
  nonisolated let logger: Logger
  nonisolated let metrics: FleetMetrics?
  /// The events that the metrics have.
  private var countedEvents: Int
  private nonisolated let fail: @Sendable (_ reason: String, _ isConfiguration: Bool) -> Void
  nonisolated let tasks = TaskOwner()
  private nonisolated let executor = ServiceExecutor("fleet")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  var machine: FleetStateMachine
  var facts: FleetDatabase.Facts
  var figures: FleetFigures
  /// Since when the fleet's day passes: the machine's time, and the day's. `nil` before a fast day begins.
  private var dayBegan: (at: Date, time: Date)?
  private let launched = ContinuousClock.now
  var tokens: FleetTokens?
  private var hasJoined = false
  private var isJoining = false
  /// Whether the fleet joins once more after the request that is under way.
  private var mustJoin = false
  private var isBroken = false
  /// The ids of notifications that the push server may send again.
  var knownIDs: Set<UUID>
  private var savedSecret: String?
  private var savedEpoch: Int64?
  /// When the time of the day is saved again.
  private var saveTimeFrom = ContinuousClock.now
  /// Whether what `figures` has is on the disk.
  private var areFiguresSaved = true
  /// Activities that the database does not have.
  private var activities: Set<LiveActivityStateMachine.Key> = []

  /// Tokens that the push server must issue or end.
  var unsettled = WorkQueue<TokenReference>()
  var exchanges = 0
  /// Tokens of requests under way. What changes during that time is requested after them.
  var exchanging: Set<TokenReference> = []
  /// Tokens that the backend must get.
  var unregistered = WorkQueue<TokenReference>()
  var registering = 0
  var registration = FleetState.Registration()

  /// Devices whose reach is not reported.
  private var unreported: Set<UInt32> = []
  /// The next device of a full report; `nil` when none is due.
  private var reportFrom: UInt32? = 0
  private var isReporting = false

  var seconds: [FleetState.Second] = []
  private(set) var readyAfter: Double?

  /// - Parameter fail: ends the process.
  init(
    plan: FleetPlan, profileName: String, database: FleetDatabase, bus: any BusConnection, registrar: Registrar,
    logger: Logger, metrics: FleetMetrics? = nil,
    fail: @escaping @Sendable (_ reason: String, _ isConfiguration: Bool) -> Void
  ) throws {
    self.plan = plan
    self.profileName = profileName
    self.database = database
    self.bus = bus
    self.registrar = registrar
    self.logger = logger
    self.metrics = metrics
    self.fail = fail
    figures = try database.figures() ?? FleetFigures()
    if let facts = try database.facts() {
      guard facts.identity == plan.identity else { throw Self.otherPlan(facts, plan) }
      var live: [LiveActivityStateMachine.Key: LiveActivityStateMachine.Activity] = [:]
      var phases: [LiveActivityStateMachine.Key: TokenPhase] = [:]
      for row in try database.activities() {
        live[row.key] = row.activity
        phases[row.key] = row.phase == .none ? nil : row.phase
      }
      self.facts = facts
      machine = FleetStateMachine(
        plan, origin: facts.origin, devices: try database.devices(plan.devices), activities: live,
        activityTokens: phases, counted: figures.activities)
      tokens = facts.secret.flatMap(FleetTokens.init)
    } else {
      let now = Date()
      let facts = FleetDatabase.Facts(
        incarnation: UUID(), identity: plan.identity, origin: now, time: now, secret: nil)
      var machine = FleetStateMachine(plan, origin: now)
      let rows = machine.devices.takeChanged()
      for start in stride(from: 0, to: rows.count, by: 2_000) {
        _ = try database.write(
          FleetDatabase.Changes(
            rows: rows[start..<min(start + 2_000, rows.count)].map { ($0, machine.devices.row($0)) }))
      }
      _ = try database.write(FleetDatabase.Changes(facts: facts))
      self.facts = facts
      self.machine = machine
    }
    knownIDs = try database.received()
    countedEvents = machine.tally.events
    // A day at the machine's speed follows the machine's clock.
    if plan.profile.speed == 1 {
      let now = Date()
      dayBegan = (now, max(facts.time, now))
    }
    for token in machine.tokens(in: [.wanted, .ending]) { unsettled.append(token) }
    for token in machine.tokens(in: [.issued]) { unregistered.append(token) }
  }

  private static func otherPlan(_ facts: FleetDatabase.Facts, _ plan: FleetPlan) -> ClusterError {
    let names = [
      "name", "seed", "devices", "bundle", "mdmTopic", "environment", "startsAt", "tokens", "offline",
      "asleep", "hours", "rotationsPerYear", "uninstallsPerYear", "reinstallDays", "liveActivities",
    ]
    let (old, new) = (facts.identity.split(separator: "\n"), plan.identity.split(separator: "\n"))
    let changed = zip(names, zip(old, new)).filter { $1.0 != $1.1 }.map(\.0)
    return ClusterError(
      .configuration,
      "the fleet \(plan.name) was begun with another \(changed.joined(separator: ", ")): continue with the same, give this "
        + "one another --name, or remove the fleet's folder and the push server's database")
  }

  // MARK: Start and end

  /// Registers the handlers. Call before the connection is started.
  nonisolated func listen() {
    bus.onRequest(DeliverToFleet.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the fleet is ending", isDefinite: false) }
      return try await deliver(request)
    }
    bus.onPresence { [weak self] presence in
      guard presence.address == .pushServer, presence.isPresent else { return }
      self?.tasks.start { await self?.pushServerReturned() }
    }
    // A push server that was restarted together with the broker does not know the fleet.
    bus.onReconnection { [weak self] in self?.tasks.start { await self?.pushServerReturned() } }
    listenToOperators()
  }

  /// Call when the bus is connected.
  func begin() {
    tasks.start { await self.join() }
    tasks.start { await self.live() }
  }

  func leave() async {
    await tasks.end()
    _ = save()
    await registrar.close()
  }

  /// At most one request is open; the connection resends it to each new push server. The fleet asks once more if another
  /// instance connected before the reply.
  private func join() async {
    mustJoin = true
    guard !isJoining else { return }
    isJoining = true
    defer { isJoining = false }
    while mustJoin, !Task.isCancelled {
      mustJoin = false
      await requestToJoin()
    }
  }

  private func requestToJoin() async {
    while !Task.isCancelled {
      do throws(BusError) {
        let reply = try await bus.request(
          JoinFleet(incarnation: facts.incarnation), to: .pushServer, within: .seconds(86_400), whenUnreachable: .wait)
        return joined(reply.secret)
      } catch {
        if error.code == .fleetExists { return fail(error.message, true) }
        guard error.code != .closed, (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      }
    }
  }

  private func joined(_ secret: String) {
    if let former = facts.secret, former != secret {
      logger.notice("the push server has lost the tokens; all are requested again")
      machine.wantAllAgain()
      unsettled = WorkQueue()
      for token in machine.tokens(in: [.wanted, .ending]) { unsettled.append(token) }
    }
    // Another database counts the owners of the fleet from the beginning.
    if facts.secret != secret { facts.epoch = nil }
    facts.secret = secret
    tokens = FleetTokens(secret: secret)
    hasJoined = true
    guard save() else { return }
    reportAll()
    exchangeTokens()
    register()
  }

  /// Another instance of the push server knows nothing of the devices' reach.
  private func pushServerReturned() async {
    guard hasJoined else { return }
    reportAll()
    await join()
  }

  func broke(_ error: any Error) {
    guard !isBroken else { return }
    isBroken = true
    fail("cannot write the fleet's database: \(error)", false)
  }

  // MARK: The day

  /// The time of the fleet's day. A fast day stands still until the fleet is ready: it would otherwise rotate tokens sooner
  /// than a slow machine registers the first ones.
  var now: Date {
    guard let dayBegan else { return facts.time }
    return dayBegan.time.addingTimeInterval(Date().timeIntervalSince(dayBegan.at) * plan.profile.speed)
  }

  private func live() async {
    while !Task.isCancelled {
      tick()
      guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
    }
  }

  private func tick() {
    let now = now
    while !machine.advance(to: now), !Task.isCancelled {}
    facts.time = now
    let second = currentSecond()
    seconds[second].online = machine.isCutOff ? 0 : machine.tally.online
    guard save() else { return }
    report()
    exchangeTokens()
    register()
    noteReady()
    setMetrics()
  }

  private func setMetrics() {
    guard let metrics else { return }
    let tally = machine.tally
    metrics.set(
      plan.devices, tally, online: machine.isCutOff ? 0 : tally.online, activities: machine.live.activities.count,
      events: tally.events - countedEvents)
    countedEvents = tally.events
  }

  /// Records when the fleet was ready first.
  private func noteReady() {
    guard readyAfter == nil, isReady else { return }
    readyAfter = (ContinuousClock.now - launched) / .seconds(1)
    dayBegan = dayBegan ?? (Date(), facts.time)
    logger.notice("ready", metadata: ["devices": "\(plan.devices)", "seconds": "\(readyAfter ?? 0)"])
  }

  var isReady: Bool { hasJoined && unsettled.isEmpty && exchanges == 0 && unregistered.isEmpty && registering == 0 }

  /// The index of the present second in `seconds`.
  private func currentSecond() -> Int {
    let second = Int(saturating: Date().timeIntervalSince1970)
    if seconds.last?.at != second {
      seconds.append(FleetState.Second(at: second, online: seconds.last?.online ?? 0))
      if seconds.count > 600 { seconds.removeFirst(seconds.count - 600) }
    }
    return seconds.count - 1
  }

  private func addRegistered(_ second: Int) { seconds[second].registered += 1 }

  /// Writes what has changed.
  ///
  /// - Returns: whether it is on the disk.
  @discardableResult
  private func save(received: (run: UUID, batch: Int64, ids: [UUID])? = nil, settled: (run: UUID, batch: Int64)? = nil)
    -> Bool
  {
    guard !isBroken else { return false }
    let changes = machine.takeChanges()
    for token in changes.tokens { unsettled.append(token) }
    // The report under way will have the devices that it has not reached yet.
    for device in changes.reached where device < reportFrom ?? .max { unreported.insert(device) }
    activities.formUnion(changes.activities)
    var writes = FleetDatabase.Changes()
    writes.rows = machine.devices.takeChanged().map { ($0, machine.devices.row($0)) }
    writes.activities = activities.map { key in
      FleetDatabase.Activity(
        key: key, activity: machine.live.activities[key], phase: machine.activityTokens[key] ?? .none)
    }
    activities = []
    writes.received = received
    writes.settled = settled
    if machine.tally.activities != figures.activities {
      figures.activities = machine.tally.activities
      areFiguresSaved = false
    }
    if received != nil || !areFiguresSaved { writes.figures = figures }
    // The time alone is saved once a second.
    let hasNewFacts = facts.secret != savedSecret || facts.epoch != savedEpoch
    guard !writes.isEmpty || hasNewFacts || ContinuousClock.now >= saveTimeFrom else { return true }
    writes.facts = facts
    do {
      for id in try database.write(writes) { knownIDs.remove(id) }
      areFiguresSaved = true
      (savedSecret, savedEpoch) = (facts.secret, facts.epoch)
      saveTimeFrom = ContinuousClock.now + .seconds(1)
      return true
    } catch {
      broke(error)
      return false
    }
  }

  // MARK: Reach

  private func reportAll() {
    reportFrom = 0
    unreported = []
    report()
  }

  private func report() {
    guard hasJoined, !isReporting, reportFrom != nil || !unreported.isEmpty else { return }
    isReporting = tasks.start { await self.sendReports() } != nil
  }

  private func sendReports() async {
    defer { isReporting = false }
    while !Task.isCancelled, let reach = nextReport() {
      do throws(BusError) {
        try await bus.deliver(reach, to: .pushServer)
      } catch {
        guard error.code != .closed else { return }
        // Another push server is responsible, or this one was not for a while.
        if error.code == .noSuchFleet {
          reportFrom = 0
          // It refuses again until it has read the fleet: reports without a pause would fill the bus.
          try? await Task.sleep(for: .milliseconds(100))
          continue
        }
        logger.warning("the push server refuses the report of the devices' reach: \(error)")
        return
      }
    }
  }

  /// The state of the next devices to report; `nil` when all are reported.
  private func nextReport() -> FleetReach? {
    var online = DeviceSet()
    var offline = DeviceSet()
    var awake = DeviceSet()
    var asleep = DeviceSet()
    if let first = reportFrom {
      let end = min(first + DeviceSet.span, UInt32(plan.devices))
      for device in first..<end {
        if machine.isOnline(device) { online.append(device) }
        if !machine.devices.flags[Int(device)].contains(.awake) { asleep.append(device) }
      }
      reportFrom = end < UInt32(plan.devices) ? end : nil
      return FleetReach(isFirst: first == 0, online: online, offline: offline, awake: awake, asleep: asleep)
    }
    guard !unreported.isEmpty else { return nil }
    let devices = unreported.sorted().prefix(Int(DeviceSet.span))
    for device in devices {
      unreported.remove(device)
      if machine.isOnline(device) { online.append(device) } else { offline.append(device) }
      if machine.devices.flags[Int(device)].contains(.awake) { awake.append(device) } else { asleep.append(device) }
    }
    return FleetReach(isFirst: false, online: online, offline: offline, awake: awake, asleep: asleep)
  }
}

/// A first-in, first-out queue.
struct WorkQueue<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      head += 1
      if head > 4_096, head > elements.count / 2 {
        elements.removeFirst(head)
        head = 0
      }
      if head == elements.count { self = WorkQueue() }
    }
    return elements[head]
  }
}

// Tokens: requested from the push server in batches, and then registered with the backend.

extension FleetService {
  /// Tokens of one request.
  private static let tokensAtOnce = 20_000
  /// Requests at a time, so that the push server writes one while it receives the next.
  private static let exchangesAtOnce = 2

  /// Requests what is due. Call when it is on the disk.
  private func exchangeTokens() {
    guard tokens != nil else { return }
    var later: [TokenReference] = []
    while exchanges < Self.exchangesAtOnce, !unsettled.isEmpty {
      var batch: [(token: TokenReference, cell: TokenCell)] = []
      while batch.count < Self.tokensAtOnce, let token = unsettled.popFirst() {
        // The push server must not handle a later request before an earlier one.
        if exchanging.contains(token) { later.append(token) } else { batch.append((token, machine.cell(token))) }
      }
      let requested = batch.filter { $0.cell.phase == .wanted || $0.cell.phase == .ending }
      guard !requested.isEmpty else { continue }
      exchanges += 1
      exchanging.formUnion(requested.map(\.token))
      if tasks.start({ await self.exchange(requested) }) == nil { exchanges -= 1 }
    }
    for token in later { unsettled.append(token) }
  }

  private func exchange(_ batch: [(token: TokenReference, cell: TokenCell)]) async {
    defer {
      exchanges -= 1
      exchanging.subtract(batch.map(\.token))
      exchangeTokens()
    }
    let request = ChangeFleetTokens(environment: plan.profile.environment, changes: changes(of: batch))
    while !Task.isCancelled {
      do throws(BusError) {
        _ = try await bus.request(request, to: .pushServer, within: .seconds(3_600), whenUnreachable: .wait)
        return confirmed(batch)
      } catch {
        guard error.code != .closed else { return }
        logger.warning("the push server did not change \(batch.count) tokens: \(error)")
        guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      }
    }
  }

  /// Groups tokens with the same use and serial number.
  private func changes(of batch: [(token: TokenReference, cell: TokenCell)]) -> [ChangeFleetTokens.Change] {
    struct Group: Hashable {
      let slot: UInt8
      let number: UInt16
      let cell: TokenCell
    }
    let groups = Dictionary(grouping: batch) { Group(slot: $0.token.slot, number: $0.token.number, cell: $0.cell) }
    let sorted = groups.sorted {
      ($0.key.slot, $0.key.number, $0.key.cell.bits) < ($1.key.slot, $1.key.number, $1.key.cell.bits)
    }
    return sorted.compactMap { group, members in
      guard let use = members.first?.token.use else { return nil }
      return ChangeFleetTokens.Change(
        action: group.cell.phase == .wanted ? .issue : .end, bundle: bundle(of: use), use: use,
        serial: Int(group.cell.serial), devices: DeviceSet(ascending: Set(members.map(\.token.device)).sorted()))
    }
  }

  private func confirmed(_ batch: [(token: TokenReference, cell: TokenCell)]) {
    for (token, cell) in batch where machine.confirmed(token, cell) {
      if registrar.isNeeded { unregistered.append(token) } else { machine.registered(token, serial: cell.serial) }
    }
    guard save() else { return }
    register()
  }

  /// The bundle identifier of a token's app, or the topic of a managed device.
  nonisolated func bundle(of use: PushTokenUse) -> String {
    use == .fleet(.mdm) ? plan.profile.mdmTopic : plan.profile.bundle
  }

  /// The text of a token; `nil` before the fleet has joined.
  func text(of token: TokenReference) -> String? {
    let use = token.use
    return tokens?.token(token.device, bundle: bundle(of: use), use: use, serial: Int(machine.cell(token).serial))
  }

  // MARK: Registration

  /// Starts as many registrations as may run at a time. Call when the tokens are on the disk.
  func register() {
    while registering < registrar.concurrency, !unregistered.isEmpty {
      registering += 1
      if tasks.start({ await self.registerNext() }) == nil {
        registering -= 1
        return
      }
    }
  }

  private func registerNext() async {
    defer { registering -= 1 }
    while !Task.isCancelled {
      let batch = nextRegistrations()
      guard !batch.isEmpty else { return }
      var pause = 0.1
      let begun = ContinuousClock.now
      while true {
        let result = await registrar.register(batch.map(\.entry))
        guard !Task.isCancelled else { return }
        guard case .again(let reason) = result else {
          finish(batch, result, after: (ContinuousClock.now - begun) / .milliseconds(1))
          break
        }
        registration.retried[reason, default: 0] += 1
        metrics?.countRegistration("retried")
        registration.lastError = "\(batch[0].entry.device): \(reason); the request is repeated in \(pause) s"
        guard (try? await Task.sleep(for: .seconds(pause))) != nil else { return }
        pause = min(pause * 2, plan.profile.registration.longestPause)
        // It was replaced during the pause.
        guard batch.contains(where: { machine.cell($0.token).serial == $0.serial }) else { break }
      }
    }
  }

  private func nextRegistrations() -> [(token: TokenReference, serial: UInt16, entry: Registrar.Entry)] {
    var batch: [(token: TokenReference, serial: UInt16, entry: Registrar.Entry)] = []
    while batch.count < registrar.atOnce, let token = unregistered.popFirst() {
      let cell = machine.cell(token)
      guard cell.phase == .issued, let text = text(of: token) else { continue }
      let use = token.use
      let entry = Registrar.Entry(
        device: FleetDevice.id(plan.name, token.device), index: token.device, use: use, bundle: bundle(of: use),
        token: text)
      batch.append((token, cell.serial, entry))
    }
    return batch
  }

  private func finish(
    _ batch: [(token: TokenReference, serial: UInt16, entry: Registrar.Entry)], _ result: Registrar.Result,
    after milliseconds: Double
  ) {
    let second = currentSecond()
    for (token, serial, entry) in batch {
      machine.registered(token, serial: serial)
      registration.latency.add(milliseconds)
      metrics?.observeRegistration(seconds: milliseconds / 1_000)
      switch result {
      case .done:
        registration.succeeded += 1
        metrics?.countRegistration("registered")
        addRegistered(second)
      case .refused(let reason):
        registration.refused[reason, default: 0] += 1
        metrics?.countRegistration("refused")
        registration.lastError = "\(entry.device): \(reason)"
      case .again: break
      }
    }
  }
}

// Notifications from the push server.

extension FleetService {
  /// Receives a batch. It is on the disk when this returns.
  ///
  /// - Throws: `refused` when a push server that was responsible later has sent one. The ids of its notifications may be
  ///   forgotten, so this one would deliver them twice.
  private func deliver(_ request: DeliverToFleet) throws(BusError) -> DeliverToFleet.Reply {
    guard request.epoch >= facts.epoch ?? 0 else {
      throw BusError(.refused, "another push server is responsible for the fleet \(plan.name)")
    }
    facts.epoch = request.epoch
    let (machineNow, now) = (Date(), now)
    var refused: [DeliverToFleet.Refusal] = []
    var ids: [UUID] = []
    let second = currentSecond()
    for (index, push) in request.notifications.enumerated() {
      let type = push.type.rawValue
      guard !knownIDs.contains(push.uniqueID) else {
        figures.received[type, default: FleetState.Received()].repeated += 1
        metrics?.countRepeated(push.type)
        continue
      }
      let device = FleetDevice.parse(push.subject.device)
      let index32 = device?.fleet == plan.name ? device?.index : nil
      switch machine.receive(push, index32 ?? .max, now: now) {
      case .success(let outcome):
        knownIDs.insert(push.uniqueID)
        ids.append(push.uniqueID)
        let milliseconds = machineNow.timeIntervalSince(push.acceptedAt) * 1_000
        figures.received[type, default: FleetState.Received()].count(outcome, after: milliseconds)
        metrics?.countDelivered(push.type, after: milliseconds / 1_000)
        seconds[second].delivered += 1
        seconds[second].slowest = max(seconds[second].slowest, milliseconds)
      case .failure(let failure):
        refused.append(DeliverToFleet.Refusal(index: index, code: failure.code))
        metrics?.countRefused(failure.code)
        figures.received[type, default: FleetState.Received()].refused[failure.code.rawValue, default: 0] += 1
      }
    }
    let settled = request.settled > 0 ? (request.run, request.settled) : nil
    guard save(received: ids.isEmpty ? nil : (request.run, request.batch, ids), settled: settled) else {
      throw BusError(.closed, "the fleet cannot write its database", isDefinite: false)
    }
    metrics?.countBatch()
    return DeliverToFleet.Reply(refused: refused)
  }
}

extension FleetState.Received {
  fileprivate mutating func count(_ outcome: String, after milliseconds: Double) {
    delivered += 1
    outcomes[outcome, default: 0] += 1
    latency.add(milliseconds)
  }
}

// The requests of operators.

extension FleetService {
  /// Devices of a page, whose tokens fit into an envelope.
  private static let page = 200

  private nonisolated func listenToOperators() {
    bus.onRequest(FleetStatus.self) { [weak self] _, _ in
      guard let self else { throw BusError(.closed, "the fleet is ending") }
      return await state()
    }
    bus.onRequest(ListFleetDevices.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the fleet is ending") }
      return await list(request)
    }
    bus.onRequest(SetFleetNetwork.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the fleet is ending") }
      await setNetwork(request.isOn)
      return Done()
    }
  }

  private func setNetwork(_ isOn: Bool) {
    guard machine.isCutOff == isOn else { return }
    machine.isCutOff = !isOn
    reportAll()
  }

  func state() -> FleetState {
    noteReady()
    var state = FleetState()
    state.name = plan.name
    state.pid = getpid()
    state.seed = plan.seed
    state.profile = profileName
    state.devices = plan.devices
    let tally = machine.tally
    state.installed = tally.installed
    state.online = machine.isCutOff ? 0 : tally.online
    state.asleep = plan.devices - tally.awake
    state.isCutOff = machine.isCutOff
    state.activities = machine.live.activities.count
    state.isReady = isReady
    state.readyAfter = readyAfter
    state.time = now
    state.speed = plan.profile.speed
    state.events = tally.events
    state.tokens = tally.state
    state.registration = registration
    state.received = figures.received
    state.liveActivities = figures.activities
    state.seconds = seconds
    return state
  }

  private func list(_ request: ListFleetDevices) -> ListFleetDevices.Reply {
    let first = min(request.first, UInt32(plan.devices))
    let end = min(first + UInt32(max(1, min(request.limit, Self.page))), UInt32(plan.devices))
    let devices = (first..<end).map { device -> ListFleetDevices.Device in
      let flags = machine.devices.flags[Int(device)]
      let activities = machine.live.numbers(of: device)
      let references =
        (0..<FleetDevices.slots).map { TokenReference(device, slot: $0) }
        + activities.map { TokenReference(device, activity: UInt16($0)) }
      let tokens = references.compactMap { reference -> ListFleetDevices.Token? in
        let phase = machine.cell(reference).phase
        guard phase == .issued || phase == .registered, let text = text(of: reference) else { return nil }
        return ListFleetDevices.Token(
          use: reference.use, bundle: bundle(of: reference.use), token: text, isRegistered: phase == .registered)
      }
      return ListFleetDevices.Device(
        id: FleetDevice.id(plan.name, device), isInstalled: flags.contains(.installed),
        isOnline: machine.isOnline(device),
        isAwake: flags.contains(.awake), events: Int(machine.devices.events[Int(device)]),
        received: Int(machine.devices.received[Int(device)]), tokens: tokens, activities: activities)
    }
    return ListFleetDevices.Reply(devices: devices, next: end < UInt32(plan.devices) ? end : nil)
  }
}
