// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages
import OwnedTasks
import Timekeeping

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
    for push in replica.view.taken { try take(push, to: &batch) }
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
    if replica.view.taken.count == shared.pageLimit { put(.signal(.arrived)) }
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
        case .event(.presence(let device, true, _)) where stateMachine.reaches[device] != nil:
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
    let known = stateMachine.known(of: connections)
    stateMachine.unload(known)
    replica.unsent.formUnion(known)
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
      let found = view.routes
      let lost = scope.connections.filter { connection in
        guard let epoch = replica.owned[connection] else { return false }
        return found[connection] != PushRoute(replica: shared.replica, epoch: epoch)
      }
      // A claim whose commit had an unknown result.
      let unknown = found.keys.filter { found[$0]?.replica == shared.replica && replica.owned[$0] == nil }
      guard !lost.isEmpty || !unknown.isEmpty else {
        (replica.view, replica.loading) = (view, scope.devices)
        return
      }
      shared.rollBack()
      for connection in lost { replica.owned[connection] = nil }
      for fleet in lost.compactMap(FleetDevice.fleet) { senders[fleet] = nil }
      let again = lost.filter { found[$0] == nil || found[$0]?.replica == shared.replica || returning.contains($0) }
      stateMachine.forget(lost.subtracting(again))
      try claim(again.union(unknown), shared)
    }
    throw PushStoreError(.conflict, "the routes change all the time")
  }
}
