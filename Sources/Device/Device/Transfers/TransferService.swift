// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
package import MessageBus
package import Messages
package import Stores
import Synchronization
package import Timekeeping

/// The transfer service: the background transfer service of a device.
///
/// A task is on disk before `create` returns. It loads whether its owner or the bus is running or not, and continues
/// where its file ends after a restart of the host. Its events are delivered until they are acknowledged.
///
/// `TransferScheduler` loads the tasks and `EventDelivery` delivers their events. The service has no state: it passes
/// requests and events to them. One call changes both state machines.
@DeviceActor package final class TransferService: DevicePart {
  /// What the previous host wrote.
  package struct Stored: Sendable {
    package let loading: LoadingStateMachine
    package let delivery: DeliveryStateMachine
    let store: TransferStore
    let settings: TransferSettings
    let families: AppFamilies
    let underWay: UnderWay

    /// - Parameters:
    ///   - families: which app an extension belongs to.
    ///   - underWay: a task that it sets aside fails with -1, and is not loaded or copied.
    /// - Throws: database errors.
    package init(
      _ transactions: DeviceTransactions, settings: TransferSettings, families: AppFamilies = AppFamilies(),
      underWay: UnderWay = UnderWay()
    ) throws {
      store = try TransferStore(transactions)
      self.settings = settings
      self.families = families
      self.underWay = underWay
      let unended = try store.unendedTasks()
      // They were under way when the former host ended by a trap.
      let suspects = underWay.suspects(.task)
      loading = LoadingStateMachine(
        sessions: try store.configurations(), transfers: unended.map(\.transfer), limiters: try store.limiters(),
        settings: settings, families: families,
        suspects: suspects.isEmpty ? [] : Set(unended.map(\.key).filter { suspects.contains($0.work) }))
      delivery = try store.stateMachine(settings)
    }
  }

  package nonisolated let concerns: Set<DeviceConcern> = [.delivery]
  nonisolated let context: TransferContext
  let scheduler: TransferScheduler
  let delivery: EventDelivery

  /// Nothing is started before `begin()`.
  ///
  /// - Parameters:
  ///   - folder: where the part files are.
  ///   - isAwake: whether an owner runs now and can receive the progress of its tasks. `nil`: according to Launching.
  ///   - container: the folder of an owner, in which its copies are placed.
  ///   - group: the folder of an app group, for the copies of a session with this `sharedContainerIdentifier`.
  ///   - space: the space of the disk; `nil` for no limit.
  /// - Throws: database errors.
  package nonisolated init(
    _ storedState: Stored, core: DeviceCore, folder: String, bus: any BusConnection, clock: any ControllableClock,
    isAwake: (@DeviceActor (Address) -> Bool)? = nil,
    container: @escaping @Sendable (Address) -> String?, group: @escaping @Sendable (String) -> String?,
    space: @escaping @Sendable () -> TransferSpace? = { nil }
  ) throws {
    context = TransferContext(storedState, core: core, folder: folder, bus: bus, clock: clock, space: space)
    delivery = EventDelivery(
      context, storedState.delivery,
      files: try OwnerFiles(store: storedState.store, container: container, group: group))
    let scheduler = TransferScheduler(
      context, configurations: storedState.loading.sessions, delivery: delivery,
      isAwake: isAwake ?? { @DeviceActor owner in core.state.launching.runningInstance(of: owner) != nil })
    self.scheduler = scheduler
    context.commits.begin { [weak scheduler] in scheduler?.commit() }
  }

  /// Continues every task that has not ended, and requests the owners of pending events. Does not need the bus.
  ///
  /// - Parameters:
  ///   - network: the current network. Tasks that may not use it wait.
  ///   - suspended: the generations of the owners that are suspended.
  /// - Throws: database errors.
  package func begin(network: NetworkState = NetworkState(), suspended: [Address: UInt32] = [:]) throws {
    scheduler.failEndedTasksSetAside()
    // First: the owners become ready during the rest.
    delivery.begin(suspended: suspended)
    try context.removeOrphanedParts()
    try context.removePartsOfEarlierBoot()
    scheduler.failTasksSetAside()
    scheduler.begin(network: network)
  }

  /// Stops the loading tasks where they are and all deliveries, and returns when nothing runs any more. They continue
  /// after a restart. Must be the last call.
  package func leave() async {
    context.core.stop()
    delivery.tasks.cancel()
    await scheduler.leave()
    await delivery.leave()
  }

  package func save(_ step: DeviceStep) throws { try delivery.save() }

  package func perform(_ action: DeviceAction) {
    switch action {
    case .loading(let action): scheduler.perform(action)
    case .delivery(let action): delivery.perform(action)
    case .ask(let owner, let woken): scheduler.awake(owner, woken: woken)
    case .sessionTaken(let taken, let session): delivery.tell(taken, session)
    case .endTasks(let tasks, let app): end(tasks, of: app)
    case .instanceEnded(let address, let deliveries): delivery.removeCopies(of: address, deliveries)
    case .network(let state): scheduler.setRate(state.rate)
    default: break
    }
  }

  /// The user force-quit the app: all tasks of its sessions end with -999 and reason 0 (documented), with resume data
  /// if there is any. No process is launched for it: the events are delivered when the sessions are opened again.
  ///
  /// - Throws: database errors.
  package func forceQuit(_ app: Address) async throws {
    let sessions = scheduler.stateMachine.sessions(quitWith: app)
    let tasks = scheduler.stateMachine.keys(of: Set(sessions))
    context.core.handle(.quit(app: app, sessions))
    try await end(tasks)
  }

  /// The device has these products, and no others: the tasks of others end as those of an app that was force-quit.
  ///
  /// - Throws: database errors.
  package func keep(_ products: Set<Address>) async throws {
    let sessions = scheduler.stateMachine.sessions.keys.filter { !products.contains($0.owner) }
    let tasks = scheduler.stateMachine.keys(of: Set(sessions))
    for session in sessions.sorted() { delivery.handle(.quit(session)) }
    try await end(tasks)
  }

  /// Ends tasks of an app that was force-quit. An advance of the clock waits for it.
  private func end(_ tasks: [TaskKey], of app: Address) {
    scheduler.tasks.start(holding: context.clock) { [self] in
      do {
        try await end(tasks)
      } catch {
        await context.core.fail("the transfers of \(app) cannot be cancelled: \(error)")
      }
    }
  }

  private func end(_ tasks: [TaskKey]) async throws {
    let failure = TransferFailure(code: -999, message: "cancelled", cancelledReason: 0)
    for key in tasks { try await scheduler.stopAndEnd(key, with: failure, keepsPart: true) }
  }
}

