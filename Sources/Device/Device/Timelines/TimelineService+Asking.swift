// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import FaultPoints
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Stores
import Timekeeping

// Sending requests to an extension, and handling its replies.

extension TimelineService {
  func ask(_ asked: TimelineStateMachine.ProviderRequest) {
    if let reason = underWay.reason(asked.work) {
      // Once: its retry may get another reply.
      underWay.end(asked.work)
      providerRequests[ProviderRequestKey(asked)] = tasks.start {
        await self.ended(asked, .failure(BusError(.failed, reason)))
      }
      return
    }
    let limit = settings.deadline
    deadlines.removeValue(forKey: asked.address)?.cancel()
    timeLimits[ProviderRequestKey(asked)] = afterDeadline { .overran(asked, limit: limit) }
    let unplaced = asked.purpose == .snapshot ? waiting[asked.serial] : nil
    let purpose = unplaced?.purpose ?? asked.purpose
    var environment = (unplaced?.environment ?? environment)(asked.placement)
    environment.isPreview = purpose == .snapshot
    let request = RequestTimeline(
      purpose, widgetKind: asked.placement.kind,
      placement: asked.purpose == .snapshot ? nil : asked.placement.id, because: asked.reloadCause,
      environment: environment, configuration: asked.placement.configuration, limits: settings.limits)
    let times = settings.requestsTimelinesTwice && asked.purpose == .timeline ? 2 : 1
    // Outside of the device's executor: the reply is decoded, and its views are laid out.
    providerRequests[ProviderRequestKey(asked)] = tasks.start(on: globalConcurrentExecutor) { [environment] in
      let results = await withTaskGroup(of: Result<RequestTimeline.Reply, BusError>.self) { group in
        for _ in 0..<times { group.addTask { await self.send(request, asked) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      guard let last = results.last else { return }
      // Until the reply is stored or refused.
      self.underWay.begin(asked.work)
      defer { self.underWay.end(asked.work) }
      FaultPoint.hostWithinTimeline.reached()
      switch results.last(where: { (try? $0.get()) != nil }) ?? last {
      case .success(let reply):
        guard let content = await self.content(of: reply, asked, environment) else { return }
        await self.ended(asked, .success((reply, content)))
      case .failure(let error): await self.ended(asked, .failure(error))
      }
    }
  }

  private nonisolated func send(
    _ request: RequestTimeline, _ asked: TimelineStateMachine.ProviderRequest
  ) async -> Result<RequestTimeline.Reply, BusError> {
    do throws(BusError) {
      return .success(
        try await bus.request(
          request, to: asked.address, context: asked.context, within: .seconds(86_400), whenUnreachable: .wait))
    } catch {
      return .failure(error)
    }
  }

  /// Handles the reply to a request. The reply to a cancelled request is dropped.
  private func ended(
    _ asked: TimelineStateMachine.ProviderRequest,
    _ result: Result<(RequestTimeline.Reply, Result<TimelineContent, TimelineFault>), BusError>
  ) {
    guard !Task.isCancelled else { return }
    if case .failure(let error) = result, error.code == .closed { return }
    providerRequests[ProviderRequestKey(asked)] = nil
    timeLimits.removeValue(forKey: ProviderRequestKey(asked))?.cancel()
    switch result {
    case .success(let (reply, content)): answered(asked, reply, content)
    case .failure(let error): handle(.failed(asked, failure(error), reason: "\(error)"))
    }
  }

  private func failure(_ error: BusError) -> ReloadFailed.Failure {
    switch error.code {
    case .archiveTooLarge: .tooLarge
    case .unknownWidgetKind: .unknownKind
    default: .failed
    }
  }

  private func answered(
    _ asked: TimelineStateMachine.ProviderRequest, _ reply: RequestTimeline.Reply,
    _ content: Result<TimelineContent, TimelineFault>
  ) {
    // The next host asks again. Content without its event would be half a timeline.
    guard core.failure == nil else { return }
    do throws(TimelineFault) {
      let given = try content.get()
      let kept = try StoredTimeline(given.entries, images: given.images, reply, settings.limits)
      let isPlaced = stateMachine.placements[asked.placement.id] != nil
      switch asked.purpose {
      case .timeline:
        // In the transaction of the event.
        let shown = stateMachine.placements[asked.placement.id]?.shown
        if isPlaced { write { try self.store.set(kept, of: asked.placement.id, shown: shown, now: self.clock.now) } }
        let facts = kept.facts(asked.reloadCause)
        self.given = (asked, facts)
        handle(.gave(asked, facts, kept.entries.map(\.upcoming)))
      case .placeholder:
        if isPlaced { write { try self.store.setPlaceholder(kept, of: asked.placement.id) } }
        handle(.answered(asked))
      case .snapshot:
        let entries = Array(StoredTimeline.inOrder(given.entries).prefix(kept.entries.count))
        finishSnapshot(
          asked.serial,
          .success(
            UnplacedEntries(
              placement: asked.placement, entries: entries, images: kept.images, text: kept.entries[0].upcoming.text)))
        handle(.answered(asked))
      }
    } catch {
      handle(.failed(asked, error.failure, reason: error.reason))
    }
  }

  private func write(_ change: () throws -> Void) {
    do {
      try change()
    } catch {
      core.fail("the timelines cannot be written: \(error)")
    }
  }

  func recordStored(_ asked: TimelineStateMachine.ProviderRequest, _ facts: TimelineFacts) {
    guard let placed = stateMachine.placements[asked.placement.id], placed.timeline == facts else { return }
    bus.record(stored(placed, facts), context: asked.context)
  }

  func stored(_ placed: PlacementState, _ facts: TimelineFacts?) -> TimelineStored {
    let placement = placed.placement
    let entries = stateMachine.upcoming[placement.id]
    let date = placed.account.opened
    let failure = placed.lastFailure.map { "the last reload failed: \($0.reason)" }
    return TimelineStored(
      bundle: placement.bundle, widgetKind: placement.kind, placement: placement.id, family: placement.family,
      because: facts?.reloadCause ?? .added, entries: facts?.entries ?? 0, first: facts?.first ?? date,
      last: facts?.last ?? date, policy: facts?.policy ?? .never, bytes: facts?.bytes ?? 0,
      digest: facts?.digest ?? "", text: entries?.first?.text ?? [], note: failure ?? facts?.note)
  }
}

/// Identifies a request to an extension.
struct ProviderRequestKey: Hashable {
  let address: Address
  let purpose: RequestTimeline.Purpose
  let serial: Int

  init(_ asked: TimelineStateMachine.ProviderRequest) {
    address = asked.address
    purpose = asked.purpose
    serial = asked.serial
  }
}

extension TimelineStateMachine.ProviderRequest {
  /// The request in the record of the work under way.
  fileprivate var work: UnderWay.Work {
    UnderWay.Work(.timeline, "of \(placement.kind), number \(placement.id), \(address.text)")
  }
}
