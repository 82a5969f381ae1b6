// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// The state machine of timelines: pending reloads, their payment, requests to extensions, and the entries that are
/// shown. A plain value without clock or I/O. The same events at the same instants give the same actions; actions of
/// one instant are in the order of placement numbers.
///
/// Reloads of one placement that arrive while one is pending are merged. A reload that arrives while the extension is
/// being asked becomes pending. An extension is asked for as many placements at a time as the settings say, and for one
/// placement once at a time.
package struct TimelineStateMachine: Sendable {
  let extensions: [Address]
  /// The extensions by bundle identifier.
  private let addresses: [String: Address]
  let apps: [Address]
  let settings: TimelineSettings
  package private(set) var policy: BudgetPolicy
  package internal(set) var placements = PlacementTable()
  /// Entries to show, by placement; the visible entry is the first.
  package internal(set) var upcoming: [Int: [UpcomingEntry]] = [:]
  /// When an entry, a delayed reload or the policy of a timeline is due.
  private var dueDates = DueDates()
  /// What events changed of the persistent state since the last `takeChanges`.
  private var changes = Changes()
  /// The kinds that each extension reported, with their first families.
  package private(set) var kinds: [Address: [String: WidgetFamilyName]] = [:]
  package internal(set) var unresolvedReloads: [UnresolvedReload] = []
  var lastReload = 0
  var lastLine = 0
  var inFront: Set<Address> = []
  /// When the user last opened each app by tapping a widget.
  var opened: [Address: Date] = [:]
  /// Whether the display is Always-On.
  var isLuminanceReduced = false
  /// The activities that keep apps running in the background.
  var atWork: [Address: AppActivity] = [:]
  /// The placements that are visible in StandBy, and when the system last reloaded them by itself.
  var inStandBy: Set<Int> = []
  var standByAsked: [Int: Date] = [:]
  /// Extensions whose timelines cannot be stored now.
  var withheld: [Address: Withholding] = [:]
  /// The requests that extensions have not answered, in the order in which they were sent.
  var outstanding: [ProviderRequest] = []
  /// By extension, in the order of the requests. A kind that no extension has reported is requested from every
  /// extension that never ran.
  var snapshots: [Address: [ProviderRequest]] = [:]
  /// Extensions that this state machine keeps awake.
  var wanted: Set<Address> = []
  /// Those of them that do not start at present.
  var stalled: Set<Address> = []

  package init(
    extensions: [Address], apps: [Address] = [], settings: TimelineSettings = TimelineSettings(),
    policy: BudgetPolicy = .init()
  ) {
    let extensions = extensions.sorted { $0.text < $1.text }
    self.extensions = extensions
    self.addresses = Dictionary(extensions.map { ($0.bundleIdentifier ?? "", $0) }) { first, _ in first }
    // Of apps with nested identifiers the most specific one contains an extension.
    self.apps = apps.sorted { $0.text.count > $1.text.count }
    self.settings = settings
    self.policy = policy
  }

  /// Adds a placement as the previous host wrote it.
  package mutating func restore(_ placed: PlacementState, _ entries: [UpcomingEntry]) {
    placements[placed.placement.id] = placed
    upcoming[placed.placement.id] = entries
  }

  /// Sets the rest of what the previous host wrote, after the placements.
  ///
  /// - Parameters:
  ///   - lastReload: the highest number of a reload in the ledger.
  ///   - lastLine: the number of its last line.
  package mutating func restore(
    kinds: [Address: [String: WidgetFamilyName]], _ unresolved: [UnresolvedReload], lastReload: Int, lastLine: Int
  ) {
    self.kinds = kinds
    unresolvedReloads = unresolved
    self.lastLine = lastLine
    self.lastReload = max(placements.values.compactMap { $0.pendingReload?.reload }.max() ?? 0, lastReload)
    settle()
  }

  /// Whether an extension is asked for something, or is about to be. While it is, the clock does not advance.
  package var isBusy: Bool { !outstanding.isEmpty || !wanted.subtracting(stalled).isEmpty }

  /// The next date at which `timerFired` is due.
  package var nextInstant: Date? {
    let standBy = inStandBy.compactMap { placements[$0].flatMap { standByDue($0) } }
    return (standBy + [dueDates.first].compactMap(\.self)).min()
  }

  package mutating func handle(_ event: Event, now: Date) -> [Action] {
    let (formerKinds, formerReloads) = (kinds, unresolvedReloads)
    let actions = Self.wantedOnce(decide(event, now))
    let formerPlacements = settle()
    changes.placements.formUnion(formerPlacements.keys.filter { formerPlacements[$0] != placements[$0] })
    changes.kinds.formUnion(Set(kinds.keys).union(formerKinds.keys).filter { kinds[$0] != formerKinds[$0] })
    if unresolvedReloads != formerReloads { changes.areUnresolvedReloads = true }
    let hasNewRelevance = formerPlacements.contains { id, before in
      placements[id].map { $0.relevance != before?.relevance ?? CurrentRelevance() } ?? false
    }
    return actions + pushActions(since: formerPlacements) + (hasNewRelevance ? [.asks(.relevanceChanged)] : [])
  }

  /// Returns what events changed of the persistent state since the last call.
  package mutating func takeChanges() -> Changes {
    defer { changes = Changes() }
    return changes
  }

  /// Notes when the changed placements are due.
  ///
  /// - Returns: the changed placements, as they were before.
  @discardableResult
  mutating func settle() -> [Int: PlacementState?] {
    let formerPlacements = placements.takeFormer()
    for id in formerPlacements.keys {
      dueDates[id] = placements[id].flatMap { placed in
        let next = upcoming[id]?.first { entry in placed.shown.map { entry.date > $0 } ?? true }?.date
        let reload = placed.pendingReload == nil ? placed.policyDue : placed.pendingReload?.notBefore
        return [next, reload].compactMap(\.self).min()
      }
    }
    return formerPlacements
  }

  private mutating func decide(_ event: Event, _ now: Date) -> [Action] {
    switch event {
    case .began:
      for id in placements.keys.sorted() { placements[id]?.resume() }
      return timerFired(placements.keys.sorted(), now) + extensions.filter { !isDone($0) }.map { want($0) }
    case .kindsReported(let address, let kinds):
      self.kinds[address] = kinds
      return []
    case .kindsForgotten(let addresses):
      for address in addresses { kinds[address] = nil }
      return []
    case .placed(let placement, let context): return place(placement, context: context, now: now)
    case .edited(let placement, let context): return edit(placement, context: context, now: now)
    case .removed(let id):
      placements[id] = nil
      standByAsked[id] = nil
      upcoming[id] = nil
      return []
    case .reload(let source, let kind, let areControls, let isInside, let context):
      return reload(source, kind: kind, areControls: areControls, isInside: isInside, context: context, now: now)
    case .reloadOne(let id, let because, let context):
      return requestReload(id, because: because, context: context, now: now)
    case .systemChanged(let setting, let context): return systemChanged(setting, context: context, now: now)
    case .timeZone(let timeZone):
      // What accrued until now did so in the former zone.
      for id in placements.keys { placements[id]?.account.accrue(policy, now: now) }
      policy.timeZone = timeZone
      return []
    case .moved(let bundles, let context): return moved(bundles, context: context, now: now)
    case .inFront(let app, let isInFront): return setFront(app, isInFront: isInFront, now: now)
    case .atWork(let apps): return setAtWork(apps, now)
    case .openedFromWidget(let app):
      opened[app] = now
      return []
    case .withheld(let extensions): return withhold(extensions, now)
    case .seen(let ids, let isStandBy): return see(ids, isStandBy: isStandBy, now: now)
    case .luminance(let isReduced):
      isLuminanceReduced = isReduced
      return []
    case .timerFired: return timerFired(inStandBy.union(dueDates.ids(at: now)).sorted(), now)
    case .snapshot(let kind, let bundle, let family, let serial):
      return snapshot(kind, of: bundle, family: family, serial: serial)
    case .awake(let address):
      stalled.remove(address)
      return isDone(address) && !wanted.contains(address) ? [] : next(address, now)
    case .stalled(let address):
      stalled.insert(address)
      return []
    case .instanceEnded(let address): return instanceEnded(address, now)
    case .answered(let providerRequest):
      guard outstanding.contains(providerRequest) else { return [] }
      close(providerRequest)
      return next(providerRequest.address, now)
    case .gave(let asked, let facts, let entries): return gave(asked, facts: facts, entries: entries, now: now)
    case .failed(let asked, let fault):
      guard outstanding.contains(asked) else { return [] }
      close(asked)
      return fail(asked, fault: fault, now: now) + next(asked.address, now)
    case .overran(let asked, let limit): return overran(asked, limit: limit, now: now)
    }
  }

  /// Leaves out that an extension is wanted which is wanted already: it is then asked for all that is due.
  ///
  /// Static: a call on the value would copy it before its argument changes it.
  private static func wantedOnce(_ actions: [Action]) -> [Action] {
    var wanted: Set<Address> = []
    return actions.filter { action in
      switch action {
      case .asks(.process(.want(let address, _, _))): return wanted.insert(address).inserted
      case .asks(.process(.release(let address, _))), .asks(.process(.halt(let address, _))): wanted.remove(address)
      default: break
      }
      return true
    }
  }

  // MARK: Placements

  private mutating func place(_ placement: Placement, context: MessageContext, now: Date) -> [Action] {
    guard placements[placement.id] == nil else { return edit(placement, context: context, now: now) }
    placements[placement.id] = PlacementState(placement: placement, account: BudgetAccount(policy, now: now))
    return requestReload(placement.id, because: .added, context: context, now: now)
  }

  private mutating func edit(_ placement: Placement, context: MessageContext, now: Date) -> [Action] {
    guard let former = placements[placement.id]?.placement, former != placement else { return [] }
    placements[placement.id]?.placement = placement
    return requestReload(placement.id, because: .edited, context: context, now: now)
  }

  /// Settings that views read, and that change what is archived. Source: `placeholder(in:)`, which the system requests
  /// again when the environment changes, such as the text size.
  private static let settingsOfViews = Set(SettingName.allCases.filter { !$0.reloadsNothing }.map(\.rawValue))

  /// Reloads all placements. Placeholders whose views read the setting are requested again, once for all changes.
  private mutating func systemChanged(_ setting: String, context: MessageContext, now: Date) -> [Action] {
    if Self.settingsOfViews.contains(setting) {
      let asked = Set(outstanding.filter { $0.purpose == .placeholder }.map(\.placement.id))
      for id in placements.keys where !asked.contains(id) { placements[id]?.isPlaceholderOld = true }
    }
    return placements.keys.sorted().flatMap { requestReload($0, because: .system, context: context, now: now) }
  }

  /// The extension of a placement, if the device has it.
  func address(of placement: Placement) -> Address? { addresses[placement.bundle] }

  /// The placements of an extension, by number.
  ///
  /// - Parameter areControls: whether controls are meant, or widgets; `nil`: both.
  func ids(of address: Address, kind: String? = nil, areControls: Bool? = nil) -> [Int] {
    let all = placements.ids(of: address.bundleIdentifier ?? "")
    if kind == nil, areControls == nil { return all }
    return all.filter { id in
      guard let placement = placements[id]?.placement else { return false }
      return (kind == nil || placement.kind == kind)
        && (areControls == nil || (placement.family == .control) == areControls)
    }
  }

  private mutating func setFront(_ app: Address, isInFront: Bool, now: Date) -> [Action] {
    guard isInFront else {
      inFront.remove(app)
      return []
    }
    guard inFront.insert(app).inserted else { return [] }
    return targets(of: app).flatMap { ids(of: $0) }.flatMap { redecide($0, now) }
  }

  private mutating func setAtWork(_ apps: [Address: AppActivity], _ now: Date) -> [Action] {
    let begun = apps.keys.filter { atWork[$0] == nil }.sorted { $0.text < $1.text }
    atWork = apps
    return begun.flatMap { targets(of: $0) }.flatMap { ids(of: $0) }.flatMap { redecide($0, now) }
  }

  private mutating func see(_ ids: Set<Int>, isStandBy: Bool, now: Date) -> [Action] {
    inStandBy = isStandBy ? ids : []
    var actions: [Action] = []
    for id in placements.seen.symmetricDifference(ids).sorted() {
      guard let placed = placements[id] else { continue }
      let hours = placed.account.hoursUnseen(now)
      placements[id]?.account.see(isSeen: ids.contains(id), policy: policy, now: now)
      let waits = placed.pendingReload.map { !$0.isPaid } ?? false
      guard ids.contains(id) else { continue }
      if placed.hasMoved {
        placements[id]?.hasMoved = false
        actions += requestReload(id, because: .location, context: .none, now: now)
      } else if waits, hours >= policy.staleAfter {
        actions += requestReload(id, because: .stale, context: .none, now: now)
      }
    }
    return actions + inStandBy.sorted().flatMap { standBy($0, now) ?? [] }
  }

  /// When the system reloads a placement in StandBy by itself: a fixed time after the last reload. A reload that waits
  /// for its payment does not delay it. Source: "Keeping a widget up to date": StandBy has a separate rate.
  private func standByDue(_ placed: PlacementState) -> Date? {
    let id = placed.placement.id
    guard let every = policy.standByEvery, inStandBy.contains(id),
      placed.pendingReload.map({ !$0.isPaid && $0.withheld == nil }) ?? true,
      let address = address(of: placed.placement), kinds[address]?[placed.placement.kind] != nil
    else { return nil }
    let last = max(placed.account.lastReload ?? placed.account.opened, standByAsked[id] ?? .distantPast)
    return last.addingTimeInterval(every)
  }

  /// - Returns: `nil` if the system does not reload it by itself now.
  private mutating func standBy(_ id: Int, _ now: Date) -> [Action]? {
    guard let placed = placements[id], let due = standByDue(placed), due <= now else { return nil }
    standByAsked[id] = now
    return requestReload(id, because: .standBy, context: .none, now: now)
  }

  // MARK: Entries

  /// Shows the latest entry that is due.
  mutating func show(_ id: Int, _ now: Date) -> [Action] {
    guard var placed = placements[id], let entries = upcoming[id],
      let index = entries.lastIndex(where: { $0.date <= now })
    else { return [] }
    let due = entries[index]
    guard placed.shown != due.date else { return [] }
    for entry in entries[...index] where placed.shown.map({ entry.date > $0 }) ?? true {
      placed.relevance.show(entry.relevance, of: entry.date)
    }
    let animation = animation(of: placed, to: due)
    placed.transition = due.transition
    placed.shown = due.date
    placements[id] = placed
    upcoming[id] = Array(entries[index...])
    let placement = placed.placement
    let notice = EntryShown(
      bundle: placement.bundle, widgetKind: placement.kind, placement: id, date: due.date, text: due.text,
      animation: animation)
    return [.shown(notice, .none)]
  }

  /// Only visible changes are animated: a widget out of sight is drawn once, and an Always-On display animates nothing.
  private func animation(of placed: PlacementState, to entry: UpcomingEntry) -> EntryAnimation? {
    guard placed.account.isSeen, !isLuminanceReduced, let former = placed.transition else { return nil }
    return entry.transition.animation(from: former)
  }

  /// - Parameter ids: the placements that may be due, in order.
  private mutating func timerFired(_ ids: [Int], _ now: Date) -> [Action] {
    ids.flatMap { id -> [Action] in
      var actions = show(id, now)
      if let asked = standBy(id, now) {
        actions += asked
      } else if let pendingReload = placements[id]?.pendingReload {
        if let instant = pendingReload.notBefore, instant <= now { actions += redecide(id, now) }
      } else if let due = placements[id]?.policyDue, due <= now {
        actions += requestReload(id, because: .policy, context: .none, now: now)
      }
      return actions
    }
  }
}

