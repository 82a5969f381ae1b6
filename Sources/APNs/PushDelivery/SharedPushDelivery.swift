// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages
import PushRules
import Stores
import Timekeeping

// What one transaction of a replica reads and decides.

extension PushDeliveryService {
  // MARK: Reading

  /// What the transaction of the jobs needs.
  func scope(of jobs: [PushJobQueue.Job]) -> SharedScope {
    var scope = SharedScope()
    replica.unsent = replica.unsent.filter(replica.owns)
    // A page at a time, because no transaction may take long.
    replica.sending =
      replica.unsent.count > Self.fleetDevicesAtOnce
      ? Set(replica.unsent.prefix(Self.fleetDevicesAtOnce)) : replica.unsent
    var devices = replica.sending
    scope.connections = Set(devices.map(PushSubject.connection))
    for job in jobs {
      if case .fleet(let job) = job {
        for device in need(job, in: &scope) where replica.owns(device) { devices.insert(device) }
        continue
      }
      guard let device = need(job, in: &scope) else { continue }
      scope.connections.insert(PushSubject.connection(of: device))
      if replica.owns(device) { devices.insert(device) }
    }
    if scope.isTaking {
      for (fleet, sender) in senders where !sender.hasRoom && stateMachine.reaches.isPresent(fleet) {
        senders[fleet]?.hasArrivals = true
        scope.full.insert(FleetDevice.connection(of: fleet))
      }
    }
    scope.devices = devices.filter { stateMachine.devices[$0] == nil }.sorted()
    return scope
  }

  /// Adds what a job needs.
  ///
  /// - Returns: the device about which it decides.
  private func need(_ job: PushJobQueue.Job, in scope: inout SharedScope) -> String? {
    switch job {
    case .arrival(let arrival, _):
      scope.requests += 1
      guard case .accepted(let notification, _) = arrival.verdict else { return nil }
      scope.tokens.append(arrival.token)
      return need(notification.subject, in: &scope)
    case .event(.timerFired):
      scope.connections.formUnion(replica.owned.keys)
      return nil
    case .event(.reach(let device, _, _, _)), .event(.presence(let device, _, _)), .event(.returned(let device)),
      .event(.restored(let device)):
      return device
    case .event(.acknowledged(_, let subject)), .event(.refused(_, let subject, _)): return subject.device
    case .event(.tokenEnded(_, let subject)), .event(.ended(let subject)): return need(subject, in: &scope)
    case .event(.accepted(let push)): return need(push.notification.subject, in: &scope)
    case .signal(.tokenEnded(_, let subject)): return need(subject, in: &scope)
    case .signal(.poll):
      scope.connections.formUnion(replica.owned.keys)
      scope.isTaking = true
      scope.endsBy = clock.now
      return nil
    case .signal(.arrived):
      scope.isTaking = true
      return nil
    case .issue(let subject, _, _), .release(let subject, _), .change(let subject, _, _):
      return need(subject, in: &scope)
    case .signal(.replicas), .progress, .notified, .fleet, .barrier: return nil
    }
  }

  @discardableResult
  func need(_ subject: PushSubject, in scope: inout SharedScope) -> String? {
    if !replica.owns(subject.device) { scope.subjects.insert(subject) }
    return subject.device
  }

  /// Loads what the transaction has read.
  func load(_ shared: any SharedPushStore) throws {
    let view = replica.view
    load(replica.loading, view.keptPushes)
    // Which devices these are is known only now.
    let later = Set((view.takenPushes + view.ended).map(\.notification.subject.device)).filter { device in
      replica.owns(device) && stateMachine.devices[device] == nil
    }
    if !later.isEmpty { load(Array(later), try shared.kept(of: Array(later))) }
    replica.strangers = PushStateMachine(settings: settings)
    let isStranger: (StoredPush) -> Bool = { !self.replica.owns($0.notification.subject.device) }
    var held = Dictionary((view.held + view.ended.filter(isStranger)).map { ($0.number, $0) }) { $1 }
    let subjects = Set(view.takenPushes.filter(isStranger).map(\.notification.subject))
    if !subjects.isEmpty {
      for push in try shared.held(of: Array(subjects)) { held[push.number] = push }
    }
    for (device, pushes) in Dictionary(grouping: held.values, by: \.notification.subject.device) {
      replica.strangers.load(device, pushes.sorted { $0.number < $1.number })
    }
  }

