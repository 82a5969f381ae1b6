// SPDX-License-Identifier: Apache-2.0

package import Foundation
import HeapModule
package import Messages

/// The state machine of loading: which task may load now, and what every other task waits for. A plain value without
/// clock or I/O.
///
/// A task is in one place at a time. An event of one task takes a few look-ups, however many tasks wait. Only events of
/// all tasks (the network, the end of a limiter) visit all of them.
package struct LoadingStateMachine: Sendable {
  package enum Event: Sendable {
    /// The host starts: returns the tasks to load.
    case began
    /// A process created the session object, with this configuration.
    case opened(SessionKey, SessionConfiguration)
    case created(Transfer)
    /// The owner suspended or resumed the task, or changed its priority or date. `nil` leaves a value unchanged.
    case changed(TaskKey, isSuspended: Bool?, priority: Float?, earliestBeginDate: Date?)
    /// The owner replied or cannot be asked: the task may load. `host` is the host of a new request.
    case answered(TaskKey, host: String?)
    /// The attempt failed for a temporary reason. `progressed`: it received bytes.
    case failed(TaskKey, progressed: Bool)
    /// The attempt must be repeated at once.
    case again(TaskKey)
    /// The attempt was stopped where it was.
    case stopped(TaskKey)
    /// The task is about to be ended from outside, and must not load any more.
    case ending(TaskKey)
    /// The task has ended.
    case ended(TaskKey)
    case network(NetworkState)
    /// The owner was resumed or launched for its sessions.
    case woken(Address)
    /// The app entered or left the foreground.
    case front(Address, Bool)
    /// The date of `nextInstant` has been reached.
    case timerFired
  }

  package enum Action: Sendable, Equatable {
    /// Begin an attempt. Its end is reported by `failed`, `again`, `stopped` or `ended`.
    case load(TaskKey)
    /// Stop the attempt where it is.
    case stop(TaskKey)
    /// Record that the task now waits for something else.
    case waits(TaskKey, WaitReason)
    /// Ask the owner whether the task may begin.
    case ask(TaskKey)
    /// `timeoutIntervalForResource` has passed: the task ends with -1001 and the reason why no network was permitted.
    case expire(TaskKey, unavailableReason: Int?)
    /// The limiter of an account has changed and must be stored.
    case limiter(account: String, Limiter, reason: String)
  }

  package private(set) var transfers: [TaskKey: Transfer] = [:]
  package private(set) var sessions: [SessionKey: SessionConfiguration]
  package private(set) var limiters: [String: Limiter]
  package private(set) var network: NetworkState
  var inFront: Set<Address> = []
  var hostQueues: [HostQueue.Key: HostQueue] = [:]
  /// Queues whose connections or waiting tasks changed in this step.
  var touchedHostQueues: Set<HostQueue.Key> = []
  /// Tasks that have a connection of their session and wait for the device's turn.
  var ready = Heap<QueueEntry>()
  var alarms = Heap<Alarm>()
  /// The number of attempts in progress.
  var loading = 0
  /// Tasks whose place changed in this step.
  var moved: [TaskKey] = []
  /// Tasks that were under way when the host ended by a trap. They load one at a time, until their attempt ends.
  private var suspects: Set<TaskKey>
  private var stamps = 0
  private var arrivals = 0
  let settings: TransferSettings
  let families: AppFamilies

  /// - Parameters:
  ///   - transfers: the tasks that have not ended, in the order in which they were created.
  ///   - families: which app an extension belongs to.
  ///   - suspects: tasks that were under way when the host ended by a trap. They load one at a time.
  package init(
    sessions: [SessionKey: SessionConfiguration] = [:], transfers: [Transfer] = [], limiters: [String: Limiter] = [:],
    network: NetworkState = NetworkState(), settings: TransferSettings, families: AppFamilies = AppFamilies(),
    suspects: Set<TaskKey> = []
  ) {
    self.suspects = suspects
    self.sessions = sessions
    self.limiters = limiters
    self.network = network
    self.settings = settings
    self.families = families
    for transfer in transfers { insert(transfer) }
    for (account, limiter) in limiters { alarms.insert(Alarm(instant: limiter.until, what: .limiter(account))) }
  }

  /// Returns the next date at which `timerFired` is due.
  package var nextInstant: Date? { alarms.min?.instant }

  /// The tasks of some sessions that have not ended, in the order in which they were created.
  package func keys(of sessions: Set<SessionKey>) -> [TaskKey] { inOrder { sessions.contains($0.key.session) } }

  /// The sessions whose tasks a force quit of the app cancels.
  package func sessions(quitWith app: Address) -> [SessionKey] {
    let family = families.family(of: app)
    return sessions.keys.filter { key in
      key.owner == app || settings.forceQuitCancelsExtensions && families.family(of: key.owner) == family
    }.sorted()
  }

  /// Whether a task that the owner creates now counts as created in the foreground.
  package func isInFront(_ owner: Address) -> Bool { inFront.contains(owner) }

  package mutating func handle(_ event: Event, now: Date) -> [Action] {
    if !suspects.isEmpty, let key = event.endOfAttempt { suspects.remove(key) }
    var actions = handle(event, now)
    fillHostQueues()
    var held: [QueueEntry] = []
    while loading < settings.maximumLoads, let entry = ready.popMin() {
      guard let transfer = transfers[entry.key], transfer.stamp == entry.stamp else { continue }
      let isSuspect = suspects.contains(entry.key)
      if isSuspect, transfers.values.contains(where: { $0.isUnderWay && suspects.contains($0.key) }) {
        held.append(entry)
        continue
      }
      move(entry.key, to: .loading)
      transfers[entry.key]?.isUnderWay = true
      transfers[entry.key]?.attempts += 1
      transfers[entry.key]?.notified = nil
      loading += 1
      actions.append(.load(entry.key))
    }
    ready.insert(contentsOf: held)
    actions += reportWaits()
    tidyAlarms()
    return actions
  }

  private mutating func handle(_ event: Event, _ now: Date) -> [Action] {
    switch event {
    case .began: return inOrder().flatMap { requeue($0, now) } + timerFired(now)
    case .opened(let session, let configuration): return opened(session, configuration: configuration, now: now)
    case .created(let transfer):
      guard transfers[transfer.key] == nil else { return [] }
      insert(transfer)
      return requeue(transfer.key, now)
    case .changed(let key, let isSuspended, let priority, let date):
      return changed(key, isSuspended: isSuspended, priority: priority, date: date, now: now)
    case .answered(let key, let host):
      transfers[key]?.consent = .given
      if let host { transfers[key]?.host = host }
      return requeue(key, now)
    case .failed(let key, let progressed): return attemptEnded(key, failed: progressed, now)
    case .again(let key), .stopped(let key): return attemptEnded(key, failed: nil, now)
    case .ending(let key):
      if transfers[key] != nil { move(key, to: .ending) }
      return []
    case .ended(let key):
      release(key)
      transfers[key] = nil
      return []
    case .network(let state): return networkChanged(state, now)
    case .woken(let owner): return woken(owner, now)
    case .front(let app, let isInFront): return front(app, isInFront: isInFront, now: now)
    case .timerFired: return timerFired(now)
    }
  }

  // MARK: Places

  private mutating func insert(_ transfer: Transfer) {
    arrivals += 1
    var transfer = transfer
    transfer.order = arrivals
    transfers[transfer.key] = transfer
    if let instant = expiry(of: transfer) { alarms.insert(Alarm(instant: instant, what: .expiry(transfer.key))) }
  }

  /// The keys in the order in which the tasks were created.
  func inOrder(_ isMeant: (Transfer) -> Bool = { _ in true }) -> [TaskKey] {
    transfers.values.filter(isMeant).sorted { $0.order < $1.order }.map(\.key)
  }

  func expiry(of transfer: Transfer) -> Date? {
    sessions[transfer.key.session].map { transfer.created.addingTimeInterval($0.timeoutIntervalForResource) }
  }

  mutating func move(_ key: TaskKey, to place: Transfer.Place) {
    stamps += 1
    transfers[key]?.place = place
    transfers[key]?.stamp = stamps
    moved.append(key)
  }

  /// Releases the connection and the turn of a task.
  mutating func release(_ key: TaskKey) {
    guard let transfer = transfers[key] else { return }
    if transfer.isUnderWay { loading -= 1 }
    if transfer.hasConnection {
      hostQueues[HostQueue.Key(transfer)]?.takenSlots -= 1
      touchedHostQueues.insert(HostQueue.Key(transfer))
    }
    transfers[key]?.hasConnection = false
    transfers[key]?.isUnderWay = false
  }

  /// Moves a task that is not loading to its current place.
  mutating func requeue(_ key: TaskKey, _ now: Date) -> [Action] {
    guard let transfer = transfers[key], case .waiting(let formerWait) = transfer.place else { return [] }
    guard let wait = wait(of: transfer, now) else {
      if !formerWait.isQueue { queue(key) }
      return []
    }
    guard wait != formerWait else { return [] }
    release(key)
    move(key, to: .waiting(wait))
    if let instant = wait.instant {
      alarms.insert(Alarm(instant: instant, what: .task(key, stamp: stamps)))
    }
    guard wait == .ownerReply, transfer.consent == .needed else { return [] }
    transfers[key]?.consent = .asked
    return [.ask(key)]
  }

  mutating func queue(_ key: TaskKey) {
    guard let transfer = transfers[key] else { return }
    release(key)
    move(key, to: .waiting(.connection(host: transfer.host)))
    let queueKey = HostQueue.Key(transfer)
    hostQueues[queueKey, default: HostQueue()].queue.insert(QueueEntry(transfer, stamp: stamps))
    touchedHostQueues.insert(queueKey)
  }

  /// Assigns free connections to the first tasks of each queue.
  private mutating func fillHostQueues() {
    for key in touchedHostQueues.sorted() {
      guard var hostQueue = hostQueues.removeValue(forKey: key) else { continue }
      let limit = max(1, sessions[key.session]?.httpMaximumConnectionsPerHost ?? 1)
      while hostQueue.takenSlots < limit, let entry = hostQueue.queue.popMin() {
        guard let transfer = transfers[entry.key], transfer.stamp == entry.stamp else { continue }
        hostQueue.takenSlots += 1
        transfers[entry.key]?.hasConnection = true
        move(entry.key, to: .waiting(.turn))
        ready.insert(QueueEntry(transfer, stamp: stamps))
      }
      if hostQueue.takenSlots > 0 || !hostQueue.queue.isEmpty { hostQueues[key] = hostQueue }
    }
    touchedHostQueues = []
  }

  /// The waits of the tasks whose place changed, if they differ from those reported last.
  private mutating func reportWaits() -> [Action] {
    defer { moved = [] }
    return moved.compactMap { key in
      guard let transfer = transfers[key], case .waiting(let wait) = transfer.place, transfer.notified != wait else {
        return nil
      }
      transfers[key]?.notified = wait
      return wait.isSent ? .waits(key, wait) : nil
    }
  }

  // MARK: Dates

  private mutating func timerFired(_ now: Date) -> [Action] {
    var actions: [Action] = []
    while let alarm = alarms.min, alarm.instant <= now {
      alarms.removeMin()
      guard isDue(alarm) else { continue }
      switch alarm.what {
      case .task(let key, _): actions += requeue(key, now)
      case .limiter(let account): actions += dropLimiter(account, reason: "expired unused", now: now)
      case .expiry(let key):
        guard let transfer = transfers[key] else { continue }
        move(key, to: .ending)
        actions.append(.expire(key, unavailableReason: unavailableReason(of: transfer)))
      }
    }
    return actions
  }

  private func isDue(_ alarm: Alarm) -> Bool {
    switch alarm.what {
    case .task(let key, let stamp): transfers[key]?.stamp == stamp
    case .limiter(let account): limiters[account]?.until == alarm.instant
    case .expiry(let key):
      transfers[key].map { $0.place != .ending && expiry(of: $0) == alarm.instant } ?? false
    }
  }

  /// Drops expired alarms: those at the front, and all of them when they are the majority.
  private mutating func tidyAlarms() {
    if alarms.count > 4 * transfers.count + 64 { alarms = Heap(alarms.unordered.filter(isDue)) }
    while let alarm = alarms.min, !isDue(alarm) { alarms.removeMin() }
  }
}

