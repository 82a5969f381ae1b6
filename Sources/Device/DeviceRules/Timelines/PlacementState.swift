// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// A pending reload of a placement.
package struct PendingReload: Codable, Sendable, Hashable {
  /// Its number in the ledger.
  package let reload: Int
  package let reloadCause: ReloadCause
  /// The message that requested it: its causation and correlation ids.
  let causationID: UUID?
  let correlation: UUID?
  /// Whether the provider requested it while one of its methods was running.
  let isInside: Bool
  /// Whether it is paid: it waits only for the extension, or for the end of a back-off.
  var isPaid = false
  /// When it is decided, or tried, again.
  package var notBefore: Date?
  /// The end of the delay, if the app requested it right after the user opened it from a widget.
  var openedUntil: Date?
  /// Why its timeline could not be stored: the device must be unlocked first.
  package var withheld: Withholding?
  /// How many process instances ended during the request.
  var exits = 0

  var context: MessageContext { MessageContext(cause: causationID, correlation: correlation) }
  /// Whether the extension is to be asked at once.
  var isDue: Bool { isPaid && notBefore == nil && withheld == nil }
  /// Whether it waits after a failure.
  package var isBackingOff: Bool { isPaid && notBefore != nil }
}

/// The metadata of a placement's timeline.
package struct TimelineFacts: Codable, Sendable, Hashable {
  package let reloadCause: ReloadCause
  package let entries: Int
  package let first: Date
  package let last: Date
  package let policy: ReloadPolicy
  package let bytes: Int
  package let digest: String
  package let note: String?

  package init(
    reloadCause: ReloadCause, entries: Int, first: Date, last: Date, policy: ReloadPolicy, bytes: Int, digest: String,
    note: String?
  ) {
    self.reloadCause = reloadCause
    self.entries = entries
    self.first = first
    self.last = last
    self.policy = policy
    self.bytes = bytes
    self.digest = digest
    self.note = note
  }
}

/// An entry that is shown at its date.
package struct UpcomingEntry: Sendable, Hashable {
  package let date: Date
  package let text: [String]
  package let relevance: ArchivedEntry.Relevance?
  package let transition: EntryTransition

  package init(date: Date, text: [String], relevance: ArchivedEntry.Relevance?, transition: EntryTransition) {
    self.date = date
    self.text = text
    self.relevance = relevance
    self.transition = transition
  }
}

/// One placement with its timeline and its budget account.
package struct PlacementState: Codable, Sendable, Hashable {
  package var placement: Placement
  package var account: BudgetAccount
  package var pendingReload: PendingReload?
  /// Consecutive failures.
  var failures = 0
  /// Why the last reload failed.
  package internal(set) var lastFailure: TimelineFault?
  /// Whether the placeholder was requested.
  var hasPlaceholder = false
  /// Whether a setting that its views read has changed since.
  var isPlaceholderOld = false
  package internal(set) var timeline: TimelineFacts?
  /// When the timeline's own policy requests the next one; `nil`: never, or already requested.
  package internal(set) var policyDue: Date?
  /// The date of the visible entry.
  package internal(set) var shown: Date?
  /// The animation data of the entry that was shown last; `nil` before the first.
  var transition: EntryTransition?
  package internal(set) var relevance = CurrentRelevance()
  /// The last widget pushes that requested its reload, the oldest first.
  package private(set) var pushes: [PushedReload] = []
  /// Whether the device moved far while it was out of sight, so that it is reloaded when it is seen.
  var hasMoved = false

  /// Whether the placeholder is requested before the next timeline.
  var needsPlaceholder: Bool { isPlaceholderOld || !hasPlaceholder && timeline == nil }
}

/// The relevance of a widget, according to its entries over all its timelines.
///
/// Source: `TimelineEntryRelevance`: an entry without one keeps the former; a score of 0 or less ends it; a duration of
/// 0 holds until the next entry that has one; after the duration, the score counts as 0.
package struct CurrentRelevance: Codable, Sendable, Hashable {
  private(set) var score = 0.0
  package private(set) var until: Date?

  mutating func show(_ relevance: ArchivedEntry.Relevance?, of date: Date) {
    guard let relevance else { return }
    score = max(relevance.score, 0)
    until = relevance.duration > 0 ? date.addingTimeInterval(relevance.duration) : nil
  }

  func score(at now: Date) -> Double { until.map { now < $0 } ?? true ? score : 0 }
}

