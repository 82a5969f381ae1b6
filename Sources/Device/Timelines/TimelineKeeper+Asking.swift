import Archive
import Conversations
import Foundation
import MessageBus
import Timekeeping

// Asking an extension, and taking what it gives.

extension TimelineKeeper {
  func ask(_ question: TimelineDecision.Question) {
    let limit = settings.deadline
    setDeadline(question.address) { .overran(question, limit: limit) }
    var environment = environment(question.placement)
    environment.isPreview = question.purpose == .snapshot
    let request = RequestTimeline(
      question.purpose, widgetKind: question.placement.kind,
      placement: question.purpose == .snapshot ? nil : question.placement.id, because: question.because,
      environment: environment, configuration: question.placement.configuration, limits: settings.limits)
    questions[question.address] = Task {
      do throws(BusError) {
        let reply = try await bus.request(
          request, to: question.address, story: question.story, within: .seconds(86_400), whenUnreachable: .wait)
        guard !Task.isCancelled else { return }
        ended(question)
        answered(question, reply)
      } catch {
        guard error.code != .closed, !Task.isCancelled else { return }
        ended(question)
        take(.failed(question, failure(error), reason: "\(error)"))
      }
    }
  }

  private func ended(_ question: TimelineDecision.Question) {
    questions[question.address] = nil
    deadlines.removeValue(forKey: question.address)?.cancel()
  }

  private func failure(_ error: BusError) -> ReloadFailed.Failure {
    switch error.code {
    case .archiveTooLarge: .tooLarge
    case .unknownWidgetKind: .unknownKind
    default: .failed
    }
  }

  private func answered(_ question: TimelineDecision.Question, _ reply: RequestTimeline.Reply) {
    do throws(TimelineFault) {
      let kept = try kept(reply, question)
      let isPlaced = decision.placements[question.placement.id] != nil
      switch question.purpose {
      case .timeline:
        let shown = decision.placements[question.placement.id]?.shown
        var change = TimelineStore.Change()
        if isPlaced { change.timeline = (question.placement.id, kept, shown, clock.now) }
        // On disk first, then said.
        take(.gave(question, kept.facts(question.because), kept.entries.map(\.upcoming)), change)
      case .placeholder:
        var change = TimelineStore.Change()
        if isPlaced { change.placeholder = (question.placement.id, kept.entries[0]) }
        take(.answered(question), change)
      case .snapshot:
        tell(question.serial, .success(TakeSnapshot.Reply(text: kept.entries[0].upcoming.text)))
        take(.answered(question))
      }
    } catch {
      take(.failed(question, error.failure, reason: error.reason))
    }
  }

  private func kept(
    _ reply: RequestTimeline.Reply, _ question: TimelineDecision.Question
  ) throws(TimelineFault) -> KeptTimeline {
    guard let file = reply.file else { return try KeptTimeline(reply.entries, reply, settings.limits) }
    let entries = try ReplyFile.entries(
      at: file, in: container(question.address), limit: settings.limits.bytes)
    return try KeptTimeline(entries, reply, settings.limits)
  }

  func recordStored(_ question: TimelineDecision.Question, _ facts: TimelineFacts) {
    guard let placed = decision.placements[question.placement.id], placed.timeline == facts else { return }
    bus.record(stored(placed, facts), story: question.story)
  }

  func stored(_ placed: Placed, _ facts: TimelineFacts?) -> TimelineStored {
    let placement = placed.placement
    let entries = decision.upcoming[placement.id]
    let date = placed.account.opened
    let failure = placed.lastFailure.map { "the last reload came to nothing: \($0.reason)" }
    return TimelineStored(
      bundle: placement.bundle, widgetKind: placement.kind, placement: placement.id, family: placement.family,
      because: facts?.because ?? .added, entries: facts?.entries ?? 0, first: facts?.first ?? date,
      last: facts?.last ?? date, policy: facts?.policy ?? .never, bytes: facts?.bytes ?? 0,
      digest: facts?.digest ?? "", text: entries?.first?.text ?? [], note: failure ?? facts?.note)
  }
}
