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
    case opened(SessionKey, SessionPolicy)
    case created(Transfer)
    /// The owner suspended or resumed the task, or changed its priority or date. `nil` leaves a value unchanged.
    case changed(TaskKey, isSuspended: Bool?, priority: Float?, earliestBeginDate: Date?)
    /// The owner replied or cannot be asked: the task may load. `host` is that of a new request.
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

  package internal(set) var transfers: [TaskKey: Transfer] = [:]
  package internal(set) var sessions: [SessionKey: SessionPolicy]
  package internal(set) var limiters: [String: Limiter]
  package internal(set) var network: NetworkState
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
    sessions: [SessionKey: SessionPolicy] = [:], transfers: [Transfer] = [], limiters: [String: Limiter] = [:],
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
      if suspects.contains(entry.key), isSuspectLoading {
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

  private var isSuspectLoading: Bool {
    transfers.values.contains { $0.isUnderWay && suspects.contains($0.key) }
  }

  private mutating func handle(_ event: Event, _ now: Date) -> [Action] {
    switch event {
    case .began: return inOrder().flatMap { requeue($0, now) } + timerFired(now)
    case .opened(let session, let policy): return opened(session, policy, now)
    case .created(let transfer):
      guard transfers[transfer.key] == nil else { return [] }
      insert(transfer)
      return requeue(transfer.key, now)
    case .changed(let key, let isSuspended, let priority, let date):
      return changed(key, isSuspended, priority, date, now)
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
    case .front(let app, let isInFront): return front(app, isInFront, now)
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
    sessions[transfer.key.session].map { transfer.created.addingTimeInterval($0.resourceTimeout) }
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
      hostQueues[HostQueue.Key(transfer)]?.taken -= 1
      touchedHostQueues.insert(HostQueue.Key(transfer))
    }
    transfers[key]?.hasConnection = false
    transfers[key]?.isUnderWay = false
  }

  /// Moves a task that is not loading to its current place.
  mutating func requeue(_ key: TaskKey, _ now: Date) -> [Action] {
    guard let transfer = transfers[key], case .waiting(let former) = transfer.place else { return [] }
    guard let wait = wait(of: transfer, now) else {
      if !former.isQueue { queue(key) }
      return []
    }
    guard wait != former else { return [] }
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
      let limit = max(1, sessions[key.session]?.connectionsPerHost ?? 1)
      while hostQueue.taken < limit, let entry = hostQueue.queue.popMin() {
        guard let transfer = transfers[entry.key], transfer.stamp == entry.stamp else { continue }
        hostQueue.taken += 1
        transfers[entry.key]?.hasConnection = true
        move(entry.key, to: .waiting(.turn))
        ready.insert(QueueEntry(transfer, stamp: stamps))
      }
      if hostQueue.taken > 0 || !hostQueue.queue.isEmpty { hostQueues[key] = hostQueue }
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
      case .limiter(let account): actions += limiterPassed(account, now)
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

extension LoadingStateMachine.Event {
  /// The task whose attempt has ended.
  fileprivate var endOfAttempt: TaskKey? {
    switch self {
    case .failed(let key, _), .again(let key), .stopped(let key), .ended(let key): key
    case .began, .opened, .created, .changed, .answered, .ending, .network, .woken, .front, .timerFired: nil
    }
  }
}
