// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Timekeeping

// Sending requests to an extension, and handling its replies.

extension TimelineService {
  func ask(_ question: TimelineStateMachine.Question) {
    let limit = settings.deadline
    deadlines.removeValue(forKey: question.address)?.cancel()
    timeLimits[QuestionKey(question)] = afterDeadline { .overran(question, limit: limit) }
    var environment = environment(question.placement)
    environment.isPreview = question.purpose == .snapshot
    let request = RequestTimeline(
      question.purpose, widgetKind: question.placement.kind,
      placement: question.purpose == .snapshot ? nil : question.placement.id, because: question.because,
      environment: environment, configuration: question.placement.configuration, limits: settings.limits)
    let times = settings.requestsTimelinesTwice && question.purpose == .timeline ? 2 : 1
    questions[QuestionKey(question)] = tasks.start {
      let results = await withTaskGroup(of: Result<RequestTimeline.Reply, BusError>.self) { group in
        for _ in 0..<times { group.addTask { await self.send(request, question) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      guard let last = results.last else { return }
      await self.ended(question, results.last { (try? $0.get()) != nil } ?? last)
    }
  }

  private nonisolated func send(
    _ request: RequestTimeline, _ question: TimelineStateMachine.Question
  ) async -> Result<RequestTimeline.Reply, BusError> {
    do throws(BusError) {
      return .success(
        try await bus.request(
          request, to: question.address, context: question.context, within: .seconds(86_400), whenUnreachable: .wait))
    } catch {
      return .failure(error)
    }
  }

  /// Handles the reply to a request. The reply to a cancelled request is dropped.
  private func ended(
    _ question: TimelineStateMachine.Question, _ result: Result<RequestTimeline.Reply, BusError>
  ) {
    guard !Task.isCancelled else { return }
    if case .failure(let error) = result, error.code == .closed { return }
    questions[QuestionKey(question)] = nil
    timeLimits.removeValue(forKey: QuestionKey(question))?.cancel()
    switch result {
    case .success(let reply): answered(question, reply)
    case .failure(let error): handle(.failed(question, failure(error), reason: "\(error)"))
    }
  }

  private func failure(_ error: BusError) -> ReloadFailed.Failure {
    switch error.code {
    case .archiveTooLarge: .tooLarge
    case .unknownWidgetKind: .unknownKind
    default: .failed
    }
  }

  private func answered(_ question: TimelineStateMachine.Question, _ reply: RequestTimeline.Reply) {
    do throws(TimelineFault) {
      let kept = try kept(reply, question)
      let isPlaced = stateMachine.placements[question.placement.id] != nil
      switch question.purpose {
      case .timeline:
        let shown = stateMachine.placements[question.placement.id]?.shown
        var change = TimelineStore.Change()
        if isPlaced { change.timeline = (question.placement.id, kept, shown, clock.now) }
        // Persisted before it is announced.
        handle(.gave(question, kept.facts(question.because), kept.entries.map(\.upcoming)), change)
      case .placeholder:
        var change = TimelineStore.Change()
        if isPlaced { change.placeholder = (question.placement.id, kept.entries[0]) }
        handle(.answered(question), change)
      case .snapshot:
        finishSnapshot(question.serial, .success(TakeSnapshot.Reply(text: kept.entries[0].upcoming.text)))
        handle(.answered(question))
      }
    } catch {
      handle(.failed(question, error.failure, reason: error.reason))
    }
  }

  private func kept(
    _ reply: RequestTimeline.Reply, _ question: TimelineStateMachine.Question
  ) throws(TimelineFault) -> StoredTimeline {
    guard let file = reply.file else { return try StoredTimeline(reply.entries, reply, settings.limits) }
    let entries = try ReplyFile.entries(
      at: file, in: container(question.address), limit: settings.limits.bytes)
    return try StoredTimeline(entries, reply, settings.limits)
  }

  func recordStored(_ question: TimelineStateMachine.Question, _ facts: TimelineFacts) {
    guard let placed = stateMachine.placements[question.placement.id], placed.timeline == facts else { return }
    bus.record(stored(placed, facts), context: question.context)
  }

  func stored(_ placed: PlacementState, _ facts: TimelineFacts?) -> TimelineStored {
    let placement = placed.placement
    let entries = stateMachine.upcoming[placement.id]
    let date = placed.account.opened
    let failure = placed.lastFailure.map { "the last reload failed: \($0.reason)" }
    return TimelineStored(
      bundle: placement.bundle, widgetKind: placement.kind, placement: placement.id, family: placement.family,
      because: facts?.because ?? .added, entries: facts?.entries ?? 0, first: facts?.first ?? date,
      last: facts?.last ?? date, policy: facts?.policy ?? .never, bytes: facts?.bytes ?? 0,
      digest: facts?.digest ?? "", text: entries?.first?.text ?? [], note: failure ?? facts?.note)
  }
}

/// Identifies a request to an extension.
struct QuestionKey: Hashable {
  let address: Address
  let purpose: RequestTimeline.Purpose
  let serial: Int

  init(_ question: TimelineStateMachine.Question) {
    address = question.address
    purpose = question.purpose
    serial = question.serial
  }
}