extension TimelineStateMachine {
  /// The assertion that keeps an extension awake.
  package static let assertion: Assertion = "timeline"

  /// One request to one extension.
  package struct ProviderRequest: Sendable, Hashable {
    package let purpose: RequestTimeline.Purpose
    package let address: Address
    /// Number 0: a snapshot in the gallery.
    package let placement: Placement
    package let reloadCause: ReloadCause
    /// The reload's number, or the snapshot's.
    package let serial: Int
    package let context: MessageContext
  }

  /// A reload that was requested before its extension ever reported its kinds.
  package struct UnresolvedReload: Codable, Sendable, Hashable {
    let address: Address
    /// `nil`: all.
    let kind: String?
    /// Whether controls are meant, or widgets; `nil`: both.
    var areControls: Bool?
    let reloadCause: ReloadCause
    let isInside: Bool
    let causationID: UUID?
    let correlation: UUID?
    var context: MessageContext { MessageContext(cause: causationID, correlation: correlation) }
  }

  /// What events changed of the persistent state.
  package struct Changes: Sendable {
    /// The numbers of placements that were added, changed or removed.
    package fileprivate(set) var placements: Set<Int> = []
    /// The extensions whose kinds have changed.
    package fileprivate(set) var kinds: Set<Address> = []
    package fileprivate(set) var areUnresolvedReloads = false
  }