extension LoadingStateMachine: Hashable {
  /// A place in a queue that counts.
  private struct Entry: Hashable {
    let key: TaskKey
    let priority: Float
    let order: Int

    init(_ entry: QueueEntry) {
      key = entry.key
      priority = entry.priority
      order = entry.order
    }
  }

  /// A date and what it is for.
  private struct Due: Hashable {
    let instant: Date
    let task: TaskKey?
    let isExpiry: Bool
    let account: String?

    init(_ alarm: Alarm) {
      instant = alarm.instant
      switch alarm.what {
      case .task(let key, _): (task, isExpiry, account) = (key, false, nil)
      case .expiry(let key): (task, isExpiry, account) = (key, true, nil)
      case .limiter(let name): (task, isExpiry, account) = (nil, false, name)
      }
    }
  }

  /// What decisions depend on: no entries of queues that are void, and none of the numbers by which they are found.
  private struct Essence: Hashable {
    let transfers: [TaskKey: Transfer]
    let sessions: [SessionKey: SessionConfiguration]
    let limiters: [String: Limiter]
    let network: NetworkState
    let inFront: Set<Address>
    let taken: [HostQueue.Key: Int]
    let queued: Set<Entry>
    let ready: Set<Entry>
    let alarms: Set<Due>
    let loading: Int
    let suspects: Set<TaskKey>
  }

