// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import FaultPoints
package import Foundation
import GRDB
package import MessageBus
package import Messages
package import Stores
package import Timekeeping

/// The push service: requests device tokens from the push server, calls the authors' push handlers, and receives
/// notifications.
///
/// State is persisted before it is announced.
@DeviceActor package final class PushService: DevicePart {
  /// What the previous host wrote.
  package struct Stored: Sendable {
    package let tokens: TokenStateMachine
    package let notifications: NotificationStateMachine
    fileprivate let store: PushesStore
    fileprivate let reports: [StepReport]
    fileprivate let lastReport: Int64

    /// - Parameters:
    ///   - device: its name.
    ///   - hasWidgetPushes: whether its system supports pushes to widgets.
    /// - Throws: errors of the database.
    package init(
      _ transactions: DeviceTransactions, device: String, products: [PushProduct], hasWidgetPushes: Bool
    ) throws {
      store = try PushesStore(transactions)
      tokens = TokenStateMachine(
        products: products, hasWidgetPushes: hasWidgetPushes, state: try store.tokens() ?? TokenStateMachine.State())
      notifications = NotificationStateMachine(
        device: device, open: try store.open(), taken: try store.taken())
      reports = try store.reports()
      lastReport = try store.lastReport()
    }
  }

  package nonisolated let concerns: Set<DeviceConcern> = [.tokens, .notifications]
  nonisolated let core: DeviceCore
  let store: PushesStore
  let bus: any BusConnection
  let machine: any ControllableClock
  let deadline: Duration
  /// The notifications that are handled now.
  private nonisolated let underWay: UnderWay
  /// As the database has them.
  private var storedTokens: TokenStateMachine.State
  private var storedNotifications: [NotificationStateMachine.Open]
  /// The notifications whose arrival the next step records.
  private var takenIDs: [UUID] = []
  private(set) var isOnline = true
  /// Pending requests and releases of tokens at the push server.
  var asking: [TokenKey: Task<Void, Never>] = [:]
  /// Pending calls of push handlers and app delegates.
  private var calls: [UUID: (process: Address, task: Task<Void, Never>)] = [:]
  /// Callers that wait for an app's token.
  private let registrationWaiters = Waiters<String>()
  /// Steps that the push server has not acknowledged; the first `sentCount` of them are under way.
  var reports: [StepReport]
  private var lastReport: Int64
  var sentCount = 0
  var acknowledged: [Int64] = []
  /// Notifications that arrived and are not persisted yet, each with the caller that waits for that.
  private var arrived: [(notification: PushedNotification, then: CheckedContinuation<BusError?, Never>)] = []
  let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)

  /// - Parameters:
  ///   - underWay: a notification that it sets aside is discarded.
  ///   - machine: the clock for author's code and for the push server's log.
  ///   - deadline: how long author's code may take. Source: 30 s, "Pushing background updates to your app".
  package nonisolated init(
    _ storedState: Stored, core: DeviceCore, bus: any BusConnection, underWay: UnderWay = UnderWay(),
    machine: any ControllableClock = AdjustableClock(.running(ahead: 0), executor: DeviceActor.executor),
    deadline: Duration = .seconds(30)
  ) {
    store = storedState.store
    self.core = core
    self.bus = bus
    self.machine = machine
    self.deadline = deadline
    self.underWay = underWay
    storedTokens = storedState.tokens.state
    storedNotifications = storedState.notifications.open
    reports = storedState.reports
    lastReport = storedState.lastReport
  }

  var tokens: TokenStateMachine { core.state.tokens }
  var notifications: NotificationStateMachine { core.state.notifications }

  /// Resumes after a host restart.
  ///
  /// - Parameters:
  ///   - widgets: of each extension, by its bundle identifier.
  ///   - reloads: the results of pushes that Timelines has.
  ///   - activities: the tokens that Live Activities need.
  package func begin(
    _ widgets: [String: PushWidgets], reloads: [PlacementReloadReport], activities: Set<TokenKey> = [], isOnline: Bool
  ) {
    self.isOnline = isOnline
    // Before the first event, because each event releases what is not wanted.
    core.state.tokens.activities = activities
    core.handle(.pushWidgets(widgets, dropsRemoved: false))
    handle(.began)
    core.handle(
      .notifications(
        notifications.open.compactMap { open in reason(open.id).map { .closed(open.id, .discarded, $0) } }))
    handle([.began(reloads)], of: notifications.open.filter(\.reloads).map(\.id))
    let others = notifications.open.filter { !$0.reloads }.map(\.id)
    // One that is suspect alone, so that no other is set aside with it.
    for ids in areSuspect ? others.map({ [$0] }) : [others] { handle(ids.map { .resumed($0) }, of: ids) }
    askForTokens()
    report()
  }

  /// Cancels the requests and calls that are under way; the next instance repeats them. Notifications that have arrived
  /// are persisted first. Nothing runs when this returns, and later messages fail with `closed`. Must be the last call.
  package func leave() async {
    flush()
    core.stop()
    registrationWaiters.resume()
    await tasks.end()
  }

  /// Persists the notifications that have arrived.
  package func flush() {
    if !arrived.isEmpty { takeArrived() }
  }

  // MARK: Input from other services

  /// The device got or lost its network; without one it requests no tokens.
  package func setOnline(_ isOnline: Bool) {
    self.isOnline = isOnline
    askForTokens()
  }

  // MARK: Messages

  /// `push.deliver`. Persisted when this returns; a notification that was taken before is ignored. Notifications that
  /// arrive during a write are written together in the next one.
  ///
  /// A notification that expired on the way is refused: the push server's connection sends a message again when an
  /// absent device returns, and does not evaluate its expiration.
  ///
  /// - Throws: `expired` (definite); `failed` when it cannot be recorded.
  package func received(_ notification: PushedNotification) async throws(BusError) {
    if let failure = core.failure { throw failure }
    let error = await withCheckedContinuation { (then: CheckedContinuation<BusError?, Never>) in
      if let failure = core.failure { return then.resume(returning: failure) }
      arrived.append((notification, then))
      if arrived.count == 1 { tasks.start { await self.takeArrived() } }
    }
    if let error { throw error }
  }

  private func takeArrived() {
    let arrived = arrived
    self.arrived = []
    var late: Set<UUID> = []
    if core.failure == nil {
      var ids: Set<UUID> = []
      let new = arrived.map(\.notification).filter {
        !notifications.takenNotifications.contains($0.uniqueID) && ids.insert($0.uniqueID).inserted
      }
      late = Set(new.filter { $0.hasExpiredOnItsWay(by: machine.now) }.map(\.uniqueID))
      let inTime = new.filter { !late.contains($0.uniqueID) }
      // What is not handled is suspect no longer.
      for id in Set(arrived.map(\.notification.uniqueID)).subtracting(inTime.map(\.uniqueID)) {
        underWay.end(.notification(id))
      }
      for notifications in areSuspect ? inTime.map({ [$0] }) : [inTime] { handle(notifications) }
    }
    let expired = BusError(.expired, "its expiration passed before it arrived")
    for (notification, then) in arrived {
      then.resume(returning: core.failure ?? (late.contains(notification.uniqueID) ? expired : nil))
    }
  }

  /// `push.info`.
  package func info(_ from: Received) -> AskPushInfo.Reply {
    AskPushInfo.Reply(
      token: tokens.pushInfo(askedBy: from.source), controls: tokens.controlTokens(askedBy: from.source))
  }

  /// `push.app.register`. Returns when the app has a token, however long that takes.
  ///
  /// - Throws: `no-push-entitlement` (definite); `failed` when it cannot be recorded.
  package func register(_ request: RegisterForPushes, _ from: Received) async throws(BusError)
    -> RegisterForPushes.Reply
  {
    let bundle = from.source.bundleIdentifier ?? ""
    let key = TokenKey(bundle, .app)
    switch request.action {
    case .ask: return RegisterForPushes.Reply(token: tokens.token(key))
    case .unregister:
      try core.record(.tokens(.unregister(app: bundle)))
      return RegisterForPushes.Reply(token: nil)
    case .register:
      try core.record(.tokens(.register(app: bundle)))
      guard tokens.isRegistered(bundle) else {
        throw BusError(
          .noPushEntitlement, "no valid “aps-environment” entitlement string found for application \(bundle)")
      }
      if tokens.token(key) == nil {
        for await _ in registrationWaiters.stream(until: bundle) {}
        if let failure = core.failure { throw failure }
        // No token if the app unregistered in the meantime.
      }
      return RegisterForPushes.Reply(token: tokens.token(key))
    }
  }

  // MARK: Handling events

  /// Whether a notification may have ended the former host.
  private var areSuspect: Bool { !underWay.suspects(.notification).isEmpty }

  /// Handles events of notifications that are recorded as under way.
  private func handle(_ events: [NotificationStateMachine.Event], of ids: [UUID]) {
    for id in ids { underWay.begin(.notification(id)) }
    defer { for id in ids { underWay.end(.notification(id)) } }
    if !ids.isEmpty { FaultPoint.hostWithinNotification.reached() }
    core.handle(.notifications(events))
  }

  func handle(_ event: TokenStateMachine.Event) { core.handle(.tokens(event)) }

  /// Handles notifications that arrived, and writes their results in one transaction.
  private func handle(_ notifications: [PushedNotification]) {
    let events = notifications.map { notification -> NotificationStateMachine.Event in
      reason(notification.uniqueID).map { .setAside(notification.uniqueID, $0) } ?? .received(notification)
    }
    takenIDs = notifications.map(\.uniqueID)
    let handled = events.compactMap { event in if case .received(let one) = event { one.uniqueID } else { nil } }
    handle(events, of: handled)
  }

  package func save(_ step: DeviceStep) throws {
    if step.changed.contains(.tokens), tokens.state != storedTokens {
      try store.save(tokens.state)
      storedTokens = tokens.state
    }
    guard step.changed.contains(.notifications) else { return }
    var steps: [StepReport] = []
    for case .notifications(.step(let id, let name, let detail)) in step.actions {
      lastReport += 1
      let progress = PushProgress(uniqueID: id, step: PushStep(name, at: machine.now, detail: detail))
      steps.append(StepReport(number: lastReport, envelope: UUID(), progress: progress))
    }
    try store.save(notifications.open, since: storedNotifications, taken: takenIDs, reports: steps)
    storedNotifications = notifications.open
    takenIDs = []
    reports += steps
  }

  package func settle() { report() }

  package func perform(_ action: DeviceAction) {
    if case .tokens(let action) = action { perform(action) }
    if case .notifications(.ask(let app, let notification)) = action { notify(app, notification) }
    if case .network(let state) = action { setOnline(state.path != .off) }
    guard case .instanceEnded(let address, _) = action else { return }
    for case (address, let task) in calls.values { task.cancel() }
  }

  /// Why a notification is not handled; `nil` if it is. From now on it is forgotten.
  private func reason(_ id: UUID) -> String? {
    let reason = underWay.reason(.notification(id))
    if reason != nil { underWay.end(.notification(id)) }
    return reason
  }

  private func perform(_ action: TokenStateMachine.Action) {
    switch action {
    case .asks: break
    case .tokensChanged: askForTokens()
    case .notify(let address, let notice): notify(address, notice)
    case .notifyApp(let address, let app, let token): notify(address, app: app, token: token)
    case .registered(let app), .notRegistered(let app): registrationWaiters.resume { $0 == app }
    case .withheld(let notice): bus.record(notice)
    }
  }
}