extension ReloadPolicy {
  /// The earliest time at which it requests the next timeline.
  ///
  /// Source: `TimelineReloadPolicy`; for a timeline of one entry the system chooses the time itself.
  func due(entries: [UpcomingEntry], stored storedAt: Date, _ settings: TimelineSettings) -> Date? {
    let floor = storedAt.addingTimeInterval(settings.policyFloor)
    switch self {
    case .never: return nil
    case .after(let date): return max(date, floor)
    case .atEnd:
      guard let last = entries.last?.date else { return nil }
      guard entries.count > 1 else { return max(last, storedAt.addingTimeInterval(settings.oneEntryPause)) }
      return max(last, floor)
    }
  }
}

/// The state of a widget push at one placement, stored with the placement: a push that was taken once is never taken
/// again, whichever process exits.
package struct PushedReload: Codable, Sendable, Hashable {
  /// `apns-unique-id`.
  package let push: UUID
  /// The number in the ledger of the reload that serves it.
  package fileprivate(set) var reload: Int
  package fileprivate(set) var state: ReloadOutcome

  /// The report that Pushes receives about the push.
  func report(at placement: Int) -> PlacementReloadReport {
    PlacementReloadReport(push: push, placement: placement, outcome: state)
  }

  /// Whether a result is still pending.
  var isOpen: Bool {
    switch state {
    case .pending, .delayed, .failed: true
    case .refused, .stored, .gaveUp, .superseded: false
    }
  }
}

extension PlacementState {
  /// How many pushes are remembered; Pushes has the results of older ones.
  private static let remembered = 8

  func knows(push: UUID?) -> Bool { push != nil && pushes.contains { $0.push == push } }

  /// A new reload replaces a pending one; it may belong to a push.
  mutating func assign(_ reload: Int, insteadOf formerReload: Int?, push: UUID?) {
    if let formerReload { replace(formerReload, by: reload, isPush: push != nil) }
    guard let push else { return }
    pushes.append(PushedReload(push: push, reload: reload, state: .pending))
    pushes = pushes.suffix(PlacementState.remembered)
  }

  mutating func noted(_ reload: Int, _ state: ReloadOutcome) { changeOpen(reload) { $0.state = state } }

  /// The reload failed. `later`: the reload that is pending now.
  mutating func failed(_ reload: Int, _ reason: String, later: PendingReload?) {
    if let later, later.reload != reload {
      replace(reload, by: later.reload, isPush: later.reloadCause == .push)
    } else {
      noted(reload, later == nil ? .gaveUp(reason) : .failed(reason))
    }
  }

  /// A host starts. The reloads for which the former one had asked an extension are lost, unless they are still pending:
  /// what is pending now serves their pushes.
  mutating func resume() {
    let lost = Set(pushes.filter(\.isOpen).map(\.reload)).subtracting([pendingReload?.reload].compactMap(\.self))
    for reload in lost.sorted() { failed(reload, "the host ended during the request", later: pendingReload) }
  }

  private mutating func replace(_ formerReload: Int, by reload: Int, isPush: Bool) {
    changeOpen(formerReload) { if isPush { $0.state = .superseded } else { $0.reload = reload } }
  }

  private mutating func changeOpen(_ reload: Int, _ change: (inout PushedReload) -> Void) {
    for index in pushes.indices where pushes[index].reload == reload && pushes[index].isOpen { change(&pushes[index]) }
  }
}

extension TimelineStateMachine {
  /// The results of all remembered pushes.
  package var reports: [PlacementReloadReport] {
    placements.all.sorted { $0.key < $1.key }.flatMap { id, placed in placed.pushes.map { $0.report(at: id) } }
  }

  /// The states of pushes that have changed.
  ///
  /// - Parameter formerStates: the changed placements, as they were before.
  func pushActions(since formerStates: [Int: PlacementState?]) -> [Action] {
    formerStates.keys.sorted().flatMap { id -> [Action] in
      let (now, before) = (placements[id]?.pushes ?? [], formerStates[id]??.pushes ?? [])
      guard now != before else { return [] }
      return now.filter { pushed in !before.contains { $0.push == pushed.push && $0.state == pushed.state } }
        .map { .asks(.reported($0.report(at: id))) }
    }
  }
}

