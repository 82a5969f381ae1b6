// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

// Pending reloads, and their payment.

extension TimelineStateMachine {
  /// The extensions whose timelines a process may reload: all extensions of its app, or every extension for the
  /// operator. Source: `WidgetCenter`: the widgets are those of the containing app, whichever of its processes calls.
  func targets(of source: Address) -> [Address] {
    switch source.role {
    case .operator: return extensions
    case .widgetExtension:
      guard let app = apps.first(where: { $0.contains(source.bundleIdentifier) }) else {
        return extensions.filter { $0 == source }
      }
      return targets(of: app)
    default: return extensions.filter { source.contains($0.bundleIdentifier) && $0.device == source.device }
    }
  }

  private func cause(of source: Address) -> ReloadCause {
    switch source.role {
    case .operator: .operator
    case .widgetExtension: .extension
    default: .app
    }
  }

  mutating func reload(
    _ source: Address, kind: String?, areControls: Bool?, isInside: Bool, context: MessageContext, now: Date
  ) -> [Action] {
    let all = targets(of: source)
    guard !all.isEmpty else {
      return [
        unknown(
          source, kind: kind, reason: "no widget extension belongs to \(source.short)", because: cause(of: source),
          context: context)
      ]
    }
    let ids = all.flatMap { self.ids(of: $0, kind: kind, areControls: areControls) }
    // A running provider may also reload other widgets; only a reload of its widgets is a loop.
    let ownIDs = Set(self.ids(of: source))
    var actions = ids.flatMap {
      requestReload(
        $0, because: cause(of: source), context: context, isInside: isInside && ownIDs.contains($0), now: now)
    }
    // An extension that never reported its kinds may have this one; if all did, an unknown kind may be new.
    let silent = all.filter { kinds[$0] == nil }
    let isKnown = kind.map { kind in all.contains { kinds[$0]?[kind] != nil } } ?? true
    let askedExtensions = !ids.isEmpty && kind != nil ? [] : silent.isEmpty && !isKnown ? all : silent
    for address in askedExtensions {
      unresolvedReloads.append(
        UnresolvedReload(
          address: address, kind: kind, areControls: areControls, reloadCause: cause(of: source),
          isInside: isInside && address == source,
          causationID: context.cause,
          correlation: context.correlation))
      actions.append(want(address))
    }
    if ids.isEmpty, askedExtensions.isEmpty {
      actions.append(
        unknown(source, kind: kind, reason: "no such widget is placed", because: cause(of: source), context: context))
    }
    return actions
  }

  /// The extension reported its kinds: earlier requests become pending reloads, or fail.
  mutating func resolveReloads(_ address: Address, _ now: Date) -> [Action] {
    let ownReloads = unresolvedReloads.filter { $0.address == address }
    guard !ownReloads.isEmpty else { return [] }
    unresolvedReloads.removeAll { $0.address == address }
    return ownReloads.flatMap { item -> [Action] in
      let ids = self.ids(of: address, kind: item.kind, areControls: item.areControls)
      guard ids.isEmpty else {
        return ids.flatMap {
          requestReload($0, because: item.reloadCause, context: item.context, isInside: item.isInside, now: now)
        }
      }
      let mayHave =
        unresolvedReloads.contains { $0.kind == item.kind }
        || extensions.contains { !self.ids(of: $0, kind: item.kind).isEmpty }
      // A request for all kinds may find widgets and no control, or the reverse.
      if mayHave || item.kind == nil && !self.ids(of: address).isEmpty { return [] }
      let reason = item.kind.map(unknown) ?? "the extension has no widget"
      return [unknown(address, kind: item.kind, reason: reason, because: item.reloadCause, context: item.context)]
    }
  }

  func unknown(_ kind: String) -> String {
    let existing = extensions.flatMap { kinds[$0].map { Array($0.keys) } ?? [] }.sorted().joined(separator: ", ")
    return "no widget is of kind \(kind); there are: \(existing.isEmpty ? "none" : existing)"
  }

