import Archive
import Conversations
import Foundation

// What is owed, and who pays.

extension TimelineDecision {
  /// Whose timelines a process may ask for: those of all extensions of its app; all, for the operator. Source: `WidgetCenter`,
  /// by which the widgets are those of the containing app, whoever of it asks.
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
    _ source: Address, _ kind: String?, _ isInside: Bool, _ story: Story, _ now: Date
  ) -> [Answer] {
    let all = targets(of: source)
    guard !all.isEmpty else {
      return [unknown(source, kind, "no widget extension belongs to \(source.short)", cause(of: source), story)]
    }
    let ids = all.flatMap { self.ids(of: $0, kind: kind) }
    // A provider that is asked calls for others too; it is a loop for its own alone.
    let own = Set(self.ids(of: source))
    var answers = ids.flatMap {
      owe($0, cause(of: source), story, isInside: isInside && own.contains($0), now: now)
    }
    // Who never said its kinds may have it; when all have, a kind that nobody has may be new.
    let unheard = all.filter { kinds[$0] == nil }
    let known = kind.map { kind in all.contains { kinds[$0]?[kind] != nil } } ?? true
    let asked = !ids.isEmpty && kind != nil ? [] : unheard.isEmpty && !known ? all : unheard
    for address in asked {
      pending.append(
        Pending(
          address: address, kind: kind, because: cause(of: source), isInside: isInside && address == source,
          cause: story.cause,
          correlation: story.correlation))
      answers.append(want(address))
    }
    if ids.isEmpty, asked.isEmpty {
      answers.append(unknown(source, kind, "no widget of it is placed", cause(of: source), story))
    }
    return answers
  }

  /// The extension has said its kinds: what was asked of it before is owed, or comes to nothing.
  mutating func resolvePending(_ address: Address, _ now: Date) -> [Answer] {
    let own = pending.filter { $0.address == address }
    guard !own.isEmpty else { return [] }
    pending.removeAll { $0.address == address }
    return own.flatMap { item -> [Answer] in
      let ids = self.ids(of: address, kind: item.kind)
      guard ids.isEmpty else {
        return ids.flatMap { owe($0, item.because, item.story, isInside: item.isInside, now: now) }
      }
      let mayHave =
        pending.contains { $0.kind == item.kind } || extensions.contains { !self.ids(of: $0, kind: item.kind).isEmpty }
      if mayHave { return [] }
      let reason = item.kind.map(unknown) ?? "the extension has no widget"
      return [unknown(address, item.kind, reason, item.because, item.story)]
    }
  }

  func unknown(_ kind: String) -> String {
    let existing = extensions.flatMap { kinds[$0].map { Array($0.keys) } ?? [] }.sorted().joined(separator: ", ")
    return "no widget is of kind \(kind); there are: \(existing.isEmpty ? "none" : existing)"
  }

  private func unknown(
    _ address: Address, _ kind: String?, _ reason: String, _ because: ReloadCause, _ story: Story
  ) -> Answer {
    .gaveUp(
      ReloadFailed(
        bundle: address.bundleIdentifier ?? address.short, widgetKind: kind ?? "all", because: because,
        failure: .unknownKind, reason: reason), story)
  }

  /// A reload is owed to a placement from now on, together with one that was owed before.
  mutating func owe(
    _ id: Int, _ because: ReloadCause, _ story: Story, isInside: Bool = false, now: Date
  ) -> [Answer] {
    guard var placed = placements[id] else { return [] }
    let push = because == .push ? story.correlation : nil
    guard !placed.knows(push: push) else { return [] }
    var answers: [Answer] = []
    let former = isAsking(id, placed.owed?.reload) ? nil : placed.owed
    lastReload += 1
    var owed = Owed(
      reload: lastReload, because: because, cause: story.cause, correlation: story.correlation, isInside: isInside)
    if because == .app { owed.openedUntil = openedUntil(placed, now) }
    placed.policyDue = nil
    placed.owes(lastReload, insteadOf: former?.reload, push: push)
    if let former { answers.append(line(placed, former, BudgetVerdict(.merged, "newer-reload"), now)) }
    if !isInside, endsBackoff(because) { placed.failures = 0 }
    if let former, former.isPaid || isFreeWhenUnlocked(former) {
      owed.isPaid = true
      owed.deaths = former.deaths
      owed.notBefore = placed.failures > 0 ? former.notBefore : nil
      if owed.notBefore == nil, let rule = withholding(placed) {
        placed.owed = owed
        placements[id] = placed
        return answers + [withhold(id, rule, now)].compactMap(\.self)
      }
      let verdict =
        owed.notBefore.map { BudgetVerdict(.delayed, "back-off", until: $0) } ?? BudgetVerdict(.free, "paid-before")
      answers.append(line(placed, owed, verdict, now))
      placed.owed = owed
      placements[id] = placed
      return answers + wantIfDue(placed)
    }
    placed.owed = owed
    placements[id] = placed
    return answers + decide(id, now)
  }

  /// Whether it waits for the device alone, and would cost nothing: a newer one that stands for it costs nothing either.
  private func isFreeWhenUnlocked(_ owed: Owed) -> Bool {
    owed.withheld != nil && policy.freeCauses.contains(owed.because)
  }

  /// Whether somebody asked who knows of something new; what the system asks for of itself waits. Source: ours.
  private func endsBackoff(_ because: ReloadCause) -> Bool {
    switch because {
    case .added, .edited, .interaction, .operator, .app, .extension, .push: true
    case .policy, .system, .stale, .location, .gallery, .standBy: false
    }
  }

  /// Until when a reload that the app asks for now waits; `nil` when no person has just opened it from a widget.
  private func openedUntil(_ placed: Placed, _ now: Date) -> Date? {
    let openings = opened.filter { $0.key.contains(placed.placement.bundle) && $0.value <= now }.values
    let end = openings.max()?.addingTimeInterval(policy.afterOpenedFromWidget)
    return end.flatMap { $0 > now ? $0 : nil }
  }

  /// Whether the timeline of this reload is being asked for. While its placeholder is, it is owed still.
  func isAsking(_ id: Int, _ reload: Int?) -> Bool {
    asking.values.contains { $0.placement.id == id && $0.purpose == .timeline && $0.serial == reload }
  }

  /// What waits for its payment is decided again; what was left alone after a failure is tried again.
  mutating func redecide(_ id: Int, _ now: Date) -> [Answer] {
    guard var placed = placements[id], var owed = placed.owed, owed.notBefore != nil else { return [] }
    guard owed.isPaid else { return decide(id, now) }
    guard let instant = owed.notBefore, instant <= now else { return [] }
    if let rule = withholding(placed) { return [withhold(id, rule, now)].compactMap(\.self) }
    owed.notBefore = nil
    placed.owed = owed
    placements[id] = placed
    return [line(placed, owed, BudgetVerdict(.free, "tried-again"), now)] + wantIfDue(placed)
  }

  mutating func decide(_ id: Int, _ now: Date) -> [Answer] {
    guard var placed = placements[id], var owed = placed.owed else { return [] }
    if let rule = withholding(placed) { return [withhold(id, rule, now)].compactMap(\.self) }
    let situation = BudgetSituation(
      isDeveloperMode: settings.developerMode, isAppInFront: inFront.contains { $0.contains(placed.placement.bundle) },
      activity: atWork.first { $0.key.contains(placed.placement.bundle) }?.value, isInsideProvider: owed.isInside,
      openedUntil: owed.openedUntil)
    let verdict = placed.account.decide(owed.because, policy, situation, now: now)
    let answer = line(placed, owed, verdict, now)
    switch verdict.verdict {
    case .granted, .free:
      owed.isPaid = true
      owed.notBefore = nil
      placed.owed = owed
      placed.noted(owed.reload, .owed)
    case .delayed:
      owed.notBefore = verdict.until
      placed.owed = owed
      placed.noted(owed.reload, .delayed(rule: verdict.rule, until: verdict.until))
    case .merged, .refused:
      placed.owed = nil
      placed.noted(owed.reload, .refused(rule: verdict.rule))
    }
    placements[id] = placed
    return [answer] + wantIfDue(placed)
  }

  mutating func wantIfDue(_ placed: Placed) -> [Answer] {
    guard placed.owed?.isDue == true, let address = address(of: placed.placement), asking[address] == nil else {
      return []
    }
    return [want(address)]
  }

  mutating func want(_ address: Address) -> Answer {
    wanted.insert(address)
    stalled.remove(address)
    return .intent(.wantAwake(address, because: TimelineDecision.assertion))
  }

  mutating func line(_ placed: Placed, _ owed: Owed, _ verdict: BudgetVerdict, _ now: Date) -> Answer {
    lastLine += 1
    let entry = LedgerEntry(
      number: lastLine, date: now, reload: owed.reload, placement: placed.placement.id,
      bundle: placed.placement.bundle, widgetKind: placed.placement.kind, because: owed.because,
      verdict: verdict.verdict, rule: verdict.rule, balance: placed.account.balance, until: verdict.until)
    return .decided(entry, owed.story)
  }
}

extension Address {
  /// An app contains the extensions whose bundle identifiers begin with its own.
  func contains(_ widgetExtension: String?) -> Bool {
    guard let app = bundleIdentifier, let widgetExtension else { return false }
    return widgetExtension.hasPrefix(app + ".")
  }
}