extension PushedNotification {
  /// Whether it expired on the way. One that had expired when it was accepted is still attempted once.
  fileprivate func hasExpiredOnItsWay(by now: Date) -> Bool {
    guard let expiration else { return false }
    return acceptedAt < expiration && expiration <= now
  }
}

extension UnderWay.Work {
  /// A notification, while a service handles it.
  package static func notification(_ id: UUID) -> UnderWay.Work { UnderWay.Work(.notification, id.text) }
}

// What the service sends: to the push server, to the authors' push handlers, to the apps.

extension PushService {
  // MARK: Tokens

  /// Requests the tokens that are wanted and releases the others, while the device has a network.
  func askForTokens() {
    guard core.failure == nil else { return }
    let open = tokens.state.tokens.filter { $0.value.phase != .held }
    for (key, task) in asking where !isOnline || open[key] == nil {
      task.cancel()
      asking[key] = nil
    }
    guard isOnline else { return }
    for (key, kept) in open where asking[key] == nil {
      asking[key] = tasks.start { [weak self] in await self?.ask(key, kept) }
    }
  }

  /// Retries until the push server replies.
  private func ask(_ key: TokenKey, _ keptToken: TokenStateMachine.Kept) async {
    var pause = 1.0
    while !Task.isCancelled {
      do throws(BusError) {
        let event = try await respond(key, keptToken)
        guard !Task.isCancelled else { return }
        asking[key] = nil
        handle(event)
        return askForTokens()
      } catch {
        guard error.code != .closed else { return }
        guard (try? await machine.sleep(until: machine.now.addingTimeInterval(pause))) != nil else { return }
        pause = min(pause * 2, 60)
      }
    }
  }