  private var essence: Essence {
    func entries(_ queue: Heap<QueueEntry>) -> [Entry] {
      queue.unordered.filter { transfers[$0.key]?.stamp == $0.stamp }.map { Entry($0) }
    }
    let unstamped = transfers.mapValues { transfer in
      var transfer = transfer
      transfer.stamp = 0
      return transfer
    }
    return Essence(
      transfers: unstamped, sessions: sessions, limiters: limiters, network: network, inFront: inFront,
      taken: hostQueues.mapValues(\.takenSlots), queued: Set(hostQueues.values.map { entries($0.queue) }.joined()),
      ready: Set(entries(ready)), alarms: Set(alarms.unordered.filter(isDue).map(Due.init)), loading: loading,
      suspects: suspects)
  }

  package static func == (left: Self, right: Self) -> Bool { left.essence == right.essence }
  package func hash(into hasher: inout Hasher) { hasher.combine(essence) }
}

extension LoadingStateMachine.Event {
  /// The task whose attempt has ended.
  fileprivate var endOfAttempt: TaskKey? {
    switch self {
    case .failed(let key, _), .again(let key), .stopped(let key), .ended(let key): key
    case .began, .opened, .created, .changed, .answered, .ending, .network, .woken, .front, .timerFired: nil
    }
  }
}

