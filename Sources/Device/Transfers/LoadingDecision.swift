package import Conversations
package import Foundation
import HeapModule
import Timekeeping

/// Which task may load now, and what each other one waits for: a plain value without clock or I/O.
///
/// A task is in one place at a time. Whatever happens to one costs no more than a few looks, however many wait; only what
/// concerns all of them (the network, a limiter that passes) looks at all.
package struct LoadingDecision: Sendable {
  package enum Event: Sendable {
    /// The host begins: what is to load is told.
    case began
    /// A process created the session object, with this configuration.
    case opened(SessionKey, Terms)
    case created(Transfer)
    /// The owner suspended the task or lets it go on, or changed its priority or date. What is `nil` stays.
    case changed(TaskKey, isSuspended: Bool?, priority: Float?, earliestBeginDate: Date?)
    /// The owner was asked, or cannot be: the task may load, from another host where it has a new request.
    case answered(TaskKey, host: String?)
    /// The attempt failed for a reason that another may not meet. `progressed`: bytes had come.
    case failed(TaskKey, progressed: Bool)
    /// The attempt is to be made again at once.
    case again(TaskKey)
    /// The attempt was stopped where it was.
    case stopped(TaskKey)
    /// The task is about to end from outside, and is not to load any more.
    case ending(TaskKey)
    /// The task is over.
    case ended(TaskKey)
    case network(NetworkState)
    /// The owner was resumed or launched for its sessions.
    case woken(Address)
    /// A person brought the app to the front, or it left it.
    case front(Address, Bool)
    /// The instant of `nextInstant` has come.
    case instantCame
  }

  package enum Answer: Sendable, Equatable {
    /// Begin an attempt; its end is told by `failed`, `again`, `stopped` or `ended`.
    case load(TaskKey)
    /// Stop the attempt where it is.
    case stop(TaskKey)
    /// For the record: it waits for something else than before.
    case waits(TaskKey, Wait)
    /// Ask the owner whether it may begin.
    case ask(TaskKey)
    /// Its `timeoutIntervalForResource` is over: it ends with -1001, with the reason why no network would do.
    case expire(TaskKey, unavailableReason: Int?)
    /// The limiter of an account is so now; to be written down.
    case limiter(account: String, Limiter, reason: String)
  }

  package internal(set) var transfers: [TaskKey: Transfer] = [:]
  package internal(set) var sessions: [SessionKey: Terms]
  package internal(set) var limiters: [String: Limiter]
  package internal(set) var network: NetworkState
  var inFront: Set<Address> = []
  var lanes: [Lane.Key: Lane] = [:]
  /// Lanes whose connections or waiting tasks changed in this step.
  var touchedLanes: Set<Lane.Key> = []
  /// Tasks with a connection of their session that wait for the device's turn.
  var ready = Heap<Ticket>()
  var alarms = Heap<Alarm>()
  /// Attempts that are under way.
  var loading = 0
  /// Tasks whose place changed in this step.
  var moved: [TaskKey] = []
  private var stamps = 0
  private var arrivals = 0
  let settings: TransferSettings
  let families: AppFamilies

  /// - Parameters:
  ///   - transfers: the tasks that have not ended, in the order in which they were created.
  ///   - families: which app an extension belongs to.
  package init(
    sessions: [SessionKey: Terms] = [:], transfers: [Transfer] = [], limiters: [String: Limiter] = [:],
    network: NetworkState = NetworkState(), settings: TransferSettings, families: AppFamilies = AppFamilies()
  ) {
    self.sessions = sessions
    self.limiters = limiters
    self.network = network
    self.settings = settings
    self.families = families
    for transfer in transfers { insert(transfer) }
    for (account, limiter) in limiters { alarms.insert(Alarm(instant: limiter.until, what: .limiter(account))) }
  }

  /// When `instantCame` is due.
  package var nextInstant: Date? { alarms.min?.instant }

  /// The tasks of some sessions that have not ended, in the order in which they were created.
  package func keys(of sessions: Set<SessionKey>) -> [TaskKey] { inOrder { sessions.contains($0.key.session) } }

  /// Whether a task that the owner creates now counts as created in the foreground.
  package func isInFront(_ owner: Address) -> Bool { inFront.contains(owner) }

  package mutating func take(_ event: Event, now: Date) -> [Answer] {
    var answers = handle(event, now)
    fillLanes()
    while loading < settings.maximumLoads, let ticket = ready.popMin() {
      guard let transfer = transfers[ticket.key], transfer.stamp == ticket.stamp else { continue }
      move(ticket.key, to: .loading)
      transfers[ticket.key]?.isUnderWay = true
      transfers[ticket.key]?.attempts += 1
      transfers[ticket.key]?.told = nil
      loading += 1
      answers.append(.load(ticket.key))
    }
    answers += tell()
    tidyAlarms()
    return answers
  }

  private mutating func handle(_ event: Event, _ now: Date) -> [Answer] {
    switch event {
    case .began: return inOrder().flatMap { settle($0, now) } + instantCame(now)
    case .opened(let session, let terms): return opened(session, terms, now)
    case .created(let transfer):
      guard transfers[transfer.key] == nil else { return [] }
      insert(transfer)
      return settle(transfer.key, now)
    case .changed(let key, let isSuspended, let priority, let date):
      return changed(key, isSuspended, priority, date, now)
    case .answered(let key, let host):
      transfers[key]?.consent = .given
      if let host { transfers[key]?.host = host }
      return settle(key, now)
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
    case .instantCame: return instantCame(now)
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

  /// The keys in the order in which the tasks were created: for what concerns all of them.
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

  /// Gives back the connection and the turn that a task has.
  mutating func release(_ key: TaskKey) {
    guard let transfer = transfers[key] else { return }
    if transfer.isUnderWay { loading -= 1 }
    if transfer.hasConnection {
      lanes[Lane.Key(transfer)]?.taken -= 1
      touchedLanes.insert(Lane.Key(transfer))
    }
    transfers[key]?.hasConnection = false
    transfers[key]?.isUnderWay = false
  }

  /// Puts a task that is not loading where it belongs now.
  mutating func settle(_ key: TaskKey, _ now: Date) -> [Answer] {
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
    guard wait == .answer, transfer.consent == .needed else { return [] }
    transfers[key]?.consent = .asked
    return [.ask(key)]
  }

  mutating func queue(_ key: TaskKey) {
    guard let transfer = transfers[key] else { return }
    release(key)
    move(key, to: .waiting(.connection(host: transfer.host)))
    let lane = Lane.Key(transfer)
    lanes[lane, default: Lane()].queue.insert(Ticket(transfer, stamp: stamps))
    touchedLanes.insert(lane)
  }

  /// Gives free connections to the tasks that come first.
  private mutating func fillLanes() {
    for key in touchedLanes.sorted() {
      guard var lane = lanes.removeValue(forKey: key) else { continue }
      let limit = max(1, sessions[key.session]?.connectionsPerHost ?? 1)
      while lane.taken < limit, let ticket = lane.queue.popMin() {
        guard let transfer = transfers[ticket.key], transfer.stamp == ticket.stamp else { continue }
        lane.taken += 1
        transfers[ticket.key]?.hasConnection = true
        move(ticket.key, to: .waiting(.turn))
        ready.insert(Ticket(transfer, stamp: stamps))
      }
      if lane.taken > 0 || !lane.queue.isEmpty { lanes[key] = lane }
    }
    touchedLanes = []
  }

  /// What the tasks whose place changed wait for, when that is something else than they were told to.
  private mutating func tell() -> [Answer] {
    defer { moved = [] }
    return moved.compactMap { key in
      guard let transfer = transfers[key], case .waiting(let wait) = transfer.place, transfer.told != wait else {
        return nil
      }
      transfers[key]?.told = wait
      return wait.isSaid ? .waits(key, wait) : nil
    }
  }

  // MARK: Instants

  private mutating func instantCame(_ now: Date) -> [Answer] {
    var answers: [Answer] = []
    while let alarm = alarms.min, alarm.instant <= now {
      alarms.removeMin()
      guard isDue(alarm) else { continue }
      switch alarm.what {
      case .task(let key, _): answers += settle(key, now)
      case .limiter(let account): answers += limiterPassed(account, now)
      case .expiry(let key):
        guard let transfer = transfers[key] else { continue }
        move(key, to: .ending)
        answers.append(.expire(key, unavailableReason: unavailableReason(of: transfer)))
      }
    }
    return answers
  }

  private func isDue(_ alarm: Alarm) -> Bool {
    switch alarm.what {
    case .task(let key, let stamp): transfers[key]?.stamp == stamp
    case .limiter(let account): limiters[account]?.until == alarm.instant
    case .expiry(let key):
      transfers[key].map { $0.place != .ending && expiry(of: $0) == alarm.instant } ?? false
    }
  }

  /// Drops the alarms that are worth nothing any longer: those in front, and all of them when they are the most.
  private mutating func tidyAlarms() {
    if alarms.count > 4 * transfers.count + 64 { alarms = Heap(alarms.unordered.filter(isDue)) }
    while let alarm = alarms.min, !isDue(alarm) { alarms.removeMin() }
  }
}
