// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import Foundation
import GRDB
package import MessageBus
package import Messages
import OwnedTasks
package import Stores
package import Timekeeping

/// The timeline service: requests the timelines of placements from extensions, stores the last good one of each, and
/// shows its entries at their time by the device's clock.
///
/// State is persisted before it is announced. The device's clock does not advance while a request to an extension is
/// pending.
@DeviceActor package final class TimelineService: DevicePart {
  /// What the previous host wrote.
  package struct Stored: Sendable {
    package let stateMachine: TimelineStateMachine
    fileprivate let store: TimelineStore
    fileprivate let settings: TimelineSettings

    /// - Throws: errors of the database.
    package init(
      _ transactions: DeviceTransactions, extensions: [Address], apps: [Address] = [],
      settings: TimelineSettings = TimelineSettings(), policy: BudgetPolicy = BudgetPolicy()
    ) throws {
      store = try TimelineStore(transactions)
      self.settings = settings
      var stateMachine = TimelineStateMachine(extensions: extensions, apps: apps, settings: settings, policy: policy)
      try store.read(&stateMachine)
      self.stateMachine = stateMachine
    }
  }

  nonisolated let concerns: Set<DeviceConcern> = [.timelines]
  nonisolated let core: DeviceCore
  let store: TimelineStore
  let bus: any BusConnection
  let clock: any ControllableClock
  let machine: any ControllableClock
  let settings: TimelineSettings
  let environment: @Sendable (Placement) -> WidgetEnvironment
  let container: @Sendable (Address) -> String?
  let closureSizes: @Sendable (ArchivedEntry, WidgetEnvironment) async -> [ClosureSizes]
  var providerRequests: [ProviderRequestKey: Task<Void, Never>] = [:]
  /// Time limits for their replies.
  var timeLimits: [ProviderRequestKey: Task<Void, Never>] = [:]
  /// Time limits for extensions that do not start.
  var deadlines: [Address: Task<Void, Never>] = [:]
  /// Callers that wait for the entries of a widget that is not placed, by the number of the request.
  var waiting: [Int: UnplacedRequest] = [:]
  /// Callers that wait until a placement has no pending reload.
  private var reloading: [Int: [AsyncStream<Never>.Continuation]] = [:]
  var lastSnapshot = 0
  /// The timeline that the next step stores, which is recorded before its consequences.
  var given: (asked: TimelineStateMachine.ProviderRequest, facts: TimelineFacts)?
  /// The timelines and images that are handled now.
  let underWay: UnderWay
  /// Set while an extension is asked, or is about to be: the clock does not advance then.
  private var work: ClockWork?
  let tasks: TaskOwner

  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - machine: the clock for author's code and its time limits.
  ///   - underWay: a timeline that it sets aside is not requested until its retry, and an image is not read.
  ///   - environment: the environment for a placement's views; number 0 is a snapshot in the gallery.
  ///   - container: the folder of an extension, which contains the files of its replies.
  ///   - closureSizes: lays out an entry, and returns the sizes of the closures that were called with another size.
  package nonisolated init(
    _ stored: Stored, core: DeviceCore, bus: any BusConnection, clock: any ControllableClock,
    machine: any ControllableClock = AdjustableClock(.running(ahead: 0), executor: DeviceActor.executor),
    underWay: UnderWay = UnderWay(), environment: @escaping @Sendable (Placement) -> WidgetEnvironment,
    container: @escaping @Sendable (Address) -> String? = { _ in nil },
    closureSizes: @escaping @Sendable (ArchivedEntry, WidgetEnvironment) async -> [ClosureSizes] = { _, _ in [] }
  ) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.core = core
    self.store = stored.store
    self.settings = stored.settings
    self.bus = bus
    self.clock = clock
    self.machine = machine
    self.underWay = underWay
    self.environment = environment
    self.container = container
    self.closureSizes = closureSizes
  }

  var stateMachine: TimelineStateMachine { core.state.timelines }

  /// Resumes after a host restart: sends the requests that are due, and shows the entries that have become due since.
  package func begin() { handle(.began) }

  /// Cancels the requests to extensions; the next instance repeats them. Nothing runs when this returns, and later
  /// messages fail with `closed`. Must be the last call.
  package func leave() async {
    core.stop()
    let ended = core.failure ?? BusError(.closed, "the timeline service has ended", isDefinite: false)
    for serial in Array(waiting.keys) { finishSnapshot(serial, .failure(ended)) }
    resumeWaiters()
    await tasks.end()
    holdClock(false)
  }

  /// Returns when a placement has no pending reload or waits after a failure, or when the calling task is cancelled.
  package func whenReloaded(_ id: Int) async {
    guard isReloading(id) else { return }
    let (reloaded, continuation) = AsyncStream.makeStream(of: Never.self)
    reloading[id, default: []].append(continuation)
    for await _ in reloaded {}
  }

  private func isReloading(_ id: Int) -> Bool {
    core.failure == nil && stateMachine.placements[id]?.pendingReload.map { !$0.isBackingOff } ?? false
  }

  // MARK: Handling events

  func record(_ event: TimelineStateMachine.Event) throws(BusError) { try core.record(.timelines(event)) }

  func handle(_ event: TimelineStateMachine.Event) { core.handle(.timelines(event)) }

  func save(_ step: DeviceStep) throws {
    let lines = step.actions.compactMap { action -> LedgerEntry? in
      if case .timelines(.decided(let decided, _)) = action { decided.entry } else { nil }
    }
    try store.save(stateMachine, core.takeTimelineChanges(), lines)
    if let (asked, facts) = given.take() { recordStored(asked, facts) }
  }

  func settle() {
    holdClock(core.failure == nil && stateMachine.isBusy)
    resumeWaiters()
  }

  private func resumeWaiters() {
    for id in reloading.keys where !isReloading(id) {
      for continuation in reloading.removeValue(forKey: id) ?? [] { continuation.finish() }
    }
  }

  func perform(_ action: TimelineStateMachine.Action) {
    switch action {
    case .output, .report: break
    case .process(let action):
      if case .want(let address, _, _) = action, !providerRequests.keys.contains(where: { $0.address == address }) {
        deadlines[address]?.cancel()
        deadlines[address] = afterDeadline { .stalled(address) }
      }
      if case .release(let address, _) = action { deadlines.removeValue(forKey: address)?.cancel() }
    case .ask(let asked): ask(asked)
    case .stopAsking(let asked):
      providerRequests.removeValue(forKey: ProviderRequestKey(asked))?.cancel()
      timeLimits.removeValue(forKey: ProviderRequestKey(asked))?.cancel()
    case .decided(let decided, let context): bus.record(decided, context: context)
    case .shown(let notice, let context): bus.record(notice, context: context)
    case .reloadFailed(let notice, let context): bus.record(notice, context: context)
    case .noSnapshot(let serial, let reason):
      finishSnapshot(serial, .failure(BusError(.failed, reason, isDefinite: true)))
    }
  }

  /// Handles an event after the time for a reply, in machine time.
  func afterDeadline(_ event: @escaping @Sendable () -> TimelineStateMachine.Event) -> Task<Void, Never>? {
    // The time counts from this call, and not from the start of the task.
    let end = machine.now.addingTimeInterval(settings.deadline)
    return tasks.start { [weak self, machine] in
      guard (try? await machine.sleep(until: end)) != nil else { return }
      await self?.handle(event())
    }
  }

  // MARK: Time

  private func holdClock(_ isBusy: Bool) {
    if isBusy {
      if work == nil { work = clock.beginWork() }
    } else if let ended = work {
      work = nil
      clock.endWork(ended)
    }
  }
}
