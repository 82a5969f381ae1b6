// SPDX-License-Identifier: Apache-2.0

package import Archive
import DeviceRules
import FaultPoints
import Foundation
package import MessageBus
package import Messages
import ShownText
import Stores
import Timekeeping

// Input from other services and the user, and queries.

extension TimelineService {
  /// The extensions were replaced: the next reload of all widgets launches them.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func forgetKinds(of extensions: [Address]) throws(BusError) { try record(.kindsForgotten(extensions)) }

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

  /// Reloads one placement, for example after its button's intent.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func reload(_ id: Int, because: ReloadCause, _ context: MessageContext = .none) throws(BusError) {
    try record(.reloadOne(id, because, context))
  }

  /// The user opens an app by tapping a widget.
  package func openedFromWidget(_ app: Address) { handle(.openedFromWidget(app: app)) }

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

  /// The remembered widget pushes, by placement.
  package var pushReports: [PlacementReloadReport] { stateMachine.reports }

  /// The visible content of a placement; `nil` while it has none, not even its placeholder.
  ///
  /// - Throws: errors of the database.
  package func shown(_ id: Int) throws -> ShownEntry? { try store.shown(id, stateMachine.placements[id]?.shown) }

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
    let found = try underWay.handle(work) {
      FaultPoint.hostWithinImage.reached()
      return try store.image(
        request.digest, from: min(max(0, request.offset), 1 << 40), limit: ReadImage.pieceLimit)
    }
    guard let found else {
      throw BusError(.noSuchImage, "no stored timeline has the image \(request.digest.start(bytes: 64))")
    }
    return ReadImage.Reply(piece: found.piece, count: found.count)
  }

  /// Why the last reload of a placement failed; `nil` if it did not.
  package func lastFailure(_ id: Int) -> String? { stateMachine.placements[id]?.lastFailure?.reason }

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
