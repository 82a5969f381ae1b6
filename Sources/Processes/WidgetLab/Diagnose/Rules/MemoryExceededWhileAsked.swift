import Conversations

/// A life has more memory than it may have.
struct MemoryExceededWhileAsked: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "evicted-for-memory", severity: .error, title: "the extension is evicted for its memory",
    rule:
      "An extension that goes over its limit is ended at once, in the middle of what it does: the timeline that it was asked "
      + "for does not come, and the last one, or the placeholder, stays. Simulators do not enforce it.",
    source: "observed: 30 MB on devices (settings extensionMemoryLimit, memoryInterval)",
    advice:
      "Decode images at the size in which they are shown, read no more of a database than is shown, and leave large "
      + "frameworks out of the extension.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let exceeded = envelope.reading(MemoryExceeded.self), envelope.header.attempt == 0 else { return [] }
    let life = record.life(of: exceeded.address)
    let asked = life.questions.first
    let provider = asked.map { record.provider(of: $0.request.widgetKind, in: exceeded.address) }
    let session = life.handling.filter { $0.value.outstanding > 0 }.keys.min()
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