  /// Loads what is kept for devices of a page, with one statement.
  func loadTogether(_ devices: [String]) throws {
    guard let shared else { return }
    let missing = devices.filter { replica.owns($0) && stateMachine.devices[$0] == nil }
    if !missing.isEmpty { load(missing, try shared.kept(of: missing)) }
  }

  private func load(_ devices: [String], _ keptPushes: [StoredPush]) {
    let pushesByDevice = Dictionary(grouping: keptPushes, by: \.notification.subject.device)
    for device in devices where replica.owns(device) && stateMachine.devices[device] == nil {
      stateMachine.load(device, pushesByDevice[device] ?? [])
    }
  }

  // MARK: Deciding

  /// A request of a provider. Its token has the state that the transaction reads.
  func add(
    _ arrival: PushArrival, _ then: (@Sendable (PushReceipt) -> Void)?, to batch: inout Batch
  ) throws {
    guard case .accepted(let notification, let remark) = arrival.verdict else { return try add(arrival, to: &batch) }
    let token = table.changed(arrival.token) ?? replica.view.tokens[arrival.token]
    guard let token, token.state == .active else {
      try add(arrival.refused(because: token), to: &batch)
      tokens.publish([token].compactMap(\.self), removing: token == nil ? [arrival.token] : [])
      if let then { batch.thens.append { _ in then(.tokenEnded(token)) } }
      return
    }
    lastNumber += 1
    let step = PushStep(.accepted, at: clock.now, detail: remark)
    count(arrival, in: &batch)
    batch.changes.add(lastNumber, arrival: arrival, verdict: step)
    note(step, of: arrival, in: &batch)
    let push = StoredPush(number: lastNumber, notification: notification, token: arrival.token)
    if let then { batch.thens.append { _ in then(.kept) } }
    try add(.accepted(push), at: step.at, to: &batch)
  }

  /// A notification that another replica has accepted. Its row is replaced by what is decided.
  func take(_ push: StoredPush, to batch: inout Batch) throws {
    try add(.accepted(push), at: clock.now, to: &batch)
    if batch.changes.keptPushes[push.number] == nil { batch.changes.drop(push) }
  }

  /// Decides about an event of a device without an owner, or tells the owner.
  ///
  /// - Returns: whether this replica is the owner.
  func addShared(_ event: PushStateMachine.Event, at now: Date, to batch: inout Batch) throws -> Bool {
    guard let device = event.device else { return true }
    if replica.owns(device) {
      replica.touched.insert(device)
      return true
    }
    let owner = replica.view.routes[PushSubject.connection(of: device)]?.replica
    switch (event, owner) {
    case (.accepted(let push), let owner?) where owner != shared?.replica:
      batch.changes.forwarded.append(push)
      replica.notified.insert(owner)
    case (.tokenEnded(let token, let subject), let owner?): replica.ended.append((token, subject, owner))
    case (.accepted, _), (.tokenEnded, nil), (.ended, _):
      add(replica.strangers.handle(event, now: now), at: now, to: &batch)
    default: break
    }
    return false
  }

  /// What is deleted with this poll; `nil` if nothing is due.
  func old() -> OldPushes? {
    let now = clock.now
    guard
      replica.hasMoreOld || now.timeIntervalSince(replica.tidied) >= Self.tidyingInterval
        || replica.logged > max(100, settings.logLimit / 100)
    else { return nil }
    if !replica.hasMoreOld { (replica.tidied, replica.logged) = (now, 0) }
    return OldPushes(
      date: now.addingTimeInterval(-settings.logAge), number: 0, after: replica.examined,
      ended: now.addingTimeInterval(-settings.endedTokenAge))
  }
}

