package import Archive
package import Conversations
package import Foundation
package import MessageBus
import Timekeeping

// What the other rooms and the person say, and what they ask.

extension TimelineKeeper {
  /// An extension is ready and has these kinds. Remembered when this returns; said before what is placed of them.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func knows(_ address: Address, _ widgets: [WidgetDeclaration]) throws(BusError) {
    let families = widgets.filter { !$0.isControl }.map { ($0.kind, $0.families?.first ?? .systemSmall) }
    try record(.knows(address, Dictionary(families) { first, _ in first }))
  }

  /// A widget is on a screen from now on, and is owed a timeline; one that is known already is owed nothing.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func placed(_ placement: Placement, _ story: Story = .none) throws(BusError) {
    try record(.placed(placement, story))
  }

  /// A person chose something else for a placement: it is asked for again, and that is free.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func edited(_ placement: Placement, _ story: Story = .none) throws(BusError) {
    try record(.edited(placement, story))
  }

  /// A person removed it: nothing of it is kept but its lines in the ledger.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func removed(_ id: Int) throws(BusError) { try record(.removed(id)) }

  /// The numbers of all that is placed.
  package var numbers: [Int] { decision.placements.keys.sorted() }

  /// `timeline.reload`. It is owed, on disk, when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func reload(_ event: ReloadTimelines, _ from: Received) throws(BusError) {
    let isInside = from.source.role == .widgetExtension && event.within.map(Self.providerMethods.contains) ?? false
    try record(.reload(from: from.source, kind: event.widgetKind, isInside: isInside, from.story))
  }

  private static let providerMethods: Set<String> = [
    "getTimeline", "timeline", "getSnapshot", "snapshot", "placeholder",
  ]

  /// One placement is to be asked for, such as after its own button's intent.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func reload(_ id: Int, because: ReloadCause, _ story: Story = .none) throws(BusError) {
    try record(.reloadOne(id, because, story))
  }

  /// Language, region, text size or another setting of the system changed: all are asked for, and that is free.
  ///
  /// - Parameter setting: one of which views read has their placeholders asked for too.
  /// - Throws: `failed` when it cannot be recorded.
  package func systemChanged(_ setting: String, _ story: Story = .none) throws(BusError) {
    try record(.systemChanged(setting, story))
  }

  /// An app came to the front, or left it or died.
  package func appIsInFront(_ app: Address, _ isInFront: Bool) { take(.inFront(app: app, isInFront)) }

  /// A person opens an app by touching a widget.
  package func openedFromWidget(_ app: Address) { take(.openedFromWidget(app: app)) }

  /// These apps have an audio or a navigation session or use the standard location service, and no others.
  package func appsAreAtWork(_ apps: [Address: AppActivity]) { take(.atWork(apps)) }

  /// No timeline of these extensions could be stored now, and of all others it could: what is owed to them waits.
  package func withheld(_ extensions: [Address: Withholding]) { take(.withheld(extensions)) }

  /// These placements are on the screen that a person looks at, and no others.
  ///
  /// - Parameter isStandBy: it is StandBy, which asks for new timelines by itself.
  package func seen(_ ids: Set<Int>, isStandBy: Bool) { take(.seen(ids, isStandBy: isStandBy)) }

  /// The display is Always-On, or no longer.
  package func luminance(isReduced: Bool) { take(.luminance(isReduced: isReduced)) }

  // MARK: What they ask

  /// What is remembered of widget pushes, by placement.
  package var pushes: [Int: [PushedReload]] { decision.pushes }

  /// What stands on the screen of a placement; `nil` when there is nothing yet, not even its placeholder.
  ///
  /// - Throws: what the database says.
  package func shown(_ id: Int) throws -> ShownEntry? { try store.shown(id, decision.placements[id]?.shown) }

  /// The provider's placeholder, which stands where a placement's content is hidden; `nil` when none came.
  ///
  /// - Throws: what the database says.
  package func placeholder(_ id: Int) throws -> ArchivedEntry? { try store.placeholder(id) }

  /// Why the last reload of a placement came to nothing; `nil` when it did not.
  package func lastFailure(_ id: Int) -> String? { decision.placements[id]?.lastFailure?.reason }

  /// How relevant each placement is, as the entries say that were shown, and until when; `nil`: not until a time.
  package var relevances: [Int: (score: Double, until: Date?)] {
    decision.placements.mapValues { ($0.relevance.score, $0.relevance.until) }
  }

  /// What each placement shows, and why its last reload came to nothing: as `ps` prints it.
  package func status() -> [TimelineStored] {
    decision.placements.values.sorted { $0.placement.id < $1.placement.id }.map { stored($0, $0.timeline) }
  }

  private static let page = 300

  /// `budget.list`.
  ///
  /// - Throws: what the database says.
  package func list(_ request: ListBudget) throws -> ListBudget.Reply {
    let now = clock.now
    let accounts = decision.placements.values.sorted { $0.placement.id < $1.placement.id }
      .filter { request.placement == nil || $0.placement.id == request.placement }
      .map { placed -> ListBudget.Account in
        var account = placed.account
        account.accrue(policy, now: now)
        let isPolicy = placed.owed == nil && placed.policyDue != nil
        return ListBudget.Account(
          placement: placed.placement.id, bundle: placed.placement.bundle, widgetKind: placed.placement.kind,
          balance: account.balance, perDay: policy.perDay ?? 0, spent: account.spent.count,
          next: placed.owed?.notBefore ?? placed.policyDue,
          nextBecause: isPolicy ? .policy : placed.owed?.because, withheld: placed.owed?.withheld)
      }
    let lines = try store.ledger(request, limit: Self.page + 1)
    return ListBudget.Reply(
      now: now, policy: policy.name, isDeveloperMode: settings.developerMode, accounts: accounts,
      entries: Array(lines.prefix(Self.page)), hasMore: lines.count > Self.page)
  }
}
