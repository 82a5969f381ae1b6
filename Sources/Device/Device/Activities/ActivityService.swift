// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import Foundation
import GRDB
package import MessageBus
package import Messages
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
      _ transactions: DeviceTransactions, apps: [InstalledApp], limits: ActivityLimits, hasStartTokens: Bool
    ) throws {
      store = try ActivityStore(transactions)
      stateMachine = ActivityStateMachine(
        apps: apps, limits: limits, hasStartTokens: hasStartTokens,
        state: try store.state() ?? ActivityStateMachine.State())
      views = try store.views()
    }
  }

  package nonisolated let concerns: Set<DeviceConcern> = [.activities]
  nonisolated let core: DeviceCore
  private let store: ActivityStore
  private let bus: any BusConnection
  private let clock: any ControllableClock
  private let machine: any ControllableClock
  private var archiveViews: ArchiveViews?
  private let environment: WidgetEnvironment
  private let backoff: Backoff
  /// As the database has it.
  private var storedActivities: ActivityStateMachine.State
  private var views: [Int: ActivityStore.Views]
  /// The processes that receive changes, with what each received last.
  private var followers: [Address: AppActivities] = [:]
  /// Callers that wait for the tokens of an app's activities.
  private let tokenWaiters = Waiters<String>()
  private var archiving: Set<Int> = []
  private let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)

  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - machine: the clock of pauses before an extension is asked again.
  ///   - backoff: these pauses.
  ///   - environment: for the Lock Screen presentation, without the extension's settings.
  package nonisolated init(
    _ storedState: Stored, core: DeviceCore, bus: any BusConnection, clock: any ControllableClock,
    machine: any ControllableClock = AdjustableClock(.running(ahead: 0), executor: DeviceActor.executor),
    backoff: Backoff = Backoff(first: 1, limit: 60),
    environment: WidgetEnvironment
  ) {
    self.core = core
    store = storedState.store
    self.storedActivities = storedState.stateMachine.state
    views = storedState.views
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
    tokenWaiters.resume()
    await tasks.end()
  }

  // MARK: Queries

  private var stateMachine: ActivityStateMachine { core.state.activities }

  /// The activities with their views, the most relevant first; of equal ones the latest first.
  package var shown: [ShowScreen.LiveActivity] {
    let sorted = stateMachine.shown.sorted {
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

  /// `activity.list` of a process, which receives changes from now on.
  package func follow(_ process: Address, app: String) -> AppActivities {
    let now = stateMachine.activities(of: app)
    followers[process] = now
    tokenWaiters.resume { hasTokens($0) }
    return now
  }

  /// Returns when the app has asked for its activities and all of them have a token; or after `limit`, in machine time.
  package func awaitTokens(ofApp app: String, within limit: Duration) async {
    guard core.failure == nil, !hasTokens(app) else { return }
    for await _ in tokenWaiters.stream(until: app, within: limit) {}
  }

  private func hasTokens(_ app: String) -> Bool {
    followers.keys.contains { $0.role == .app && $0.bundleIdentifier == app }
      && stateMachine.withToken.allSatisfy { $0.app != app || $0.token != nil }
  }

  // MARK: Changes

  package func save(_ step: DeviceStep) throws {
    guard stateMachine.state != storedActivities else { return }
    try store.save(stateMachine.state)
    storedActivities = stateMachine.state
    let left = Set(storedActivities.activities.map(\.number))
    views = views.filter { left.contains($0.key) }
  }

  package func perform(_ action: DeviceAction) {
    if case .instanceEnded(let process, _) = action { followers[process] = nil }
    guard case .activities(let action) = action else { return }
    switch action {
    case .moved(let notice, let context): bus.record(notice, context: context)
    case .changed(let context): tellFollowers(context)
    case .started: break
    }
  }

  package func settle() {
    tokenWaiters.resume { hasTokens($0) }
    archiveWhatIsNew()
  }

  private func tellFollowers(_ context: MessageContext) {
    for (process, sentState) in followers.sorted(by: { $0.key.text < $1.key.text }) {
      guard let app = stateMachine.app(of: process.bundleIdentifier ?? "") else { continue }
      var now = stateMachine.activities(of: app)
      // The revision counts the changes of all apps.
      var same = sentState
      same.revision = now.revision
      guard same != now else { continue }
      followers[process] = now
      now.revision = stateMachine.state.revision
      bus.submit(ActivitiesChanged(now), to: process, id: UUID(), context: context) { _ in
        // A process that has ended reads the activities when it asks for them.
      }
    }
  }

  // MARK: Views

  /// Asks for the views of each activity that has a newer version than its views.
  private func archiveWhatIsNew() {
    guard core.failure == nil, let archiveViews else { return }
    for kept in stateMachine.state.activities where kept.archived != kept.version && !archiving.contains(kept.number) {
      archiving.insert(kept.number)
      tasks.start(holding: clock) { await self.archive(kept.number, with: archiveViews) }
    }
  }

  /// Asks until the extension has archived the newest version, or states that it cannot.
  private func archive(_ number: Int, with archiveViews: ArchiveViews) async {
    defer { archiving.remove(number) }
    var failures = 0
    while core.failure == nil, !Task.isCancelled, let keptActivity = stateMachine.activity(number),
      keptActivity.archived != keptActivity.version
    {
      let record = keptActivity.record
      guard let bundle = stateMachine.widgetExtension(of: record.app, showing: record.attributesType) else {
        let note = "no extension of \(record.app) has an ActivityConfiguration for \(record.attributesType)"
        return set(nil, keptActivity, note: note)
      }
      var environment = environment
      environment.settings = core.state.settings.settings(of: .widgetExtension(core.state.facts.device, bundle))
      let question = ArchiveActivity(
        id: record.id, attributesType: record.attributesType, attributes: record.attributes,
        state: record.content.state, isStale: record.phase == .stale, environment: environment)
      switch await archiveViews(bundle, question) {
      case .success(let views): set(views, keptActivity, note: nil)
      case .failure(let error):
        // The author's code refuses this content, and would do so again.
        if [.badActivityContent, .archiveTooLarge, .tooLarge].contains(error.code) {
          set(nil, keptActivity, note: error.message, isUndecodable: error.code == .badActivityContent)
          continue
        }
        failures += 1
        let end = machine.now.addingTimeInterval(backoff.pause(after: failures))
        guard error.code != .closed, (try? await machine.sleep(until: end)) != nil else { return }
      }
    }
  }

  private func set(
    _ views: ActivityViews?, _ keptActivity: ActivityStateMachine.Kept, note: String?, isUndecodable: Bool = false
  ) {
    let text = views?[.lockScreen]?.view.lines ?? []
    // The device may end, and the activity can be gone by now.
    guard core.failure == nil, stateMachine.activity(keptActivity.number) != nil else { return }
    if let views {
      let new = ActivityStore.Views(version: keptActivity.version, views: views)
      do {
        // In the transaction of the event.
        try store.save(new, of: keptActivity.number)
      } catch {
        return core.fail("the Live Activities cannot be written: \(error)")
      }
      self.views[keptActivity.number] = new
    }
    core.handle(
      .activities(
        .archived(
          keptActivity.number, version: keptActivity.version, note: note, isUndecodable: isUndecodable, text: text)))
  }
}

/// Persists the activities, and the views that the extensions archived.
struct ActivityStore: Sendable {
  /// The archived views of one version of an activity.
  struct Views: Codable, Sendable {
    let version: Int
    let views: ActivityViews
  }

  private let transactions: DeviceTransactions

  init(_ transactions: DeviceTransactions) throws {
    self.transactions = transactions
    try transactions.database.createTables(
      of: "activities",
      """
      CREATE TABLE activities (id INTEGER PRIMARY KEY, state BLOB NOT NULL);
      CREATE TABLE activityViews (number INTEGER PRIMARY KEY, views BLOB NOT NULL);
      """)
  }

  func state() throws -> ActivityStateMachine.State? {
    try transactions.database.read { db in
      try Data.fetchOne(db, sql: "SELECT state FROM activities").map { try ActivityStateMachine.State(stored: $0) }
    }
  }

  /// The views by the number of their activity.
  func views() throws -> [Int: Views] {
    try transactions.database.read { db in
      var all: [Int: Views] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT * FROM activityViews") {
        all[row["number"]] = try row.decoded("views")
      }
      return all
    }
  }

  /// Writes the state, and deletes the views of activities that are gone, with the next transaction.
  func save(_ state: ActivityStateMachine.State) throws {
    let left = state.activities.map(\.number)
    try transactions.write(.lasting) { db in
      try db.run("INSERT OR REPLACE INTO activities (id, state) VALUES (1, ?)", [try BodyCoding.data(state)])
      for number in try Int.fetchAll(db, sql: "SELECT number FROM activityViews") where !left.contains(number) {
        try db.run("DELETE FROM activityViews WHERE number = ?", [number])
      }
    }
  }

  /// Writes the views of an activity, with the next transaction.
  func save(_ views: Views, of number: Int) throws {
    try transactions.write(.lasting) { db in
      try db.run(
        "INSERT OR REPLACE INTO activityViews (number, views) VALUES (?, ?)", [number, try BodyCoding.data(views)])
    }
  }
}
