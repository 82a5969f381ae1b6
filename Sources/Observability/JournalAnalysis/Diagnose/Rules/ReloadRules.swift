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

/// A process requests reloads of one kind repeatedly within a short time.
struct ReloadLoop: DiagnosticRule {
  /// A process and the kind that it reloads.
  private struct Caller: Hashable {
    let source: Address
    let kind: String?
  }

  private let thresholds: DiagnosticThresholds
  init(_ thresholds: DiagnosticThresholds) { self.thresholds = thresholds }

  let description = DiagnosisDescription(
    code: "reload-loop", severity: .warning, title: "reloads in a loop",
    rule:
      "Each reload that is not exempt is paid for from the widget's budget, also for an app in the background. Several "
      + "reloads in a row show what a single one would have shown.",
    source: "documented: Keeping a widget up to date; ours: 6 within a minute are a loop (--loop)",
    advice: "Reload once, after all changes have been written, and only the kinds that show them.")

  private var recent: [Caller: [Evidence]] = [:]
  private var times: [Caller: [Timestamp]] = [:]

  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    guard [.app, .widgetExtension].contains(header.source.role), header.attempt == 0,
      let reload = envelope.reading(ReloadTimelines.self)
    else { return [] }
    let caller = Caller(source: header.source, kind: reload.widgetKind)
    let limit = max(1, thresholds.loopCount)
    recent[caller] = (recent[caller] ?? []).suffix(limit - 1) + [Evidence(envelope)]
    times[caller] = (times[caller] ?? []).suffix(limit - 1) + [header.sentAt]
    guard let evidence = recent[caller], evidence.count == limit, let first = times[caller]?.first else { return [] }
    let seconds = abs(header.sentAt.date.timeIntervalSince(first.date))
    guard seconds <= thresholds.loopSeconds else { return [] }
    // The next loop starts from zero.
    (recent[caller], times[caller]) = (nil, nil)
    return [
      Sighting(
        owner: header.source, subject: reload.widgetKind.map { "kind \($0)" } ?? "all kinds",
        what: "\(limit) reloads were requested within \(Amount.text(seconds: seconds))", evidence: evidence)
    ]
  }
}

/// An author's code reloads a kind that none of its widgets has.
struct ReloadOfUnknownKind: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "reload-of-unknown-kind", severity: .warning, title: "a reload of a kind that no widget has",
    rule:
      "reloadTimelines(ofKind:) finds widgets by the exact kind of their configuration, and reports no error when "
      + "there is no such widget.",
    source: "documented: reloadTimelines(ofKind:); ours: the report",
    advice: "Define the kind in one constant, and use it for both configuration and reload.")

  /// Reloads by processes whose extensions have not declared their kinds yet.
  private var pending: [(source: Address, kind: String, evidence: Evidence)] = []

  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    if let ready = envelope.reading(ProcessReady.self), header.source.role == .widgetExtension {
      return decidePending(header.source, ready.widgetKinds)
    }
    guard [.app, .widgetExtension].contains(header.source.role), header.attempt == 0,
      let kind = envelope.reading(ReloadTimelines.self)?.widgetKind
    else { return [] }
    let knownExtensions = record.extensions(of: header.source)
    guard !knownExtensions.isEmpty else {
      pending = pending.suffix(255) + [(header.source, kind, Evidence(envelope))]
      return []
    }
    let kinds = knownExtensions.flatMap { record.kinds(of: $0) ?? [] }
    return kinds.contains(kind)
      ? [] : [sighting(header.source, kind: kind, kinds: kinds, evidence: [Evidence(envelope)])]
  }

  private mutating func decidePending(_ extension: Address, _ kinds: [String]) -> [Sighting] {
    let own = pending.filter { $0.source.isApp(of: `extension`) }
    pending.removeAll { $0.source.isApp(of: `extension`) }
    return own.filter { !kinds.contains($0.kind) }.map {
      sighting($0.source, kind: $0.kind, kinds: kinds, evidence: [$0.evidence])
    }
  }

  private func sighting(_ source: Address, kind: String, kinds: [String], evidence: [Evidence]) -> Sighting {
    let all = kinds.isEmpty ? "none" : kinds.joined(separator: ", ")
    return Sighting(
      owner: source, subject: "kind \(kind)", what: "no widget has the kind \(kind); existing kinds: \(all)",
      evidence: evidence)
  }
}

extension Address {
  fileprivate func isApp(of other: Address) -> Bool {
    guard let own = bundleIdentifier, let others = other.bundleIdentifier else { return false }
    return device == other.device && others.hasPrefix(own + ".")
  }
}

/// An author's code requests several consecutive timelines of a placement that all show the same.
struct ReloadWithoutChange: DiagnosticRule {
  private struct Place: Hashable {
    let owner: Address
    let kind: String
    let placement: Int
  }

  private struct Run {
    let digest: String
    var evidence: [Evidence]
  }

  private let limit: Int
  init(_ thresholds: DiagnosticThresholds) { limit = max(2, thresholds.equalTimelines) }

  let description = DiagnosisDescription(
    code: "reload-without-change", severity: .warning, title: "reloads that change nothing",
    rule:
      "A reload is paid for even when it changes nothing. A widget that is reloaded whenever its app comes to the "
      + "foreground, or after each synchronisation, has no budget left when there is new content.",
    source: "documented: Keeping a widget up to date (the budget); ours: 3 in a row are too many (--equal)",
    advice: "Compare the new content with the content that the widget shows, and reload only when it differs.")

  private var runs: [Place: Run] = [:]

  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let storedTimeline = envelope.reading(TimelineStored.self), !storedTimeline.digest.isEmpty,
      let owner = envelope.header.owner(of: storedTimeline.bundle)
    else { return [] }
    let place = Place(owner: owner, kind: storedTimeline.widgetKind, placement: storedTimeline.placement)
    let isAuthors = [.app, .extension, .push].contains(storedTimeline.because)
    guard let run = runs[place], run.digest == storedTimeline.digest else {
      runs[place] = Run(digest: storedTimeline.digest, evidence: isAuthors ? [Evidence(envelope)] : [])
      return []
    }
    guard isAuthors else { return [] }
    runs[place]?.evidence.append(Evidence(envelope))
    guard let evidence = runs[place]?.evidence, evidence.count == limit else { return [] }
    // Counting restarts.
    runs[place]?.evidence = []
    return [
      Sighting(
        owner: owner, subject: record.provider(of: storedTimeline.widgetKind, in: owner),
        what:
          "\(limit) consecutive timelines that the code requested were the same "
          + "(placement \(storedTimeline.placement))",
        evidence: evidence)
    ]
  }
}