  package enum Event: Sendable {
    /// The host starts: pending reloads are still pending.
    case began
    /// The extension sent `ready` with its kinds and the first family of each.
    case kindsReported(Address, [String: WidgetFamilyName])
    /// The extensions were replaced: they may have other kinds.
    case kindsForgotten([Address])
    case placed(Placement, MessageContext)
    case edited(Placement, MessageContext)
    case removed(Int)
    /// `timeline.reload`. `areControls`: whether controls are meant, or widgets; `nil`: both.
    case reload(from: Address, kind: String?, areControls: Bool? = false, isInside: Bool, MessageContext)
    case reloadOne(Int, ReloadCause, MessageContext)
    /// A setting of the device, by its `SettingName`; or `account` or `time`.
    case systemChanged(String, MessageContext)
    /// The time zone of the device. A `systemChanged` follows.
    case timeZone(TimeZone)
    /// The device moved far; the widgets of these extensions use the location.
    case moved(bundles: Set<String>, MessageContext)
    case inFront(app: Address, Bool)
    /// The user opens it by tapping a widget.
    case openedFromWidget(app: Address)
    /// Exactly these apps have a session or use the location service.
    case atWork([Address: AppActivity])
    /// Timelines of exactly these extensions cannot be stored now.
    case withheld([Address: Withholding])
    /// Exactly these placements are visible, in StandBy or on another screen.
    case seen(Set<Int>, isStandBy: Bool)
    /// The display entered or left the Always-On state.
    case luminance(isReduced: Bool)
    case timerFired
    /// A snapshot is requested under this number. It is not persisted: the caller repeats it after a host restart.
    case snapshot(kind: String, bundle: String? = nil, family: WidgetFamilyName?, serial: Int)
    case awake(Address)
    case instanceEnded(Address)
    /// The extension was wanted and did not start in time: the clock does not wait for it.
    case stalled(Address)
    case answered(ProviderRequest)
    case gave(ProviderRequest, TimelineFacts, [UpcomingEntry])
    case failed(ProviderRequest, TimelineFault)
    /// The time for a reply, in seconds, is over.
    case overran(ProviderRequest, limit: Double)
  }