  private func unknown(
    _ address: Address, kind: String?, reason: String, because: ReloadCause, context: MessageContext
  ) -> Action {
    .reloadFailed(
      ReloadFailed(
        bundle: address.bundleIdentifier ?? address.short, widgetKind: kind ?? "all", because: because,
        failure: .unknownKind, reason: reason), context)
  }

  /// Makes a reload of a placement pending, and merges it with one that was pending before.
  mutating func requestReload(
    _ id: Int, because: ReloadCause, context: MessageContext, isInside: Bool = false, now: Date
  ) -> [Action] {
    guard var placed = placements[id] else { return [] }
    let push = because == .push ? context.correlation : nil
    guard !placed.knows(push: push) else { return [] }
    var actions: [Action] = []
    let formerReload = isAsking(id, placed.pendingReload?.reload) ? nil : placed.pendingReload
    lastReload += 1
    var pendingReload = PendingReload(
      reload: lastReload, reloadCause: because, causationID: context.cause, correlation: context.correlation,
      isInside: isInside)
    if because == .app { pendingReload.openedUntil = openedUntil(placed, now) }
    placed.policyDue = nil
    placed.assign(lastReload, insteadOf: formerReload?.reload, push: push)
    if let formerReload {
      actions.append(
        line(placed, pendingReload: formerReload, verdict: BudgetVerdict(.merged, "newer-reload"), now: now))
    }
    if !isInside, endsBackoff(because) { placed.failures = 0 }
    // A reload that replaces a paid one, or a free one that waits only for the device to be unlocked, is free too.
    if let formerReload,
      formerReload.isPaid || formerReload.withheld != nil && policy.freeCauses.contains(formerReload.reloadCause)
    {
      pendingReload.isPaid = true
      pendingReload.exits = formerReload.exits
      pendingReload.notBefore = placed.failures > 0 ? formerReload.notBefore : nil
    }
    placed.pendingReload = pendingReload
    placements[id] = placed
    guard pendingReload.isPaid else { return actions + decide(id, now) }
    if pendingReload.notBefore == nil, let rule = withholding(placed) {
      return actions + withhold(id, rule: rule, now: now)
    }
    let verdict =
      pendingReload.notBefore.map { BudgetVerdict(.delayed, "back-off", until: $0) }
      ?? BudgetVerdict(.free, "paid-before")
    return actions + [line(placed, pendingReload: pendingReload, verdict: verdict, now: now)] + wantIfDue(placed)
  }

  /// Whether the requester may have new content; requests of the system itself wait. Source: ours.
  private func endsBackoff(_ because: ReloadCause) -> Bool {
    switch because {
    case .added, .edited, .interaction, .operator, .app, .extension, .push: true
    case .policy, .system, .stale, .location, .gallery, .standBy: false
    }
  }

  /// Until when a reload that the app requests now waits; `nil` if the user has not just opened the app from a widget.
  private func openedUntil(_ placed: PlacementState, _ now: Date) -> Date? {
    let openings = opened.filter { $0.key.contains(placed.placement.bundle) && $0.value <= now }.values
    let end = openings.max()?.addingTimeInterval(policy.afterOpenedFromWidget)
    return end.flatMap { $0 > now ? $0 : nil }
  }

  /// Whether the timeline of this reload is being requested. During the request of its placeholder it is still pending.
  func isAsking(_ id: Int, _ reload: Int?) -> Bool {
    outstanding.contains { $0.placement.id == id && $0.purpose == .timeline && $0.serial == reload }
  }