extension PushArrival {
  /// The request, refused because its token is not active any more, or unknown. The contract words the reason.
  fileprivate func refused(because token: DeviceToken?) -> PushArrival {
    let (status, reason) =
      switch token?.state {
      case .expired: (410, "ExpiredToken")
      case .unregistered: (410, "Unregistered")
      case .active, nil: (400, "BadDeviceToken")
      }
    return PushArrival(
      uniqueID: uniqueID, apnsID: apnsID, subject: subject, token: self.token, type: type,
      verdict: .refused(status: status, reason: reason, explanation: "the token ended while the request was accepted"))
  }
}

extension PushStateMachine.Event {
  /// The device about which it decides; `nil` for the timer.
  var device: String? {
    switch self {
    case .accepted(let push): push.notification.subject.device
    case .reach(let device, _, _, _), .presence(let device, _, _), .returned(let device),
      .restored(let device):
      device
    case .acknowledged(_, let subject), .refused(_, let subject, _), .tokenEnded(_, let subject),
      .ended(let subject):
      subject.device
    case .timerFired: nil
    }
  }
}

/// What a replica of a shared store has in memory.
struct ReplicaState: Sendable {
  /// The epochs of the connections of which this replica is the owner.
  var owned: [String: Int64] = [:]
  /// What the running transaction has read.
  var view = SharedView()
  /// The devices for which it has read what is kept.
  var loading: [String] = []
  /// Decides about the devices without an owner, for one transaction.
  var strangers = PushStateMachine()
  /// The devices in memory that the running transaction changes.
  var touched: Set<String> = []
  /// The devices whose notifications may not have been sent, because a transaction failed or the owner is new.
  var unsent: Set<String> = []
  /// Those of them that the running transaction sends.
  var sending: Set<String> = []
  /// A transaction has failed, so that single attempts may have been forgotten.
  var mustInterrupt = false
  /// Owners that must be notified about new notifications.
  var notified: Set<String> = []
  /// Tokens that ended, with their owners.
  var ended: [(token: String, subject: PushSubject, owner: String)] = []
  /// When old rows were deleted last, and whether there are more.
  var tidied = Date.distantPast
  var hasMoreOld = false
  /// The requests up to this number were examined. Some are kept.
  var examined: Int64 = 0
  /// Requests since then.
  var logged = 0
  /// How often the running jobs met a conflict.
  var conflicts = 0
  /// Seconds until the next attempt.
  var pause = 0.0
  /// Since when the database has been away.
  var awaySince: ContinuousClock.Instant?
  /// The broker was notified to map devices to other replicas.
  var hasYielded = false
  /// The number of replicas, as far as is known.
  var count = 1

  func owns(_ device: String) -> Bool { owned[PushSubject.connection(of: device)] != nil }

  var ownsFleet: Bool { owned.keys.contains { FleetDevice.fleet(of: $0) != nil } }

  /// The epoch of a fleet's route; 0 without replicas.
  func epoch(ofFleet fleet: String) -> Int64 { owned[FleetDevice.connection(of: fleet)] ?? 0 }
}

extension FleetDevice {
  /// The connection of all devices of a fleet.
  static func connection(of fleet: String) -> String { PushSubject.connection(of: id(fleet, 0)) }
}

// The transactions of a replica. Each checks that this replica still owns the routes of the devices that it changes, and
// no route gets another owner until the transaction has ended.

extension PushDeliveryService {
  /// How often conflicting jobs are repeated before they count as failed.
  private static let conflictLimit = 20
  /// Seconds until the first and the last of repeated attempts to reach the database.
  private static let pauses = 0.1...1.0
  /// Seconds from one deletion of old rows to the next, at most.
  static let tidyingInterval = 3_600.0
  /// By how many times a replica among others collects requests longer, at most.
  private static let sharesLimit = 4
  /// How long the database may be away before other replicas get the devices. A restart is shorter.
  private static let patience = Duration.seconds(5)

  /// Whether the database accepts writes, as far as is known. Always true for SQLite, because a push server
  /// exits when that cannot be written.
  package nonisolated var isAvailable: Bool { !inbox.isAway }

  func beginShared(_ shared: any SharedPushStore) {
    ends = StoredEnds(place: .first, next: nil)
    // Not at the start, when what is kept must be sent.
    replica.tidied = clock.now.addingTimeInterval(60 - Self.tidyingInterval)
    tasks.start { await shared.listen() }
    tasks.start { [weak self] in
      for await signal in shared.signals { self?.put(.signal(signal)) }
    }
  }

