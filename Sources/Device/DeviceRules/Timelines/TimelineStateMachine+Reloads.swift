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
    _ source: Address, _ kind: String?, _ areControls: Bool?, _ isInside: Bool, _ context: MessageContext, _ now: Date
  ) -> [Action] {
    let all = targets(of: source)
    guard !all.isEmpty else {
      return [unknown(source, kind, "no widget extension belongs to \(source.short)", cause(of: source), context)]
    }
    let ids = all.flatMap { self.ids(of: $0, kind: kind, areControls: areControls) }
    // A running provider may also reload other widgets; only a reload of its widgets is a loop.
    let own = Set(self.ids(of: source))
    var actions = ids.flatMap {
      requestReload($0, cause(of: source), context, isInside: isInside && own.contains($0), now: now)
    }
    // An extension that never reported its kinds may have this one; if all did, an unknown kind may be new.
    let silent = all.filter { kinds[$0] == nil }
    let known = kind.map { kind in all.contains { kinds[$0]?[kind] != nil } } ?? true
    let asked = !ids.isEmpty && kind != nil ? [] : silent.isEmpty && !known ? all : silent
    for address in asked {
      unresolvedReloads.append(
        UnresolvedReload(
          address: address, kind: kind, areControls: areControls, reloadCause: cause(of: source),
          isInside: isInside && address == source,
          causationID: context.cause,
          correlation: context.correlation))
      actions.append(want(address))
    }
    if ids.isEmpty, asked.isEmpty {
      actions.append(unknown(source, kind, "no such widget is placed", cause(of: source), context))
    }
    return actions
  }

  /// The extension reported its kinds: earlier requests become pending reloads, or fail.
  mutating func resolveReloads(_ address: Address, _ now: Date) -> [Action] {
    let own = unresolvedReloads.filter { $0.address == address }
    guard !own.isEmpty else { return [] }
    unresolvedReloads.removeAll { $0.address == address }
    return own.flatMap { item -> [Action] in
      let ids = self.ids(of: address, kind: item.kind, areControls: item.areControls)
      guard ids.isEmpty else {
        return ids.flatMap { requestReload($0, item.reloadCause, item.context, isInside: item.isInside, now: now) }
      }
      let mayHave =
        unresolvedReloads.contains { $0.kind == item.kind }
        || extensions.contains { !self.ids(of: $0, kind: item.kind).isEmpty }
      // A request for all kinds may find widgets and no control, or the reverse.
      if mayHave || item.kind == nil && !self.ids(of: address).isEmpty { return [] }
      let reason = item.kind.map(unknown) ?? "the extension has no widget"
      return [unknown(address, item.kind, reason, item.reloadCause, item.context)]
    }
  }

  func unknown(_ kind: String) -> String {
    let existing = extensions.flatMap { kinds[$0].map { Array($0.keys) } ?? [] }.sorted().joined(separator: ", ")
    return "no widget is of kind \(kind); there are: \(existing.isEmpty ? "none" : existing)"
  }

  private func unknown(
    _ address: Address, _ kind: String?, _ reason: String, _ because: ReloadCause, _ context: MessageContext
  ) -> Action {
    .reloadFailed(
      ReloadFailed(
        bundle: address.bundleIdentifier ?? address.short, widgetKind: kind ?? "all", because: because,
        failure: .unknownKind, reason: reason), context)
  }

  /// Makes a reload of a placement pending, and merges it with one that was pending before.
  mutating func requestReload(
    _ id: Int, _ because: ReloadCause, _ context: MessageContext, isInside: Bool = false, now: Date
  ) -> [Action] {
    guard var placed = placements[id] else { return [] }
    let push = because == .push ? context.correlation : nil
    guard !placed.knows(push: push) else { return [] }
    var actions: [Action] = []
    let former = isAsking(id, placed.pendingReload?.reload) ? nil : placed.pendingReload
    lastReload += 1
    var pendingReload = PendingReload(
      reload: lastReload, reloadCause: because, causationID: context.cause, correlation: context.correlation,
      isInside: isInside)
    if because == .app { pendingReload.openedUntil = openedUntil(placed, now) }
    placed.policyDue = nil
    placed.assign(lastReload, insteadOf: former?.reload, push: push)
    if let former { actions.append(line(placed, former, BudgetVerdict(.merged, "newer-reload"), now)) }
    if !isInside, endsBackoff(because) { placed.failures = 0 }
    if let former, former.isPaid || isFreeWhenUnlocked(former) {
      pendingReload.isPaid = true
      pendingReload.exits = former.exits
      pendingReload.notBefore = placed.failures > 0 ? former.notBefore : nil
      if pendingReload.notBefore == nil, let rule = withholding(placed) {
        placed.pendingReload = pendingReload
        placements[id] = placed
        return actions + [withhold(id, rule, now)].compactMap(\.self)
      }
      let verdict =
        pendingReload.notBefore.map { BudgetVerdict(.delayed, "back-off", until: $0) }
        ?? BudgetVerdict(.free, "paid-before")
      actions.append(line(placed, pendingReload, verdict, now))
      placed.pendingReload = pendingReload
      placements[id] = placed
      return actions + wantIfDue(placed)
    }
    placed.pendingReload = pendingReload
    placements[id] = placed
    return actions + decide(id, now)
  }

  /// Whether it waits only for the device to be unlocked, and is free: a newer reload that replaces it is free too.
  private func isFreeWhenUnlocked(_ pendingReload: PendingReload) -> Bool {
    pendingReload.withheld != nil && policy.freeCauses.contains(pendingReload.reloadCause)
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
    outstanding.all.contains { $0.placement.id == id && $0.purpose == .timeline && $0.serial == reload }
  }

  /// Decides a reload again that waits for its payment, and retries one after a failure.
  mutating func redecide(_ id: Int, _ now: Date) -> [Action] {
    guard var placed = placements[id], var pendingReload = placed.pendingReload, pendingReload.notBefore != nil else {
      return []
    }
    guard pendingReload.isPaid else { return decide(id, now) }
    guard let instant = pendingReload.notBefore, instant <= now else { return [] }
    if let rule = withholding(placed) { return [withhold(id, rule, now)].compactMap(\.self) }
    pendingReload.notBefore = nil
    placed.pendingReload = pendingReload
    placements[id] = placed
    return [line(placed, pendingReload, BudgetVerdict(.free, "tried-again"), now)] + wantIfDue(placed)
  }

  mutating func decide(_ id: Int, _ now: Date) -> [Action] {
    guard var placed = placements[id], var pendingReload = placed.pendingReload else { return [] }
    if let rule = withholding(placed) { return [withhold(id, rule, now)].compactMap(\.self) }
    let situation = BudgetSituation(
      isDeveloperMode: settings.developerMode, isAppInFront: inFront.contains { $0.contains(placed.placement.bundle) },
      activity: atWork.first { $0.key.contains(placed.placement.bundle) }?.value,
      isInsideProvider: pendingReload.isInside,
      openedUntil: pendingReload.openedUntil)
    let verdict = placed.account.decide(pendingReload.reloadCause, policy, situation, now: now)
    let action = line(placed, pendingReload, verdict, now)
    switch verdict.verdict {
    case .granted, .free:
      pendingReload.isPaid = true
      pendingReload.notBefore = nil
      placed.pendingReload = pendingReload
      placed.noted(pendingReload.reload, .pending)
    case .delayed:
      pendingReload.notBefore = verdict.until
      placed.pendingReload = pendingReload
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
    return .process(.want(address, because: TimelineStateMachine.assertion))
  }

  mutating func line(_ placed: PlacementState, _ pendingReload: PendingReload, _ verdict: BudgetVerdict, _ now: Date)
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