// Requests from the owners of sessions.

extension TransferService {
  /// `session.open`: from now on the session's events can be delivered to this instance.
  ///
  /// - Throws: `session-in-use` (definite) when another running process of the same app has a session of this
  ///   identifier open (documented); database errors.
  package func open(_ request: OpenSession, _ from: Received) throws -> OpenSession.Reply {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    let configuration = request.configuration
    if let other = delivery.stateMachine.otherProcess(with: key, context.families) {
      throw BusError(.sessionInUse, "\(other) has the session \(key.identifier) open")
    }
    try context.store.open(key, configuration, generation: from.sourceGeneration)
    // What was acknowledged is not listed.
    scheduler.commit()
    scheduler.open(key, configuration)
    // The owner runs, also if its resumption has not been reported here yet.
    context.core.handle(.resumed(from.source, generation: from.sourceGeneration))
    delivery.handle(
      .opened(key, sendsLaunchEvents: configuration.sessionSendsLaunchEvents, generation: from.sourceGeneration))
    return try delivery.taskList(of: key)
  }

  /// `session.close`: the process is no longer connected to the session. Its tasks continue.
  ///
  /// - Throws: `closed` (indefinite) when the service has left.
  package func close(_ request: CloseSession, _ from: Received) throws(BusError) {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    try context.core.record(.delivery(.closed(key, generation: from.sourceGeneration)))
  }

  /// `transfer.create`: the task is on disk when this returns. Repeating the request has no effect and gets the same
  /// reply.
  ///
  /// - Throws: `no-such-session` (definite) when no process ever created the session; database errors.
  package func create(_ request: CreateTransfer, _ from: Received) throws { try scheduler.create(request, from) }

  /// `transfer.cancel`: the task ends with -999. Has no effect on a task that has ended.
  ///
  /// - Throws: database errors.
  package func cancel(_ request: CancelTransfer, _ from: Received) async throws -> CancelTransfer.Reply {
    let key = TaskKey(
      session: SessionKey(owner: from.source, identifier: request.session), identifier: request.taskIdentifier)
    let failure = TransferFailure(code: -999, message: "cancelled")
    let resumeData = try await scheduler.stopAndEnd(key, with: failure, keepsPart: request.producesResumeData)
    return CancelTransfer.Reply(resumeData: resumeData)
  }

  /// `transfer.change`: changes properties of a task. Has no effect on a task that has ended.
  ///
  /// - Throws: database errors.
  package func change(_ request: ChangeTransfer, _ from: Received) throws {
    try scheduler.change(request, from: from.source)
  }
}

extension BusError.Code {
  /// The sender never created this background session.
  package static let noSuchSession = BusError.Code("no-such-session")
}

// Reports about the device's sessions.

extension TransferService {
  /// The sessions that `ps` prints.
  ///
  /// - Throws: database errors.
  package func status() throws -> [SessionStatus] { try reports.status() }

  /// `session.list`: as many sessions and tasks as fit in an envelope.
  ///
  /// - Parameter clock: the state of the device's clock, for the reply.
  /// - Throws: database errors.
  package func list(_ request: ListSessions, clock: ClockState) throws -> ListSessions.Reply {
    try reports.list(request, clock: clock)
  }