// The types of the loading state machine.

extension LoadingStateMachine {
  /// The networks that may be used.
  package struct Access: Sendable, Hashable {
    package var cellular: Bool
    package var expensive: Bool
    package var constrained: Bool
    package init(cellular: Bool = true, expensive: Bool = true, constrained: Bool = true) {
      self.cellular = cellular
      self.expensive = expensive
      self.constrained = constrained
    }

    package init(_ one: Access, and other: Access) {
      self.init(
        cellular: one.cellular && other.cellular, expensive: one.expensive && other.expensive,
        constrained: one.constrained && other.constrained)
    }

    /// `NSURLErrorNetworkUnavailableReasonKey`; `nil` when the network may be used or there is no network.
    func unavailableReason(on network: NetworkState) -> Int? {
      if network.path == .cellular {
        if !cellular { return 0 }
        if !expensive { return 1 }
      }
      return network.isConstrained && !constrained ? 2 : nil
    }
  }

  /// What a task waits for.
  package enum WaitReason: Sendable, Hashable, CustomStringConvertible {
    /// The owner's `resume()`.
    case suspended
    case date(Date)
    /// The owner's reply to `willBeginDelayedRequest`.
    case ownerReply
    /// The next attempt after a failed one.
    case retry(Date)
    case limiter
    /// Any network.
    case connectivity
    /// A network that its session and its request permit.
    case permittedNetwork
    /// A discretionary task waits for a network without costs.
    case wifi
    /// One of its session's connections to the host.
    case connection(host: String)
    /// The device's turn: the maximum number of tasks load.
    case turn
    /// Not determined yet.
    case nothing

    package var description: String {
      switch self {
      case .suspended: "its owner's resume()"
      case .date(let date): "its earliest begin date, \(date.formatted(.iso8601))"
      case .ownerReply: "the owner's answer to willBeginDelayedRequest"
      case .retry(let date): "the next attempt, \(date.formatted(.iso8601))"
      case .limiter: "the resume rate limiter"
      case .connectivity: "connectivity"
      case .permittedNetwork: "a network that session and request permit"
      case .wifi: "Wi-Fi (the task is discretionary)"
      case .connection(let host): "a connection to \(host)"
      case .turn: "its turn on the device"
      case .nothing: "nothing"
      }
    }

    /// The date at which the wait ends by itself.
    package var instant: Date? {
      switch self {
      case .date(let date), .retry(let date): date
      case .suspended, .ownerReply, .limiter, .connectivity, .permittedNetwork, .wifi, .connection, .turn, .nothing: nil
      }
    }

    /// Whether only other tasks are in the way.
    var isQueue: Bool {
      switch self {
      case .connection, .turn: true
      case .suspended, .date, .ownerReply, .retry, .limiter, .connectivity, .permittedNetwork, .wifi, .nothing: false
      }
    }

    /// Whether the wait is reported. A failed attempt reports its next date itself.
    var isSent: Bool {
      switch self {
      case .retry, .nothing: false
      case .suspended, .date, .ownerReply, .limiter, .connectivity, .permittedNetwork, .wifi, .connection, .turn: true
      }
    }
  }

