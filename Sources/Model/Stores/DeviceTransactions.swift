// SPDX-License-Identifier: Apache-2.0

package import Dispatch
import Foundation
package import GRDB
import GRDBSQLite
package import Messages
import Synchronization
package import Timekeeping

/// The transactions of a device. What its services write while events wait for their executor becomes one transaction, and
/// what follows from it is done when it is on the disk: nothing is replied, sent or started before.
///
/// Any thread may add something. Transactions are made on the executor, when no job waits for it, and at most `longest`
/// after their first change.
package final class DeviceTransactions: Sendable {
  /// When a change must be written. A transaction has the urgency of its most urgent change.
  package enum Urgency: Comparable, Sendable {
    /// With the next transaction, at most `ride` later. For what an agent, an owner or the push server tells again.
    case riding
    /// What follows from it waits for the transaction, and the transaction not for the disk: it survives the end of the process.
    case soon
    /// It also survives a power failure.
    case lasting
  }

  private struct State {
    var changes: [@Sendable (Database) throws -> Void] = []
    var urgency = Urgency.riding
    /// What follows, in order.
    var actions: [@Sendable () -> Void] = []
    var waitingContinuations: [CheckedContinuation<Void, Never>] = []
    /// Since when a transaction is planned.
    var planned: DispatchTime?
    var isRidePlanned = false
    var isPerforming = false
    var failure: BusError?
    /// The device's clock does not advance before what follows is done.
    var work: ClockWork?

    /// Whether something must wait for a transaction, or for what follows from one.
    var isPending: Bool { urgency > .riding || isPerforming }

    /// Puts a batch that was not written before what was added since. Its transaction is still planned.
    ///
    /// - Returns: work of the clock that is not needed any more.
    mutating func putBack(_ batch: State) -> ClockWork? {
      changes = batch.changes + changes
      urgency = max(urgency, batch.urgency)
      actions = batch.actions + actions
      waitingContinuations = batch.waitingContinuations + waitingContinuations
      planned = batch.planned ?? planned
      isRidePlanned = isRidePlanned || batch.isRidePlanned
      isPerforming = batch.isPerforming
      guard work == nil else { return batch.work }
      work = batch.work
      return nil
    }
  }

  /// The longest time from the first change of a transaction to its beginning while events arrive.
  private static let longest: UInt64 = 5_000_000

  package let database: any DatabaseWriter
  package let executor: ServiceExecutor
  private let clock: (any ControllableClock)?
  private let checkpoints: Checkpoints?
  private let ride: DispatchTimeInterval
  private let broken: @Sendable (any Error) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - ride: the longest that a `riding` change waits.
  ///   - broken: called once, when a transaction failed. Nothing follows from any change after that.
  package init(
    _ database: any DatabaseWriter, executor: ServiceExecutor = DeviceActor.executor, clock: any ControllableClock,
    ride: DispatchTimeInterval = .seconds(1), broken: @escaping @Sendable (any Error) -> Void
  ) {
    self.database = database
    self.executor = executor
    self.clock = clock
    checkpoints = (database as? DatabasePool).map { Checkpoints($0) }
    self.ride = ride
    self.broken = broken
  }

  /// Writes each change at once, for a service alone.
  package init(immediate database: any DatabaseWriter) {
    self.database = database
    executor = DeviceActor.executor
    clock = nil
    checkpoints = nil
    ride = .never
    broken = { _ in }
  }

  /// Adds a change to the next transaction.
  ///
  /// - Throws: errors of the database, only when each change is written at once.
  package func write(_ urgency: Urgency, _ change: @escaping @Sendable (Database) throws -> Void) throws {
    guard let clock else { return try perform([change], waits: urgency == .lasting) }
    let (plans, rides) = state.withLock { state in
      guard state.failure == nil else { return (false, false) }
      state.changes.append(change)
      state.urgency = max(state.urgency, urgency)
      if urgency == .riding, !state.isRidePlanned {
        state.isRidePlanned = true
        return (false, true)
      }
      guard urgency > .riding, state.planned == nil else { return (false, false) }
      state.planned = .now()
      if state.work == nil { state.work = clock.beginWork() }
      return (true, false)
    }
    if plans { executor.post { self.commitWhenIdle() } }
    if rides {
      executor.post(after: .now() + ride) { self.commit() }
    }
  }

  /// Does something when all changes before it are written: at once when none waits. After a failure it is not done.
  package func afterCommit(_ action: @escaping @Sendable () -> Void) {
    let isNow = state.withLock { state in
      guard state.failure == nil else { return false }
      if state.isPending { state.actions.append(action) }
      return !state.isPending
    }
    if isNow { action() }
  }

  /// Returns when all changes before it are written, and what follows is done.
  ///
  /// - Throws: `failed` (indefinite) after a failure.
  package func committed() async throws(BusError) {
    let isPending = state.withLock { $0.isPending }
    if isPending {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isPending { state.waitingContinuations.append(continuation) }
          return !state.isPending
        }
        if isOver { continuation.resume() }
      }
    }
    if let failure = state.withLock(\.failure) { throw failure }
  }

  private func commitWhenIdle() {
    let began = state.withLock(\.planned)
    guard let began else { return }
    if executor.hasWaitingJobs, DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds < Self.longest {
      executor.post { self.commitWhenIdle() }
    } else {
      commit()
    }
  }

  /// Writes what waits now, before something is read. On the executor.
  package func commit() {
    guard clock != nil else { return }
    let batch = take()
    do {
      if !batch.changes.isEmpty { try perform(batch.changes, waits: batch.urgency == .lasting) }
      for action in batch.actions { action() }
    } catch {
      state.withLock {
        $0.failure = BusError(.failed, "the state of the device cannot be written: \(error)", isDefinite: false)
      }
      broken(error)
    }
    finish(batch)
  }

  /// Writes something now, in one transaction with all that waits. When this returns, the disk has it. On the executor.
  ///
  /// - Throws: errors of the database. What waits is written by the next transaction then.
  package func writeNow<Value>(_ work: (Database) throws -> Value) throws -> Value {
    guard clock != nil else { return try database.write(work) }
    let batch = take()
    let value: Value
    do {
      value = try database.write { db in
        for change in batch.changes { try change(db) }
        return try work(db)
      }
    } catch {
      if let surplus = state.withLock({ $0.putBack(batch) }) { clock?.endWork(surplus) }
      throw error
    }
    for action in batch.actions { action() }
    finish(batch)
    return value
  }

  private func take() -> State {
    state.withLock { state in
      let batch = state
      state = State(isPerforming: batch.isPending, failure: batch.failure)
      return batch
    }
  }

  /// What follows from a batch is done.
  private func finish(_ batch: State) {
    let waitingContinuations = batch.waitingContinuations + follow()
    for continuation in waitingContinuations { continuation.resume() }
    if let work = batch.work { clock?.endWork(work) }
  }

  private func perform(_ changes: [@Sendable (Database) throws -> Void], waits: Bool) throws {
    let work = { (db: Database) in for change in changes { try change(db) } }
    if waits { try database.write(work) } else { try database.writeSoon(work) }
  }

  /// Does what was added while other actions ran, unless it follows from a change that the next transaction writes.
  ///
  /// - Returns: the callers that wait, when nothing is left.
  private func follow() -> [CheckedContinuation<Void, Never>] {
    while true {
      let (actions, waitingContinuations) = state.withLock { state in
        if state.failure != nil { state.actions = [] }
        guard state.urgency == .riding, !state.actions.isEmpty else {
          state.isPerforming = false
          defer { if state.urgency == .riding { state.waitingContinuations = [] } }
          return ([@Sendable () -> Void](), state.urgency == .riding ? state.waitingContinuations : [])
        }
        defer { state.actions = [] }
        return (state.actions, [])
      }
      if actions.isEmpty { return waitingContinuations }
      for action in actions { action() }
    }
  }
}