  /// Decides a reload again that waits for its payment, and retries one after a failure.
  mutating func redecide(_ id: Int, _ now: Date) -> [Action] {
    guard var placed = placements[id], let pendingReload = placed.pendingReload, let instant = pendingReload.notBefore
    else { return [] }
    guard pendingReload.isPaid else { return decide(id, now) }
    guard instant <= now else { return [] }
    if let rule = withholding(placed) { return withhold(id, rule: rule, now: now) }
    placed.pendingReload?.notBefore = nil
    placements[id] = placed
    return [line(placed, pendingReload: pendingReload, verdict: BudgetVerdict(.free, "tried-again"), now: now)]
      + wantIfDue(placed)
  }

  mutating func decide(_ id: Int, _ now: Date) -> [Action] {
    guard var placed = placements[id], let pendingReload = placed.pendingReload else { return [] }
    if let rule = withholding(placed) { return withhold(id, rule: rule, now: now) }
    let situation = BudgetSituation(
      isDeveloperMode: settings.developerMode, isAppInFront: inFront.contains { $0.contains(placed.placement.bundle) },
      activity: atWork.first { $0.key.contains(placed.placement.bundle) }?.value,
      isInsideProvider: pendingReload.isInside, openedUntil: pendingReload.openedUntil)
    let verdict = placed.account.decide(pendingReload.reloadCause, policy: policy, situation: situation, now: now)
    let action = line(placed, pendingReload: pendingReload, verdict: verdict, now: now)
    switch verdict.verdict {
    case .granted, .free:
      placed.pendingReload?.isPaid = true
      placed.pendingReload?.notBefore = nil
      placed.noted(pendingReload.reload, .pending)
    case .delayed:
      placed.pendingReload?.notBefore = verdict.until
      placed.noted(pendingReload.reload, .delayed(rule: verdict.rule, until: verdict.until))
    case .merged, .refused:
      placed.pendingReload = nil
      placed.noted(pendingReload.reload, .refused(rule: verdict.rule))
    }
    placements[id] = placed
    return [action] + wantIfDue(placed)
  }

  mutating func wantIfDue(_ placed: PlacementState) -> [Action] {
    guard placed.pendingReload?.isDue == true, let address = address(of: placed.placement), mayAsk(address)
    else {
      return []
    }
    return [want(address)]
  }

  mutating func want(_ address: Address) -> Action {
    wanted.insert(address)
    stalled.remove(address)
    return .asks(.process(.want(address, because: TimelineStateMachine.assertion)))
  }

  mutating func line(_ placed: PlacementState, pendingReload: PendingReload, verdict: BudgetVerdict, now: Date)
    -> Action
  {
    lastLine += 1
    let entry = LedgerEntry(
      number: lastLine, date: now, reload: pendingReload.reload, placement: placed.placement.id,
      bundle: placed.placement.bundle, widgetKind: placed.placement.kind, because: pendingReload.reloadCause,
      verdict: verdict.verdict, rule: verdict.rule, balance: placed.account.balance, until: verdict.until)
    let allowance = policy.perDay.map { _ in policy.allowance(at: now, of: placed.account) }
    let decided = BudgetDecided(entry, allowance: allowance, window: allowance.map { _ in policy.window })
    return .decided(decided, pendingReload.context)
  }
}

extension Address {
  /// An app contains the extensions whose bundle identifiers begin with its own.
  func contains(_ widgetExtension: String?) -> Bool {
    guard let app = bundleIdentifier, let widgetExtension else { return false }
    return widgetExtension.hasPrefix(app + ".")
  }
}

// Pending reloads while no timeline can be stored: the extension's files are protected, and the device is locked.

extension TimelineStateMachine {
  /// Why no timeline of a placement can be stored now; `nil` if one can.
  func withholding(_ placed: PlacementState) -> Withholding? { address(of: placed.placement).flatMap { withheld[$0] } }

  /// An extension may still reply to a request that was sent before. All other pending reloads wait, and continue as
  /// soon as they are permitted.
  mutating func withhold(_ extensions: [Address: Withholding], _ now: Date) -> [Action] {
    withheld = extensions
    return placements.keys.sorted().flatMap { withholdIfDue($0, now) ?? goOn($0, now) }
  }

