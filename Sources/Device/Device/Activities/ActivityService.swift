// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import Foundation
package import GRDB
package import LiveActivities
package import MessageBus
package import Messages
import OwnedTasks
package import Stores
package import Timekeeping

/// What Activities requests from the rest of the host, in order.
package enum ActivityOutput: Sendable, Equatable {
  /// These activities and types of attributes need tokens.
  case tokensChanged
  /// A push started an activity of this app, which must receive its token.
  case startedByPush(app: String)
  /// The database can no longer be written: the host must stop.
  case broken(String)
}

/// The service of the device's Live Activities: keeps them, asks the extensions for their views, and tells the processes
/// of each app of every change. State is persisted before it is announced.
@DeviceActor package final class ActivityService {
  /// Asks an extension, by its bundle identifier, for views; launches it first.
  package typealias ArchiveViews =
    @Sendable (_ widgetExtension: String, ArchiveActivity) async -> Result<ActivityViews, BusError>

  /// In order.
  package nonisolated let outputs: Outputs<ActivityOutput>
  private let store: ActivityStore
  private let bus: any BusConnection
  private let clock: any ControllableClock
  private let machine: any ControllableClock
  private var archiveViews: ArchiveViews?
  private let environment: @Sendable (_ widgetExtension: String) -> WidgetEnvironment
  private let backoff: Backoff
  private var activities: ActivityStateMachine
  private var views: [Int: ActivityStore.Views]
  /// The processes that receive changes, with what each received last.
  private var followers: [Address: AppActivities] = [:]
  private var waiting: [String: [UUID: CheckedContinuation<Void, Never>]] = [:]
  private var archiving: Set<Int> = []
  private var alarm = StateMachineAlarm()
  /// Why the database cannot be written, or that the service has ended. Once it is set, nothing is acknowledged.
  private var failure: BusError?
  private let tasks: TaskOwner

  /// Reads the persistent state.
  ///
  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - machine: the clock of pauses before an extension is asked again.
  ///   - backoff: these pauses.
  ///   - environment: that of the Lock Screen presentation for an extension.
  /// - Throws: errors of the database.
  package nonisolated init(
    apps: [ActivityApp], limits: ActivityLimits, hasStartTokens: Bool, database: any DatabaseWriter,
    bus: any BusConnection, clock: any ControllableClock,
    machine: any ControllableClock = AdjustableClock(.running(ahead: 0), executor: DeviceActor.executor),
    backoff: Backoff = Backoff(first: 1, limit: 60),
    environment: @escaping @Sendable (_ widgetExtension: String) -> WidgetEnvironment,
    transactions: DeviceTransactions? = nil
  ) throws {
    let transactions = transactions ?? DeviceTransactions(immediate: database)
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    store = try ActivityStore(transactions)
    self.bus = bus
    self.clock = clock
    self.machine = machine
    self.backoff = backoff
    self.environment = environment
    activities = ActivityStateMachine(
      apps: apps, limits: limits, hasStartTokens: hasStartTokens,
      state: try store.state() ?? ActivityStateMachine.State())
    views = try store.views()
    outputs = Outputs(clock)
  }

  /// Resumes after a host restart.
  package func begin(archiveViews: @escaping ArchiveViews) {
    self.archiveViews = archiveViews
    _ = try? alter { activities, now throws(BusError) in activities.advance(to: now) }
    setAlarm()
    archiveWhatIsNew()
  }

  /// Cancels the alarm and the requests that are under way; the next instance repeats them.
  package func leave() async {
    if failure == nil { failure = BusError(.closed, "the activity service has ended", isDefinite: false) }
    for app in waiting.keys { resumeWaiting(app) }
    let pending = alarm.take()
    await pending?.end()
    await tasks.end()
  }

  // MARK: Queries

  /// A copy of the current state.
  package var stateMachine: ActivityStateMachine { activities }

  /// The activities with their views, the most relevant first; of equal ones the latest first.
  package var shown: [ShowScreen.LiveActivity] {
    let sorted = activities.state.activities.sorted {
      let (one, other) = ($0.record.content.relevanceScore, $1.record.content.relevanceScore)
      return one == other ? $0.number > $1.number : one > other
    }
    return sorted.map { kept in
      var views = views[kept.number]?.views
      views?.images = nil
      return ShowScreen.LiveActivity(activity: kept.record, place: nil, views: views, note: kept.note)
    }
  }

  /// A piece of an image of the archived views; `nil` if no activity shows it.
  package func image(_ request: ReadImage) -> ReadImage.Reply? {
    for views in views.values {
      guard let data = views.views.images?[request.digest] else { continue }
      let start = min(max(0, request.offset), data.count)
      return ReadImage.Reply(
        piece: Data(data.dropFirst(start).prefix(ReadImage.pieceLimit)), count: data.count)
    }
    return nil
  }

  // MARK: Messages

  /// `activity.request`
  ///
  /// - Parameter app: the app's bundle identifier.
  /// - Throws: `activities-denied`, `activity-too-large`, `too-many-activities`, `bad-activity-content` (definite),
  ///   `failed`.
  package func request(
    _ request: RequestActivity, app: String, because cause: ActivityMoved.Cause, _ context: MessageContext
  ) throws(BusError) -> AppActivities {
    try alter(context) { activities, now throws(BusError) in
      try activities.request(request, app: app, because: cause, now: now)
    }
    return activities.activities(of: app)
  }

  /// `activity.change`
  ///
  /// - Parameter app: the app whose activity it must be; `nil`: of any.
  /// - Throws: `no-such-activity`, `activity-too-large`, `bad-activity-content` (definite), `failed`.
  package func change(
    _ request: ChangeActivity, of app: String?, because cause: ActivityMoved.Cause, _ context: MessageContext
  ) throws(BusError) -> AppActivities {
    let owner = try alter(context) { activities, now throws(BusError) in
      try activities.change(request.id, request.change, of: app, because: cause, now: now)
    }
    return activities.activities(of: owner)
  }

  /// `activity.allow`
  ///
  /// - Throws: `failed`.
  package func allow(_ request: AllowActivities, _ context: MessageContext) throws(BusError) {
    try alter(context) { activities, now throws(BusError) in
      activities.allow(request.app, request.isAllowed, now: now)
    }
  }

  /// `activity.list` of a process, which receives changes from now on.
  package func follow(_ process: Address, app: String) -> AppActivities {
    let now = activities.activities(of: app)
    followers[process] = now
    if hasTokens(app) { resumeWaiting(app) }
    return now
  }

  /// A notification for an activity, or one that starts one. Persisted when this returns.
  ///
  /// - Throws: `failed`.
  package func receive(_ push: PushedNotification) throws(BusError) -> ActivityStateMachine.PushResult {
    let context = MessageContext(correlation: push.uniqueID)
    let result = try alter(context) { activities, now throws(BusError) in activities.receive(push, now: now) }
    if let app = result.started { outputs.yield(.startedByPush(app: app)) }
    return result
  }

  // MARK: Input from other services

  /// An extension is ready and reported the types of attributes that it shows.
  ///
  /// - Throws: `failed`.
  package func learned(_ widgetExtension: String, _ declarations: [ActivityDeclaration]) throws(BusError) {
    // Most extensions have none.
    if declarations.isEmpty, activities.state.declarations[widgetExtension] == nil { return }
    try alter { activities, _ throws(BusError) in activities.declare(widgetExtension, declarations) }
  }

  /// The token of an activity, or one that starts activities.
  ///
  /// - Throws: `failed`.
  package func setToken(_ app: String, _ use: PushTokenUse, _ token: String?) throws(BusError) {
    switch use {
    case .liveActivity(let number):
      try alter { activities, _ throws(BusError) in activities.setToken(number, token) }
    case .liveActivityStarts(let type):
      try alter { activities, _ throws(BusError) in activities.setStartToken(app, type, token) }
    case .app, .widgets, .control, .fleet: break
    }
  }

  /// The settings of the device changed: all views are archived again.
  package func settingsChanged() {
    _ = try? alter { activities, _ throws(BusError) in activities.archiveAgain() }
  }

  /// A process instance ended.
  package func ended(_ process: Address) { followers[process] = nil }

  /// Returns when the app has asked for its activities and all of them have a token; or after `limit`, by the machine's
  /// clock.
  package func awaitTokens(ofApp app: String, within limit: Duration) async {
    guard !hasTokens(app) else { return }
    let id = UUID()
    let end = machine.now.addingTimeInterval(Double(limit.components.seconds))
    let patience = tasks.start { [machine, weak self] in
      guard (try? await machine.sleep(until: end)) != nil else { return }
      await self?.stopWaiting(app, id)
    }
    guard let patience else { return }
    await withCheckedContinuation { continuation in
      if hasTokens(app) { continuation.resume() } else { waiting[app, default: [:]][id] = continuation }
    }
    patience.cancel()
  }

  private func hasTokens(_ app: String) -> Bool {
    followers.keys.contains { $0.role == .app && $0.bundleIdentifier == app }
      && activities.withToken.allSatisfy { $0.app != app || $0.token != nil }
  }

  private func stopWaiting(_ app: String, _ id: UUID) { waiting[app]?.removeValue(forKey: id)?.resume() }

  private func resumeWaiting(_ app: String) {
    for continuation in waiting.removeValue(forKey: app)?.values.map(\.self) ?? [] { continuation.resume() }
  }

  // MARK: Changes

  /// Persists a change. One that cannot be written ends the host, and nothing that follows from it is sent.
  @discardableResult
  private func alter<R: Sendable>(
    _ context: MessageContext = .none, views new: [Int: ActivityStore.Views] = [:],
    _ body: (inout ActivityStateMachine, Date) throws(BusError) -> R
  ) throws(BusError) -> R {
    if let failure { throw failure }
    var changed = activities
    let result = try body(&changed, clock.now)
    let moved = changed.moved
    changed.moved = []
    if changed.state != activities.state || !new.isEmpty {
      do {
        try store.save(changed.state, views: new)
      } catch {
        throw fail(error)
      }
    }
    let before = activities
    activities = changed
    views.merge(new) { $1 }
    let left = Set(activities.state.activities.map(\.number))
    for number in views.keys where !left.contains(number) { views[number] = nil }
    for notice in moved { bus.record(notice, context: context) }
    if before.withToken != activities.withToken || before.startable != activities.startable {
      outputs.yield(.tokensChanged)
    }
    tellFollowers(context)
    for app in waiting.keys where hasTokens(app) { resumeWaiting(app) }
    setAlarm()
    archiveWhatIsNew()
    return result
  }

  private func fail(_ error: any Error) -> BusError {
    let reason = "the Live Activities cannot be written: \(error)"
    let failed = BusError(.failed, reason, isDefinite: false)
    failure = failed
    outputs.yield(.broken(reason))
    return failed
  }

  private func tellFollowers(_ context: MessageContext) {
    for (process, sent) in followers {
      guard let app = activities.app(of: process.bundleIdentifier ?? "") else { continue }
      var now = activities.activities(of: app)
      // The revision counts the changes of all apps.
      var same = sent
      same.revision = now.revision
      guard same != now else { continue }
      followers[process] = now
      now.revision = activities.state.revision
      bus.submit(ActivitiesChanged(now), to: process, id: UUID(), context: context) { _ in
        // A process that has ended reads the activities when it asks for them.
      }
    }
  }

  private func setAlarm() {
    alarm.set(failure == nil ? activities.next : nil, on: clock) { [weak self] in await self?.alarmFired($0) }
  }

  private func alarmFired(_ instant: Date) {
    guard alarm.takeFired(instant) else { return }
    _ = try? alter { activities, now throws(BusError) in activities.advance(to: max(now, instant)) }
  }

  // MARK: Views

  /// Asks for the views of each activity that has a newer version than its views.
  private func archiveWhatIsNew() {
    guard failure == nil, let archiveViews else { return }
    for kept in activities.state.activities where kept.archived != kept.version && !archiving.contains(kept.number) {
      archiving.insert(kept.number)
      tasks.start(holding: clock) { await self.archive(kept.number, with: archiveViews) }
    }
  }

  /// Asks until the extension has archived the newest version, or states that it cannot.
  private func archive(_ number: Int, with archiveViews: ArchiveViews) async {
    defer { archiving.remove(number) }
    var failures = 0
    while failure == nil, !Task.isCancelled, let kept = activities.activity(number), kept.archived != kept.version {
      let record = kept.record
      guard let bundle = activities.widgetExtension(of: record.app, showing: record.attributesType) else {
        let note = "no extension of \(record.app) has an ActivityConfiguration for \(record.attributesType)"
        return set(nil, kept, note: note)
      }
      let question = ArchiveActivity(
        id: record.id, attributesType: record.attributesType, attributes: record.attributes,
        state: record.content.state, isStale: record.phase == .stale, environment: environment(bundle))
      switch await archiveViews(bundle, question) {
      case .success(let views): set(views, kept, note: nil)
      case .failure(let error):
        // The author's code refuses this content, and would do so again.
        if [.badActivityContent, .archiveTooLarge, .tooLarge].contains(error.code) {
          set(nil, kept, note: error.message)
          continue
        }
        failures += 1
        let end = machine.now.addingTimeInterval(backoff.pause(after: failures))
        guard error.code != .closed, (try? await machine.sleep(until: end)) != nil else { return }
      }
    }
  }

  private func set(_ views: ActivityViews?, _ kept: ActivityStateMachine.Kept, note: String?) {
    let text = views?[.lockScreen]?.view.lines ?? []
    let new = views.map { [kept.number: ActivityStore.Views(version: kept.version, views: $0)] } ?? [:]
    // The activity can be gone by now.
    guard activities.activity(kept.number) != nil else { return }
    _ = try? alter(views: new) { activities, _ throws(BusError) in
      activities.archived(kept.number, version: kept.version, note: note, text: text)
    }
  }
}
