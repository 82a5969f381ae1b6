// SPDX-License-Identifier: Apache-2.0

package import Archive
import FaultPoints
package import Foundation
package import GRDB
package import MessageBus
package import Messages
import OwnedTasks
package import ProcessActions
package import Stores
package import Timekeeping

/// The push service: requests device tokens from the push server, calls the authors' push handlers, and receives
/// notifications.
///
/// State is persisted before it is announced.
@DeviceActor package final class PushService {
  /// In order.
  package nonisolated let outputs: Outputs<PushOutput>
  /// What the service needs from processes, in order.
  package nonisolated let processActions: Outputs<ProcessAction>
  let store: PushesStore
  let bus: any BusConnection
  let machine: any ControllableClock
  let deadline: Duration
  /// The notifications that are handled now.
  package nonisolated let underWay: UnderWay
  private(set) var tokens: TokenStateMachine
  private(set) var notifications: NotificationStateMachine
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
  /// Why the database cannot be written, or that the service has ended. Once it is set, nothing is acknowledged and no
  /// action is performed.
  private(set) var failure: BusError?
  let tasks: TaskOwner

  /// Reads the persistent state.
  ///
  /// - Parameters:
  ///   - device: its name.
  ///   - hasWidgetPushes: whether its system supports pushes to widgets.
  ///   - clock: the device's clock.
  ///   - underWay: a notification that it sets aside is discarded.
  ///   - machine: the clock for author's code and for the push server's log.
  ///   - deadline: how long author's code may take. Source: 30 s, "Pushing background updates to your app".
  /// - Throws: errors of the database.
  package nonisolated init(
    device: String, products: [PushProduct], hasWidgetPushes: Bool, database: any DatabaseWriter,
    bus: any BusConnection, clock: any ControllableClock, underWay: UnderWay = UnderWay(),
    machine: any ControllableClock = AdjustableClock(.running(ahead: 0), executor: DeviceActor.executor),
    deadline: Duration = .seconds(30), transactions: DeviceTransactions? = nil
  ) throws {
    let transactions = transactions ?? DeviceTransactions(immediate: database)
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    store = try PushesStore(transactions)
    self.bus = bus
    self.machine = machine
    self.deadline = deadline
    self.underWay = underWay
    tokens = TokenStateMachine(
      products: products, hasWidgetPushes: hasWidgetPushes, state: try store.tokens() ?? TokenStateMachine.State())
    notifications = NotificationStateMachine(device: device, open: try store.open())
    reports = try store.reports()
    lastReport = try store.lastReport()
    outputs = Outputs(clock)
    processActions = Outputs(clock)
  }

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
    tokens.activities = activities
    handle(TokenStateMachine.Event.widgets(widgets))
    notifications.placements = placed
    handle(TokenStateMachine.Event.began)
    handle(notifications.open.compactMap { open in reason(open.id).map { .discarded(open.id, $0) } })
    handle(NotificationStateMachine.Event.began(reloads))
    askForTokens()
    report()
  }

  /// Cancels the requests and calls that are under way; the next instance repeats them. Notifications that have arrived
  /// are persisted first. Nothing runs when this returns, and later messages fail with `closed`. Must be the last call.
  package func leave() async {
    if !arrived.isEmpty { takeArrived() }
    if failure == nil { failure = BusError(.closed, "the push service has ended", isDefinite: false) }
    for continuation in waiting.values.joined() { continuation.resume() }
    waiting = [:]
    await tasks.end()
  }

  // MARK: Input from other services

  /// The widgets of each extension, by its bundle identifier.
  package func setWidgets(_ widgets: [String: PushWidgets]) {
    handle(TokenStateMachine.Event.widgets(widgets))
    notifications.placements = placed
    handle(NotificationStateMachine.Event.placed)
  }

  /// The tokens that Live Activities need, and those that start them.
  package func setActivities(_ activities: Set<TokenKey>) { handle(TokenStateMachine.Event.activities(activities)) }

  private var placed: [TokenKey: [Int: String]] {
    tokens.reloadedPlacements.mapValues { Dictionary(uniqueKeysWithValues: $0.map { ($0.id, $0.kind) }) }
  }

  /// A process runs and can receive calls.
  package func awake(_ address: Address) {
    handle(TokenStateMachine.Event.awake(address))
    handle(NotificationStateMachine.Event.awake(address))
  }

  /// A process instance ended.
  package func ended(_ address: Address) {
    for task in notice.removeValue(forKey: address)?.values.map(\.self) ?? [] { task.cancel() }
    handle(TokenStateMachine.Event.instanceEnded(address))
    handle(NotificationStateMachine.Event.instanceEnded(address))
  }

  /// The device got or lost its network; without one it requests no tokens.
  package func setOnline(_ isOnline: Bool) {
    self.isOnline = isOnline
    askForTokens()
  }

  /// The result of a push at a placement.
  package func reported(_ report: PlacementReloadReport) { handle(NotificationStateMachine.Event.reported(report)) }

  /// Whether a notification is not fully processed.
  package func isOpen(_ push: UUID) -> Bool { notifications.notification(push) != nil }

  /// The app is in the foreground or is woken for a notification, which it receives as soon as it runs.
  package func expect(_ push: UUID) { handle(NotificationStateMachine.Event.expect(push)) }

  /// The system showed the notification, and the app does not receive it.
  package func shown(_ push: UUID) { handle(NotificationStateMachine.Event.shown(push)) }

  /// A Live Activity took the notification, or did not.
  package func performed(_ push: UUID, _ step: PushStep.Name, _ detail: String) {
    handle(NotificationStateMachine.Event.performed(push, step, detail))
  }

  /// The notification is dropped, and no process receives it.
  package func discarded(_ push: UUID, _ reason: String) {
    handle(NotificationStateMachine.Event.discarded(push, reason))
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
    if let failure { throw failure }
    let error = await withCheckedContinuation { (then: CheckedContinuation<BusError?, Never>) in
      if let failure { return then.resume(returning: failure) }
      arrived.append((notification, then))
      if arrived.count == 1 { tasks.start { await self.takeArrived() } }
    }
    if let error { throw error }
  }

  private func takeArrived() {
    let arrived = arrived
    self.arrived = []
    var late: Set<UUID> = []
    if failure == nil {
      do {
        var taken = try store.taken(among: arrived.map(\.notification.uniqueID))
        let new = arrived.map(\.notification).filter { taken.insert($0.uniqueID).inserted }
        late = Set(new.filter { $0.hasExpiredOnItsWay(by: machine.now) }.map(\.uniqueID))
        let inTime = new.filter { !late.contains($0.uniqueID) }
        let events = inTime.map { notification -> NotificationStateMachine.Event in
          reason(notification.uniqueID).map { .setAside(notification.uniqueID, $0) } ?? .received(notification)
        }
        handle(events, taken: inTime.map(\.uniqueID))
      } catch {
        _ = fail(error)
      }
    }
    let expired = BusError(.expired, "its expiration passed before it arrived")
    for (notification, then) in arrived {
      then.resume(returning: failure ?? (late.contains(notification.uniqueID) ? expired : nil))
    }
  }

  /// `push.token.replaced`. Persisted when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func replaced(_ event: TokenReplaced) throws(BusError) {
    handle(TokenStateMachine.Event.replaced(TokenKey(event.bundle, event.use), event.token))
    if let failure { throw failure }
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
      handle(TokenStateMachine.Event.unregister(app: bundle))
      if let failure { throw failure }
      return RegisterForPushes.Reply(token: nil)
    case .register:
      handle(TokenStateMachine.Event.register(app: bundle))
      if let failure { throw failure }
      guard tokens.isRegistered(bundle) else {
        throw BusError(
          .noPushEntitlement, "no valid “aps-environment” entitlement string found for application \(bundle)")
      }
      if tokens.token(key) == nil {
        await withCheckedContinuation { continuation in
          let isMissing = failure == nil && tokens.token(key) == nil
          if isMissing { waiting[bundle, default: []].append(continuation) } else { continuation.resume() }
        }
        if let failure { throw failure }
        // No token if the app unregistered in the meantime.
      }
      return RegisterForPushes.Reply(token: tokens.token(key))
    }
  }

  // MARK: Handling events

  func handle(_ event: TokenStateMachine.Event) {
    guard failure == nil else { return }
    let before = tokens.state
    let actions = tokens.handle(event)
    if tokens.state != before {
      do {
        try store.save(tokens.state)
      } catch {
        _ = fail(error)
        return
      }
    }
    for action in actions { perform(action) }
  }

  func handle(_ event: NotificationStateMachine.Event) { handle([event]) }

  /// Handles events in order, and writes their results in one transaction.
  ///
  /// - Parameter taken: the notifications whose arrival the events report.
  private func handle(_ events: [NotificationStateMachine.Event], taken: [UUID] = []) {
    guard failure == nil else { return }
    let before = notifications.open
    let actions = events.flatMap(perform)
    var steps: [StepReport] = []
    for case .step(let id, let name, let detail) in actions {
      lastReport += 1
      let progress = PushProgress(uniqueID: id, step: PushStep(name, at: machine.now, detail: detail))
      steps.append(StepReport(number: lastReport, envelope: UUID(), progress: progress))
    }
    do {
      try store.save(notifications.open, since: before, taken: taken, reports: steps)
      reports += steps
    } catch {
      _ = fail(error)
      return
    }
    for action in actions {
      switch action {
      // A newer push of the same transaction replaced it.
      case .output(.reload(let push, _)) where notifications.notification(push) == nil: break
      case .output(let output): outputs.yield(output)
      case .process(let action): processActions.yield(action)
      case .ask(let app, let notification): notify(app, notification)
      case .step: break
      }
    }
    report()
  }

  private func perform(_ event: NotificationStateMachine.Event) -> [NotificationStateMachine.Action] {
    guard case .received(let notification) = event else { return notifications.handle(event) }
    return underWay.handle(.notification(notification.uniqueID)) {
      FaultPoint.hostWithinNotification.reached()
      return notifications.handle(event)
    }
  }

  /// Why a notification is not handled; `nil` if it is. From now on it is forgotten.
  private func reason(_ id: UUID) -> String? {
    let reason = underWay.reason(.notification(id))
    if reason != nil { underWay.end(.notification(id)) }
    return reason
  }

  private func perform(_ action: TokenStateMachine.Action) {
    switch action {
    case .output(let output): outputs.yield(output)
    case .process(let action): processActions.yield(action)
    case .tokensChanged: askForTokens()
    case .notify(let address, let notice): notify(address, notice)
    case .notifyApp(let address, let app, let token): notify(address, app, token)
    case .registered(let app), .notRegistered(let app):
      for continuation in waiting.removeValue(forKey: app) ?? [] { continuation.resume() }
    case .withheld(let notice): bus.record(notice)
    }
  }

  func fail(_ error: any Error) -> BusError {
    let reason = "the pushes cannot be written: \(error)"
    let failed = BusError(.failed, reason, isDefinite: false)
    failure = failed
    outputs.yield(.broken(reason))
    return failed
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