  /// Performs the jobs of the queue, as `work()` does.
  func work(_ shared: any SharedPushStore) async {
    while true {
      let jobs = inbox.take(arrivals: shared.batchLimit)
      if jobs.isEmpty { return }
      do {
        let requests = try perform(jobs, shared)
        (replica.conflicts, replica.pause) = (0, 0)
        if inbox.isAway {
          report(nil)
          returned()
        }
        // Collects further requests for the next transaction: with others longer, because each gets only a part of them.
        let shares = Double(min(replica.count, Self.sharesLimit))
        if requests >= settings.busy { try? await Task.sleep(for: .seconds(settings.gathering * shares)) }
      } catch {
        shared.rollBack()
        await failed(jobs, error as? PushStoreError ?? PushStoreError(.refused, "\(error)"))
      }
    }
  }

  /// Nothing of the jobs is on disk, or the result is unknown. Requests of providers are answered; the others are repeated.
  private func failed(_ jobs: [PushJobQueue.Job], _ error: PushStoreError) async {
    stateMachine.unload(replica.touched)
    replica.unsent.formUnion(replica.touched)
    replica.mustInterrupt = replica.mustInterrupt || replica.ownsFleet
    (replica.touched, replica.view, replica.notified, replica.ended) = ([], SharedView(), [], [])
    table.rollBack()
    if error.code == .conflict, replica.conflicts < Self.conflictLimit {
      replica.conflicts += 1
      return inbox.putBack(jobs)
    }
    report(error)
    yield()
    var others: [PushJobQueue.Job] = []
    for job in jobs {
      switch job {
      case .arrival(_, let then): then?(error.isDefinite ? .away : .broken)
      case .signal(.poll), .signal(.arrived): break
      // The fleet reports all to the next owner. A later claim for an old report would take the fleet from that.
      case .fleet(.reach(let fleet, _, _, let then)) where replica.hasYielded:
        then(BusError(.noSuchFleet, "the push server's database is away; another replica may have \(fleet)"))
      default: others.append(job)
      }
    }
    guard !Task.isCancelled else {
      let error = BusError(.closed, "the push server is ending", isDefinite: false)
      for job in others { Self.turnDown(job, error) }
      return
    }
    inbox.putBack(others)
    replica.conflicts = 0
    replica.pause = min(max(Self.pauses.lowerBound, replica.pause * 2), Self.pauses.upperBound)
    try? await Task.sleep(for: .seconds(replica.pause))
  }

  /// Notifies the broker that this replica cannot serve devices, and repeats that, because the broker may be another one.
  private func yield() {
    let since = replica.awaySince ?? ContinuousClock.now
    replica.awaySince = since
    guard ContinuousClock.now - since >= Self.patience else { return }
    replica.hasYielded = true
    bus.notify(ReplicaReadiness(isReady: false), to: .messageBus, context: .none)
  }

  /// The database accepts writes.
  private func returned() {
    replica.awaySince = nil
    guard replica.hasYielded else { return }
    replica.hasYielded = false
    bus.notify(ReplicaReadiness(isReady: true), to: .messageBus, context: .none)
  }

  /// Reports that the database is away, or that it is there again.
  private func report(_ error: PushStoreError?) {
    let was = inbox.isAway
    inbox.isAway = error != nil
    if let error, !was {
      availability("the database does not accept writes; pushes are answered with 503: \(error)")
    } else if error == nil, was {
      availability("the database accepts writes again")
    }
  }

  // MARK: One transaction

