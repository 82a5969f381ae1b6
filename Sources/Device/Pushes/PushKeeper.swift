import Archive
package import Conversations
package import Foundation
package import GRDB
package import MessageBus
package import Timekeeping

/// The keeper of Pushes: it asks the push server for device tokens, has the authors' handlers called, and takes the
/// notifications that arrive.
///
/// Each fact is on disk before anybody is told of it.
package actor PushKeeper {
  /// In order; one reader.
  package nonisolated let intents: Intents<PushIntent>
  let store: PushesStore
  let bus: any BusConnection
  let machine: any DeviceClock
  let deadline: Duration
  private(set) var tokens: TokenDecision
  private(set) var notifications: NotificationDecision
  private(set) var isOnline = true
  /// What the push server is asked for, or given back.
  var asking: [TokenKey: Task<Void, Never>] = [:]
  /// Calls of handlers and of apps' delegates, by the process.
  var telling: [Address: [UUID: Task<Void, Never>]] = [:]
  /// Who waits for an app's token.
  var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
  /// Stations that the push server is yet to be told of, and how many of them are under way.
  var reports: [StationReport]
  var sent = 0
  var acknowledged: [Int64] = []
  /// Notifications that came and are not on disk yet, with whoever waits for that.
  private var arrived: [(notification: PushedNotification, then: CheckedContinuation<BusError?, Never>)] = []
  /// Why the database cannot be written: from then on nothing is acknowledged and nothing is done.
  private(set) var failure: BusError?
  private nonisolated let executor = RoomExecutor("pushes")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Reads what the last life of the host knew.
  ///
  /// - Parameters:
  ///   - device: its name.
  ///   - hasWidgetPushes: its system has pushes to widgets.
  ///   - clock: the device's.
  ///   - machine: what author's code runs in, and what the push server's log goes by.
  ///   - deadline: how long an author's code may take. Source: 30 s, "Pushing background updates to your app".
  /// - Throws: what the database says.
  package init(
    device: String, products: [PushProduct], hasWidgetPushes: Bool, database: any DatabaseWriter,
    bus: any BusConnection, clock: any DeviceClock, machine: any DeviceClock = AdjustableClock(.running(ahead: 0)),
    deadline: Duration = .seconds(30)
  ) throws {
    store = try PushesStore(database)
    self.bus = bus
    self.machine = machine
    self.deadline = deadline
    tokens = TokenDecision(
      products: products, hasWidgetPushes: hasWidgetPushes, state: try store.tokens() ?? TokenDecision.State())
    notifications = NotificationDecision(device: device, open: try store.open())
    reports = try store.reports()
    intents = Intents(clock)
  }

  /// Goes on with what the last life of the host left.
  ///
  /// - Parameters:
  ///   - widgets: those of each extension, by its bundle identifier.
  ///   - reloads: what Timelines knows of pushes.
  package func begin(_ widgets: [String: PushWidgets], reloads: [PlacementReport], isOnline: Bool) {
    self.isOnline = isOnline
    take(TokenDecision.Event.widgets(widgets))
    notifications.placements = placed
    take(TokenDecision.Event.began)
    take(NotificationDecision.Event.began(reloads))
    askForTokens()
    report()
  }

  // MARK: What the other rooms say

  /// The widgets of each extension, by its bundle identifier.
  package func know(_ widgets: [String: PushWidgets]) {
    take(TokenDecision.Event.widgets(widgets))
    notifications.placements = placed
    take(NotificationDecision.Event.placed)
  }

  private var placed: [String: [Int: String]] {
    Dictionary(
      uniqueKeysWithValues: tokens.apps.map { app in
        (app, Dictionary(uniqueKeysWithValues: tokens.placements(ofApp: app).map { ($0.id, $0.kind) }))
      })
  }

  /// A process runs and can be told things.
  package func awake(_ address: Address) {
    take(TokenDecision.Event.awake(address))
    take(NotificationDecision.Event.awake(address))
  }

  /// A life is over.
  package func ended(_ address: Address) {
    for task in telling.removeValue(forKey: address)?.values.map(\.self) ?? [] { task.cancel() }
    take(TokenDecision.Event.lifeEnded(address))
    take(NotificationDecision.Event.lifeEnded(address))
  }

  /// The device has a network, or none: without one it asks for no token.
  package func setOnline(_ isOnline: Bool) {
    self.isOnline = isOnline
    askForTokens()
  }

  /// The placements that a widget push is to be reloaded at now; none when a newer one took its place.
  package func begin(_ push: UUID) -> [Int] {
    take(NotificationDecision.Event.begin(push))
    return failure == nil ? notifications.outstanding(push) : []
  }

  /// What became of a widget push at a placement.
  package func reported(_ report: PlacementReport) { take(NotificationDecision.Event.reported(report)) }

  /// The app is in front or is woken for a notification: it is told as soon as it runs.
  package func expect(_ push: UUID) { take(NotificationDecision.Event.expect(push)) }

  /// The system showed it, and the app is not told.
  package func shown(_ push: UUID) { take(NotificationDecision.Event.shown(push)) }

  /// Nobody is told.
  package func discarded(_ push: UUID, _ reason: String) { take(NotificationDecision.Event.discarded(push, reason)) }

  // MARK: What is heard

  /// `push.deliver`. On disk when this returns; one that was taken before is taken no more. Those that come while others are
  /// written are written together.
  ///
  /// One that was on its way for so long that its expiration has passed is not taken: the bus keeps it for a device that is
  /// not there, and knows nothing of expirations.
  ///
  /// - Throws: `offline` and `expired` (definite); `failed` when it cannot be recorded.
  package func received(_ notification: PushedNotification) async throws(BusError) {
    if let failure { throw failure }
    guard isOnline else { throw BusError(.offline, "the device has no network") }
    let error = await withCheckedContinuation { then in
      arrived.append((notification, then))
      if arrived.count == 1 { Task { takeArrived() } }
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
        take(inTime.map { NotificationDecision.Event.received($0) }, taken: inTime.map(\.uniqueID))
      } catch {
        _ = fail(error)
      }
    }
    let expired = BusError(.expired, "its expiration passed before it came")
    for (notification, then) in arrived {
      then.resume(returning: failure ?? (late.contains(notification.uniqueID) ? expired : nil))
    }
  }

  /// `push.token.replaced`. On disk when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func replaced(_ event: TokenReplaced) throws(BusError) {
    take(TokenDecision.Event.replaced(TokenKey(event.bundle, event.use), event.token))
    if let failure { throw failure }
  }

  /// `push.info`.
  package func info(_ from: Received) -> AskPushInfo.Reply {
    AskPushInfo.Reply(token: tokens.pushInfo(askedBy: from.source))
  }

  /// `push.app.register`. Returns when there is a token, however long that takes.
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
      take(TokenDecision.Event.unregister(app: bundle))
      if let failure { throw failure }
      return RegisterForPushes.Reply(token: nil)
    case .register:
      take(TokenDecision.Event.register(app: bundle))
      if let failure { throw failure }
      guard tokens.isRegistered(bundle) else {
        throw BusError(
          .noPushEntitlement, "no valid “aps-environment” entitlement string found for application \(bundle)")
      }
      if tokens.token(key) == nil {
        await withCheckedContinuation { waiting[bundle, default: []].append($0) }
        // It was not for this process when it unregistered meanwhile.
      }
      return RegisterForPushes.Reply(token: tokens.token(key))
    }
  }

  // MARK: Taking events

  func take(_ event: TokenDecision.Event) {
    guard failure == nil else { return }
    let before = tokens.state
    let answers = tokens.take(event)
    if tokens.state != before {
      do {
        try store.save(tokens.state)
      } catch {
        _ = fail(error)
        return
      }
    }
    for answer in answers { perform(answer) }
  }

  func take(_ event: NotificationDecision.Event) { take([event]) }

  /// Takes events one after the other, and writes what they brought in one transaction.
  ///
  /// - Parameter taken: the notifications whose arrivals they are.
  private func take(_ events: [NotificationDecision.Event], taken: [UUID] = []) {
    guard failure == nil else { return }
    let before = notifications.open
    let answers = events.flatMap { notifications.take($0) }
    let stations = answers.compactMap { answer -> PushProgress? in
      guard case .station(let id, let name, let detail) = answer else { return nil }
      return PushProgress(uniqueID: id, station: PushStation(name, at: machine.now, detail: detail))
    }
    do {
      reports += try store.save(notifications.open, since: before, taken: taken, stations: stations)
    } catch {
      _ = fail(error)
      return
    }
    for answer in answers {
      switch answer {
      case .intent(let intent): intents.yield(intent)
      case .ask(let app, let notification): tell(app, notification)
      case .station: break
      }
    }
    report()
  }

  private func perform(_ answer: TokenDecision.Answer) {
    switch answer {
    case .intent(let intent): intents.yield(intent)
    case .tokensChanged: askForTokens()
    case .tell(let address, let telling): tell(address, telling)
    case .tellApp(let address, let app, let token): tell(address, app, token)
    case .registered(let app, _), .notRegistered(let app):
      for continuation in waiting.removeValue(forKey: app) ?? [] { continuation.resume() }
    case .withheld(let notice): bus.record(notice)
    }
  }

  func fail(_ error: any Error) -> BusError {
    let reason = "the pushes cannot be written: \(error)"
    let failed = BusError(.failed, reason, isDefinite: false)
    failure = failed
    intents.yield(.broken(reason))
    return failed
  }
}

extension PushedNotification {
  /// One that was late when it was accepted is attempted once all the same.
  fileprivate func hasExpiredOnItsWay(by now: Date) -> Bool {
    guard let expiration else { return false }
    return acceptedAt < expiration && expiration <= now
  }
}
