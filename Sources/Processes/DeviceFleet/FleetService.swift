// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import FleetTokenDerivation
import Foundation
import Logging
import MessageBus
import Messages
import OwnedTasks
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
  private var isBroken = false
  /// The ids of notifications that the push server may send again.
  var known: Set<UUID>
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
    known = try database.received()
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

  private func join() async {
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
  func noteReady() {
    guard readyAfter == nil, isReady else { return }
    readyAfter = (ContinuousClock.now - launched) / .seconds(1)
    dayBegan = dayBegan ?? (Date(), facts.time)
    logger.notice("ready", metadata: ["devices": "\(plan.devices)", "seconds": "\(readyAfter ?? 0)"])
  }

  var isReady: Bool { hasJoined && unsettled.isEmpty && exchanges == 0 && unregistered.isEmpty && registering == 0 }

  /// The index of the present second in `seconds`.
  func currentSecond() -> Int {
    let second = Int(saturating: Date().timeIntervalSince1970)
    if seconds.last?.at != second {
      seconds.append(FleetState.Second(at: second, online: seconds.last?.online ?? 0))
      if seconds.count > 600 { seconds.removeFirst(seconds.count - 600) }
    }
    return seconds.count - 1
  }

  func addRegistered(_ second: Int) { seconds[second].registered += 1 }

  /// Writes what has changed.
  ///
  /// - Returns: whether it is on the disk.
  @discardableResult
  func save(received: (run: UUID, batch: Int64, ids: [UUID])? = nil, settled: (run: UUID, batch: Int64)? = nil) -> Bool
  {
    guard !isBroken else { return false }
    let changes = machine.takeChanges()
    for token in changes.tokens { unsettled.append(token) }
    // Those that the report under way has not reached yet are in it.
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
      for id in try database.write(writes) { known.remove(id) }
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

  func reportAll() {
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