  /// - Returns: the number of requests.
  private func perform(_ jobs: [PushJobQueue.Job], _ shared: any SharedPushStore) throws -> Int {
    replica.touched = []
    for case .signal(.replicas(let count)) in jobs { replica.count = max(1, count) }
    let polls = jobs.contains { if case .signal(.poll) = $0 { true } else { false } }
    if polls { try shared.releaseEnded() }
    try claim(returning(jobs).filter { replica.owned[$0] == nil }, shared)
    try learnSecrets(of: jobs)
    try open(jobs, shared)
    lastNumber = replica.view.firstNumber - 1
    var batch = Batch()
    try load(shared)
    if replica.mustInterrupt { interruptForgotten(in: &batch) }
    for device in replica.sending.sorted() { try add(.restored(device), at: clock.now, to: &batch) }
    for push in replica.view.takenPushes { try take(push, to: &batch) }
    for push in replica.view.ended { try add(.ended(push.notification.subject), at: clock.now, to: &batch) }
    for job in jobs {
      switch job {
      case .arrival(let arrival, let then): try add(arrival, then, to: &batch)
      case .signal(.tokenEnded(let token, let subject)):
        try add(.tokenEnded(token, of: subject), at: clock.now, to: &batch)
      case .event(.timerFired):
        let actions = stateMachine.handle(.timerFired, now: clock.now)
        replica.touched.formUnion(actions.map(\.device))
        add(actions, at: clock.now, to: &batch)
      default: try add(job, to: &batch)
      }
    }
    let old = polls ? old() : nil
    let forgotten = try DeliveryMetrics.measuring(metrics) { try store.write(batch.changes, forgetting: old) }
    table.commit(removing: forgotten.tokens)
    if old != nil {
      replica.hasMoreOld = forgotten.hasMore
      replica.examined = forgotten.hasMore ? forgotten.last ?? 0 : 0
    }
    replica.logged += batch.changes.requests.count
    replica.unsent.subtract(replica.sending)
    replica.mustInterrupt = false
    if !replica.unsent.isEmpty { put(.barrier {}) }
    // There may be more.
    if replica.view.takenPushes.count == shared.pageLimit { put(.signal(.arrived)) }
    if replica.view.ended.count == shared.pageLimit, !batch.changes.dropped.isEmpty { put(.signal(.poll)) }
    shared.announce(replica.notified)
    for (token, subject, owner) in replica.ended { shared.announce(ended: token, of: subject, to: owner) }
    (replica.view, replica.touched, replica.notified, replica.ended) = (SharedView(), [], [], [])
    announce(batch)
    return batch.changes.requests.count
  }

  /// The connections that a device of the jobs has returned on.
  private func returning(_ jobs: [PushJobQueue.Job]) -> Set<String> {
    Set(
      jobs.compactMap { job in
        switch job {
        case .event(.reach(let device, _, _, _)): PushSubject.connection(of: device)
        // Another instance sends its own report; the replica that receives it claims the route.
        case .event(.presence(let device, true, let generation))
        where stateMachine.hasReach(device, generation: generation):
          PushSubject.connection(of: device)
        // A fleet reports the devices that have changed to the owner of before.
        case .fleet(.reach(let fleet, let reach, _, _)) where reach.isFirst: FleetDevice.connection(of: fleet)
        default: nil
        }
      })
  }

  /// Becomes the owner of connections. What is kept for their devices is read again, and sent.
  private func claim(_ connections: Set<String>, _ shared: any SharedPushStore) throws {
    guard !connections.isEmpty else { return }
    let claimed = try shared.claim(connections.sorted())
    replica.owned.merge(claimed.epochs) { $1 }
    replica.unsent.formUnion(stateMachine.claimed(connections))
    for fleet in connections.compactMap(FleetDevice.fleet) { beginOwning(fleet, claimed) }
    for (subject, token) in claimed.due { notifyDevice(subject, token) }
  }

  /// Opens the transaction, when this replica is still the owner of all connections that it changes. It forgets those
  /// that another replica owns, and claims those again that no process owns.
  private func open(_ jobs: [PushJobQueue.Job], _ shared: any SharedPushStore) throws {
    let returning = returning(jobs)
    for _ in 0..<Self.conflictLimit {
      let scope = scope(of: jobs)
      let view = try shared.begin(scope)
      let foundRoutes = view.routes
      let lost = scope.connections.filter { connection in
        guard let epoch = replica.owned[connection] else { return false }
        return foundRoutes[connection] != PushRoute(replica: shared.replica, epoch: epoch)
      }
      // A claim whose commit had an unknown result.
      let unknown = foundRoutes.keys.filter { foundRoutes[$0]?.replica == shared.replica && replica.owned[$0] == nil }
      guard !lost.isEmpty || !unknown.isEmpty else {
        (replica.view, replica.loading) = (view, scope.devices)
        return
      }
      shared.rollBack()
      for connection in lost { replica.owned[connection] = nil }
      for fleet in lost.compactMap(FleetDevice.fleet) { senders[fleet] = nil }
      let again = lost.filter {
        foundRoutes[$0] == nil || foundRoutes[$0]?.replica == shared.replica || returning.contains($0)
      }
      stateMachine.forget(lost.subtracting(again))
      try claim(again.union(unknown), shared)
    }
    throw PushStoreError(.conflict, "the routes change all the time")
  }
}

