import Conversations
import Foundation
package import GRDB
package import MessageBus
package import Timekeeping

/// The keeper of the push server: the device tokens, the notifications that wait for their devices, and the delivery log.
///
/// What has come while a transaction was written goes into the next one, and nobody is told of anything before it is on
/// disk. What waits when the push server dies is delivered by its next life, under the same ids.
package actor PushKeeper {
  /// What one transaction writes, and what is done when it is on disk.
  struct Batch {
    var changes = PushDatabase.Changes()
    var tokens: [DeviceToken] = []
    var notices: [PushLogged] = []
    var sends: [PushedNotification] = []
    var owed: [(subject: PushSubject, token: String?)] = []
    var thens: [@Sendable (_ isBroken: Bool) -> Void] = []
  }

  /// The device tokens as they are on disk.
  package nonisolated let tokens: TokenRegistry
  nonisolated let bus: any BusConnection
  nonisolated let database: PushDatabase
  nonisolated let inbox: PushInbox
  let clock: any DeviceClock
  let settings: PushSettings
  private let broken: @Sendable (String) -> Void
  var table: TokenTable
  var decision: PushDecision
  private var share: JournalShare
  private var lastNumber: Int64
  private var owed: [(subject: PushSubject, token: String?)]
  private var alarm: (instant: Date, alarm: ClockAlarm)?
  private var tidied: (at: Date, number: Int64)
  private var isBroken = false
  private nonisolated let executor = RoomExecutor("pushes")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Reads what the last life left.
  ///
  /// - Parameters:
  ///   - bus: not started yet, when `listen()` is called.
  ///   - clock: this machine's: the push server is Apple's, and not the device's.
  ///   - broken: the database cannot be written; it is told once, and the process should end.
  /// - Throws: what the database says.
  package init(
    database: any DatabaseWriter, bus: any BusConnection, clock: any DeviceClock = AdjustableClock(.running(ahead: 0)),
    settings: PushSettings = PushSettings(), tokens: TokenTable = TokenTable(),
    broken: @escaping @Sendable (String) -> Void
  ) throws {
    let store = try PushDatabase(database)
    let left = try store.left()
    var table = tokens
    for token in left.tokens { table.put(token) }
    var decision = PushDecision(settings: settings)
    for push in left.kept { decision.restore(push) }
    self.database = store
    self.bus = bus
    self.clock = clock
    self.settings = settings
    self.broken = broken
    self.table = table
    self.tokens = TokenRegistry(table)
    self.decision = decision
    self.inbox = PushInbox(limit: settings.queueLimit)
    self.share = JournalShare(rate: settings.journalRate)
    self.lastNumber = left.lastNumber
    self.owed = left.owed
    self.tidied = (.distantPast, 0)
  }

  /// The bus is there: devices are told what the last life owed them, and what has expired since is forgotten.
  package func begin() {
    for (subject, token) in owed { tell(subject, token) }
    owed = []
    put(.event(.clock))
  }

  /// Accepted, and neither delivered nor given up.
  package var count: Int { decision.count }

  // MARK: From any thread

  /// Takes a request with its verdict.
  ///
  /// - Parameter then: called once, on any thread: when an accepted notification is on disk, or need not be; or when it was
  ///   not taken. What was refused goes into the log, and `then` is called at once. What is for one attempt waits for the
  ///   disk only when that is far behind: a provider is slowed down before it is turned away.
  package nonisolated func take(_ arrival: PushArrival, then: @escaping @Sendable (PushPromise) -> Void) {
    guard case .accepted(let notification, _) = arrival.verdict, !notification.isForOnce || inbox.isBehind
    else {
      return then(put(.arrival(arrival, then: nil)) ? .kept : .full)
    }
    if !put(.arrival(arrival, then: then)) { then(.full) }
  }

  /// Returns when all that was taken before is on disk.
  package nonisolated func caughtUp() async {
    await withCheckedContinuation { continuation in put(.barrier { continuation.resume() }) }
  }

  @discardableResult
  nonisolated func put(_ job: PushInbox.Job) -> Bool {
    guard let begins = inbox.put(job) else { return false }
    if begins { Task { await work() } }
    return true
  }

  // MARK: Work

  private func work() async {
    while true {
      let jobs = inbox.take()
      if jobs.isEmpty { return }
      var batch = Batch()
      if !isBroken { for job in jobs { add(job, to: &batch) } } else { for job in jobs { turnDown(job) } }
      perform(batch)
      guard batch.changes.requests.count >= settings.busy else { continue }
      try? await Task.sleep(for: .seconds(settings.gathering))
    }
  }

  private func perform(_ batch: Batch) {
    do {
      try write(batch.changes)
    } catch {
      isBroken = true
      for then in batch.thens { then(true) }
      return broken("the push server's database cannot be written: \(error)")
    }
    tokens.publish(batch.tokens)
    for token in batch.tokens { bus.record(TokenChanged(token: token)) }
    for then in batch.thens { then(false) }
    for notice in batch.notices { bus.record(notice, story: Story(correlation: notice.uniqueID)) }
    for notification in batch.sends { send(notification) }
    for (subject, token) in batch.owed { tell(subject, token) }
    setAlarm()
  }

  private func add(_ job: PushInbox.Job, to batch: inout Batch) {
    switch job {
    case .arrival(let arrival, let then):
      add(arrival, to: &batch)
      if let then { batch.thens.append { isBroken in then(isBroken ? .broken : .kept) } }
    case .event(let event): add(event, at: clock.now, to: &batch)
    case .progress(let progress, let then): add(progress, then, to: &batch)
    case .issue(let subject, let environment, let then): issue(subject, environment, then, to: &batch)
    case .release(let subject, let then):
      let ended = table.end(subject, .unregistered, now: clock.now).map { [$0] } ?? []
      add(ended, then: then, ended, to: &batch)
    case .change(let subject, let change, let then): self.change(subject, change, then, to: &batch)
    case .told(let subject, let token): batch.changes.tokens.append(.told(subject, token: token))
    case .barrier(let then): batch.thens.append { _ in then() }
    }
  }

  /// The database is broken: the process is about to end.
  private func turnDown(_ job: PushInbox.Job) {
    let error = BusError(.failed, "the push server's database cannot be written", isDefinite: false)
    switch job {
    case .arrival(_, let then): then?(.broken)
    case .progress(_, let then): then(error)
    case .issue(_, _, let then), .release(_, let then), .change(_, _, let then): then(.failure(error))
    case .barrier(let then): then()
    case .event, .told: break
    }
  }

  private func add(_ arrival: PushArrival, to batch: inout Batch) {
    lastNumber += 1
    let number = lastNumber
    let now = clock.now
    switch arrival.verdict {
    case .refused(_, let reason, let explanation):
      let detail = [reason, explanation].compactMap(\.self).joined(separator: ": ")
      let station = PushStation(.refused, at: now, detail: detail)
      batch.changes.add(number, arrival, station)
      note(station, of: arrival, in: &batch)
    case .accepted(let notification, let remark):
      let station = PushStation(.accepted, at: now, detail: remark)
      batch.changes.add(number, arrival, station)
      note(station, of: arrival, in: &batch)
      guard table[arrival.token]?.state == .active else {
        let station = PushStation(.tokenUnregistered, at: now, detail: "while it was accepted")
        batch.changes.add(station, to: number)
        return note(station, of: arrival, in: &batch)
      }
      let push = KeptPush(number: number, notification: notification, token: arrival.token)
      add(.accepted(push), at: now, to: &batch)
    }
  }

  private func note(_ station: PushStation, of arrival: PushArrival, in batch: inout Batch) {
    guard share.takes(at: station.at) else { return }
    batch.notices.append(
      PushLogged(uniqueID: arrival.uniqueID, subject: arrival.subject, type: arrival.type, station: station))
  }

  private func add(_ event: PushDecision.Event, at now: Date, to batch: inout Batch) {
    for answer in decision.take(event, now: now) {
      switch answer {
      case .keep(let push): batch.changes.keep(push)
      case .drop(let push): batch.changes.drop(push.number)
      case .send(let notification): batch.sends.append(notification)
      case .station(let push, let name, let detail):
        let station = PushStation(name, at: now, detail: detail)
        batch.changes.add(station, to: push.number)
        guard share.takes(at: now) else { continue }
        let notification = push.notification
        batch.notices.append(
          PushLogged(
            uniqueID: push.id, subject: notification.subject, type: notification.type.rawValue, station: station))
      }
    }
  }

  private func add(
    _ progress: PushProgress, _ then: @escaping @Sendable (BusError?) -> Void, to batch: inout Batch
  ) {
    batch.changes.progress.append(progress)
    batch.thens.append { isBroken in
      then(isBroken ? BusError(.failed, "the delivery log cannot be written", isDefinite: false) : nil)
    }
  }

  // MARK: Tokens

  private func issue(
    _ subject: PushSubject, _ environment: PushEnvironment,
    _ then: @escaping @Sendable (Result<[DeviceToken], BusError>) -> Void, to batch: inout Batch
  ) {
    let (token, changed) = table.issue(subject, environment, now: clock.now)
    add(changed, then: then, [token], to: &batch)
  }

  private func change(
    _ subject: PushSubject, _ change: ChangeToken.Change,
    _ then: @escaping @Sendable (Result<[DeviceToken], BusError>) -> Void, to batch: inout Batch
  ) {
    let now = clock.now
    let changed =
      switch change {
      case .rotate: table.rotate(subject, now: now)
      case .expire: table.end(subject, .expired, now: now).map { [$0] } ?? []
      case .unregister: table.end(subject, .unregistered, now: now).map { [$0] } ?? []
      }
    guard !changed.isEmpty else {
      let whose = "\(subject.use.rawValue) of \(subject.bundle) on \(subject.device)"
      return then(.failure(BusError(.noSuchToken, "there is no active device token: \(whose)")))
    }
    let owed = (subject, changed.last { $0.state == .active }?.token)
    batch.changes.tokens.append(.owe(owed.0, token: owed.1))
    batch.owed.append(owed)
    add(changed, then: then, changed, to: &batch)
  }

  private func add(
    _ changed: [DeviceToken], then: @escaping @Sendable (Result<[DeviceToken], BusError>) -> Void,
    _ reply: [DeviceToken], to batch: inout Batch
  ) {
    for token in changed {
      batch.tokens.append(token)
      batch.changes.tokens.append(.token(token))
      if token.state != .active { add(.tokenEnded(token.token), at: clock.now, to: &batch) }
    }
    batch.thens.append { isBroken in
      let error = BusError(.failed, "the device tokens cannot be written", isDefinite: false)
      then(isBroken ? .failure(error) : .success(reply))
    }
  }

  // MARK: Time

  private func setAlarm() {
    let instant = decision.nextInstant
    guard instant != alarm?.instant else { return }
    alarm?.alarm.cancel()
    alarm = instant.map { instant in
      (instant, clock.alarm(at: instant) { [weak self] in _ = self?.put(.event(.clock)) })
    }
  }

  /// Writes what a batch brought, and forgets what is too old or too much: at most every hour or every hundredth of the log,
  /// and then a page with each batch.
  private func write(_ changes: PushDatabase.Changes) throws {
    let now = clock.now
    guard
      now.timeIntervalSince(tidied.at) >= 3_600
        || lastNumber - tidied.number > max(100, Int64(settings.logLimit / 100))
    else {
      try database.write(changes)
      return
    }
    let age = PushDatabase.Age(
      date: now.addingTimeInterval(-settings.logAge), number: lastNumber - Int64(settings.logLimit))
    let forgotten = try database.write(changes, forgetting: age)
    if forgotten < PushDatabase.forgottenAtOnce { tidied = (now, lastNumber) }
  }
}
