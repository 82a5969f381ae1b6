// SPDX-License-Identifier: Apache-2.0

import Messages

/// A process exceeds its memory limit.
struct MemoryExceededWhileAsked: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "evicted-for-memory", severity: .error, title: "the extension is evicted for its memory use",
    rule:
      "An extension that exceeds its memory limit is killed at once, whatever it does: the requested timeline does not "
      + "arrive, and the last one, or the placeholder, stays. Simulators do not enforce the limit.",
    source: "observed: 30 MB on devices (settings extensionMemoryLimit, memoryInterval)",
    advice:
      "Decode images at their displayed size, read only the displayed part of a database, and leave large "
      + "frameworks out of the extension.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let exceeded = envelope.reading(MemoryExceeded.self), envelope.header.attempt == 0 else { return [] }
    let instance = record.instance(of: exceeded.address)
    let asked = instance.questions.first
    let provider = asked.map { record.provider(of: $0.request.widgetKind, in: exceeded.address) }
    let session = instance.handling.filter { $0.value.outstanding > 0 }.keys.min()
    let occasion =
      asked.map { ", while it was asked for a \($0.request.purpose.rawValue)" }
      ?? session.map { ", while it handled the events of session \($0)" } ?? ""
    return [
      Sighting(
        owner: exceeded.address, subject: provider ?? session.map { "session \($0)" } ?? "the process",
        what: "\(exceeded)\(occasion)", evidence: [asked?.evidence].compactMap(\.self) + [Evidence(envelope)])
    ]
  }
}