  package enum Action: Sendable {
    case asks(DeviceRequest)
    case ask(ProviderRequest)
    /// Cancel the request: the process instance has ended, or took too long.
    case stopAsking(ProviderRequest)
    case decided(BudgetDecided, MessageContext)
    case shown(EntryShown, MessageContext)
    /// A reload failed.
    case reloadFailed(ReloadFailed, MessageContext)
    case noSnapshot(serial: Int, reason: String)
  }
}

extension TimelineStateMachine: Hashable {
  package static func == (left: Self, right: Self) -> Bool { left.essence == right.essence }
  package func hash(into hasher: inout Hasher) { hasher.combine(essence) }

  /// What decisions depend on, and can change: not the numbers of lines, and not what is to be written.
  private struct Essence: Hashable {
    let placements: [Int: PlacementState]
    let upcoming: [Int: [UpcomingEntry]]
    let kinds: [Address: [String: WidgetFamilyName]]
    let unresolvedReloads: [UnresolvedReload]
    let lastReload: Int
    let timeZone: TimeZone
    let fronts: [Set<Address>]
    let opened: [Address: Date]
    let isLuminanceReduced: Bool
    let atWork: [Address: AppActivity]
    let inStandBy: Set<Int>
    let standByAsked: [Int: Date]
    let withheld: [Address: Withholding]
    let outstanding: [ProviderRequest]
    let snapshots: [Address: [ProviderRequest]]
    let dueDates: [Int: Date]
  }

