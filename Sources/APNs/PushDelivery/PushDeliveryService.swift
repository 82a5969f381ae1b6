// SPDX-License-Identifier: Apache-2.0

import Foundation
package import GRDB
package import MessageBus
package import Messages
package import PushRules
import Stores
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
    /// The notifications that are on the disk of a fleet. They are left out of `sends`.
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
  nonisolated func caughtUp() async {
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
    case .issue(let subject, let environment, let then):
      try issue(subject, environment: environment, then: then, to: &batch)
    case .release(let subject, let then):
      let ended = try table.end(subject, .unregistered, now: clock.now).map { [$0] } ?? []
      try add(ended, then: then, ended, to: &batch)
    case .change(let subject, let change, let then): try self.change(subject, change: change, then: then, to: &batch)
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
      batch.changes.add(number, arrival: arrival, verdict: step)
      note(step, of: arrival, in: &batch)
    case .accepted(let notification, let remark):
      let step = PushStep(.accepted, at: now, detail: remark)
      batch.changes.add(number, arrival: arrival, verdict: step)
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
    for push in batch.changes.keptPushes.values where push.notification.isFromStorage { ends.keep(push.end(settings)) }
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
    _ subject: PushSubject, environment: PushEnvironment,
    then: @escaping @Sendable (Result<[DeviceToken], BusError>) -> Void, to batch: inout Batch
  ) throws {
    let (token, changed) = try table.issue(subject, environment, now: clock.now)
    try add(changed, then: then, [token], to: &batch)
  }

  private func change(
    _ subject: PushSubject, change: ChangeToken.Change,
    then: @escaping @Sendable (Result<[DeviceToken], BusError>) -> Void, to batch: inout Batch
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

extension PushDeliveryService {
  /// Reads the state left by the previous process instance from a SQLite database.
  ///
  /// - Parameters: those of `init(store:…)`.
  /// - Throws: the database error.
  package init(
    database: any DatabaseWriter, bus: any BusConnection,
    clock: any ControllableClock = AdjustableClock(.running(ahead: 0)),
    settings: PushSettings = PushSettings(), metrics: DeliveryMetrics? = nil,
    broken: @escaping @Sendable (String) -> Void
  ) throws {
    try self.init(
      store: PushDatabase(database, settings: settings), bus: bus, clock: clock, settings: settings, metrics: metrics,
      broken: broken)
  }
}

extension PushDeliveryService {
  /// Registers the handlers for messages of devices and operators. Call before the connection is started.
  package nonisolated func listen() {
    listenToDevices()
    listenToFleets()
    bus.onRequest(ListTokens.self) { [store] request, _ in
      ListTokens.Reply(tokens: try await store.page(request))
    }
    bus.onRequest(ListPushes.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      return try await page(request)
    }
    bus.onRequest(ChangeToken.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      return ChangeToken.Reply(tokens: try await tokens { .change(request.subject, request.change, then: $0) })
    }
  }

  private nonisolated func listenToDevices() {
    bus.onPresence { [weak self] presence in
      guard presence.address.role == .host, let device = presence.address.device else { return }
      self?.put(
        .event(.presence(device: device, isPresent: presence.isPresent, generation: presence.generation)))
    }
    bus.onEvent(DeviceReach.self) { [weak self] event, from in
      guard let self, let device = from.source.device else { return }
      put(
        .event(
          .reach(
            device: device, isOnline: event.isOnline, isAwake: event.isAwake, generation: from.sourceGeneration)))
      await caughtUp()
    }
    bus.onEvent(PushProgress.self) { [weak self] event, _ in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let error = await withCheckedContinuation { continuation in
        _ = put(.progress(event) { continuation.resume(returning: $0) })
      }
      if let error { throw error }
    }
    bus.onRequest(IssueToken.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let subject = try Self.subject(request.bundle, use: request.use, from: from)
      let issued = try await tokens { .issue(subject, request.environment, then: $0) }
      return IssueToken.Reply(token: issued.first?.token ?? "")
    }
    bus.onRequest(ReleaseToken.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let subject = try Self.subject(request.bundle, use: request.use, from: from)
      _ = try await tokens { .release(subject, then: $0) }
      return Done()
    }
  }

  private static func subject(_ bundle: String, use: PushTokenUse, from: Received) throws(BusError) -> PushSubject {
    guard let device = from.source.device else { throw BusError(.refused, "\(from.source) is not a device") }
    return PushSubject(device: device, bundle: bundle, use: use)
  }

  private nonisolated func tokens(
    _ job: (@escaping @Sendable (Result<[DeviceToken], BusError>) -> Void) -> PushJobQueue.Job
  ) async throws -> [DeviceToken] {
    let result = await withCheckedContinuation { continuation in
      _ = put(job { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// Returns a page of the delivery log, which includes all requests that were answered before the call.
  package nonisolated func page(_ request: ListPushes) async throws -> ListPushes.Reply {
    await caughtUp()
    return try await store.page(request)
  }

  // MARK: Sending to the device

  /// Sends a notification to its device; this process's connection sends it again until it is acknowledged.
  func send(_ notification: PushedNotification) {
    let (id, subject) = (notification.uniqueID, notification.subject)
    bus.submit(
      DeliverPush(notification: notification), to: .host(subject.device), id: id,
      context: MessageContext(correlation: id)
    ) { [weak self] result in
      switch result {
      case .success: self?.put(.event(.acknowledged(id, of: subject)))
      // This process has left the bus: the next process instance continues.
      case .failure(let error) where error.code == .closed: break
      case .failure(let error): self?.put(.event(.refused(id, of: subject, why: error.message)))
      }
    }
  }

  /// Sends a device token to its device until it acknowledges.
  func notifyDevice(_ subject: PushSubject, _ token: String?) {
    bus.submit(
      TokenReplaced(bundle: subject.bundle, use: subject.use, token: token), to: .host(subject.device), id: UUID(),
      context: .none
    ) { [weak self] result in
      guard case .success = result else { return }
      self?.put(.notified(subject, token: token))
    }
  }
}

/// A message of a fleet, or a step of the delivery to one.
enum FleetJob: Sendable {
  case join(String, UUID, then: @Sendable (Result<String, BusError>) -> Void)
  /// At most `FleetTokenChanges.atOnce` tokens.
  case tokens(String, ChangeFleetTokens.Change, PushEnvironment, then: @Sendable (BusError?) -> Void)
  /// Fails when the service does not know the reach that it changes.
  case reach(String, FleetReach, generation: UInt32, then: @Sendable (BusError?) -> Void)
  case presence(String, isPresent: Bool, generation: UInt32)
  /// The reply to a batch.
  case replied(String, FleetReply)
  /// Hands over what is kept for the next devices.
  case handOver(String)
}

/// The reply of a fleet to a batch of notifications.
struct FleetReply: Sendable {
  let run: UUID
  let number: Int64
  let acknowledged: [(id: UUID, subject: PushSubject)]
  let refused: [(id: UUID, subject: PushSubject, why: String)]
}

// Fleets. The devices of a fleet are decided on as all others are. Their messages are about many devices, and the work
// of one is divided into several transactions.

extension PushDeliveryService {
  /// The tokens, or devices, of one transaction.
  static let fleetDevicesAtOnce = 1_000
  /// A report about more devices makes the service search for what is kept, instead of asking for each device.
  private static let fewDevices = 1_000

  private nonisolated func listenToFleets() {
    bus.onPresence { [weak self] presence in
      guard let fleet = presence.address.fleet else { return }
      self?.put(.fleet(.presence(fleet, isPresent: presence.isPresent, generation: presence.generation)))
    }
    bus.onRequest(JoinFleet.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let fleet = try Self.fleet(from)
      let secret = await withCheckedContinuation { continuation in
        _ = put(.fleet(.join(fleet, request.incarnation) { continuation.resume(returning: $0) }))
      }
      return JoinFleet.Reply(secret: try secret.get())
    }
    bus.onEvent(FleetReach.self) { [weak self] event, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let fleet = try Self.fleet(from)
      let error = await withCheckedContinuation { continuation in
        _ = put(
          .fleet(.reach(fleet, event, generation: from.sourceGeneration) { continuation.resume(returning: $0) }))
      }
      if let error { throw error }
    }
    bus.onRequest(ChangeFleetTokens.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let fleet = try Self.fleet(from)
      for change in request.changes {
        guard (0...Int(UInt16.max)).contains(change.serial) else {
          throw BusError(.refused, "the serial number \(change.serial) is not 0 to \(UInt16.max)")
        }
        for part in change.devices.parts(of: Self.fleetDevicesAtOnce) {
          let part = ChangeFleetTokens.Change(
            action: change.action, bundle: change.bundle, use: change.use, serial: change.serial, devices: part)
          let error = await withCheckedContinuation { continuation in
            _ = put(.fleet(.tokens(fleet, part, request.environment) { continuation.resume(returning: $0) }))
          }
          if let error { throw error }
        }
      }
      return Done()
    }
    bus.onRequest(CountFleetPushes.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      await caughtUp()
      return try await store.counts(of: request.fleet)
    }
  }

  private static func fleet(_ from: Received) throws(BusError) -> String {
    guard let fleet = from.source.fleet else { throw BusError(.refused, "\(from.source) is not a fleet") }
    guard FleetDevice.isName(fleet) else {
      throw BusError(.refused, "\"\(fleet)\" is not the name of a fleet: use letters, digits, `-`, `_` and `.`")
    }
    return fleet
  }

  /// Fails a job after the database has failed, or after `leave()`.
  static func turnDown(_ job: FleetJob, _ error: BusError) {
    switch job {
    case .join(_, _, let then): then(.failure(error))
    case .tokens(_, _, _, let then), .reach(_, _, _, let then): then(error)
    case .presence, .replied, .handOver: break
    }
  }

  func add(_ job: FleetJob, to batch: inout Batch) throws {
    let now = clock.now
    switch job {
    case .join(let fleet, let incarnation, let then): try join(fleet, incarnation: incarnation, then: then, to: &batch)
    case .tokens(let fleet, let change, let environment, let then):
      try self.change(fleet, change: change, environment: environment, then: then, to: &batch)
    case .reach(let fleet, let reach, let generation, let then):
      guard reach.isFirst || stateMachine.reaches.knows(fleet, generation) else {
        return then(BusError(.noSuchFleet, "the push server does not know which devices of \(fleet) are online"))
      }
      batch.thens.append { then($0 ? BusError(.failed, "cannot write the database", isDefinite: false) : nil) }
      stateMachine.reaches.apply(reach, of: fleet, generation: generation)
      let returned = reach.online.count + reach.awake.count
      guard returned <= Self.fewDevices, !reach.isFirst else { return handOver(to: fleet) }
      var devices: Set<UInt32> = []
      for index in reach.online.indices { devices.insert(index) }
      for index in reach.awake.indices { devices.insert(index) }
      for index in devices.sorted() { try add(.returned(FleetDevice.id(fleet, index)), at: now, to: &batch) }
    case .presence(let fleet, let isPresent, let generation):
      if stateMachine.reaches.presence(fleet, isPresent: isPresent, generation: generation) { handOver(to: fleet) }
    case .replied(let fleet, let reply):
      // What was sent before this push server became responsible again is sent again.
      guard senders[fleet]?.run == reply.run else { return }
      for (id, subject) in reply.acknowledged { try add(.acknowledged(id, of: subject), at: now, to: &batch) }
      batch.acknowledged.formUnion(reply.acknowledged.map(\.id))
      for (id, subject, why) in reply.refused {
        try add(.refused(id, of: subject, why: why), at: now, to: &batch)
      }
      batch.thens.append { [weak self] isBroken in
        guard !isBroken, let self else { return }
        assumeIsolated { $0.recorded(fleet, reply) }
      }
    case .handOver(let fleet): try handOverNext(to: fleet, now, to: &batch)
    }
  }

  private func join(
    _ fleet: String, incarnation: UUID, then: @escaping @Sendable (Result<String, BusError>) -> Void,
    to batch: inout Batch
  ) throws {
    guard let secret = try store.join(fleet, incarnation, secret: FleetTokens.makeSecret()) else {
      return then(
        .failure(
          BusError(
            .fleetExists,
            "the push server knows a fleet named \(fleet) with another database: give this one another name, or restore "
              + "the folder of that one")))
    }
    batch.thens.append { [weak self] isBroken in
      guard !isBroken else { return then(.failure(BusError(.failed, "cannot write the database", isDefinite: false))) }
      self?.assumeIsolated { $0.fleetTokens[fleet] = FleetTokens(secret: secret) }
      then(.success(secret))
    }
  }

  // MARK: Tokens

  private func change(
    _ fleet: String, change: ChangeFleetTokens.Change, environment: PushEnvironment,
    then: @escaping @Sendable (BusError?) -> Void, to batch: inout Batch
  ) throws {
    try learnSecret(of: fleet)
    guard let tokens = fleetTokens[fleet] else {
      return then(BusError(.noSuchFleet, "the push server does not know the fleet \(fleet): it has not joined"))
    }
    let now = clock.now
    var changed: [DeviceToken] = []
    for index in change.devices.indices {
      let subject = PushSubject(device: FleetDevice.id(fleet, index), bundle: change.bundle, use: change.use)
      func token(_ serial: Int) -> String {
        tokens.token(index, bundle: change.bundle, use: change.use, serial: serial)
      }
      let ended = change.action == .end ? change.serial : change.serial - 1
      if ended >= 0, let former = try known(token(ended)), former.state == .active {
        changed.append(
          DeviceToken(
            token: former.token, subject: subject, environment: former.environment, state: .unregistered, since: now))
      }
      guard change.action == .issue else { continue }
      changed.append(
        DeviceToken(
          token: token(change.serial), subject: subject, environment: environment, state: .active, since: now))
    }
    try add(changed: changed, to: &batch)
    batch.thens.append { isBroken in
      then(isBroken ? BusError(.failed, "cannot write the device tokens", isDefinite: false) : nil)
    }
  }

  /// Reads the secret of a fleet that has joined at another push server, or earlier.
  func learnSecret(of fleet: String) throws {
    guard fleetTokens[fleet] == nil else { return }
    fleetTokens[fleet] = try store.secret(ofFleet: fleet).flatMap(FleetTokens.init)
  }

  /// A token in the running transaction.
  private func known(_ token: String) throws -> DeviceToken? {
    shared == nil ? try table[token] : table.changed(token) ?? replica.view.tokens[token]
  }

  /// The journal has the fleet's request, so that no notice of each token is recorded.
  private func add(changed: [DeviceToken], to batch: inout Batch) throws {
    for token in changed {
      table.put(token)
      batch.changes.tokens.append(.token(token))
      if token.state != .active { try add(.tokenEnded(token.token, of: token.subject), at: clock.now, to: &batch) }
    }
  }

  // MARK: Sending

  /// Sends notifications to their devices; those of one fleet together.
  func send(_ notifications: [PushedNotification]) {
    for notification in notifications {
      guard let fleet = FleetDevice.fleet(of: notification.subject.device) else {
        send(notification)
        continue
      }
      senders[fleet, default: FleetSender(epoch: replica.epoch(ofFleet: fleet))].add(notification)
    }
    for fleet in senders.keys.sorted() { sendNext(to: fleet) }
  }

  private func sendNext(to fleet: String) {
    while let batch = senders[fleet]?.next() {
      let message = DeliverToFleet(
        run: batch.run, epoch: batch.epoch, batch: batch.number, settled: batch.settled,
        notifications: batch.notifications)
      bus.submit(
        message, to: .fleet(fleet), id: UUID(), context: .none, within: .seconds(7 * 86_400), whenUnreachable: .wait
      ) { [weak self] result in
        switch result {
        case .success(let reply): self?.put(.fleet(.replied(fleet, FleetReply(batch, refused: reply.refused))))
        // This process has left the bus: the next process instance continues.
        case .failure(let error) where error.code == .closed: break
        case .failure(let error): self?.put(.fleet(.replied(fleet, FleetReply(batch, all: error))))
        }
      }
    }
    stateMachine.reaches.setFull(fleet, isFull: senders[fleet]?.isFull ?? false)
    if senders[fleet]?.isFull == true { senders[fleet]?.hasHeld = true }
  }

  /// The reply to a batch is on the disk.
  private func recorded(_ fleet: String, _ reply: FleetReply) {
    senders[fleet]?.drop(Set(reply.acknowledged.map(\.id)))
    senders[fleet]?.replied()
    senders[fleet]?.record(reply.number)
    takeArrivals(for: fleet)
    guard let sender = senders[fleet], sender.isLow else { return }
    if sender.hasHeld, sender.place == nil {
      senders[fleet]?.hasHeld = false
      handOver(to: fleet)
    } else if sender.isPaused {
      senders[fleet]?.isPaused = false
      put(.fleet(.handOver(fleet)))
    }
  }

  /// Takes what other replicas have accepted, if that was left to them and there is room now.
  private func takeArrivals(for fleet: String) {
    guard let sender = senders[fleet], sender.hasArrivals, sender.hasRoom else { return }
    senders[fleet]?.hasArrivals = false
    put(.signal(.arrived))
  }

  // MARK: Hand-over

  /// Hands over what is kept for the devices of a fleet that are online, from the first device on.
  func handOver(to fleet: String) {
    var sender = senders[fleet] ?? FleetSender(epoch: replica.epoch(ofFleet: fleet))
    let isUnderWay = sender.place != nil
    sender.place = FleetDevice.bounds(of: fleet).after
    senders[fleet] = sender
    if !isUnderWay { put(.fleet(.handOver(fleet))) }
  }

  private func handOverNext(to fleet: String, _ now: Date, to batch: inout Batch) throws {
    guard let sender = senders[fleet], let place = sender.place else { return }
    guard sender.isLow else {
      senders[fleet]?.isPaused = true
      return
    }
    let devices = try store.devicesWithKept(of: fleet, after: place, limit: Self.fleetDevicesAtOnce)
    let reachable = devices.filter(stateMachine.canReach)
    try loadTogether(reachable)
    for device in reachable { try add(.returned(device), at: now, to: &batch) }
    // If the transaction fails, the devices of this page are sent what is kept by the next one.
    senders[fleet]?.place = devices.count == Self.fleetDevicesAtOnce ? devices.last : nil
    guard senders[fleet]?.place != nil else { return takeArrivals(for: fleet) }
    batch.thens.append { [weak self] isBroken in if !isBroken { self?.put(.fleet(.handOver(fleet))) } }
  }

  // MARK: Counting

  /// Counts the verdict about a request for a device of a fleet, or for an unknown token.
  func count(_ arrival: PushArrival, in batch: inout Batch) {
    guard let fleet = arrival.subject.map({ FleetDevice.fleet(of: $0.device) }) ?? "" else { return }
    let type = arrival.type?.start(bytes: 32) ?? ""
    let (name, reason): (PushStep.Name, String) =
      switch arrival.verdict {
      case .accepted: (.accepted, "")
      case .refused(let status, let reason, _): (.refused, reason ?? "\(status)")
      }
    batch.changes.counts[
      FleetPushCount(fleet: fleet, type: type, name: name.rawValue, reason: reason), default: 0] += 1
  }

  /// Counts a step of a notification.
  func count(_ name: PushStep.Name, of push: StoredPush, in batch: inout Batch) {
    guard let fleet = FleetDevice.fleet(of: push.notification.subject.device) else { return }
    func add(_ name: String, _ count: Int) {
      let key = FleetPushCount(fleet: fleet, type: push.notification.type.rawValue, name: name, reason: "")
      batch.changes.counts[key, default: 0] += count
    }
    switch name {
    case .sent where push.isForOnce: add(FleetPushCount.open, 1)
    case .superseded, .collapsed, .expired, .notStored, .tokenUnregistered, .delivered:
      add(name.rawValue, 1)
      if push.isForOnce, push.isSent { add(FleetPushCount.open, -1) }
    default: break
    }
  }
}

extension FleetReply {
  fileprivate init(_ batch: FleetSender.Batch, refused: [DeliverToFleet.Refusal]) {
    let codes = Dictionary(refused.map { ($0.index, $0.code) }) { first, _ in first }
    var acknowledged: [(id: UUID, subject: PushSubject)] = []
    var reasons: [(id: UUID, subject: PushSubject, why: String)] = []
    for (index, notification) in batch.notifications.enumerated() {
      if let code = codes[index] {
        reasons.append((notification.uniqueID, notification.subject, code.rawValue))
      } else {
        acknowledged.append((notification.uniqueID, notification.subject))
      }
    }
    self.init(run: batch.run, number: batch.number, acknowledged: acknowledged, refused: reasons)
  }

  fileprivate init(_ batch: FleetSender.Batch, all error: BusError) {
    self.init(
      run: batch.run, number: batch.number, acknowledged: [],
      refused: batch.notifications.map { ($0.uniqueID, $0.subject, error.message) })
  }
}
