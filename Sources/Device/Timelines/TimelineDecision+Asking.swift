import Archive
import Conversations
import Foundation
import Timekeeping

// Which extension is asked for what, and what comes of it.

extension TimelineDecision {
  /// Whether an extension is to be asked for nothing.
  func isDone(_ address: Address) -> Bool {
    let isOwed = ids(of: address).contains { placements[$0]?.owed?.isDue == true }
    return !isOwed && snapshots[address]?.isEmpty ?? true && !pending.contains { $0.address == address }
  }

  mutating func snapshot(_ kind: String, _ family: WidgetFamilyName?, _ serial: Int) -> [Answer] {
    let having = extensions.filter { kinds[$0]?[kind] != nil }.prefix(1)
    let targets = having.isEmpty ? extensions.filter { kinds[$0] == nil } : Array(having)
    guard !targets.isEmpty else { return [.noSnapshot(serial: serial, reason: unknown(kind))] }
    for target in targets {
      let placement = Placement(
        id: 0, bundle: target.bundleIdentifier ?? target.short, kind: kind,
        family: family ?? kinds[target]?[kind] ?? .systemSmall, location: .homeScreen)
      snapshots[target, default: []].append(
        Question(
          purpose: .snapshot, address: target, placement: placement, because: .gallery, serial: serial,
          story: .none))
    }
    return targets.map { want($0) }
  }

  /// Asks an extension that runs for what it owes next, or lets it go.
  mutating func next(_ address: Address, _ now: Date) -> [Answer] {
    guard asking[address] == nil else { return [] }
    var answers = resolvePending(address, now) + dropUnknown(address) + dropUnknownSnapshots(address)
    if let question = snapshots[address]?.first ?? timelineQuestion(address) {
      asking[address] = question
      answers.append(.ask(question))
    } else {
      wanted.remove(address)
      answers.append(.intent(.release(address, because: TimelineDecision.assertion)))
    }
    return answers
  }

  private func timelineQuestion(_ address: Address) -> Question? {
    for id in ids(of: address) {
      guard let placed = placements[id], let owed = placed.owed, owed.isDue else { continue }
      let purpose: RequestTimeline.Purpose = placed.needsPlaceholder ? .placeholder : .timeline
      return Question(
        purpose: purpose, address: address, placement: placed.placement, because: owed.because, serial: owed.reload,
        story: owed.story)
    }
    return nil
  }

  /// Placements of kinds that the extension no longer has.
  private mutating func dropUnknown(_ address: Address) -> [Answer] {
    guard let own = kinds[address] else { return [] }
    return ids(of: address).compactMap { id in
      guard var placed = placements[id], let owed = placed.owed, own[placed.placement.kind] == nil else { return nil }
      let reason = unknown(placed.placement.kind)
      placed.owed = nil
      placed.noted(owed.reload, .gaveUp(reason))
      placed.lastFailure = Placed.Failure(failure: .unknownKind, reason: reason)
      placements[id] = placed
      return gaveUp(placed.placement, owed.because, .unknownKind, reason, nil, owed.story)
    }
  }

  private mutating func dropUnknownSnapshots(_ address: Address) -> [Answer] {
    guard let own = kinds[address] else { return [] }
    let dropped = (snapshots[address] ?? []).filter { own[$0.placement.kind] == nil }
    snapshots[address]?.removeAll { own[$0.placement.kind] == nil }
    let left = Set(snapshots.values.joined().map(\.serial))
    return dropped.filter { !left.contains($0.serial) }
      .map { .noSnapshot(serial: $0.serial, reason: unknown($0.placement.kind)) }
  }

  // MARK: What comes of it

  mutating func outcome(_ event: Event, _ now: Date) -> [Answer] {
    switch event {
    case .lifeEnded(let address): return lifeEnded(address, now)
    case .answered(let question):
      guard asking[question.address] == question else { return [] }
      close(question)
      return next(question.address, now)
    case .gave(let question, let facts, let entries): return gave(question, facts, entries, now)
    case .failed(let question, let failure, let reason):
      guard asking[question.address] == question else { return [] }
      close(question)
      return fail(question, failure, reason, now) + next(question.address, now)
    case .overran(let question, let limit): return overran(question, limit, now)
    default: return []
    }
  }

  /// The extension answered, or will not.
  private mutating func close(_ question: Question) {
    asking[question.address] = nil
    switch question.purpose {
    case .placeholder:
      placements[question.placement.id]?.hasPlaceholder = true
      placements[question.placement.id]?.isPlaceholderOld = nil
    case .snapshot: snapshots[question.address]?.removeAll { $0 == question }
    case .timeline: break
    }
  }

