// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// A provider requests a reload of its kind while it handles a reload that it requested the same way.
struct ReloadInProvider: DiagnosticRule {
  /// A recent request to an extension.
  private struct Question {
    let id: UUID
    let kind: String
    /// The provider itself requested it.
    let isOwnWish: Bool
  }

  let description = DiagnosisDescription(
    code: "reload-in-get-timeline", severity: .error, title: "getTimeline requests a reload of the same kind",
    rule:
      "A reload calls getTimeline: requesting one in getTimeline is an endless loop, until the budget is spent. In "
      + "developer mode it never ends.",
    source: "observed: reload loops from inside the extension; documented: WidgetCenter, the budget pays for it",
    advice:
      "Do not use WidgetCenter in the provider: the timeline that it returns is the reload. Reload where data "
      + "changes: in the app, in an intent, in urlSessionDidFinishEvents.")

  private var questions: [Address: [Question]] = [:]
  /// By extension, then by kind: the last reload that was requested while a provider handled a request.
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
        what: "the provider requested a reload during a request, and the reload made it request another",
        evidence: [before.evidence, Evidence(envelope)])
    ]
  }

  /// The request that the author's code was handling when the reload was requested, if it has the same kind.
  private func question(_ header: EnvelopeHeader, _ reload: ReloadTimelines) -> Question? {
    let asked = questions[header.source] ?? []
    let inside =
      asked.last { $0.id == header.cause }
      ?? (["getTimeline", "timeline"].contains(reload.within)
        ? asked.last { reload.widgetKind == nil || $0.kind == reload.widgetKind } : nil)
    return inside.flatMap { reload.widgetKind == nil || reload.widgetKind == $0.kind ? $0 : nil }
  }
}