  private func respond(_ key: TokenKey, _ keptToken: TokenStateMachine.Kept) async throws(BusError)
    -> TokenStateMachine.Event
  {
    do throws(BusError) {
      if keptToken.phase == .releasing {
        _ = try await bus.request(
          ReleaseToken(bundle: key.bundle, use: key.use), to: .pushServer, within: .seconds(86_400),
          whenUnreachable: .wait)
        return .released(key)
      }
      let request = IssueToken(bundle: key.bundle, use: key.use, environment: keptToken.environment)
      let reply = try await bus.request(
        request, to: .pushServer, within: .seconds(86_400), whenUnreachable: .wait)
      return .issued(key, reply.token)
    } catch {
      throw error  // back on this actor, see BusConnection
    }
  }

  // MARK: Authors

  func notify(_ address: Address, _ call: TokenStateMachine.TokenNotice) {
    begin(address) { [bus, deadline] service in
      do throws(BusError) {
        switch call {
        case .widgets(let request):
          _ = try await bus.request(request, to: address, within: deadline, whenUnreachable: .wait)
        case .controls(let request):
          _ = try await bus.request(request, to: address, within: deadline, whenUnreachable: .wait)
        }
        await service.ended(.notified(address, call))
      } catch {
        guard error.code != .closed else { return }
        await service.ended(.notNotified(address, call))
      }
    }
  }

