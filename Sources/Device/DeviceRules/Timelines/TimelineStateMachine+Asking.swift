// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

// What each extension is asked for, and how its replies are handled.

extension TimelineStateMachine {
  /// Whether no request to an extension is due.
  func isDone(_ address: Address) -> Bool {
    placements.due(of: address.bundleIdentifier ?? "").isEmpty && snapshots[address]?.isEmpty ?? true
      && !unresolvedReloads.contains { $0.address == address }
  }

  mutating func snapshot(
    _ kind: String, of bundle: String?, _ family: WidgetFamilyName?, _ serial: Int
  ) -> [Action] {
    let own = extensions.filter { bundle == nil || $0.bundleIdentifier == bundle }
    let having = own.filter { kinds[$0]?[kind] != nil }.prefix(1)
    let targets = having.isEmpty ? own.filter { kinds[$0] == nil } : Array(having)
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
  func mayAsk(_ address: Address) -> Bool { outstanding.count(to: address) < settings.concurrentTimelines }

  /// Sends a running extension its next requests, or releases the extension.
  mutating func next(_ address: Address, _ now: Date) -> [Action] {
    guard mayAsk(address) else { return [] }
    var actions = resolveReloads(address, now) + dropUnknown(address) + dropUnknownSnapshots(address)
    while mayAsk(address), let asked = nextSnapshot(address) ?? nextTimeline(address) {
      outstanding.append(asked)
      actions.append(.ask(asked))
    }
    if outstanding[address] == nil {
      wanted.remove(address)
      actions.append(.process(.release(address, because: TimelineStateMachine.assertion)))
    }
    return actions
  }

  private func nextSnapshot(_ address: Address) -> ProviderRequest? {
    snapshots[address]?.first { !outstanding.contains($0) }
  }

  private func nextTimeline(_ address: Address) -> ProviderRequest? {
    for id in placements.due(of: address.bundleIdentifier ?? "") where !outstanding.concern(placement: id) {
      guard let placed = placements[id], let pendingReload = placed.pendingReload else { continue }
      let purpose: RequestTimeline.Purpose = placed.needsPlaceholder ? .placeholder : .timeline
      return ProviderRequest(
        purpose: purpose, address: address, placement: placed.placement, reloadCause: pendingReload.reloadCause,
        serial: pendingReload.reload,
        context: pendingReload.context)
    }
    return nil
  }

  /// Drops the reloads of placements whose kind the extension no longer has.
  private mutating func dropUnknown(_ address: Address) -> [Action] {
    guard let own = kinds[address] else { return [] }
    return placements.pending(of: address.bundleIdentifier ?? "", notOf: own).compactMap { id in
      guard var placed = placements[id], let pendingReload = placed.pendingReload else { return nil }
      let reason = unknown(placed.placement.kind)
      placed.pendingReload = nil
      placed.noted(pendingReload.reload, .gaveUp(reason))
      placed.lastFailure = PlacementState.Failure(failure: .unknownKind, reason: reason)
      placements[id] = placed
      return reloadFailed(placed.placement, pendingReload.reloadCause, .unknownKind, reason, nil, pendingReload.context)
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
    case .answered(let asked):
      guard outstanding.contains(asked) else { return [] }
      close(asked)
      return next(asked.address, now)
    case .gave(let asked, let facts, let entries): return gave(asked, facts, entries, now)
    case .failed(let asked, let failure, let reason):
      guard outstanding.contains(asked) else { return [] }
      close(asked)
      return fail(asked, failure, reason, now) + next(asked.address, now)
    case .overran(let asked, let limit): return overran(asked, limit, now)
    default: return []
    }
  }

  /// The extension replied, or will not reply.
  private mutating func close(_ asked: ProviderRequest) {
    outstanding.remove(asked)
    switch asked.purpose {
    case .placeholder:
      placements[asked.placement.id]?.hasPlaceholder = true
      placements[asked.placement.id]?.isPlaceholderOld = false
    case .snapshot: snapshots[asked.address]?.removeAll { $0 == asked }
    case .timeline: break
    }
  }

  private mutating func gave(
    _ asked: ProviderRequest, _ facts: TimelineFacts, _ entries: [UpcomingEntry], _ now: Date
  ) -> [Action] {
    guard outstanding.contains(asked) else { return [] }
    close(asked)
    let id = asked.placement.id
    guard var placed = placements[id] else { return next(asked.address, now) }
    if placed.pendingReload?.reload == asked.serial { placed.pendingReload = nil }
    placed.noted(asked.serial, .stored)
    placed.failures = 0
    placed.lastFailure = nil
    placed.timeline = facts
    placed.policyDue = facts.policy.due(entries: entries, stored: now, settings)
    placed.shown = nil
    placements[id] = placed
    upcoming[id] = entries
    return show(id, now) + next(asked.address, now)
  }

  /// A reload failed: the last entry stays, and the next try waits for the back-off.
  private mutating func fail(
    _ asked: ProviderRequest, _ failure: ReloadFailed.Failure, _ reason: String, _ now: Date
  ) -> [Action] {
    switch asked.purpose {
    case .snapshot: return [.noSnapshot(serial: asked.serial, reason: reason)]
    // The timeline is requested nevertheless, unless the extension exited or took too long even for this.
    case .placeholder where failure != .overran && failure != .exited: return []
    case .placeholder, .timeline: break
    }
    guard var placed = placements[asked.placement.id] else { return [] }
    placed.failures += 1
    placed.lastFailure = PlacementState.Failure(failure: failure, reason: reason)
    var nextTry: Date?
    if var pendingReload = placed.pendingReload, pendingReload.reload == asked.serial {
      if failure == .unknownKind {
        placed.pendingReload = nil
      } else {
        nextTry = now.addingTimeInterval(settings.backoff.pause(after: placed.failures))
        pendingReload.notBefore = nextTry
        placed.pendingReload = pendingReload
      }
    }
    placed.failed(asked.serial, reason, later: placed.pendingReload)
    placements[asked.placement.id] = placed
    return [reloadFailed(placed.placement, asked.reloadCause, failure, reason, nextTry, asked.context)]
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
  private mutating func overran(_ asked: ProviderRequest, _ limit: Double, _ now: Date) -> [Action] {
    guard outstanding.contains(asked) else { return [] }
    close(asked)
    let reason =
      "no \(asked.purpose) within \(limit.formatted()) s: the extension is suspended, and the last timeline "
      + "stays"
    wanted.remove(asked.address)
    return [.stopAsking(asked)] + fail(asked, .overran, reason, now) + [
      .process(.halt(asked.address, because: TimelineStateMachine.assertion))
    ] + (isDone(asked.address) ? [] : [want(asked.address)])
  }

  private mutating func instanceEnded(_ address: Address, _ now: Date) -> [Action] {
    let removed = outstanding.removeAll(to: address)
    guard !removed.isEmpty else {
      // It exited before it could be asked: Launching restarts it, with a growing back-off.
      if wanted.contains(address) { stalled.insert(address) }
      return []
    }
    return removed.flatMap { [.stopAsking($0)] + exited(during: $0, now) } + wantOrRelease(address)
  }

  /// The process instance ended during a request.
  private mutating func exited(during asked: ProviderRequest, _ now: Date) -> [Action] {
    let id = asked.placement.id
    if asked.purpose == .snapshot {
      close(asked)
    } else if var pendingReload = placements[id]?.pendingReload, pendingReload.reload == asked.serial {
      pendingReload.exits += 1
      placements[id]?.pendingReload = pendingReload
      guard pendingReload.exits > settings.retriesAfterExit else { return withholdIfDue(id, now) ?? [] }
    }
    let exits = placements[id]?.pendingReload?.exits ?? 1
    let times = asked.purpose == .snapshot || exits < 2 ? "" : exits == 2 ? " twice" : " \(exits) times"
    return fail(asked, .exited, "the extension exited\(times) during the request", now)
  }

  private mutating func wantOrRelease(_ address: Address) -> [Action] {
    guard isDone(address) else { return [want(address)] }
    wanted.remove(address)
    return [.process(.release(address, because: TimelineStateMachine.assertion))]
  }
}