  /// A task that has not ended.
  package struct Transfer: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
      case waiting(WaitReason)
      case loading
      /// Loading, and requested to stop.
      case stopping
      /// No longer loading; the end is about to be reported.
      case ending
    }

    enum Consent: Sendable, Hashable {
      case given, needed, asked
    }

    package let key: TaskKey
    /// Where its connections go: scheme, name and port.
    package fileprivate(set) var host: String
    package let access: Access
    /// When `resume()` was recorded.
    package let created: Date
    package let isInBackground: Bool
    package fileprivate(set) var priority: Float
    package fileprivate(set) var earliestBeginDate: Date?
    package fileprivate(set) var isSuspended: Bool
    /// The number of requests that were sent.
    package fileprivate(set) var attempts: Int
    /// Consecutive attempts that failed without receiving a byte.
    package private(set) var failures: Int
    package fileprivate(set) var notBefore: Date?
    var consent: Consent
    package fileprivate(set) var place = Place.waiting(.nothing)
    var hasConnection = false
    var isUnderWay = false
    var order = 0
    /// The stamp of the last change of place. Queue entries with an older stamp are void.
    var stamp = 0
    /// The wait that was reported last.
    var notified: WaitReason?

    package init(
      key: TaskKey, host: String, access: Access = Access(), created: Date, isInBackground: Bool = true,
      priority: Float = 0.5, earliestBeginDate: Date? = nil, asksBeforeBegin: Bool = false, isSuspended: Bool = false,
      attempts: Int = 0, failures: Int = 0, notBefore: Date? = nil
    ) {
      self.key = key
      self.host = host
      self.access = access
      self.created = created
      self.isInBackground = isInBackground
      self.priority = priority
      self.earliestBeginDate = earliestBeginDate
      self.isSuspended = isSuspended
      self.attempts = attempts
      self.failures = failures
      self.notBefore = notBefore
      consent = asksBeforeBegin ? .needed : .given
    }

    /// What it waits for; `nil` while it loads.
    package var wait: WaitReason? {
      if case .waiting(let wait) = place { return wait }
      return nil
    }

    mutating func fail(progressed: Bool, now: Date, settings: TransferSettings) {
      failures = progressed ? 1 : failures + 1
      notBefore = now.addingTimeInterval(settings.resumeBackoff.pause(after: failures))
    }
  }

  /// The resume rate limiter of an account (documented: *NSURLSession's Resume Rate
  /// Limiter*; the first figures observed).
  package struct Limiter: Sendable, Hashable {
    /// The owner that raised it last.
    package let owner: Address
    /// Seconds; 0 when it is off.
    package let delay: Double
    /// The date of the first of the wakes that doubled it.
    package let since: Date
    package let until: Date
    package init(owner: Address, delay: Double, since: Date, until: Date) {
      self.owner = owner
      self.delay = delay
      self.since = since
      self.until = until
    }
  }

  /// The connections of a session to one host.
  struct HostQueue: Sendable {
    struct Key: Hashable, Comparable {
      let session: SessionKey
      let host: String

      init(_ transfer: Transfer) {
        session = transfer.key.session
        host = transfer.host
      }

      static func < (left: Key, right: Key) -> Bool {
        (left.session, left.host) < (right.session, right.host)
      }
    }

    var takenSlots = 0
    var queue = Heap<QueueEntry>()
  }

  /// An entry of a queue: ordered by priority, then by creation.
  struct QueueEntry: Comparable, Sendable {
    let priority: Float
    let order: Int
    let key: TaskKey
    let stamp: Int

    init(_ transfer: Transfer, stamp: Int) {
      priority = transfer.priority
      order = transfer.order
      key = transfer.key
      self.stamp = stamp
    }

    static func < (left: QueueEntry, right: QueueEntry) -> Bool {
      left.priority == right.priority ? left.order < right.order : left.priority > right.priority
    }
  }

  /// A date at which a task or a limiter must be checked again.
  struct Alarm: Comparable, Sendable {
    enum What: Equatable {
      case task(TaskKey, stamp: Int)
      case expiry(TaskKey)
      case limiter(String)
    }

    let instant: Date
    let what: What

    static func < (left: Alarm, right: Alarm) -> Bool { left.instant < right.instant }
  }
}

