// SPDX-License-Identifier: Apache-2.0

import FleetTokenDerivation
import Foundation
package import MessageBus
import Messages
import OwnedTasks
package import Timekeeping

/// The service of the push server: device tokens, stored notifications and the delivery log.
///
/// Requests that arrive during a transaction are written by the next one, and nothing is announced before it is on
/// disk. Memory has the devices and tokens in use; the others are read when they are needed. Notifications that are
/// pending when the push server exits are delivered by its next process instance, with the same ids.
package actor PushDeliveryService {
  /// The writes of one transaction, and the actions to perform after it.
  struct Batch {
    var changes = PushChanges()
    var tokens: [DeviceToken] = []
    var isFull = false
    var notices: [PushLogged] = []
    var sends: [PushedNotification] = []
    /// The notifications that are on the disk of a fleet. Those of `sends` are not sent.
    var acknowledged: Set<UUID> = []
    var due: [(subject: PushSubject, token: String?)] = []
    var thens: [@Sendable (_ isBroken: Bool) -> Void] = []
    /// Seconds from the acceptance to the delivery, for the metrics.
    var deliveries: [Double] = []
  }

  /// The persisted device tokens.
  package nonisolated let tokens: TokenRegistry
  nonisolated let bus: any BusConnection
  nonisolated let store: any FleetStore
  /// The store, if other replicas share it.
  nonisolated let shared: (any SharedPushStore)?
  nonisolated let inbox: PushJobQueue
  let clock: any ControllableClock
  let settings: PushSettings
  let metrics: DeliveryMetrics?
  private let broken: @Sendable (String) -> Void
  /// Called when the shared database does not accept writes, and when it does again.
  let availability: @Sendable (String) -> Void
  nonisolated let loader = TokenLoader()
  var table: TokenTable
  var stateMachine: PushStateMachine
  var journalLimiter: JournalRateLimiter
  var lastNumber: Int64
  var due: [(subject: PushSubject, token: String?)]
  private var alarm = StateMachineAlarm()
  var tidying = PushTidying()
  var ends = StoredEnds()
  private var isBroken = false
  /// What a replica of a shared store knows about the others.
  var replica = ReplicaState()
  /// By the name of the fleet.
  var senders: [String: FleetSender] = [:]
  var fleetTokens: [String: FleetTokens] = [:]
  nonisolated let tasks = TaskOwner()
  private nonisolated let executor = ServiceExecutor("pushes")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Reads the state left by the previous process instance.
  ///
  /// - Parameters:
  ///   - bus: not yet started when `listen()` is called.
  ///   - metrics: counts what happens; `nil` without metrics.
  ///   - clock: the clock of this machine: the push server is Apple's and does not use the device's clock.
  ///   - broken: called once when the database cannot be written; the process should exit.
  ///   - availability: of a shared store: called when it does not accept writes, and when it does again.
  /// - Throws: the database error.
  package init(
    store: any FleetStore, bus: any BusConnection,
    clock: any ControllableClock = AdjustableClock(.running(ahead: 0)),
    settings: PushSettings = PushSettings(), metrics: DeliveryMetrics? = nil,
    broken: @escaping @Sendable (String) -> Void,
    availability: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    let left = try store.left()
    self.store = store
    self.shared = store as? any SharedPushStore
    self.bus = bus
    self.clock = clock
    self.settings = settings
    (self.metrics, self.broken, self.availability) = (metrics, broken, availability)
    self.tokens = TokenRegistry(store, limit: settings.cachedTokens)
    self.table = TokenTable(tokens)
    self.stateMachine = PushStateMachine(settings: settings)
    self.inbox = PushJobQueue(limit: settings.queueLimit)
    self.journalLimiter = JournalRateLimiter(rate: settings.journalRate)
    self.lastNumber = left.lastNumber
    self.due = left.due
  }

  /// Call when the bus is connected. Sends pending tokens to devices and discards expired notifications.
  package func begin() {
    for (subject, token) in due { notifyDevice(subject, token) }
    due = []
    if let shared { beginShared(shared) }
    put(.event(.timerFired))
  }

  /// Writes the jobs that were put before. Nothing runs when this returns: later jobs fail, and a provider's request is
  /// answered as `broken`. Must be the last call.
  package func leave() async {
    // The worker does not stop before its queue is empty; cancelled, it does not wait between two transactions.
    await tasks.end()
    let lastAlarm = alarm.take()
    await lastAlarm?.end()
    shared?.leave()
  }

  // MARK: Thread-safe entry points

  /// Records a request with its verdict.
  ///
  /// - Parameter then: called exactly once, on any thread: when an accepted notification is on disk or need not be, or
  ///   when it was not taken. For a refused request it is called at once. For a notification with one attempt it waits
  ///   for the disk only when the queue is long: providers are slowed down before they are refused.
  package nonisolated func handle(_ arrival: PushArrival, then: @escaping @Sendable (PushReceipt) -> Void) {
    guard case .accepted(let notification, _) = arrival.verdict,
      !notification.isForOnce || inbox.isBehind || shared != nil
    else {
      return then(put(.arrival(arrival, then: nil)) ? .kept : .full)
    }
    guard !inbox.isAway else { return then(.away) }
    if !put(.arrival(arrival, then: then)) { then(.full) }
  }

  /// Returns when all earlier requests are on disk.
  package nonisolated func caughtUp() async {
    await withCheckedContinuation { continuation in put(.barrier { continuation.resume() }) }
  }

  @discardableResult
  nonisolated func put(_ job: PushJobQueue.Job) -> Bool {
    guard let begins = inbox.put(job) else { return false }
    if begins, tasks.start({ await self.work() }) == nil { turnDownAll() }
    return true
  }

  /// Fails all jobs in the queue: after `leave()` there is no worker.
  private nonisolated func turnDownAll() {
    while true {
      let jobs = inbox.take()
      if jobs.isEmpty { return }
      for job in jobs { Self.turnDown(job, BusError(.closed, "the push server is ending", isDefinite: false)) }
    }
  }

  // MARK: Worker

  private func work() async {
    if let shared { return await work(shared) }
    while true {
      let jobs = inbox.take()
      if jobs.isEmpty { return }
      var batch = Batch()
      for job in jobs { addIfPossible(job, to: &batch) }
      perform(batch)
      guard batch.changes.requests.count >= settings.busy else { continue }
      // Collects further requests for the next transaction.
      try? await Task.sleep(for: .seconds(settings.gathering))
    }
  }

  private func addIfPossible(_ job: PushJobQueue.Job, to batch: inout Batch) {
    guard !isBroken else { return Self.turnDown(job, Self.brokenError) }
    do {
      try add(job, to: &batch)
    } catch {
      Self.turnDown(job, Self.brokenError)
      fail(error)
    }
  }

  private func fail(_ error: any Error) {
    isBroken = true
    broken("cannot read or write the push server's database: \(error)")
  }

  private func perform(_ batch: Batch) {
    if !isBroken {
      do { try DeliveryMetrics.measuring(metrics) { try write(batch) } } catch { fail(error) }
    }
    guard !isBroken else {
      for then in batch.thens { then(true) }
      return
    }
    announce(batch)
  }

  /// Performs the actions of a batch that is on disk.
  func announce(_ batch: Batch) {
    metrics?.count(batch)
    for token in batch.tokens { bus.record(TokenChanged(token: token)) }
    for then in batch.thens { then(false) }
    for notice in batch.notices { bus.record(notice, context: MessageContext(correlation: notice.uniqueID)) }
    let sends =
      batch.acknowledged.isEmpty ? batch.sends : batch.sends.filter { !batch.acknowledged.contains($0.uniqueID) }
    send(sends)
    for (subject, token) in batch.due { notifyDevice(subject, token) }
    stateMachine.removeIdle()
    let instants = [stateMachine.nextInstant, ends.next, tidying.next].compactMap(\.self)
    alarm.set(instants.min(), on: clock) { [weak self] in await self?.alarmFired($0) }
    if batch.isFull || tidying.hasMore, !Task.isCancelled { put(.event(.timerFired)) }
  }

  private func alarmFired(_ instant: Date) {
    if alarm.takeFired(instant) { put(.event(.timerFired)) }
  }

  func add(_ job: PushJobQueue.Job, to batch: inout Batch) throws {
    switch job {
    case .arrival(let arrival, let then):
      try add(arrival, to: &batch)
      if let then { batch.thens.append { isBroken in then(isBroken ? .broken : .kept) } }
    case .event(.timerFired): try timerFired(to: &batch)
    case .event(let event): try add(event, at: clock.now, to: &batch)
    case .progress(let progress, let then): add(progress, then, to: &batch)
    case .issue(let subject, let environment, let then): try issue(subject, environment, then, to: &batch)
    case .release(let subject, let then):
      let ended = try table.end(subject, .unregistered, now: clock.now).map { [$0] } ?? []
      try add(ended, then: then, ended, to: &batch)
    case .change(let subject, let change, let then): try self.change(subject, change, then, to: &batch)
    case .notified(let subject, let token): batch.changes.tokens.append(.notified(subject, token: token))
    case .signal: break
    case .fleet(let job): try add(job, to: &batch)
    case .barrier(let then): batch.thens.append { _ in then() }
    }
  }

  private static let brokenError = BusError(
    .failed, "cannot read or write the push server's database", isDefinite: false)

  /// Fails a job after the database has failed, or after `leave()`; the process is about to exit.
  static func turnDown(_ job: PushJobQueue.Job, _ error: BusError) {
    switch job {
    case .arrival(_, let then): then?(.broken)
    case .progress(_, let then): then(error)
    case .issue(_, _, let then), .release(_, let then), .change(_, _, let then): then(.failure(error))
    case .fleet(let job): turnDown(job, error)
    case .barrier(let then): then()
    case .event, .notified, .signal: break
    }
  }

  func add(_ arrival: PushArrival, to batch: inout Batch) throws {
    lastNumber += 1
    let number = lastNumber
    let now = clock.now
    count(arrival, in: &batch)
    switch arrival.verdict {
    case .refused(_, let reason, let explanation):
      let detail = [reason, explanation].compactMap(\.self).joined(separator: ": ")
      let step = PushStep(.refused, at: now, detail: detail)
      batch.changes.add(number, arrival, step)
      note(step, of: arrival, in: &batch)
    case .accepted(let notification, let remark):
      let step = PushStep(.accepted, at: now, detail: remark)
      batch.changes.add(number, arrival, step)
      note(step, of: arrival, in: &batch)
      let push = StoredPush(number: number, notification: notification, token: arrival.token)
      guard try table[arrival.token]?.state == .active else {
        count(.tokenUnregistered, of: push, in: &batch)
        let step = PushStep(.tokenUnregistered, at: now, detail: "while it was accepted")
        batch.changes.add(step, to: number)
        return note(step, of: arrival, in: &batch)
      }
      try add(.accepted(push), at: now, to: &batch)
    }
  }

  func note(_ step: PushStep, of arrival: PushArrival, in batch: inout Batch) {
    guard journalLimiter.takes(at: step.at) else { return }
    batch.notices.append(
      PushLogged(
        uniqueID: arrival.uniqueID, subject: arrival.subject, type: arrival.type, step: step,
        omitted: journalLimiter.takeOmitted()))
  }

  func add(_ event: PushStateMachine.Event, at now: Date, to batch: inout Batch) throws {
    if shared != nil, try !addShared(event, at: now, to: &batch) { return }
    if let device = stateMachine.missing(for: event) { stateMachine.load(device, try store.kept(of: device)) }
    add(stateMachine.handle(event, now: now), at: now, to: &batch)
  }

  /// Adds what the state machine decided.
  func add(_ actions: [PushStateMachine.Action], at now: Date, to batch: inout Batch) {
    for action in actions {
      switch action {
      case .keep(let push):
        batch.changes.keep(push)
        if push.notification.isFromStorage, shared == nil { ends.keep(push.end(settings)) }
      case .drop(let push): batch.changes.drop(push)
      case .send(let notification): batch.sends.append(notification)
      case .step(let push, let name, let detail):
        let step = PushStep(name, at: now, detail: detail)
        batch.changes.add(step, to: push.number)
        if name == .delivered { batch.deliveries.append(now.timeIntervalSince(push.notification.acceptedAt)) }
        if name == .sent, push.notification.isFromStorage { batch.changes.send(push) }
        count(name, of: push, in: &batch)
        guard journalLimiter.takes(at: now) else { continue }
        let notification = push.notification
        batch.notices.append(
          PushLogged(
            uniqueID: push.id, subject: notification.subject, type: notification.type.rawValue, step: step,
            omitted: journalLimiter.takeOmitted()))
      }
    }
  }

  /// A time is due. The ended notifications are handled page by page.
  private func timerFired(to batch: inout Batch) throws {
    let now = clock.now
    try add(.timerFired, at: now, to: &batch)
    guard let next = ends.next, next <= now else { return }
    let page = try store.ends(after: ends.place, by: now, limit: store.pageLimit)
    for end in page { try add(.ended(end.subject), at: now, to: &batch) }
    batch.isFull = page.count == store.pageLimit
    let place = page.last ?? ends.place
    ends = StoredEnds(place: place, next: try store.ends(after: place, by: nil, limit: 1).first?.at)
    // Those of this batch are not on disk yet.
    for push in batch.changes.kept.values where push.notification.isFromStorage { ends.keep(push.end(settings)) }
  }

  private func add(
    _ progress: PushProgress, _ then: @escaping @Sendable (BusError?) -> Void, to batch: inout Batch
  ) {
    batch.changes.progress.append(progress)
    batch.thens.append { isBroken in
      then(isBroken ? BusError(.failed, "cannot write the delivery log", isDefinite: false) : nil)
    }
  }

  // MARK: Tokens

  private func issue(
    _ subject: PushSubject, _ environment: PushEnvironment,
    _ then: @escaping @Sendable (Result<[DeviceToken], BusError>) -> Void, to batch: inout Batch
  ) throws {
    let (token, changed) = try table.issue(subject, environment, now: clock.now)
    try add(changed, then: then, [token], to: &batch)
  }

  private func change(
    _ subject: PushSubject, _ change: ChangeToken.Change,
    _ then: @escaping @Sendable (Result<[DeviceToken], BusError>) -> Void, to batch: inout Batch
  ) throws {
    let now = clock.now
    let changed =
      switch change {
      case .rotate: try table.rotate(subject, now: now)
      case .expire: try table.end(subject, .expired, now: now).map { [$0] } ?? []
      case .unregister: try table.end(subject, .unregistered, now: now).map { [$0] } ?? []
      }
    guard !changed.isEmpty else {
      let whose = "\(subject.use.rawValue) of \(subject.bundle) on \(subject.device)"
      return batch.thens.append { _ in
        then(.failure(BusError(.noSuchToken, "no active device token for \(whose)")))
      }
    }
    let due = (subject, changed.last { $0.state == .active }?.token)
    batch.changes.tokens.append(.notificationDue(due.0, token: due.1))
    batch.due.append(due)
    try add(changed, then: then, changed, to: &batch)
  }

  private func add(
    _ changed: [DeviceToken], then: @escaping @Sendable (Result<[DeviceToken], BusError>) -> Void,
    _ reply: [DeviceToken], to batch: inout Batch
  ) throws {
    for token in changed {
      batch.tokens.append(token)
      batch.changes.tokens.append(.token(token))
      if token.state != .active { try add(.tokenEnded(token.token, of: token.subject), at: clock.now, to: &batch) }
    }
    batch.thens.append { isBroken in
      let error = BusError(.failed, "cannot write the device tokens", isDefinite: false)
      then(isBroken ? .failure(error) : .success(reply))
    }
  }
}