/// The placements by number. The table records what an event changes, and finds placements without reading all of them:
/// the work for an event depends on what it changes, and not on how much is placed.
package struct PlacementTable: Sendable {
  package private(set) var all: [Int: PlacementState] = [:]
  /// The placements that have been set since `takeFormer`, as they were before; `nil`: not placed.
  private var formerStates: [Int: PlacementState?] = [:]
  /// By bundle identifier.
  private var extensions: [String: OfExtension] = [:]
  /// The placements that are visible.
  private(set) var seen: Set<Int> = []

  /// The numbers of the placements of one extension.
  private struct OfExtension: Sendable {
    var all = SortedSet<Int>()
    /// The extension is to be asked for them at once.
    var due = SortedSet<Int>()
    /// They have a pending reload. By kind.
    var pending: [String: Set<Int>] = [:]
  }

  /// What a placement is found by.
  private struct Facts: Equatable {
    let bundle: String
    let kind: String
    let isPending: Bool
    let isDue: Bool
    let isSeen: Bool

    init(_ placed: PlacementState) {
      bundle = placed.placement.bundle
      kind = placed.placement.kind
      isPending = placed.pendingReload != nil
      isDue = placed.pendingReload?.isDue == true
      isSeen = placed.account.isSeen
    }
  }

  package subscript(id: Int) -> PlacementState? {
    get { all[id] }
    _modify {
      let before = all[id]
      if !formerStates.keys.contains(id) { formerStates.updateValue(before, forKey: id) }
      defer { move(id, from: before.map { Facts($0) }, to: all[id].map { Facts($0) }) }
      yield &all[id]
    }
  }

  package var keys: Dictionary<Int, PlacementState>.Keys { all.keys }
  package var values: Dictionary<Int, PlacementState>.Values { all.values }

  /// The placements that have been set since the last call, as they were before; `nil`: not placed.
  mutating func takeFormer() -> [Int: PlacementState?] {
    defer { formerStates = [:] }
    return formerStates
  }

  // MARK: Placements of an extension, by number

  func ids(of bundle: String) -> [Int] { extensions[bundle]?.all.elements ?? [] }

  /// The placements that the extension is to be asked for at once.
  func due(of bundle: String) -> [Int] { extensions[bundle]?.due.elements ?? [] }

  /// The placements with a pending reload whose kind is not one of these.
  func pending<Value>(of bundle: String, notOf kinds: [String: Value]) -> [Int] {
    (extensions[bundle]?.pending ?? [:]).filter { kinds[$0.key] == nil }.flatMap(\.value).sorted()
  }

  private mutating func move(_ id: Int, from before: Facts?, to now: Facts?) {
    guard before != now else { return }
    if let before {
      extensions[before.bundle]?.all.remove(id)
      extensions[before.bundle]?.due.remove(id)
      extensions[before.bundle]?.pending[before.kind]?.remove(id)
      if extensions[before.bundle]?.pending[before.kind]?.isEmpty == true {
        extensions[before.bundle]?.pending[before.kind] = nil
      }
      seen.remove(id)
    }
    guard let now else { return }
    extensions[now.bundle, default: OfExtension()].all.insert(id)
    if now.isDue { extensions[now.bundle]?.due.insert(id) }
    if now.isPending { extensions[now.bundle]?.pending[now.kind, default: []].insert(id) }
    if now.isSeen { seen.insert(id) }
  }
}

/// When each placement is due next. Placements that are not due at any date are left out.
struct DueDates: Sendable {
  private struct Due: Comparable, Sendable {
    let date: Date
    let id: Int

    static func < (left: Due, right: Due) -> Bool { (left.date, left.id) < (right.date, right.id) }
  }

  /// What `queue` has.
  private(set) var dates: [Int: Date] = [:]
  private var queue = SortedSet<Due>()

  var first: Date? { queue.elements.first?.date }

  subscript(id: Int) -> Date? {
    get { dates[id] }
    set {
      guard dates[id] != newValue else { return }
      if let former = dates[id] { queue.remove(Due(date: former, id: id)) }
      if let newValue { queue.insert(Due(date: newValue, id: id)) }
      dates[id] = newValue
    }
  }

  /// The placements that are due now, in no order.
  func ids(at now: Date) -> [Int] { queue.elements.prefix { $0.date <= now }.map(\.id) }
}

/// A set in ascending order. A change moves the elements behind it, which is fast for some thousands.
struct SortedSet<Element: Comparable & Sendable>: Sendable {
  private(set) var elements: [Element] = []

  mutating func insert(_ element: Element) {
    let index = position(of: element)
    if index == elements.count || elements[index] != element { elements.insert(element, at: index) }
  }

  mutating func remove(_ element: Element) {
    let index = position(of: element)
    if index < elements.count, elements[index] == element { elements.remove(at: index) }
  }

  /// The index of the first element that is not smaller.
  private func position(of element: Element) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
