import Conversations
import Foundation

/// A provider asks for a reload of its own kind while it answers one that it asked for the same way.
struct ReloadInProvider: DiagnosticRule {
  /// What an extension was asked for lately.
  private struct Question {
    let id: UUID
    let kind: String
    /// The provider itself has asked for it.
    let isOwnWish: Bool
  }

  let description = DiagnosisDescription(
    code: "reload-in-get-timeline", severity: .error, title: "getTimeline asks for a reload of its own kind",
    rule:
      "A reload calls getTimeline: one that is asked for in getTimeline calls itself for ever, until the budget is spent. In "
      + "developer mode it never ends.",
    source: "observed: reload loops from inside the extension; documented: WidgetCenter, the budget pays for it",
    advice:
      "Leave WidgetCenter out of the provider: the timeline that it returns is the reload. Reload where data changes: in the "
      + "app, in an intent, in urlSessionDidFinishEvents.")

  private var questions: [Address: [Question]] = [:]
  /// By extension, then by kind: the last reload that was asked for while a provider answered.
  private var wishes: [Address: [String: (id: UUID, evidence: Evidence)]] = [:]

  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    if let request = envelope.reading(RequestTimeline.self) {
      guard request.purpose == .timeline, header.attempt == 0 else { return [] }
      let wish = wishes[header.destination]?[request.widgetKind]
      let isOwnWish = wish != nil && (request.because == .extension || header.cause == wish?.id)
      let question = Question(id: header.id, kind: request.widgetKind, isOwnWish: isOwnWish)
      questions[header.destination] = (questions[header.destination] ?? []).suffix(31) + [question]
      return []
    }
    guard header.source.role == .widgetExtension, header.attempt == 0,
      let reload = envelope.reading(ReloadTimelines.self), let question = question(header, reload)
    else { return [] }
    let before = wishes[header.source]?[question.kind]
    wishes[header.source, default: [:]][question.kind] = (header.id, Evidence(envelope))
    guard question.isOwnWish, let before else { return [] }
    return [
      Sighting(
        owner: header.source, subject: record.provider(of: question.kind, in: header.source),
        what: "the reload that the provider asked for while it answered had it ask for a reload again",
        evidence: [before.evidence, Evidence(envelope)])
    ]
  }

  /// The question that the author was answering when the reload was asked for, if it reloads what was asked for.
  private func question(_ header: EnvelopeHeader, _ reload: ReloadTimelines) -> Question? {
    let asked = questions[header.source] ?? []
    let inside =
      asked.last { $0.id == header.cause }
      ?? (["getTimeline", "timeline"].contains(reload.within)
        ? asked.last { reload.widgetKind == nil || $0.kind == reload.widgetKind } : nil)
    return inside.flatMap { reload.widgetKind == nil || reload.widgetKind == $0.kind ? $0 : nil }
  }
}