extension SessionConfiguration {
  /// The networks that it permits.
  fileprivate var access: LoadingStateMachine.Access {
    LoadingStateMachine.Access(
      cellular: allowsCellularAccess, expensive: allowsExpensiveNetworkAccess,
      constrained: allowsConstrainedNetworkAccess)
  }
}

/// Which app an extension belongs to: the app whose bundle identifier is a prefix of the extension's.
package struct AppFamilies: Sendable {
  private let apps: [String]

  /// - Parameter apps: bundle identifiers of the device's apps.
  package init(apps: [String] = []) { self.apps = apps.sorted { $0.count > $1.count } }

  /// The app's bundle identifier. An extension without an app is its own family.
  package func family(of owner: Address) -> String {
    guard let bundle = owner.bundleIdentifier else { return owner.text }
    return apps.first { bundle == $0 || bundle.hasPrefix($0 + ".") } ?? bundle
  }
}

// The rules for what a task waits for. Documentation/fidelity/transfers.md has their sources.

extension LoadingStateMachine {
  /// What a task that is not loading waits for, other than a connection and its turn; `nil` when it may queue for
  /// those.
  func wait(of transfer: Transfer, _ now: Date) -> WaitReason? {
    if transfer.isSuspended { return .suspended }
    if let date = transfer.earliestBeginDate, date > now, transfer.attempts == 0 { return .date(date) }
    if isLimited(transfer, now) { return .limiter }
    if network.path == .off { return .connectivity }
    if unavailableReason(of: transfer) != nil { return .permittedNetwork }
    if isDiscretionary(transfer), settings.discretionaryNeedsWiFi, network.path != .wifi { return .wifi }
    if let instant = transfer.notBefore,
      !Backoff.isOver(instant, longest: settings.resumeBackoff.pause(after: transfer.failures), at: now)
    {
      return .retry(instant)
    }
    return transfer.consent == .given ? nil : .ownerReply
  }

  /// `NSURLErrorNetworkUnavailableReasonKey` of a task on the current network: 0 cellular, 1 expensive, 2 constrained.
  func unavailableReason(of transfer: Transfer) -> Int? {
    guard let session = sessions[transfer.key.session] else { return nil }
    return Access(session.access, and: transfer.access).unavailableReason(on: network)
  }

  /// A task that was created in the background is discretionary, whatever its session requests (documented for apps).
  private func isDiscretionary(_ transfer: Transfer) -> Bool {
    let isAsked = sessions[transfer.key.session]?.isDiscretionary ?? false
    guard transfer.isInBackground else { return isAsked }
    return isAsked || transfer.key.session.owner.role == .app || settings.widgetTransfersAreDiscretionary
  }