/// Copies the write-ahead log of a pool into its database beside the transactions, on another connection and thread.
///
/// SQLite would do it within the transaction that exceeds 1,000 pages: 16.8 ms for 3,767 pages, measured, where a
/// transaction takes 0.34 ms. A log that grows faster than it is copied is copied so at 8,000 pages.
final class Checkpoints: Sendable {
  private let pool: DatabasePool
  private let hook: Unmanaged<CheckpointHook>

  /// - Parameter copied: called after each copy, on its thread.
  init(_ pool: DatabasePool, copied: @escaping @Sendable () -> Void = {}) {
    self.pool = pool
    hook = Unmanaged.passRetained(CheckpointHook(path: pool.path, copied))
    pool.unsafeReentrantWrite { db in
      guard let connection = db.sqliteConnection else { return }
      sqlite3_wal_hook(
        connection,
        { hook, connection, name, pages in
          guard let hook else { return SQLITE_OK }
          if Unmanaged<CheckpointHook>.fromOpaque(hook).takeUnretainedValue().grew(to: pages) {
            // An error is another connection's lock. The next transaction tries again.
            sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
          }
          return SQLITE_OK
        }, hook.toOpaque())
    }
  }

  deinit {
    // Also removes the hook.
    pool.unsafeReentrantWrite { db in
      if let connection = db.sqliteConnection { sqlite3_wal_autocheckpoint(connection, CheckpointHook.interval) }
    }
    hook.release()
  }
}

/// Follows the length of a log.
private final class CheckpointHook: Sendable {
  /// Pages between two copies. Source: SQLite's `SQLITE_DEFAULT_WAL_AUTOCHECKPOINT`.
  static let interval: Int32 = 1_000
  /// The longest log that transactions do not wait for, in pages of 4 KiB.
  private static let most: Int32 = 8_000

  private let path: String
  private let copied: @Sendable () -> Void
  private let queue = DispatchQueue(label: "checkpoints", qos: .utility)
  /// The length of the log at the last commit, and the one at which the next copy begins, in pages.
  private let state = Mutex((last: Int32(0), next: CheckpointHook.interval))

  init(path: String, _ copied: @escaping @Sendable () -> Void) {
    self.path = path
    self.copied = copied
  }

  /// A transaction was committed.
  ///
  /// - Parameter pages: the length of the log.
  /// - Returns: whether it must be copied before the next transaction.
  func grew(to pages: Int32) -> Bool {
    let isDue = state.withLock { state in
      // SQLite writes the log from its beginning when all of it has been copied.
      if pages < state.last { state.next = Self.interval }
      state.last = pages
      guard pages >= state.next else { return false }
      state.next = pages + Self.interval
      return true
    }
    if isDue { queue.async { [self] in copy() } }
    return pages >= Self.most
  }

  private func copy() {
    // A connection for each copy: the last one that is closed empties the log, which must be the pool's.
    let connection = try? DatabaseQueue(path: path)
    try? connection?.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
    try? connection?.close()
    copied()
  }
}
