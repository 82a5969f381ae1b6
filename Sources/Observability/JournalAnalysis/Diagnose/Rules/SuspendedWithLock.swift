// SPDX-License-Identifier: Apache-2.0

import Messages

/// A process holds locks on files of an app group when it is suspended.
struct SuspendedWithLock: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "suspended-with-lock", severity: .error,
    title: "a process is suspended while it holds a lock on a file of its app group",
    rule:
      "The system ends a process with 0xdead10cc that holds a file lock or a lock of a SQLite database in the folder of "
      + "an app group when it is suspended: other processes that need the file would wait until it runs again.",
    source:
      "documented: Understanding the exception types in a crash report; ours: an idle connection to a SQLite database "
      + "with a write-ahead log holds only a harmless lock",
    advice:
      "End transactions and release locks before the completion handler is called. In an app, finish them within "
      + "a background task. Open SQLite databases of the group with a write-ahead log.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let held = envelope.reading(LocksHeld.self), envelope.header.attempt == 0 else { return [] }
    let first = held.locks.first
    return [
      Sighting(
        owner: held.address, subject: first.map { "\($0.file) of \($0.group)" } ?? "the process", what: "\(held)",
        evidence: [Evidence(envelope)])
    ]
  }
}