  // MARK: Changes by owners

  mutating func opened(_ session: SessionKey, configuration: SessionConfiguration, now: Date) -> [Action] {
    let formerConfiguration = sessions.updateValue(configuration, forKey: session)
    guard let formerConfiguration, formerConfiguration != configuration else { return [] }
    let isChanged = formerConfiguration.timeoutIntervalForResource != configuration.timeoutIntervalForResource
    let keys = inOrder { $0.key.session == session }
    for key in keys {
      guard let transfer = transfers[key] else { continue }
      touchedHostQueues.insert(HostQueue.Key(transfer))
      if isChanged, let instant = expiry(of: transfer) { alarms.insert(Alarm(instant: instant, what: .expiry(key))) }
    }
    return keys.flatMap { requeue($0, now) }
  }

  mutating func changed(
    _ key: TaskKey, isSuspended: Bool?, priority: Float?, date: Date?, now: Date
  ) -> [Action] {
    guard var transfer = transfers[key] else { return [] }
    let isReordered = priority != nil && priority != transfer.priority
    transfer.isSuspended = isSuspended ?? transfer.isSuspended
    transfer.priority = priority ?? transfer.priority
    transfer.earliestBeginDate = date ?? transfer.earliestBeginDate
    transfers[key] = transfer
    switch transfer.place {
    case .loading where transfer.isSuspended:
      move(key, to: .stopping)
      return [.stop(key)]
    case .waiting(let wait) where wait.isQueue && isReordered && !transfer.isSuspended: queue(key)
    case .waiting, .loading, .stopping, .ending: break
    }
    return requeue(key, now)
  }

  /// An attempt ended and its task did not. `progressed`: `nil` when it did not fail, else whether it received bytes.
  mutating func attemptEnded(_ key: TaskKey, failed progressed: Bool?, _ now: Date) -> [Action] {
    switch transfers[key]?.place {
    case .loading: if let progressed { transfers[key]?.fail(progressed: progressed, now: now, settings: settings) }
    // It was stopped, so its result does not count.
    case .stopping: break
    case .ending, .waiting, nil: return []
    }
    release(key)
    move(key, to: .waiting(.nothing))
    return requeue(key, now)
  }

  // MARK: The network

  /// A connection does not survive a change of the network path. Loading tasks are stopped where they are, and continue
  /// when the new path permits.
  mutating func networkChanged(_ state: NetworkState, _ now: Date) -> [Action] {
    let isSame = state.path == network.path && state.isConstrained == network.isConstrained
    network = state
    guard !isSame else { return [] }
    var actions: [Action] = []
    for key in inOrder() {
      if transfers[key]?.place == .loading {
        move(key, to: .stopping)
        actions.append(.stop(key))
      } else {
        if state.path != .off { transfers[key]?.notBefore = nil }
        actions += requeue(key, now)
      }
    }
    return actions
  }

  // MARK: The resume rate limiter

  /// The account under which an owner's delays are counted.
  func account(of owner: Address) -> String {
    settings.limiterIsSharedWithApp ? families.family(of: owner) : owner.text
  }

  /// Tasks that were created before the first wake are not delayed.
  private func isLimited(_ transfer: Transfer, _ now: Date) -> Bool {
    let owner = transfer.key.session.owner
    guard transfer.isInBackground, limits(owner), let limiter = limiters[account(of: owner)] else { return false }
    return transfer.created >= limiter.since && !Backoff.isOver(limiter.until, longest: limiter.delay, at: now)
  }

  private func limits(_ owner: Address) -> Bool {
    settings.limiterFirst > 0 && (owner.role == .app || settings.limiterAppliesToWidgets)
  }

  /// The date until which tasks wait that an owner creates in the background.
  package func limitedUntil(_ owner: Address) -> Date? {
    limits(owner) ? limiters[account(of: owner)]?.until : nil
  }

