// SPDX-License-Identifier: Apache-2.0

import Glibc
import Messages

struct CrashedWhileAsked: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "crashed-while-asked", severity: .error, title: "the extension crashes while it handles a request",
    rule:
      "A provider that crashes is retried a few times with growing delays, and the last timeline stays; a handler that "
      + "crashes receives its events again. On a device the user sees the old content, or an empty widget.",
    source: "observed: stale content or a placeholder stays; ours: the number of retries",
    advice:
      "Read the last output of the process below, and test the provider with the data of a new user: no file, an empty "
      + "list, a server that does not reply.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let exited = envelope.reading(ProcessExited.self), exited.ending.isCrash else { return [] }
    let instance = record.instance(of: exited.address)
    let errorOutput = [instance.errorOutput].compactMap(\.self)
    if let asked = instance.questions.first {
      return [
        Sighting(
          owner: exited.address, subject: record.provider(of: asked.request.widgetKind, in: exited.address),
          what: "it exited (\(exited.ending)) while it was asked for a \(asked.request.purpose.rawValue)",
          evidence: [asked.evidence] + errorOutput + [Evidence(envelope)])
      ]
    }
    let open = instance.handling.filter { $0.value.outstanding > 0 }.sorted { $0.key < $1.key }
    return open.prefix(1).map { session, handling in
      Sighting(
        owner: exited.address, subject: "session \(session)",
        what: "it exited (\(exited.ending)) while it handled the session's events",
        evidence: [handling.called] + errorOutput + [Evidence(envelope)])
    }
  }
}

extension Ending {
  /// Whether the code itself caused the exit: a trap, an abort, a bad access. Users, tests and the host send other
  /// signals.
  fileprivate var isCrash: Bool {
    guard case .signalled(let signal) = self else { return false }
    return [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV].contains(signal)
  }
}