  private mutating func gave(
    _ question: Question, _ facts: TimelineFacts, _ entries: [UpcomingEntry], _ now: Date
  ) -> [Answer] {
    guard asking[question.address] == question else { return [] }
    close(question)
    let id = question.placement.id
    guard var placed = placements[id] else { return next(question.address, now) }
    if placed.owed?.reload == question.serial { placed.owed = nil }
    placed.noted(question.serial, .stored)
    placed.failures = 0
    placed.lastFailure = nil
    placed.timeline = facts
    placed.policyDue = facts.policy.due(entries: entries, stored: now, settings)
    placed.shown = nil
    placements[id] = placed
    upcoming[id] = entries
    return show(id, now) + next(question.address, now)
  }

  /// A reload came to nothing: the last entry stays, and the placement is left alone for a while.
  private mutating func fail(
    _ question: Question, _ failure: ReloadFailed.Failure, _ reason: String, _ now: Date
  ) -> [Answer] {
    switch question.purpose {
    case .snapshot: return [.noSnapshot(serial: question.serial, reason: reason)]
    // The timeline is asked for all the same, unless the extension could not even give this.
    case .placeholder where failure != .overran && failure != .died: return []
    case .placeholder, .timeline: break
    }
    guard var placed = placements[question.placement.id] else { return [] }
    placed.failures += 1
    placed.lastFailure = Placed.Failure(failure: failure, reason: reason)
    var nextTry: Date?
    if var owed = placed.owed, owed.reload == question.serial {
      if failure == .unknownKind {
        placed.owed = nil
      } else {
        nextTry = now.addingTimeInterval(settings.backoff.pause(after: placed.failures))
        owed.notBefore = nextTry
        placed.owed = owed
      }
    }
    placed.failed(question.serial, reason, later: placed.owed)
    placements[question.placement.id] = placed
    return [gaveUp(placed.placement, question.because, failure, reason, nextTry, question.story)]
  }

  private func gaveUp(
    _ placement: Placement, _ because: ReloadCause, _ failure: ReloadFailed.Failure, _ reason: String, _ nextTry: Date?,
    _ story: Story
  ) -> Answer {
    .gaveUp(
      ReloadFailed(
        bundle: placement.bundle, widgetKind: placement.kind, placement: placement.id, because: because,
        failure: failure, reason: reason, nextTry: nextTry), story)
  }

  /// The extension is halted half-way, and asked for what else it owes when it goes on.
  private mutating func overran(_ question: Question, _ limit: Double, _ now: Date) -> [Answer] {
    guard asking[question.address] == question else { return [] }
    close(question)
    let reason =
      "no \(question.purpose) within \(limit.formatted()) s: the extension is halted half-way, and the last timeline "
      + "stays"
    wanted.remove(question.address)
    return [.stopAsking(question.address)] + fail(question, .overran, reason, now) + [
      .intent(.halt(question.address, because: TimelineDecision.assertion))
    ] + (isDone(question.address) ? [] : [want(question.address)])
  }

  private mutating func lifeEnded(_ address: Address, _ now: Date) -> [Answer] {
    guard let question = asking[address] else {
      // It died before it could be asked: Launching starts it again, and leaves it alone the longer the more often.
      if wanted.contains(address) { stalled.insert(address) }
      return []
    }
    asking[address] = nil
    let id = question.placement.id
    if question.purpose == .snapshot {
      close(question)
    } else if var owed = placements[id]?.owed, owed.reload == question.serial {
      owed.deaths += 1
      placements[id]?.owed = owed
      guard owed.deaths > settings.retriesAfterDeath else {
        return [.stopAsking(address)] + (withholdIfDue(id, now) ?? []) + wantOrRelease(address)
      }
    }
    let deaths = placements[id]?.owed?.deaths ?? 1
    let times = question.purpose == .snapshot || deaths < 2 ? "" : deaths == 2 ? " twice" : " \(deaths) times"
    let answers = [.stopAsking(address)] + fail(question, .died, "the extension died\(times) while it was asked", now)
    return answers + wantOrRelease(address)
  }

  private mutating func wantOrRelease(_ address: Address) -> [Answer] {
    guard isDone(address) else { return [want(address)] }
    wanted.remove(address)
    return [.intent(.release(address, because: TimelineDecision.assertion))]
  }
}
