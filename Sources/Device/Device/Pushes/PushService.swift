// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import FaultPoints
package import Foundation
import GRDB
package import MessageBus
package import Messages
import OwnedTasks
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

  nonisolated let concerns: Set<DeviceConcern> = [.tokens, .notifications]
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
  private var taken: [UUID] = []
  private(set) var isOnline = true
  /// Pending requests and releases of tokens at the push server.
  var asking: [TokenKey: Task<Void, Never>] = [:]
  /// Pending calls of push handlers and app delegates, by process.
  var notice: [Address: [UUID: Task<Void, Never>]] = [:]
  /// Callers that wait for an app's token.
  var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
  /// Steps that the push server has not acknowledged; the first `sent` of them are under way.
  var reports: [StepReport]
  private var lastReport: Int64
  var sent = 0
  var acknowledged: [Int64] = []
  /// Notifications that arrived and are not persisted yet, each with the caller that waits for that.
  private var arrived: [(notification: PushedNotification, then: CheckedContinuation<BusError?, Never>)] = []
  let tasks: TaskOwner

  /// - Parameters:
  ///   - underWay: a notification that it sets aside is discarded.
  ///   - machine: the clock for author's code and for the push server's log.
  ///   - deadline: how long author's code may take. Source: 30 s, "Pushing background updates to your app".
  package nonisolated init(
    _ stored: Stored, core: DeviceCore, bus: any BusConnection, underWay: UnderWay = UnderWay(),
    machine: any ControllableClock = AdjustableClock(.running(ahead: 0), executor: DeviceActor.executor),
    deadline: Duration = .seconds(30)
  ) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    store = stored.store
    self.core = core
    self.bus = bus
    self.machine = machine
    self.deadline = deadline
    self.underWay = underWay
    storedTokens = stored.tokens.state
    storedNotifications = stored.notifications.open
    reports = stored.reports
    lastReport = stored.lastReport
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
    core.setActivityTokens(activities)
    core.handle(.pushWidgets(widgets, dropsRemoved: false))
    handle(.began)
    core.handle(
      .notifications(notifications.open.compactMap { open in reason(open.id).map { .discarded(open.id, $0) } }))
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
    for continuation in waiting.values.joined() { continuation.resume() }
    waiting = [:]
    await tasks.end()
  }

  /// Persists the notifications that have arrived.
  package func flush() {
    if !arrived.isEmpty { takeArrived() }
  }

  // MARK: Input from other services

  /// A process instance ended.
  func cancelCalls(to address: Address) {
    for task in notice.removeValue(forKey: address)?.values.map(\.self) ?? [] { task.cancel() }
  }

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
        !notifications.taken.contains($0.uniqueID) && ids.insert($0.uniqueID).inserted
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

  /// `push.token.replaced`. Persisted when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func replaced(_ event: TokenReplaced) throws(BusError) {
    try core.record(.tokens(.replaced(TokenKey(event.bundle, event.use), event.token)))
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
        await withCheckedContinuation { continuation in
          let isMissing = core.failure == nil && tokens.token(key) == nil
          if isMissing { waiting[bundle, default: []].append(continuation) } else { continuation.resume() }
        }
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
    taken = notifications.map(\.uniqueID)
    let handled = events.compactMap { event in if case .received(let one) = event { one.uniqueID } else { nil } }
    handle(events, of: handled)
  }

  func save(_ step: DeviceStep) throws {
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
    try store.save(notifications.open, since: storedNotifications, taken: taken, reports: steps)
    storedNotifications = notifications.open
    taken = []
    reports += steps
  }

  func settle() { report() }

  func perform(_ action: NotificationStateMachine.Action) {
    if case .ask(let app, let notification) = action { notify(app, notification) }
  }

  /// Why a notification is not handled; `nil` if it is. From now on it is forgotten.
  private func reason(_ id: UUID) -> String? {
    let reason = underWay.reason(.notification(id))
    if reason != nil { underWay.end(.notification(id)) }
    return reason
  }

  func perform(_ action: TokenStateMachine.Action) {
    switch action {
    case .output, .process: break
    case .tokensChanged: askForTokens()
    case .notify(let address, let notice): notify(address, notice)
    case .notifyApp(let address, let app, let token): notify(address, app, token)
    case .registered(let app), .notRegistered(let app):
      for continuation in waiting.removeValue(forKey: app) ?? [] { continuation.resume() }
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