  private var essence: Essence {
    Essence(
      placements: placements.all, upcoming: upcoming, kinds: kinds, unresolvedReloads: unresolvedReloads,
      lastReload: lastReload, timeZone: policy.timeZone, fronts: [inFront, wanted, stalled], opened: opened,
      isLuminanceReduced: isLuminanceReduced, atWork: atWork, inStandBy: inStandBy, standByAsked: standByAsked,
      withheld: withheld, outstanding: outstanding, snapshots: snapshots, dueDates: dueDates.dates)
  }
}

// A significant change of the device's location. Source: *Keeping a widget up to date*: the system reloads widgets that
// use the location when they are viewed next, and the reload is free.

extension TimelineStateMachine {
  /// Visible placements are reloaded now, the others when they are seen.
  mutating func moved(_ bundles: Set<String>, context: MessageContext, now: Date) -> [Action] {
    placements.keys.sorted().flatMap { id -> [Action] in
      guard let placed = placements[id], bundles.contains(placed.placement.bundle) else { return [] }
      guard placed.account.isSeen else {
        placements[id]?.hasMoved = true
        return []
      }
      return requestReload(id, because: .location, context: context, now: now)
    }
  }
}

/// The rules of timelines that Apple does not document, see Documentation/fidelity/timelines.md.
package struct TimelineSettings: Sendable, Hashable {
  /// How long an extension may take for a reply, seconds of machine time, because author's code runs in it.
  package var deadline = 30.0
  /// How many requests an extension has at once, 1 or more.
  package var concurrentTimelines = 1
  /// Whether each timeline is requested twice at once. The reply that arrives last counts.
  package var requestsTimelinesTwice = false
  /// How long a placement waits after a failed reload, seconds of device time.
  package var backoff = Backoff(first: 60, limit: 3600)
  /// How often an extension that exited during a request is asked again at once.
  package var retriesAfterExit = 1
  /// The system's own pause after a timeline of one entry whose policy is `atEnd`, seconds.
  package var oneEntryPause = 900.0
  /// The shortest time from a reply to the next reload of the timeline's policy, seconds, in developer mode too.
  package var policyFloor = 60.0
  /// The limits of an archive.
  package var limits = ArchiveLimits(depth: 240)
  /// Whether budget and spacing are disabled. Source: WidgetKit Developer Mode.
  package var developerMode = false

  package init() {}
}