  /// - Returns: `nil` if the pending reload may continue.
  mutating func withholdIfDue(_ id: Int, _ now: Date) -> [Action]? {
    guard let placed = placements[id], let pendingReload = placed.pendingReload, let rule = withholding(placed) else {
      return nil
    }
    // A reload that waits for its payment, or for the end of a back-off, is withheld when that wait ends.
    guard pendingReload.isDue || pendingReload.withheld != nil && pendingReload.withheld != rule,
      !isAsking(id, pendingReload.reload)
    else { return [] }
    return withhold(id, rule: rule, now: now)
  }

  /// - Returns: its line in the ledger.
  mutating func withhold(_ id: Int, rule: Withholding, now: Date) -> [Action] {
    guard var placed = placements[id], let pendingReload = placed.pendingReload else { return [] }
    placed.pendingReload?.withheld = rule
    placed.pendingReload?.notBefore = nil
    placed.noted(pendingReload.reload, .delayed(rule: rule.rawValue, until: nil))
    placements[id] = placed
    return [line(placed, pendingReload: pendingReload, verdict: BudgetVerdict(.delayed, rule.rawValue), now: now)]
  }

  /// A reload that was paid before it was withheld is not paid again.
  private mutating func goOn(_ id: Int, _ now: Date) -> [Action] {
    guard var placed = placements[id], let pendingReload = placed.pendingReload, pendingReload.withheld != nil else {
      return []
    }
    placed.pendingReload?.withheld = nil
    guard pendingReload.isPaid else {
      placements[id] = placed
      return decide(id, now)
    }
    placed.noted(pendingReload.reload, .pending)
    placements[id] = placed
    return [line(placed, pendingReload: pendingReload, verdict: BudgetVerdict(.free, "paid-before"), now: now)]
      + wantIfDue(placed)
  }
}

// What each extension is asked for, and how its replies are handled.

extension TimelineStateMachine {
  /// Whether no request to an extension is due.
  func isDone(_ address: Address) -> Bool {
    placements.due(of: address.bundleIdentifier ?? "").isEmpty && snapshots[address]?.isEmpty ?? true
      && !unresolvedReloads.contains { $0.address == address }
  }

  mutating func snapshot(
    _ kind: String, of bundle: String?, family: WidgetFamilyName?, serial: Int
  ) -> [Action] {
    let ownExtensions = extensions.filter { bundle == nil || $0.bundleIdentifier == bundle }
    let having = ownExtensions.filter { kinds[$0]?[kind] != nil }.prefix(1)
    let targets = having.isEmpty ? ownExtensions.filter { kinds[$0] == nil } : Array(having)
    guard !targets.isEmpty else { return [.noSnapshot(serial: serial, reason: unknown(kind))] }
    for target in targets {
      let placement = Placement(
        id: 0, bundle: target.bundleIdentifier ?? target.short, kind: kind,
        family: family ?? kinds[target]?[kind] ?? .systemSmall, location: .homeScreen)
      snapshots[target, default: []].append(
        ProviderRequest(
          purpose: .snapshot, address: target, placement: placement, reloadCause: .gallery, serial: serial,
          context: .none))
    }
    return targets.map { want($0) }
  }

  /// Whether an extension can get one more request now.
  func mayAsk(_ address: Address) -> Bool { outstanding.count { $0.address == address } < settings.concurrentTimelines }

  /// Sends a running extension its next requests, or releases the extension.
  mutating func next(_ address: Address, _ now: Date) -> [Action] {
    guard mayAsk(address) else { return [] }
    var actions = resolveReloads(address, now) + dropUnknown(address) + dropUnknownSnapshots(address)
    while mayAsk(address),
      let asked = snapshots[address]?.first(where: { !outstanding.contains($0) }) ?? nextTimeline(address)
    {
      outstanding.append(asked)
      actions.append(.ask(asked))
    }
    if !outstanding.contains(where: { $0.address == address }) {
      wanted.remove(address)
      actions.append(.asks(.process(.release(address, because: TimelineStateMachine.assertion))))
    }
    return actions
  }

