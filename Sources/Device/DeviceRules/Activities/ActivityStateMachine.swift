// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import Messages

/// The state machine of the device's Live Activities. A plain value without clock or I/O.
///
/// An activity has a version, which increases with each content and when it becomes stale: the extension archives the
/// views of each version once. What happened is in `moved`, in order.
package struct ActivityStateMachine: Sendable {
  package struct Kept: Codable, Sendable, Hashable {
    package fileprivate(set) var record: ActivityRecord
    fileprivate(set) var life: ActivityLifetime
    package fileprivate(set) var version = 1
    /// The version that the extension has archived, or could not archive.
    package fileprivate(set) var archived: Int?
    /// Why the views are not those of the newest version.
    package fileprivate(set) var note: String?
    /// The notification that changed it last, which can arrive again after a restart of the host.
    var lastPush: UUID?
    /// The notification that starts it, while the extension has not decoded its attributes and content: until then it is
    /// not shown and has no token.
    fileprivate(set) var start: UUID?
    /// Whether it is shown.
    package var isShown: Bool { start == nil }
    package var number: Int { record.number }
  }

  /// The persistent state.
  package struct State: Codable, Sendable, Equatable {
    /// In the order of their start.
    package fileprivate(set) var activities: [Kept] = []
    var lastNumber = 0
    package fileprivate(set) var revision = 0
    /// The types of attributes that each extension shows, by its bundle identifier.
    package fileprivate(set) var declarations: [String: [ActivityDeclaration]] = [:]
    /// The apps whose activities the user forbids.
    var forbidden: Set<String> = []
    /// The apps whose activities the user has allowed; of others the Lock Screen asks.
    var allowed: Set<String> = []
    /// The tokens that start activities, by app and by type of attributes.
    var startTokens: [String: [String: String]] = [:]
    /// The notifications that started an activity, the newest last.
    var starts: [UUID] = []
    package init() {}
  }

  /// The largest attributes and content together, in bytes. Source: *Displaying live data with Live Activities*, 4 KB.
  static let largest = 4_096
  /// How many notifications that started an activity are remembered.
  static let rememberedStarts = 100

  let apps: [InstalledApp]
  let limits: ActivityLimits
  /// Whether the system has tokens that start activities.
  private let hasStartTokens: Bool
  package internal(set) var state: State
  /// What happened since the service read it last.
  package var moved: [ActivityMoved] = []

  package init(
    apps: [InstalledApp], limits: ActivityLimits = ActivityLimits(), hasStartTokens: Bool = true, state: State = State()
  ) {
    self.apps = apps
    self.limits = limits
    self.hasStartTokens = hasStartTokens
    self.state = state
  }

  // MARK: Queries

  /// The activities of an app, as its processes see them.
  package func activities(of app: String) -> AppActivities {
    AppActivities(
      revision: state.revision, areEnabled: refusal(app) == nil,
      activities: shown.map(\.record).filter { $0.app == app }, startTokens: state.startTokens[app] ?? [:])
  }

  /// The activities of all apps.
  package var all: AppActivities {
    AppActivities(revision: state.revision, activities: shown.map(\.record))
  }

  /// The activities in the order of their start.
  package var shown: [Kept] { state.activities.filter(\.isShown) }

  package func activity(_ number: Int) -> Kept? { state.activities.first { $0.number == number } }

  /// The app of a product: an app itself, or that of an extension.
  package func app(of bundle: String) -> String? {
    apps.first { $0.products.contains { $0.bundleIdentifier == bundle } }?.bundle
  }

  /// The extension that shows an app's activities of a type.
  package func widgetExtension(of app: String, showing type: String) -> String? {
    apps.first { $0.bundle == app }?.extensions.compactMap(\.bundleIdentifier).first { bundle in
      state.declarations[bundle]?.contains { $0.attributesType == type } == true
    }
  }

  /// The activities that need tokens.
  package var withToken: [ActivityRecord] {
    shown.map(\.record).filter { $0.usesToken && !$0.awaitsConsent && $0.phase != .ended }
  }

  /// The types of attributes whose activities a backend may start, by app.
  var startable: [String: [String]] {
    guard hasStartTokens else { return [:] }
    return apps.reduce(into: [:]) { found, app in
      guard refusal(app.bundle) == nil else { return }
      let types = app.extensions.flatMap { state.declarations[$0.bundleIdentifier ?? ""] ?? [] }.map(\.attributesType)
      if !types.isEmpty { found[app.bundle] = Set(types).sorted() }
    }
  }

  /// The next date at which something is due; `nil` without activities.
  package var next: Date? { state.activities.map { $0.life.next(limits) }.min() }

  /// Why an app may have no activities; `nil` if it may.
  func refusal(_ bundle: String) -> String? {
    guard let app = apps.first(where: { $0.bundle == bundle }) else { return "the device has no app \(bundle)" }
    guard app.supportsActivities else { return "the Info.plist of \(bundle) has no NSSupportsLiveActivities" }
    return state.forbidden.contains(bundle) ? "the user does not allow Live Activities of \(bundle)" : nil
  }

  // MARK: The app, the extension and the user

  /// An activity is requested. One with the same id is returned as it is.
  ///
  /// - Throws: `activities-denied`, `no-push-entitlement`, `activity-too-large`, `too-many-activities`,
  ///   `bad-activity-content` (definite).
  package mutating func request(
    _ request: RequestActivity, app: String, because cause: ActivityMoved.Cause, now: Date
  ) throws(BusError) {
    try add(request, app: app, now: now).map { changed(.started, cause: cause, record: $0) }
    advance(to: now)
  }

  /// - Parameter start: the notification that starts it.
  /// - Returns: `nil` for one that exists.
  private mutating func add(
    _ request: RequestActivity, app: String, now: Date, start: UUID? = nil
  ) throws(BusError) -> ActivityRecord? {
    guard !state.activities.contains(where: { $0.record.id == request.id }) else { return nil }
    if let refusal = refusal(app) { throw BusError(.activitiesDenied, refusal) }
    guard !request.usesToken || apps.contains(where: { $0.bundle == app && $0.hasPushEntitlement }) else {
      throw BusError(
        .noPushEntitlement,
        "\(app) has no entitlement aps-environment, so an activity cannot have a token")
    }
    try check(request.content, attributes: request.attributes)
    let ownActivities = state.activities.filter { $0.record.app == app }
    guard ownActivities.count < limits.atATime else {
      throw BusError(
        .tooManyActivities, "\(app) has \(ownActivities.count) Live Activities, and the limit is \(limits.atATime)")
    }
    state.lastNumber += 1
    let record = ActivityRecord(
      number: state.lastNumber, id: request.id, app: app, attributesType: request.attributesType,
      attributes: request.attributes, content: request.content, startedAt: now, style: request.style,
      usesToken: request.usesToken,
      awaitsConsent: start != nil && limits.tokensNeedConsent && !state.allowed.contains(app))
    let life = ActivityLifetime(startedAt: now, staleAt: request.content.staleDate, limits)
    state.activities.append(Kept(record: record, life: life, start: start))
    return record
  }

  /// Updates, ends or dismisses an activity.
  ///
  /// - Parameters:
  ///   - id: its id, or its number.
  ///   - app: only an activity of this app; `nil`: of any.
  /// - Returns: the activity's app.
  /// - Throws: `no-such-activity`, `activity-too-large`, `bad-activity-content` (definite).
  @discardableResult
  package mutating func change(
    _ id: String, _ change: ChangeActivity.Change, of app: String?, because cause: ActivityMoved.Cause, now: Date
  ) throws(BusError) -> String {
    let index = state.activities.firstIndex {
      $0.isShown && ($0.record.id == id || "\($0.number)" == id) && (app == nil || $0.record.app == app)
    }
    guard let index else { throw BusError(.noSuchActivity, "no Live Activity has the id \(id)") }
    var keptActivity = state.activities[index]
    let owner = keptActivity.record.app
    switch change {
    case .update(let content, _, let timestamp):
      guard keptActivity.record.phase != .ended else { return owner }
      try check(content, attributes: keptActivity.record.attributes)
      guard (try? keptActivity.life.take(timestamp: timestamp?.timeIntervalSince1970)) != nil else { return owner }
      keptActivity.take(content)
      state.activities[index] = keptActivity
      changed(.updated, cause: cause, record: keptActivity.record)
    case .end(let content, let dismissal, let timestamp):
      guard keptActivity.record.phase != .ended else { return owner }
      if let content { try check(content, attributes: keptActivity.record.attributes) }
      guard (try? keptActivity.life.take(timestamp: timestamp?.timeIntervalSince1970)) != nil else { return owner }
      if let content { keptActivity.take(content) }
      let date: Date? =
        switch dismissal {
        case .standard: nil
        case .immediate: now
        case .after(let date): date
        }
      keptActivity.end(now, dismissAt: date, limits)
      state.activities[index] = keptActivity
      changed(.ended, cause: cause, record: keptActivity.record)
    case .dismiss:
      if keptActivity.record.phase != .ended {
        keptActivity.end(now, dismissAt: now, limits)
        state.activities[index] = keptActivity
        changed(.ended, cause: cause, record: keptActivity.record)
      }
      state.activities.remove(at: index)
      changed(.dismissed, cause: cause, record: keptActivity.record)
    }
    advance(to: now)
    return owner
  }

  /// Activities of a forbidden app end at once.
  ///
  /// - Returns: whether activities that a push started get a token from now on.
  @discardableResult
  package mutating func allow(_ app: String, isAllowed: Bool, now: Date) -> Bool {
    guard !(isAllowed ? state.allowed : state.forbidden).contains(app) else { return false }
    state.revision += 1
    if isAllowed {
      state.allowed.insert(app)
      state.forbidden.remove(app)
      let tokens = withToken.count
      for index in state.activities.indices where state.activities[index].record.app == app {
        state.activities[index].record.awaitsConsent = false
      }
      return withToken.count > tokens
    }
    state.allowed.remove(app)
    state.forbidden.insert(app)
    for index in state.activities.indices where state.activities[index].record.app == app {
      guard state.activities[index].record.phase != .ended, state.activities[index].isShown else { continue }
      state.activities[index].end(now, dismissAt: now, limits)
      changed(.ended, cause: .user, record: state.activities[index].record)
    }
    advance(to: now)
    return false
  }

  // MARK: The extension

  /// The types of attributes that an extension shows.
  mutating func declare(_ widgetExtension: String, _ declarations: [ActivityDeclaration]) {
    guard state.declarations[widgetExtension] ?? [] != declarations else { return }
    state.declarations[widgetExtension] = declarations.isEmpty ? nil : declarations
    // Activities that no extension could show are archived now.
    let types = Set(declarations.map(\.attributesType))
    for index in state.activities.indices where types.contains(state.activities[index].record.attributesType) {
      state.activities[index].archived = nil
    }
  }

  /// The views of a version are stored, or the reason why they cannot be made.
  ///
  /// - Parameter isUndecodable: whether the extension cannot decode the attributes or the content.
  /// - Returns: what became of the notification that starts the activity, if it was not shown before.
  @discardableResult
  package mutating func archived(
    _ number: Int, version: Int, note: String?, isUndecodable: Bool = false, text: [String]
  ) -> (push: UUID, result: PushResult)? {
    guard let index = state.activities.firstIndex(where: { $0.number == number }) else { return nil }
    let app = state.activities[index].record.app
    let start = state.activities[index].start.take()
    if let start, let reason = isUndecodable ? note ?? "it cannot be decoded" : refusal(app) {
      state.activities.remove(at: index)
      return (start, PushResult(step: .discarded, detail: reason))
    }
    if let start {
      state.starts = (state.starts + [start]).suffix(Self.rememberedStarts)
      changed(.started, cause: .push, record: state.activities[index].record)
    }
    state.activities[index].archived = version
    state.activities[index].note = note
    let change: ActivityMoved.Change = note == nil ? .archived : .notArchived
    moved.append(
      ActivityMoved(change, because: .extension, state.activities[index].record, text: note.map { [$0] } ?? text))
    return start.map { ($0, PushResult(step: .handled, detail: "started", started: app)) }
  }

  /// The views depend on settings that changed.
  mutating func archiveAgain() {
    for index in state.activities.indices { state.activities[index].version += 1 }
  }

  /// The token of an activity, or the one by which a backend starts activities of a type; `nil` for none.
  mutating func set(_ token: String?, _ key: TokenKey) {
    switch key.use {
    case .liveActivity(let number):
      guard let index = state.activities.firstIndex(where: { $0.number == number }),
        state.activities[index].record.token != token
      else { return }
      state.activities[index].record.token = token
      changed(.token, cause: .system, record: state.activities[index].record)
    case .liveActivityStarts(let type):
      guard state.startTokens[key.bundle]?[type] != token else { return }
      state.startTokens[key.bundle, default: [:]][type] = token
      state.revision += 1
    case .app, .widgets, .control, .fleet: break
    }
  }

  // MARK: Time

  /// Handles what is due.
  package mutating func advance(to now: Date) {
    for number in state.activities.map(\.number) {
      while let index = state.activities.firstIndex(where: { $0.number == number }),
        let instant = state.activities[index].life.advance(to: now, limits)
      {
        let isShown = state.activities[index].isShown
        let change: ActivityMoved.Change
        switch instant {
        case .stale: (change, state.activities[index].version) = (.stale, state.activities[index].version + 1)
        case .endedBySystem: change = .ended
        case .dismissed: change = .dismissed
        }
        state.activities[index].agree()
        let record = state.activities[index].record
        if change == .dismissed { state.activities.remove(at: index) }
        if isShown { changed(change, cause: .system, record: record) }
      }
    }
  }

  // MARK: Changes

  /// - Throws: `activity-too-large`, `bad-activity-content` (definite).
  private func check(_ content: ActivityContentRecord, attributes: String) throws(BusError) {
    let size = attributes.utf8.count + content.state.utf8.count
    guard size <= Self.largest else {
      throw BusError(
        .activityTooLarge, "attributes and content are \(size) bytes as JSON, and the limit is \(Self.largest)")
    }
    for (name, text) in [("the attributes", attributes), ("the content", content.state)] {
      guard (try? JSONSerialization.jsonObject(with: Data(text.utf8))) is [String: Any] else {
        throw BusError(.badActivityContent, "no JSON object is in \(name): \(text.start(bytes: 200))")
      }
    }
  }

  mutating func changed(
    _ change: ActivityMoved.Change, cause: ActivityMoved.Cause, record: ActivityRecord
  ) {
    state.revision += 1
    moved.append(ActivityMoved(change, because: cause, record))
  }
}

