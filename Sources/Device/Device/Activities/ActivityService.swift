// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import Foundation
import GRDB
package import LiveActivities
package import MessageBus
package import Messages
import OwnedTasks
package import Stores
package import Timekeeping

/// The service of the device's Live Activities: keeps them, asks the extensions for their views, and tells the processes
/// of each app of every change. State is persisted before it is announced.
@DeviceActor package final class ActivityService: DevicePart {
  /// Asks an extension, by its bundle identifier, for views; launches it first.
  package typealias ArchiveViews =
    @Sendable (_ widgetExtension: String, ArchiveActivity) async -> Result<ActivityViews, BusError>

  /// What the previous host wrote.
  package struct Stored: Sendable {
    package let stateMachine: ActivityStateMachine
    fileprivate let store: ActivityStore
    fileprivate let views: [Int: ActivityStore.Views]

    /// - Throws: errors of the database.
    package init(
      _ transactions: DeviceTransactions, apps: [ActivityApp], limits: ActivityLimits, hasStartTokens: Bool
    ) throws {
      store = try ActivityStore(transactions)
      stateMachine = ActivityStateMachine(
        apps: apps, limits: limits, hasStartTokens: hasStartTokens,
        state: try store.state() ?? ActivityStateMachine.State())
      views = try store.views()
    }
  }

  nonisolated let concerns: Set<DeviceConcern> = [.activities]
  nonisolated let core: DeviceCore
  private let store: ActivityStore
  private let bus: any BusConnection
  private let clock: any ControllableClock
  private let machine: any ControllableClock
  private var archiveViews: ArchiveViews?
  private let environment: @Sendable (_ widgetExtension: String) -> WidgetEnvironment
  private let backoff: Backoff
  /// As the database has it.
  private var stored: ActivityStateMachine.State
  private var views: [Int: ActivityStore.Views]
  /// The processes that receive changes, with what each received last.
  private var followers: [Address: AppActivities] = [:]
  private var waiting: [String: [UUID: CheckedContinuation<Void, Never>]] = [:]
  private var archiving: Set<Int> = []
  private let tasks: TaskOwner

  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - machine: the clock of pauses before an extension is asked again.
  ///   - backoff: these pauses.
  ///   - environment: that of the Lock Screen presentation for an extension.
  package nonisolated init(
    _ stored: Stored, core: DeviceCore, bus: any BusConnection, clock: any ControllableClock,
    machine: any ControllableClock = AdjustableClock(.running(ahead: 0), executor: DeviceActor.executor),
    backoff: Backoff = Backoff(first: 1, limit: 60),
    environment: @escaping @Sendable (_ widgetExtension: String) -> WidgetEnvironment
  ) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.core = core
    store = stored.store
    self.stored = stored.stateMachine.state
    views = stored.views
    self.bus = bus
    self.clock = clock
    self.machine = machine
    self.backoff = backoff
    self.environment = environment
  }

  /// Resumes after a host restart.
  package func begin(archiveViews: @escaping ArchiveViews) {
    self.archiveViews = archiveViews
    core.handle(.activities(.advance))
  }

  /// Cancels the requests that are under way; the next instance repeats them.
  package func leave() async {
    core.stop()
    for app in waiting.keys { resumeWaiting(app) }
    await tasks.end()
  }

  // MARK: Queries

  package var stateMachine: ActivityStateMachine { core.state.activities }
  private var activities: ActivityStateMachine { core.state.activities }

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
    try reply(.request(request, app: app, because: cause, context))
  }

  /// `activity.change`
  ///
  /// - Parameter app: the app whose activity it must be; `nil`: of any.
  /// - Throws: `no-such-activity`, `activity-too-large`, `bad-activity-content` (definite), `failed`.
  package func change(
    _ request: ChangeActivity, of app: String?, because cause: ActivityMoved.Cause, _ context: MessageContext
  ) throws(BusError) -> AppActivities {
    try reply(.change(request, of: app, because: cause, context))
  }

  private func reply(_ event: ActivityEvent) throws(BusError) -> AppActivities {
    guard case .activities(let all) = try core.ask(.activities(event)) else { throw DeviceCore.noReply }
    return all
  }

  /// `activity.allow`
  ///
  /// - Throws: `failed`.
  package func allow(_ request: AllowActivities, _ context: MessageContext) throws(BusError) {
    _ = try core.ask(.activities(.allow(request, context)))
  }

  /// `activity.list` of a process, which receives changes from now on.
  package func follow(_ process: Address, app: String) -> AppActivities {
    let now = activities.activities(of: app)
    followers[process] = now
    if hasTokens(app) { resumeWaiting(app) }
    return now
  }

  // MARK: Input from other services

  /// An extension is ready and reported the types of attributes that it shows.
  ///
  /// - Throws: `failed`.
  package func learned(_ widgetExtension: String, _ declarations: [ActivityDeclaration]) throws(BusError) {
    _ = try core.ask(.activities(.declared(bundle: widgetExtension, declarations)))
  }

  /// A process instance ended.
  func ended(_ process: Address) { followers[process] = nil }

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

  func save(_ step: DeviceStep) throws {
    guard activities.state != stored else { return }
    try store.save(activities.state)
    stored = activities.state
    let left = Set(stored.activities.map(\.number))
    views = views.filter { left.contains($0.key) }
  }

  func perform(_ action: ActivityAction) {
    switch action {
    case .moved(let notice, let context): bus.record(notice, context: context)
    case .changed(let context): tellFollowers(context)
    case .started: break
    }
  }

  func settle() {
    for app in waiting.keys where hasTokens(app) { resumeWaiting(app) }
    archiveWhatIsNew()
  }

  private func tellFollowers(_ context: MessageContext) {
    for (process, sent) in followers.sorted(by: { $0.key.text < $1.key.text }) {
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

  // MARK: Views

  /// Asks for the views of each activity that has a newer version than its views.
  private func archiveWhatIsNew() {
    guard core.failure == nil, let archiveViews else { return }
    for kept in activities.state.activities where kept.archived != kept.version && !archiving.contains(kept.number) {
      archiving.insert(kept.number)
      tasks.start(holding: clock) { await self.archive(kept.number, with: archiveViews) }
    }
  }

  /// Asks until the extension has archived the newest version, or states that it cannot.
  private func archive(_ number: Int, with archiveViews: ArchiveViews) async {
    defer { archiving.remove(number) }
    var failures = 0
    while core.failure == nil, !Task.isCancelled, let kept = activities.activity(number), kept.archived != kept.version
    {
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
    // The device may end, and the activity can be gone by now.
    guard core.failure == nil, activities.activity(kept.number) != nil else { return }
    if let views {
      let new = ActivityStore.Views(version: kept.version, views: views)
      do {
        // In the transaction of the event.
        try store.save(new, of: kept.number)
      } catch {
        return core.fail("the Live Activities cannot be written: \(error)")
      }
      self.views[kept.number] = new
    }
    core.handle(.activities(.archived(kept.number, version: kept.version, note: note, text: text)))
  }
}