  private func nextTimeline(_ address: Address) -> ProviderRequest? {
    for id in placements.due(of: address.bundleIdentifier ?? "")
    where !outstanding.contains(where: { $0.purpose != .snapshot && $0.placement.id == id }) {
      guard let placed = placements[id], let pendingReload = placed.pendingReload else { continue }
      let purpose: RequestTimeline.Purpose = placed.needsPlaceholder ? .placeholder : .timeline
      return ProviderRequest(
        purpose: purpose, address: address, placement: placed.placement, reloadCause: pendingReload.reloadCause,
        serial: pendingReload.reload, context: pendingReload.context)
    }
    return nil
  }

  /// Drops the reloads of placements whose kind the extension no longer has.
  private mutating func dropUnknown(_ address: Address) -> [Action] {
    guard let ownKinds = kinds[address] else { return [] }
    return placements.pending(of: address.bundleIdentifier ?? "", notOf: ownKinds).compactMap { id in
      guard var placed = placements[id], let pendingReload = placed.pendingReload else { return nil }
      let fault = TimelineFault(.unknownKind, unknown(placed.placement.kind))
      placed.pendingReload = nil
      placed.noted(pendingReload.reload, .gaveUp(fault.reason))
      placed.lastFailure = fault
      placements[id] = placed
      return reloadFailed(
        placed.placement, because: pendingReload.reloadCause, fault: fault, nextTry: nil, context: pendingReload.context
      )
    }
  }

  private mutating func dropUnknownSnapshots(_ address: Address) -> [Action] {
    guard let own = kinds[address] else { return [] }
    let dropped = (snapshots[address] ?? []).filter { own[$0.placement.kind] == nil }
    snapshots[address]?.removeAll { own[$0.placement.kind] == nil }
    let left = Set(snapshots.values.joined().map(\.serial))
    return dropped.filter { !left.contains($0.serial) }
      .map { .noSnapshot(serial: $0.serial, reason: unknown($0.placement.kind)) }
  }

  // MARK: Results

  /// The extension replied, or will not reply.
  mutating func close(_ providerRequest: ProviderRequest) {
    outstanding.removeAll { $0 == providerRequest }
    switch providerRequest.purpose {
    case .placeholder:
      placements[providerRequest.placement.id]?.hasPlaceholder = true
      placements[providerRequest.placement.id]?.isPlaceholderOld = false
    case .snapshot: snapshots[providerRequest.address]?.removeAll { $0 == providerRequest }
    case .timeline: break
    }
  }

  mutating func gave(
    _ providerRequest: ProviderRequest, facts: TimelineFacts, entries: [UpcomingEntry], now: Date
  ) -> [Action] {
    guard outstanding.contains(providerRequest) else { return [] }
    close(providerRequest)
    let id = providerRequest.placement.id
    guard var placed = placements[id] else { return next(providerRequest.address, now) }
    if placed.pendingReload?.reload == providerRequest.serial { placed.pendingReload = nil }
    placed.noted(providerRequest.serial, .stored)
    placed.failures = 0
    placed.lastFailure = nil
    placed.timeline = facts
    let delay = settings.delay(of: id, reload: providerRequest.serial)
    placed.policyDue = facts.policy.due(entries: entries, stored: now, settings)?.addingTimeInterval(delay)
    placed.shown = nil
    placements[id] = placed
    upcoming[id] = entries
    return show(id, now) + next(providerRequest.address, now)
  }