// Notifications of the push type liveactivity, and changes of one activity.

extension ActivityStateMachine {
  /// What became of a notification.
  package struct PushResult: Sendable, Hashable {
    package let step: PushStep.Name
    package let detail: String
    /// The app whose activity was started, which is launched to receive its token.
    package var started: String?
  }

  /// A notification for an activity, or one that starts one. The same notification again changes nothing.
  ///
  /// - Returns: `nil` for a start that the extension has to decode first: `archived` has the result.
  mutating func receive(_ push: PushedNotification, now: Date) -> PushResult? {
    guard let payload = LiveActivityPayload(push.payload) else {
      return PushResult(step: .discarded, detail: "its payload is not JSON with aps")
    }
    let content = LiveActivityContent(push.payload)
    switch push.subject.use {
    case .liveActivity(let number): return change(number, push: push, payload: payload, content: content, now: now)
    case .liveActivityStarts(let type): return start(type, push: push, payload: payload, content: content, now: now)
    case .app, .widgets, .control, .fleet: return PushResult(step: .discarded, detail: "it is not for a Live Activity")
    }
  }

  private mutating func start(
    _ type: String, push: PushedNotification, payload: LiveActivityPayload, content: LiveActivityContent,
    now: Date
  ) -> PushResult? {
    let app = push.subject.bundle
    if state.starts.contains(push.uniqueID) { return PushResult(step: .handled, detail: "started", started: app) }
    guard payload.event == .start else {
      return PushResult(step: .discarded, detail: "a token that starts activities takes only the event start")
    }
    guard content.attributesType == type else {
      let found = content.attributesType ?? "missing"
      return PushResult(step: .discarded, detail: "attributes-type is \(found), and the token is that of \(type)")
    }
    guard let attributes = content.attributes, let state = content.state else {
      return PushResult(step: .discarded, detail: "attributes or content-state is missing, or not an object")
    }
    guard payload.hasAlert else {
      return PushResult(step: .discarded, detail: "alert is missing in aps, and a start without one is dropped")
    }
    let record = ActivityContentRecord(
      state: state, staleDate: payload.staleDate, relevanceScore: content.relevanceScore ?? 0)
    do throws(BusError) {
      let request = RequestActivity(
        id: push.uniqueID.uuidString, attributesType: type, attributes: attributes, content: record, usesToken: true)
      _ = try add(request, app: app, now: now, start: push.uniqueID)
    } catch {
      return PushResult(step: .discarded, detail: "\(error)")
    }
    guard let index = self.state.activities.firstIndex(where: { $0.record.id == push.uniqueID.uuidString }) else {
      return nil
    }
    if let timestamp = payload.timestamp {
      self.state.activities[index].life.timestamp = max(self.state.activities[index].life.timestamp, timestamp)
    }
    // One that is shown was started by the same notification, which was forgotten.
    let isShown = self.state.activities[index].isShown
    return isShown ? PushResult(step: .handled, detail: "started", started: app) : nil
  }