// Fleets of a replica. All devices of a fleet share one connection, so that a fleet has one owner.

extension PushDeliveryService {
  /// Adds what a job needs.
  ///
  /// - Returns: the devices about which it decides.
  func need(_ job: FleetJob, in scope: inout SharedScope) -> [String] {
    switch job {
    case .join: return []
    case .tokens(let fleet, let change, _, _):
      scope.connections.insert(FleetDevice.connection(of: fleet))
      let ended = change.action == .end ? change.serial : change.serial - 1
      guard ended >= 0, let tokens = fleetTokens[fleet] else { return [] }
      return change.devices.indices.map { index in
        let subject = PushSubject(device: FleetDevice.id(fleet, index), bundle: change.bundle, use: change.use)
        scope.tokens.append(tokens.token(index, bundle: change.bundle, use: change.use, serial: ended))
        need(subject, in: &scope)
        return subject.device
      }
    case .reach(let fleet, let reach, _, _):
      scope.connections.insert(FleetDevice.connection(of: fleet))
      guard !reach.isFirst, reach.online.count + reach.awake.count <= Self.fleetDevicesAtOnce else { return [] }
      return reach.online.indices.map { FleetDevice.id(fleet, $0) }
        + reach.awake.indices.map { FleetDevice.id(fleet, $0) }
    case .presence(let fleet, _, _), .handOver(let fleet):
      scope.connections.insert(FleetDevice.connection(of: fleet))
      return []
    case .replied(let fleet, let reply):
      scope.connections.insert(FleetDevice.connection(of: fleet))
      return reply.acknowledged.map(\.subject.device) + reply.refused.map(\.subject.device)
    }
  }

  /// Reads the secrets that the jobs need. Call before the transaction is opened.
  private func learnSecrets(of jobs: [PushJobQueue.Job]) throws {
    for case .fleet(.tokens(let fleet, _, _, _)) in jobs { try learnSecret(of: fleet) }
  }

  /// This replica is the new owner of a fleet, or its owner again. What it had in memory may be obsolete.
  private func beginOwning(_ fleet: String, _ claimed: ClaimedRoutes) {
    let connection = FleetDevice.connection(of: fleet)
    stateMachine.unload(stateMachine.devices.keys.filter { PushSubject.connection(of: $0) == connection })
    senders[fleet] = FleetSender(epoch: claimed.epochs[connection] ?? 0)
    // A report of all devices is about to be handled, unless this replica has one.
    if stateMachine.reaches.knows(fleet) { handOver(to: fleet) }
  }

  /// Some single attempts of former transactions have been forgotten with their devices. Counts those that are on their
  /// way again, and the others as interrupted.
  private func interruptForgotten(in batch: inout Batch) {
    batch.changes.interruptsOpen = true
    for device in stateMachine.devices.values {
      for push in device.queues.values.lazy.flatMap(\.sentPushes) where push.isForOnce && push.isSent {
        let notification = push.notification
        guard let fleet = FleetDevice.fleet(of: notification.subject.device) else { continue }
        for (name, count) in [(FleetPushCount.open, 1), (FleetPushCount.interrupted, -1)] {
          let key = FleetPushCount(fleet: fleet, type: notification.type.rawValue, name: name, reason: "")
          batch.changes.counts[key, default: 0] += count
        }
      }
    }
  }
}

extension PushStateMachine.Action {
  /// The device that it is about.
  var device: String {
    switch self {
    case .keep(let push), .drop(let push), .step(let push, _, _): push.notification.subject.device
    case .send(let notification): notification.subject.device
    }
  }
}