  private var reports: TransferReports {
    // The database must have what the state machines have.
    scheduler.commit()
    return TransferReports(context: context, deliveries: delivery.stateMachine, loading: scheduler.stateMachine)
  }
}

/// Reports about the sessions of a device, from both state machines at one moment.
struct TransferReports {
  let context: TransferContext
  let deliveries: DeliveryStateMachine
  let loading: LoadingStateMachine

  /// The sessions that `ps` prints.
  ///
  /// - Throws: database errors.
  func status() throws -> [SessionStatus] {
    var bytes: [SessionKey: Int64] = [:]
    for task in try context.store.taskKeys() {
      bytes[task.key.session, default: 0] += task.contentLength ?? context.bytes(task.key)
    }
    let undelivered = undelivered()
    return sessionsInOrder().map { key in
      SessionStatus(
        owner: key.owner, session: key.identifier, running: deliveries.sessions[key]?.running.count ?? 0,
        undelivered: undelivered[key] ?? 0, bytesReceived: bytes[key] ?? 0)
    }
  }

  /// `session.list`: as many sessions and tasks as fit in an envelope.
  ///
  /// - Parameter clock: the state of the device's clock, for the reply.
  /// - Throws: database errors.
  func list(_ request: ListSessions, clock: ClockState) throws -> ListSessions.Reply {
    let sessions = sessionReports(request.session)
    let (tasks, count) = try context.store.page(session: request.session, offset: request.offset, limit: 256)
    var room = Wire.bodyLimit / 2
    return ListSessions.Reply(
      network: loading.network, clock: clock,
      sessions: try page(sessions.dropFirst(request.sessionOffset), &room), sessionCount: sessions.count,
      tasks: try page(tasks.lazy.map(report), &room), taskCount: count)
  }

  /// Takes reports until `room` bytes are used, and one more: `room` is half of an envelope's limit.
  private func page<Report: Encodable>(_ reports: some Sequence<Report>, _ room: inout Int) throws -> [Report] {
    var page: [Report] = []
    for report in reports {
      page.append(report)
      room -= try BodyCoding.data(report).count
      guard room > 0 else { break }
    }
    return page
  }

  private func sessionsInOrder() -> [SessionKey] {
    deliveries.sessions.keys.sorted()
  }

  private func undelivered() -> [SessionKey: Int] {
    var counts = deliveries.sessions.all.mapValues(\.ended.count)
    for delivery in deliveries.deliveries.values { counts[delivery.session, default: 0] += delivery.tasks.count }
    return counts
  }

  private func sessionReports(_ name: String?) -> [SessionReport] {
    let undelivered = undelivered()
    return sessionsInOrder().compactMap { key in
      guard name == nil || name == key.identifier, let session = deliveries.sessions[key],
        let configuration = loading.sessions[key]
      else { return nil }
      return SessionReport(
        owner: key.owner, session: key.identifier, configuration: configuration, openIn: session.openIn,
        running: session.running.count, undelivered: undelivered[key] ?? 0, waitsFor: deliveryWaitsFor(key, session),
        limitedUntil: loading.limitedUntil(key.owner))
    }
  }

  private func deliveryWaitsFor(_ key: SessionKey, _ session: DeliveryStateMachine.Session) -> String? {
    guard let delivery = deliveries.deliveries.values.first(where: { $0.session == key }) else {
      return session.ended.isEmpty ? nil : "the session's other tasks"
    }
    if delivery.isUnderWay { return "the owner's acknowledgement" }
    if delivery.isHeld { return "a process that creates the session" }
    if let instant = delivery.notBefore { return "the next attempt, \(instant.formatted(.iso8601))" }
    if session.isQuit { return "the user to open the app" }
    return session.sendsLaunchEvents ? "its owner to run" : "the owner's next launch: sessionSendsLaunchEvents is false"
  }

  /// What a task waits for, with the reason why it must be tried again.
  private func description(_ wait: LoadingStateMachine.WaitReason, of key: TaskKey) -> String {
    guard case .retry = wait, let reason = context.failures.withLock({ $0[key] }) else { return wait.description }
    return "\(wait): \(reason)"
  }

  private func report(of task: StoredTask) -> TaskReport {
    let transfer = task.hasEnded ? nil : loading.transfers[task.key]
    let wait = transfer?.wait
    let state: TaskReport.State =
      task.hasEnded ? .ended : wait == .suspended ? .suspended : wait == nil ? .loading : .waiting
    var snapshot = task.snapshot(bytes: context.bytes(of: task))
    // A list does not show bodies, and an envelope has a size limit.
    snapshot.request.body = nil
    snapshot.currentRequest?.body = nil
    var failure = task.failure
    failure?.resumeData = nil
    return TaskReport(
      owner: task.key.session.owner, session: task.key.session.identifier, task: snapshot, state: state,
      waitsFor: wait.map { description($0, of: task.key) },
      nextTry: wait == .limiter ? loading.limitedUntil(task.key.session.owner) : wait?.instant,
      attempts: transfer?.attempts ?? task.attempts, response: task.response,
      failure: failure)
  }
}
