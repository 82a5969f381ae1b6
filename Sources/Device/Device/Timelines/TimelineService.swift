// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import FaultPoints
package import Foundation
import GRDB
package import MessageBus
package import Messages
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

  package nonisolated let concerns: Set<DeviceConcern> = [.timelines]
  nonisolated let core: DeviceCore
  let store: TimelineStore
  let bus: any BusConnection
  let clock: any ControllableClock
  let machine: any ControllableClock
  let settings: TimelineSettings
  let environment: (@DeviceActor (Placement) -> WidgetEnvironment)?
  let container: @Sendable (Address) -> String?
  let closureSizes: @Sendable (ArchivedEntry, WidgetEnvironment) async -> [ClosureSizes]
  var providerRequests: [TimelineStateMachine.ProviderRequest: Task<Void, Never>] = [:]
  /// Time limits for their replies.
  var timeLimits: [TimelineStateMachine.ProviderRequest: Task<Void, Never>] = [:]
  /// Time limits for extensions that do not start.
  var deadlines: [Address: Task<Void, Never>] = [:]
  /// Callers that wait for the entries of a widget that is not placed, by the number of the request.
  var waitingSnapshots: [Int: UnplacedRequest] = [:]
  /// Callers that wait until a placement has no pending reload.
  private let reloading = Waiters<Int>()
  var lastSnapshot = 0
  /// The timeline that the next step stores, which is recorded before its consequences.
  var answeredRequest: (asked: TimelineStateMachine.ProviderRequest, facts: TimelineFacts)?
  /// The timelines and images that are handled now.
  let underWay: UnderWay
  /// Set while an extension is asked, or is about to be: the clock does not advance then.
  private var work: ClockWork?
  let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)

  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - machine: the clock for author's code and its time limits.
  ///   - underWay: a timeline that it sets aside is not requested until its retry, and an image is not read.
  ///   - environment: the environment for a placement's views; number 0 is a snapshot in the gallery. `nil`: the
  ///     device's.
  ///   - container: the folder of an extension, which contains the files of its replies.
  ///   - closureSizes: lays out an entry, and returns the sizes of the closures that were called with another size.
  package nonisolated init(
    _ storedState: Stored, core: DeviceCore, bus: any BusConnection, clock: any ControllableClock,
    machine: any ControllableClock = AdjustableClock(.running(ahead: 0), executor: DeviceActor.executor),
    underWay: UnderWay = UnderWay(), environment: (@DeviceActor (Placement) -> WidgetEnvironment)? = nil,
    container: @escaping @Sendable (Address) -> String? = { _ in nil },
    closureSizes: @escaping @Sendable (ArchivedEntry, WidgetEnvironment) async -> [ClosureSizes] = { _, _ in [] }
  ) {
    self.core = core
    self.store = storedState.store
    self.settings = storedState.settings
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
    for serial in Array(waitingSnapshots.keys) { finishSnapshot(serial, .failure(core.failure ?? DeviceCore.closed)) }
    reloading.resume()
    await tasks.end()
    holdClock(false)
  }

  /// Returns when a placement has no pending reload or waits after a failure, or when the calling task is cancelled.
  package func whenReloaded(_ id: Int) async {
    guard isReloading(id) else { return }
    for await _ in reloading.stream(until: id) {}
  }

  private func isReloading(_ id: Int) -> Bool {
    core.failure == nil && stateMachine.placements[id]?.pendingReload.map { !$0.isBackingOff } ?? false
  }

  // MARK: Handling events

  func record(_ event: TimelineStateMachine.Event) throws(BusError) { try core.record(.timelines(event)) }

  func handle(_ event: TimelineStateMachine.Event) { core.handle(.timelines(event)) }

  package func save(_ step: DeviceStep) throws {
    let lines = step.actions.compactMap { action -> LedgerEntry? in
      if case .timelines(.decided(let decided, _)) = action { decided.entry } else { nil }
    }
    try store.save(stateMachine, changes: core.state.timelines.takeChanges(), lines: lines)
    if let (asked, facts) = answeredRequest.take() { recordStored(asked, facts) }
  }

  package func settle() {
    holdClock(core.failure == nil && stateMachine.isBusy)
    reloading.resume { !isReloading($0) }
  }

  package func perform(_ action: DeviceAction) {
    guard case .timelines(let action) = action else { return }
    switch action {
    case .asks(.process(let action)):
      if case .want(let address, _, _) = action, !providerRequests.keys.contains(where: { $0.address == address }) {
        deadlines[address]?.cancel()
        deadlines[address] = afterDeadline { .stalled(address) }
      }
      if case .release(let address, _) = action { deadlines.removeValue(forKey: address)?.cancel() }
    case .asks: break
    case .ask(let providerRequest): ask(providerRequest)
    case .stopAsking(let providerRequest):
      providerRequests.removeValue(forKey: providerRequest)?.cancel()
      timeLimits.removeValue(forKey: providerRequest)?.cancel()
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

// Input from other services and the user, and queries.

extension TimelineService {
  /// `timeline.reload`. The reload is pending, and persisted, when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func reload(_ event: ReloadTimelines, _ from: Received) throws(BusError) {
    let isInside = from.source.role == .widgetExtension && event.within.map(Self.providerMethods.contains) ?? false
    let areControls = from.source.role == .operator ? nil : event.areControls ?? false
    try record(
      .reload(
        from: from.source, kind: event.widgetKind, areControls: areControls, isInside: isInside, from.context))
  }

  private static let providerMethods: Set<String> = [
    "getTimeline", "timeline", "getSnapshot", "snapshot", "placeholder",
  ]

  /// The device moved far. The consequences are persisted when this returns.
  ///
  /// - Parameter bundles: the extensions whose widgets use the location.
  /// - Returns: the placements that are reloaded now, and those that are reloaded when they are seen.
  /// - Throws: `failed` when it cannot be recorded.
  package func moved(_ bundles: Set<String>, _ context: MessageContext = .none) throws(BusError) -> MoveDevice.Reply {
    try record(.moved(bundles: bundles, context))
    let meant = stateMachine.placements.values.filter { bundles.contains($0.placement.bundle) }
    return MoveDevice.Reply(
      reloaded: meant.filter(\.account.isSeen).map(\.placement.id).sorted(),
      whenSeen: meant.filter { !$0.account.isSeen }.map(\.placement.id).sorted())
  }

  // MARK: Queries

  /// The visible content of a placement; `nil` while it has none, not even its placeholder.
  ///
  /// - Throws: errors of the database.
  package func shown(_ id: Int) throws -> ShownWidget? { try store.shown(id, stateMachine.placements[id]?.shown) }

  /// The provider's placeholder, which replaces hidden content of a placement; `nil` if it has none.
  ///
  /// - Throws: errors of the database.
  package func placeholder(_ id: Int) throws -> ArchivedEntry? { try store.placeholder(id) }

  /// `image.read`.
  ///
  /// - Throws: `no-such-image`, or errors of the database.
  package func image(_ request: ReadImage) throws -> ReadImage.Reply {
    let work = UnderWay.Work(.image, request.digest.start(bytes: 64))
    if let reason = underWay.reason(work) { throw BusError(.noSuchImage, reason) }
    let foundEntries = try underWay.handle(work) {
      FaultPoint.hostWithinImage.reached()
      return try store.image(
        request.digest, from: min(max(0, request.offset), 1 << 40), limit: ReadImage.pieceLimit)
    }
    guard let foundEntries else {
      throw BusError(.noSuchImage, "no stored timeline has the image \(request.digest.start(bytes: 64))")
    }
    return ReadImage.Reply(piece: foundEntries.piece, count: foundEntries.count)
  }

  /// The timeline of each placement, and why its last reload failed, as `ps` prints it.
  package func status() -> [TimelineStored] {
    stateMachine.placements.values.sorted { $0.placement.id < $1.placement.id }.map { stored($0, $0.timeline) }
  }

  private static let page = 300

  /// `budget.list`.
  ///
  /// - Throws: errors of the database.
  package func list(_ request: ListBudget) throws -> ListBudget.Reply {
    let now = clock.now
    let policy = stateMachine.policy
    let accounts = stateMachine.placements.values.sorted { $0.placement.id < $1.placement.id }
      .filter { request.placement == nil || $0.placement.id == request.placement }
      .map { placed -> ListBudget.Account in
        var account = placed.account
        account.accrue(policy, now: now)
        let isPolicy = placed.pendingReload == nil && placed.policyDue != nil
        return ListBudget.Account(
          placement: placed.placement.id, bundle: placed.placement.bundle, widgetKind: placed.placement.kind,
          balance: account.balance, perDay: policy.perDay ?? 0, spent: account.spent.count,
          next: placed.pendingReload?.notBefore ?? placed.policyDue,
          nextBecause: isPolicy ? .policy : placed.pendingReload?.reloadCause, withheld: placed.pendingReload?.withheld)
      }
    let lines = try store.ledger(request, limit: Self.page + 1)
    return ListBudget.Reply(
      now: now, policy: policy.name, isDeveloperMode: settings.developerMode, accounts: accounts,
      entries: Array(lines.prefix(Self.page)), hasMore: lines.count > Self.page)
  }
}

// Entries of widgets that are not placed: for the gallery, and for pictures. Nothing is stored.

/// What an extension provided for a widget that is not placed.
package struct UnplacedEntries: Sendable {
  /// Number 0, with the bundle of the extension.
  package let placement: Placement
  /// By date, at least one.
  package let entries: [ArchivedEntry]
  /// The bytes of their images by SHA-256.
  package let images: [String: Data]
  /// The texts of the first entry, line by line.
  let text: [String]
}

/// A caller that waits for the entries of a widget that is not placed.
struct UnplacedRequest {
  /// `snapshot` or `timeline`.
  let purpose: RequestTimeline.Purpose
  /// `nil`: that of the gallery.
  let environment: (@DeviceActor (Placement) -> WidgetEnvironment)?
  let continuation: CheckedContinuation<Result<UnplacedEntries, BusError>, Never>
}

extension TimelineService {
  /// `snapshot.take`. The snapshot is not stored.
  ///
  /// - Throws: `failed` with the reason if no extension provides it.
  package func snapshot(_ request: TakeSnapshot) async throws(BusError) -> TakeSnapshot.Reply {
    let found = try await entries(
      of: request.widgetKind, from: request.bundle, request.family, .snapshot, in: nil)
    return TakeSnapshot.Reply(text: found.text)
  }

  /// The entries of a widget in an environment. They are not stored, and no budget pays for them.
  ///
  /// - Parameters:
  ///   - bundle: the extension; `nil` where only one has the kind.
  ///   - purpose: the provider's method: `snapshot` or `timeline`.
  ///   - environment: of the placement number 0 of an extension.
  /// - Throws: `failed` with the reason if no extension provides them.
  package func entries(
    of kind: String, from bundle: String? = nil, _ family: WidgetFamilyName?, _ purpose: RequestTimeline.Purpose,
    in environment: (@DeviceActor (Placement) -> WidgetEnvironment)?
  ) async throws(BusError) -> UnplacedEntries {
    lastSnapshot += 1
    let serial = lastSnapshot
    let result = await withCheckedContinuation { continuation in
      waitingSnapshots[serial] = UnplacedRequest(purpose: purpose, environment: environment, continuation: continuation)
      handle(.snapshot(kind: kind, bundle: bundle, family: family, serial: serial))
      if let failure = core.failure { finishSnapshot(serial, .failure(failure)) }
    }
    return try result.get()
  }

  func finishSnapshot(_ serial: Int, _ result: Result<UnplacedEntries, BusError>) {
    waitingSnapshots.removeValue(forKey: serial)?.continuation.resume(returning: result)
  }
}