  /// A reload failed: the last entry stays, and the next try waits for the back-off.
  mutating func fail(_ providerRequest: ProviderRequest, fault: TimelineFault, now: Date) -> [Action] {
    switch providerRequest.purpose {
    case .snapshot: return [.noSnapshot(serial: providerRequest.serial, reason: fault.reason)]
    // The timeline is requested nevertheless, unless the extension exited or took too long even for this.
    case .placeholder where fault.failure != .overran && fault.failure != .exited: return []
    case .placeholder, .timeline: break
    }
    guard var placed = placements[providerRequest.placement.id] else { return [] }
    placed.failures += 1
    placed.lastFailure = fault
    var nextTry: Date?
    if placed.pendingReload?.reload == providerRequest.serial {
      if fault.failure == .unknownKind {
        placed.pendingReload = nil
      } else {
        nextTry = now.addingTimeInterval(settings.backoff.pause(after: placed.failures))
        placed.pendingReload?.notBefore = nextTry
      }
    }
    placed.failed(providerRequest.serial, fault.reason, later: placed.pendingReload)
    placements[providerRequest.placement.id] = placed
    return [
      reloadFailed(
        placed.placement, because: providerRequest.reloadCause, fault: fault, nextTry: nextTry,
        context: providerRequest.context)
    ]
  }

  private func reloadFailed(
    _ placement: Placement, because: ReloadCause, fault: TimelineFault, nextTry: Date?, context: MessageContext
  ) -> Action {
    .reloadFailed(
      ReloadFailed(
        bundle: placement.bundle, widgetKind: placement.kind, placement: placement.id, because: because,
        failure: fault.failure, reason: fault.reason, nextTry: nextTry), context)
  }

  /// The extension is suspended at once, and receives its other requests when it resumes. Those that it has already
  /// received stay open.
  mutating func overran(_ providerRequest: ProviderRequest, limit: Double, now: Date) -> [Action] {
    guard outstanding.contains(providerRequest) else { return [] }
    close(providerRequest)
    let reason =
      "no \(providerRequest.purpose) within \(limit.formatted()) s: the extension is suspended, and the last timeline "
      + "stays"
    wanted.remove(providerRequest.address)
    return [.stopAsking(providerRequest)] + fail(providerRequest, fault: TimelineFault(.overran, reason), now: now) + [
      .asks(.process(.halt(providerRequest.address, because: TimelineStateMachine.assertion)))
    ] + (isDone(providerRequest.address) ? [] : [want(providerRequest.address)])
  }

  mutating func instanceEnded(_ address: Address, _ now: Date) -> [Action] {
    let removed = outstanding.filter { $0.address == address }
    outstanding.removeAll { $0.address == address }
    guard !removed.isEmpty else {
      // It exited before it could be asked: Launching restarts it, with a growing back-off.
      if wanted.contains(address) { stalled.insert(address) }
      return []
    }
    return removed.flatMap { [.stopAsking($0)] + exited(during: $0, now) } + wantOrRelease(address)
  }

  /// The process instance ended during a request.
  private mutating func exited(during providerRequest: ProviderRequest, _ now: Date) -> [Action] {
    let id = providerRequest.placement.id
    if providerRequest.purpose == .snapshot {
      close(providerRequest)
    } else if let pendingReload = placements[id]?.pendingReload, pendingReload.reload == providerRequest.serial {
      placements[id]?.pendingReload?.exits += 1
      guard pendingReload.exits + 1 > settings.retriesAfterExit else { return withholdIfDue(id, now) ?? [] }
    }
    let exits = placements[id]?.pendingReload?.exits ?? 1
    let times = providerRequest.purpose == .snapshot || exits < 2 ? "" : exits == 2 ? " twice" : " \(exits) times"
    return fail(
      providerRequest, fault: TimelineFault(.exited, "the extension exited\(times) during the request"), now: now)
  }

  private mutating func wantOrRelease(_ address: Address) -> [Action] {
    guard isDone(address) else { return [want(address)] }
    wanted.remove(address)
    return [.asks(.process(.release(address, because: TimelineStateMachine.assertion)))]
  }
}
