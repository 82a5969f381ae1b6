// SPDX-License-Identifier: Apache-2.0

import Messages

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
    let known = record.extensions(of: header.source)
    guard !known.isEmpty else {
      pending = pending.suffix(255) + [(header.source, kind, Evidence(envelope))]
      return []
    }
    let kinds = known.flatMap { record.kinds(of: $0) ?? [] }
    return kinds.contains(kind) ? [] : [sighting(header.source, kind, kinds, [Evidence(envelope)])]
  }

  private mutating func decidePending(_ extension: Address, _ kinds: [String]) -> [Sighting] {
    let own = pending.filter { $0.source.isApp(of: `extension`) }
    pending.removeAll { $0.source.isApp(of: `extension`) }
    return own.filter { !kinds.contains($0.kind) }.map { sighting($0.source, $0.kind, kinds, [$0.evidence]) }
  }

  private func sighting(_ source: Address, _ kind: String, _ kinds: [String], _ evidence: [Evidence]) -> Sighting {
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
