import Conversations
import Glibc

struct CrashedWhileAsked: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "crashed-while-asked", severity: .error, title: "the extension crashes while it is asked",
    rule:
      "A provider that crashes is asked again a few times, ever later, and the last timeline stays; a handler that crashes "
      + "has its events handed over again. On a device a person sees what was there before, or an empty place.",
    source: "observed: stale content or a placeholder stays; ours: how often it is asked again",
    advice:
      "Read the last words of the life below, and try the provider with the data of a new user: no file, an empty list, a "
      + "server that does not answer.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let exited = envelope.reading(ProcessExited.self), exited.ending.isCrash else { return [] }
    let life = record.life(of: exited.address)
    let complaint = [life.complaint].compactMap(\.self)
    if let asked = life.questions.first {
      return [
        Sighting(
          owner: exited.address, subject: record.provider(of: asked.request.widgetKind, in: exited.address),
          what: "it ended (\(exited.ending)) while it was asked for a \(asked.request.purpose.rawValue)",
          evidence: [asked.evidence] + complaint + [Evidence(envelope)])
      ]
    }
    let open = life.handling.filter { $0.value.outstanding > 0 }.sorted { $0.key < $1.key }
    return open.prefix(1).map { session, handling in
      Sighting(
        owner: exited.address, subject: "session \(session)",
        what: "it ended (\(exited.ending)) while it handled the session's events",
        evidence: [handling.called] + complaint + [Evidence(envelope)])
    }
  }
}

extension Ending {
  /// Whether the code itself brought it about: a trap, an abort, a bad access. A person, a test and the host kill otherwise.
  fileprivate var isCrash: Bool {
    guard case .signalled(let signal) = self else { return false }
    return [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV].contains(signal)
  }
}