  mutating func woken(_ owner: Address, _ now: Date) -> [Action] {
    guard limits(owner), !inFront.contains(owner) else { return [] }
    let account = account(of: owner)
    let delay = limiters[account].map { min($0.delay * 2, settings.limiterMax) } ?? settings.limiterFirst
    let limiter = Limiter(
      owner: owner, delay: delay, since: limiters[account]?.since ?? now, until: now.addingTimeInterval(delay))
    limiters[account] = limiter
    alarms.insert(Alarm(instant: limiter.until, what: .limiter(account)))
    return [.limiter(account: account, limiter, reason: "woken")]
  }

  mutating func front(_ app: Address, isInFront: Bool, now: Date) -> [Action] {
    guard isInFront else {
      inFront.remove(app)
      return []
    }
    inFront.insert(app)
    let family = families.family(of: app)
    let accounts = limiters.filter { families.family(of: $0.value.owner) == family }.keys.sorted()
    return accounts.flatMap { dropLimiter($0, reason: "came to the front", now: now) }
  }

  private mutating func dropLimiter(_ account: String, reason: String, now: Date) -> [Action] {
    guard let limiter = limiters.removeValue(forKey: account) else { return [] }
    let off = Limiter(owner: limiter.owner, delay: 0, since: limiter.since, until: now)
    return [.limiter(account: account, off, reason: reason)]
      + inOrder { $0.place == .waiting(.limiter) }.flatMap { requeue($0, now) }
  }
}

/// The rules that Apple does not state. Times are in seconds. Source of the values: Documentation/fidelity.
package struct TransferSettings: Hashable, Sendable {
  /// From the delivery of the events that woke the owner until it is notified that its time is running out.
  package var completionDeadline = 30.0
  /// From that notification until the owner is evicted.
  package var completionGrace = 5.0
  /// `true`: as developers observed, the handler is called after the delegate calls if the session already exists, and
  /// owners that were not woken receive the finish too. `false`: as Apple documents it.
  package var observedEventOrder = false
  /// The pause after a delivery that was not acknowledged in time, doubled each time.
  package var redeliverAfter = 60.0
  /// The number of unacknowledged deliveries after which the events wait until a process creates the session.
  package var redeliveries = 5
  /// The pause after a failed download attempt and after an owner repeatedly exited during a delivery; doubled each
  /// time.
  package var resumeAfter = 1.0
  /// The limit of that pause.
  package var resumeAfterMax = 60.0
  /// The number of tasks that the device loads at the same time. Further tasks wait for their turn.
  package var maximumLoads = 64
  /// Whether a discretionary task waits for Wi-Fi.
  package var discretionaryNeedsWiFi = true
  /// Whether tasks created by an extension are discretionary. Those that an app creates in the background always are.
  package var widgetTransfersAreDiscretionary = false
  /// The first delay of the resume rate limiter; 0 disables it.
  package var limiterFirst = 60.0
  /// The longest delay of the limiter.
  package var limiterMax = 86_400.0
  /// Whether the limiter delays tasks created by an extension.
  package var limiterAppliesToWidgets = true
  /// Whether wakes of an extension and of its app raise the same limiter.
  package var limiterIsSharedWithApp = false
  /// Whether an owner that does not run is woken and asked before a task with an earliest begin date begins.
  package var delayedRequestLaunches = true
  /// Reports of a task's byte counts per second to a running owner, in addition to the last one.
  package var countsPerSecond = 4.0
  /// How long a part that resume data refers to is kept.
  package var keepsResumeData = 604_800.0
  /// A task fails with -1007 after this many redirects.
  package var redirectLimit = 16
  /// An encoded body may become at most this many times as long; 0 for no limit.
  package var expansionLimit = 200
  /// A body of at most this many bytes is not resumed.
  package var resumableFrom: Int64 = 65_536
  /// How long an owner may take to respond to a challenge before the default handling applies; 0 for no limit.
  package var challengeDeadline = 0.0
  /// Whether lists include tasks that have ended and were not delivered yet.
  package var listsEndedTasks = true
  /// Whether force-quitting an app also cancels its extensions' transfers.
  package var forceQuitCancelsExtensions = false

  package init() {}

  /// The pauses between failed attempts.
  var resumeBackoff: Backoff { Backoff(first: resumeAfter, limit: resumeAfterMax) }
}