  func notify(_ address: Address, app: String, token: String) {
    begin(address) { [bus] service in
      do throws(BusError) {
        try await bus.deliver(AppTokenChanged(token: token), to: address)
        await service.ended(.appNotified(app: app, token))
      } catch {
        // The app has exited or refuses the event: it requests its token at its next launch.
      }
    }
  }

  func notify(_ app: Address, _ notification: PushedNotification) {
    let id = notification.uniqueID
    let status = core.state.settings.notificationAccess(of: notification.subject.bundle).status
    let isPresented =
      notification.type == .alert && core.state.launching.isInFront(app)
      && [.authorized, .provisional].contains(status)
    begin(app) { [bus, deadline] service in
      let request = ReceiveNotification(uniqueID: id, payload: notification.payload, isPresented: isPresented)
      do throws(BusError) {
        let reply = try await bus.request(
          request, to: app, id: id, context: MessageContext(correlation: id), within: deadline, whenUnreachable: .wait)
        await service.ended(.answered(id, reply))
      } catch {
        guard error.code != .closed else { return }
        await service.ended(error.code == .deadline ? .overran(id) : .closed(id, .discarded, "\(error)"))
      }
    }
  }

  /// Starts a call to a process instance. The call is cancelled when the instance ends.
  private func begin(_ address: Address, _ call: @escaping @Sendable (PushService) async -> Void) {
    let number = UUID()
    let task = tasks.start {
      await call(self)
      await self.endCall(number)
    }
    if let task { calls[number] = (address, task) }
  }

  private func endCall(_ number: UUID) { calls[number] = nil }

  private func ended(_ event: TokenStateMachine.Event) {
    if !Task.isCancelled { handle(event) }
  }

  private func ended(_ event: NotificationStateMachine.Event) {
    if !Task.isCancelled { core.handle(.notifications([event])) }
  }

  // MARK: Steps

  /// How many reports may be unacknowledged at once.
  private static let window = 100

  /// Reports the progress of notifications to the push server, in order.
  func report() {
    while sentCount < reports.count, sentCount < Self.window {
      let report = reports[sentCount]
      sentCount += 1
      bus.submit(
        report.progress, to: .pushServer, id: report.envelope,
        context: MessageContext(correlation: report.progress.uniqueID)
      ) { [weak self] result in
        if case .failure(let error) = result, error.code == .closed { return }
        self?.tasks.start { await self?.acknowledge(report.number) }
      }
    }
  }

  private func acknowledge(_ number: Int64) {
    guard core.failure == nil, let index = reports.firstIndex(where: { $0.number == number }) else { return }
    reports.remove(at: index)
    sentCount -= 1
    acknowledged.append(number)
    // Reports that are acknowledged until this task runs are deleted in the same transaction.
    if acknowledged.count == 1 { tasks.start { await self.forget() } }
    report()
  }

  private func forget() {
    let numbers = acknowledged
    acknowledged = []
    do {
      try store.remove(numbers)
    } catch {
      core.fail("the pushes cannot be written: \(error)")
    }
  }
}