  private mutating func change(
    _ number: Int, push: PushedNotification, payload: LiveActivityPayload, content: LiveActivityContent,
    now: Date
  ) -> PushResult {
    guard let index = state.activities.firstIndex(where: { $0.number == number }),
      state.activities[index].record.phase != .ended || state.activities[index].lastPush == push.uniqueID
    else { return PushResult(step: .discarded, detail: "the activity has ended") }
    var keptActivity = state.activities[index]
    if keptActivity.lastPush == push.uniqueID { return PushResult(step: .handled, detail: "taken before") }
    guard let event = payload.event, event != .start else {
      return PushResult(step: .discarded, detail: "the token of an activity takes only the events update and end")
    }
    guard payload.timestamp != nil else {
      return PushResult(step: .discarded, detail: "its payload has no timestamp in aps")
    }
    guard event == .end || content.state != nil else {
      return PushResult(step: .discarded, detail: "content-state is missing, or not an object")
    }
    keptActivity.lastPush = push.uniqueID
    do throws(ActivityLifetime.Refusal) {
      let isPaid = event == .update && push.priority == 10
      try keptActivity.life.take(timestamp: payload.timestamp, paying: isPaid ? (now, limits) : nil)
    } catch {
      guard error == .throttled else { return PushResult(step: .discarded, detail: "a newer content is shown") }
      state.activities[index].life = keptActivity.life
      state.activities[index].lastPush = push.uniqueID
      return PushResult(
        step: .budget, detail: "more than \(Int(saturating: limits.priority10PerHour)) of priority 10 in an hour")
    }
    if let state = content.state {
      keptActivity.take(
        ActivityContentRecord(
          state: state, staleDate: payload.staleDate,
          relevanceScore: content.relevanceScore ?? keptActivity.record.content.relevanceScore))
    }
    if event == .end { keptActivity.end(now, dismissAt: payload.dismissalDate, limits) }
    state.activities[index] = keptActivity
    changed(event == .end ? .ended : .updated, cause: .push, record: keptActivity.record)
    advance(to: now)
    return PushResult(step: .handled, detail: event == .end ? "ended" : "updated")
  }
}

extension ActivityStateMachine.Kept {
  mutating func take(_ content: ActivityContentRecord) {
    record.content = content
    life.update(staleAt: content.staleDate)
    version += 1
    agree()
  }

  mutating func end(_ now: Date, dismissAt: Date?, _ limits: ActivityLimits) {
    life.end(now, dismissAt: dismissAt, limits)
    agree()
  }

  /// The record agrees with the lifetime.
  mutating func agree() {
    record.phase = life.endedAt != nil ? .ended : life.isStale ? .stale : .active
    record.endedAt = life.endedAt
    record.dismissAt = life.dismissAt
    if record.phase == .ended { record.token = nil }
  }
}
