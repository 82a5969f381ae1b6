// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages
import ProcessActions
import Timekeeping

// What each extension is asked for, and how its replies are handled.

extension TimelineStateMachine {
  /// Whether no request to an extension is due.
  func isDone(_ address: Address) -> Bool {
    let isRequestDue = ids(of: address).contains { placements[$0]?.pendingReload?.isDue == true }
    return !isRequestDue && snapshots[address]?.isEmpty ?? true && !unresolvedReloads.contains { $0.address == address }
  }

  mutating func snapshot(_ kind: String, _ family: WidgetFamilyName?, _ serial: Int) -> [Action] {
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
          context: .none))
    }
    return targets.map { want($0) }
  }

  /// Whether an extension can get one more request now.
  func mayAsk(_ address: Address) -> Bool { asking.count(to: address) < settings.concurrentTimelines }

  /// Sends a running extension its next requests, or releases the extension.
  mutating func next(_ address: Address, _ now: Date) -> [Action] {
    guard mayAsk(address) else { return [] }
    var actions = resolveReloads(address, now) + dropUnknown(address) + dropUnknownSnapshots(address)
    while mayAsk(address), let question = nextSnapshot(address) ?? timelineQuestion(address) {
      asking.append(question)
      actions.append(.ask(question))
    }
    if asking[address] == nil {
      wanted.remove(address)
      actions.append(.process(.release(address, because: TimelineStateMachine.assertion)))
    }
    return actions
  }

  private func nextSnapshot(_ address: Address) -> Question? { snapshots[address]?.first { !asking.contains($0) } }

  private func timelineQuestion(_ address: Address) -> Question? {
    for id in ids(of: address) where !asking.concern(placement: id) {
      guard let placed = placements[id], let pendingReload = placed.pendingReload, pendingReload.isDue else { continue }
      let purpose: RequestTimeline.Purpose = placed.needsPlaceholder ? .placeholder : .timeline
      return Question(
        purpose: purpose, address: address, placement: placed.placement, because: pendingReload.because,
        serial: pendingReload.reload,
        context: pendingReload.context)
    }
    return nil
  }

  /// Drops the reloads of placements whose kind the extension no longer has.
  private mutating func dropUnknown(_ address: Address) -> [Action] {
    guard let own = kinds[address] else { return [] }
    return ids(of: address).compactMap { id in
      guard var placed = placements[id], let pendingReload = placed.pendingReload, own[placed.placement.kind] == nil
      else { return nil }
      let reason = unknown(placed.placement.kind)
      placed.pendingReload = nil
      placed.noted(pendingReload.reload, .gaveUp(reason))
      placed.lastFailure = PlacementState.Failure(failure: .unknownKind, reason: reason)
      placements[id] = placed
      return reloadFailed(placed.placement, pendingReload.because, .unknownKind, reason, nil, pendingReload.context)
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

  mutating func outcome(_ event: Event, _ now: Date) -> [Action] {
    switch event {
    case .instanceEnded(let address): return instanceEnded(address, now)
    case .answered(let question):
      guard asking.contains(question) else { return [] }
      close(question)
      return next(question.address, now)
    case .gave(let question, let facts, let entries): return gave(question, facts, entries, now)
    case .failed(let question, let failure, let reason):
      guard asking.contains(question) else { return [] }
      close(question)
      return fail(question, failure, reason, now) + next(question.address, now)
    case .overran(let question, let limit): return overran(question, limit, now)
    default: return []
    }
  }

  /// The extension replied, or will not reply.
  private mutating func close(_ question: Question) {
    asking.remove(question)
    switch question.purpose {
    case .placeholder:
      placements[question.placement.id]?.hasPlaceholder = true
      placements[question.placement.id]?.isPlaceholderOld = false
    case .snapshot: snapshots[question.address]?.removeAll { $0 == question }
    case .timeline: break
    }
  }

  private mutating func gave(
    _ question: Question, _ facts: TimelineFacts, _ entries: [UpcomingEntry], _ now: Date
  ) -> [Action] {
    guard asking.contains(question) else { return [] }
    close(question)
    let id = question.placement.id
    guard var placed = placements[id] else { return next(question.address, now) }
    if placed.pendingReload?.reload == question.serial { placed.pendingReload = nil }
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

  /// A reload failed: the last entry stays, and the next try waits for the back-off.
  private mutating func fail(
    _ question: Question, _ failure: ReloadFailed.Failure, _ reason: String, _ now: Date
  ) -> [Action] {
    switch question.purpose {
    case .snapshot: return [.noSnapshot(serial: question.serial, reason: reason)]
    // The timeline is requested nevertheless, unless the extension exited or took too long even for this.
    case .placeholder where failure != .overran && failure != .exited: return []
    case .placeholder, .timeline: break
    }
    guard var placed = placements[question.placement.id] else { return [] }
    placed.failures += 1
    placed.lastFailure = PlacementState.Failure(failure: failure, reason: reason)
    var nextTry: Date?
    if var pendingReload = placed.pendingReload, pendingReload.reload == question.serial {
      if failure == .unknownKind {
        placed.pendingReload = nil
      } else {
        nextTry = now.addingTimeInterval(settings.backoff.pause(after: placed.failures))
        pendingReload.notBefore = nextTry
        placed.pendingReload = pendingReload
      }
    }
    placed.failed(question.serial, reason, later: placed.pendingReload)
    placements[question.placement.id] = placed
    return [reloadFailed(placed.placement, question.because, failure, reason, nextTry, question.context)]
  }

  private func reloadFailed(
    _ placement: Placement, _ because: ReloadCause, _ failure: ReloadFailed.Failure, _ reason: String, _ nextTry: Date?,
    _ context: MessageContext
  ) -> Action {
    .reloadFailed(
      ReloadFailed(
        bundle: placement.bundle, widgetKind: placement.kind, placement: placement.id, because: because,
        failure: failure, reason: reason, nextTry: nextTry), context)
  }

  /// The extension is suspended at once, and receives its other requests when it resumes. Those that it has already
  /// received stay open.
  private mutating func overran(_ question: Question, _ limit: Double, _ now: Date) -> [Action] {
    guard asking.contains(question) else { return [] }
    close(question)
    let reason =
      "no \(question.purpose) within \(limit.formatted()) s: the extension is suspended, and the last timeline "
      + "stays"
    wanted.remove(question.address)
    return [.stopAsking(question)] + fail(question, .overran, reason, now) + [
      .process(.halt(question.address, because: TimelineStateMachine.assertion))
    ] + (isDone(question.address) ? [] : [want(question.address)])
  }

  private mutating func instanceEnded(_ address: Address, _ now: Date) -> [Action] {
    let questions = asking.removeAll(to: address)
    guard !questions.isEmpty else {
      // It exited before it could be asked: Launching restarts it, with a growing back-off.
      if wanted.contains(address) { stalled.insert(address) }
      return []
    }
    return questions.flatMap { [.stopAsking($0)] + exited(during: $0, now) } + wantOrRelease(address)
  }

  /// The process instance ended during a request.
  private mutating func exited(during question: Question, _ now: Date) -> [Action] {
    let id = question.placement.id
    if question.purpose == .snapshot {
      close(question)
    } else if var pendingReload = placements[id]?.pendingReload, pendingReload.reload == question.serial {
      pendingReload.exits += 1
      placements[id]?.pendingReload = pendingReload
      guard pendingReload.exits > settings.retriesAfterExit else { return withholdIfDue(id, now) ?? [] }
    }
    let exits = placements[id]?.pendingReload?.exits ?? 1
    let times = question.purpose == .snapshot || exits < 2 ? "" : exits == 2 ? " twice" : " \(exits) times"
    return fail(question, .exited, "the extension exited\(times) during the request", now)
  }

  private mutating func wantOrRelease(_ address: Address) -> [Action] {
    guard isDone(address) else { return [want(address)] }
    wanted.remove(address)
    return [.process(.release(address, because: TimelineStateMachine.assertion))]
  }
}
