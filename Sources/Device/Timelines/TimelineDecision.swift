package import Archive
package import Conversations
package import Foundation

/// Which placement is owed a timeline, who pays for it, which extension is asked for what, and which entry is shown: a plain
/// value without clock or I/O. The same events at the same instants give the same answers; what is due at one instant comes by
/// the number of its placement.
///
/// Reloads of one placement that come while one is owed are one reload; one that comes while the extension is being asked is
/// owed again. An extension is asked for one placement at a time.
package struct TimelineDecision: Sendable {
  let extensions: [Address]
  let apps: [Address]
  let settings: TimelineSettings
  let policy: BudgetPolicy
  /// By number.
  package internal(set) var placements: [Int: Placed] = [:]
  /// What is to be shown, the entry that is shown first; by placement.
  var upcoming: [Int: [UpcomingEntry]] = [:]
  /// The kinds of each extension that ever said so, with their first families.
  package internal(set) var kinds: [Address: [String: WidgetFamilyName]] = [:]
  var pending: [Pending] = []
  var lastReload = 0
  var lastLine = 0
  var inFront: Set<Address> = []
  /// When a person last opened each app by touching a widget.
  var opened: [Address: Date] = [:]
  /// The display is Always-On.
  var isLuminanceReduced = false
  /// What apps do that lets them go on behind the front.
  var atWork: [Address: AppActivity] = [:]
  /// What is seen in StandBy, and when the system last asked by itself for it.
  var inStandBy: Set<Int> = []
  var standByAsked: [Int: Date] = [:]
  /// Extensions of which no timeline could be stored now.
  var withheld: [Address: Withholding] = [:]
  var asking: [Address: Question] = [:]
  /// By extension, in the order in which they were asked for. A kind that nobody is known to have is asked of all that
  /// never ran.
  var snapshots: [Address: [Question]] = [:]
  /// Extensions that are kept awake for us.
  var wanted: Set<Address> = []
  /// Those of them that do not come now.
  var stalled: Set<Address> = []

  package init(
    extensions: [Address], apps: [Address] = [], settings: TimelineSettings = TimelineSettings(),
    policy: BudgetPolicy = .init()
  ) {
    self.extensions = extensions.sorted { $0.text < $1.text }
    // Of apps within each other the nearest one contains it.
    self.apps = apps.sorted { $0.text.count > $1.text.count }
    self.settings = settings
    self.policy = policy
  }

  /// Whether an extension is asked for something, or is about to be: whoever advances the clock waits for it.
  var isBusy: Bool { !asking.isEmpty || !wanted.subtracting(stalled).isEmpty }

  /// When `instantCame` is due.
  package var nextInstant: Date? {
    placements.values.compactMap { placed in
      let next = upcoming[placed.placement.id].flatMap { nextEntry(of: placed, $0) }?.date
      let reload = placed.owed == nil ? placed.policyDue : placed.owed?.notBefore
      return [next, reload, standByDue(placed)].compactMap(\.self).min()
    }.min()
  }

  package mutating func take(_ event: Event, now: Date) -> [Answer] {
    let before = placements
    return decide(event, now) + pushAnswers(since: before) + relevanceAnswers(since: before)
  }

  private mutating func decide(_ event: Event, _ now: Date) -> [Answer] {
    switch event {
    case .began: return instantCame(now) + extensions.filter { !isDone($0) }.map { want($0) }
    case .knows(let address, let kinds):
      self.kinds[address] = kinds
      return []
    case .placed(let placement, let story): return place(placement, story, now)
    case .edited(let placement, let story): return edit(placement, story, now)
    case .removed(let id):
      placements[id] = nil
      standByAsked[id] = nil
      upcoming[id] = nil
      return []
    case .reload(let source, let kind, let isInside, let story): return reload(source, kind, isInside, story, now)
    case .reloadOne(let id, let because, let story): return owe(id, because, story, now: now)
    case .systemChanged(let setting, let story): return systemChanged(setting, story, now)
    case .moved(let bundles, let story): return moved(bundles, story, now)
    case .inFront(let app, let isInFront): return setFront(app, isInFront, now)
    case .atWork(let apps): return setAtWork(apps, now)
    case .openedFromWidget(let app):
      opened[app] = now
      return []
    case .withheld(let extensions): return withhold(extensions, now)
    case .seen(let ids, let isStandBy): return see(ids, isStandBy, now)
    case .luminance(let isReduced):
      isLuminanceReduced = isReduced
      return []
    case .instantCame: return instantCame(now)
    case .snapshot(let kind, let family, let serial): return snapshot(kind, family, serial)
    case .awake(let address):
      stalled.remove(address)
      return isDone(address) && !wanted.contains(address) ? [] : next(address, now)
    case .stalled(let address):
      stalled.insert(address)
      return []
    case .lifeEnded, .answered, .gave, .failed, .overran: return outcome(event, now)
    }
  }

  private func relevanceAnswers(since before: [Int: Placed]) -> [Answer] {
    placements.contains { $1.relevance != before[$0]?.relevance ?? CurrentRelevance() }
      ? [.intent(.relevanceChanged)] : []
  }

  // MARK: Placements

  private mutating func place(_ placement: Placement, _ story: Story, _ now: Date) -> [Answer] {
    guard placements[placement.id] == nil else { return edit(placement, story, now) }
    placements[placement.id] = Placed(placement, BudgetAccount(policy, now: now))
    return owe(placement.id, .added, story, now: now)
  }

  private mutating func edit(_ placement: Placement, _ story: Story, _ now: Date) -> [Answer] {
    guard let former = placements[placement.id]?.placement, former != placement else { return [] }
    placements[placement.id]?.placement = placement
    return owe(placement.id, .edited, story, now: now)
  }

  /// Settings that views read: what is archived for them is another then. Source: `placeholder(in:)`, by which it is asked for
  /// again when the environment changes, such as the text size.
  private static let settingsOfViews: Set<String> = ["text-size", "accessibility", "locale"]

  /// All are asked for; their placeholders too where their views read the setting, each once for all changes until then.
  private mutating func systemChanged(_ setting: String, _ story: Story, _ now: Date) -> [Answer] {
    if Self.settingsOfViews.contains(setting) {
      let asked = Set(asking.values.filter { $0.purpose == .placeholder }.map(\.placement.id))
      for id in placements.keys where !asked.contains(id) { placements[id]?.isPlaceholderOld = true }
    }
    return placements.keys.sorted().flatMap { owe($0, .system, story, now: now) }
  }

  /// The extension of a placement, if the device has it.
  func address(of placement: Placement) -> Address? {
    extensions.first { $0.bundleIdentifier == placement.bundle }
  }

  func ids(of address: Address, kind: String? = nil) -> [Int] {
    placements.values.map(\.placement)
      .filter { $0.bundle == address.bundleIdentifier && (kind == nil || $0.kind == kind) }.map(\.id).sorted()
  }

  private mutating func setFront(_ app: Address, _ isInFront: Bool, _ now: Date) -> [Answer] {
    guard isInFront else {
      inFront.remove(app)
      return []
    }
    guard inFront.insert(app).inserted else { return [] }
    return targets(of: app).flatMap { ids(of: $0) }.flatMap { redecide($0, now) }
  }

  private mutating func setAtWork(_ apps: [Address: AppActivity], _ now: Date) -> [Answer] {
    let begun = apps.keys.filter { atWork[$0] == nil }.sorted { $0.text < $1.text }
    atWork = apps
    return begun.flatMap { targets(of: $0) }.flatMap { ids(of: $0) }.flatMap { redecide($0, now) }
  }

  private mutating func see(_ ids: Set<Int>, _ isStandBy: Bool, _ now: Date) -> [Answer] {
    inStandBy = isStandBy ? ids : []
    var answers: [Answer] = []
    for id in placements.keys.sorted() {
      guard let placed = placements[id], placed.account.isSeen != ids.contains(id) else { continue }
      let hours = placed.account.hoursUnseen(now)
      placements[id]?.account.see(ids.contains(id), policy, now: now)
      let waits = placed.owed.map { !$0.isPaid } ?? false
      guard ids.contains(id) else { continue }
      if placed.hasMoved == true {
        answers += seenElsewhere(id, now)
      } else if waits, hours >= policy.staleAfter {
        answers += owe(id, .stale, .none, now: now)
      }
    }
    return answers + placements.keys.sorted().flatMap { standBy($0, now) ?? [] }
  }

  /// When the system asks by itself for what it shows in StandBy: so long after the last reload. One that waits for its
  /// payment does not hold it up. Source: "Keeping a widget up to date", by which StandBy has a rate of its own.
  private func standByDue(_ placed: Placed) -> Date? {
    let id = placed.placement.id
    guard let every = policy.standByEvery, inStandBy.contains(id),
      placed.owed.map({ !$0.isPaid && $0.withheld == nil }) ?? true,
      let address = address(of: placed.placement), kinds[address]?[placed.placement.kind] != nil
    else { return nil }
    let last = max(placed.account.lastReload ?? placed.account.opened, standByAsked[id] ?? .distantPast)
    return last.addingTimeInterval(every)
  }

  /// - Returns: `nil` when the system does not ask by itself now.
  private mutating func standBy(_ id: Int, _ now: Date) -> [Answer]? {
    guard let placed = placements[id], let due = standByDue(placed), due <= now else { return nil }
    standByAsked[id] = now
    return owe(id, .standBy, .none, now: now)
  }

  // MARK: Shown

  func nextEntry(of placed: Placed, _ entries: [UpcomingEntry]) -> UpcomingEntry? {
    entries.first { entry in placed.shown.map { entry.date > $0 } ?? true }
  }

  /// Shows what is due: of several the latest.
  mutating func show(_ id: Int, _ now: Date) -> [Answer] {
    guard var placed = placements[id], let entries = upcoming[id],
      let index = entries.lastIndex(where: { $0.date <= now })
    else { return [] }
    let due = entries[index]
    guard placed.shown != due.date else { return [] }
    for entry in entries[...index] where placed.shown.map({ entry.date > $0 }) ?? true {
      placed.relevance.show(entry.relevance, of: entry.date)
    }
    let animation = animation(of: placed, to: due)
    placed.motion = due.motion
    placed.shown = due.date
    placements[id] = placed
    upcoming[id] = Array(entries[index...])
    let placement = placed.placement
    let notice = EntryShown(
      bundle: placement.bundle, widgetKind: placement.kind, placement: id, date: due.date, text: due.text,
      animation: animation)
    return [.shown(notice, .none)]
  }

  /// Where the change is seen: a widget out of sight is drawn once, and an Always-On display animates nothing.
  private func animation(of placed: Placed, to entry: UpcomingEntry) -> EntryAnimation? {
    guard placed.account.isSeen, !isLuminanceReduced, let former = placed.motion else { return nil }
    return entry.motion?.animation(from: former)
  }

  private mutating func instantCame(_ now: Date) -> [Answer] {
    placements.keys.sorted().flatMap { id -> [Answer] in
      var answers = show(id, now)
      if let asked = standBy(id, now) {
        answers += asked
      } else if let owed = placements[id]?.owed {
        if let instant = owed.notBefore, instant <= now { answers += redecide(id, now) }
      } else if let due = placements[id]?.policyDue, due <= now {
        answers += owe(id, .policy, .none, now: now)
      }
      return answers
    }
  }
}
