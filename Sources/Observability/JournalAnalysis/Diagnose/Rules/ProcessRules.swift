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
    if let question = instance.questions.first {
      return [
        Sighting(
          owner: exited.address, subject: record.provider(of: question.request.widgetKind, in: exited.address),
          what: "it exited (\(exited.ending)) while it was asked for a \(question.request.purpose.rawValue)",
          evidence: [question.evidence] + errorOutput + [Evidence(envelope)])
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
    let question = instance.questions.first
    let provider = question.map { record.provider(of: $0.request.widgetKind, in: exceeded.address) }
    let session = instance.handling.filter { $0.value.outstanding > 0 }.keys.min()
    let occasion =
      question.map { ", while it was asked for a \($0.request.purpose.rawValue)" }
      ?? session.map { ", while it handled the events of session \($0)" } ?? ""
    return [
      Sighting(
        owner: exceeded.address, subject: provider ?? session.map { "session \($0)" } ?? "the process",
        what: "\(exceeded)\(occasion)", evidence: [question?.evidence].compactMap(\.self) + [Evidence(envelope)])
    ]
  }
}

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

/// The author's sources have code that is compiled for a phone and not here.
struct CodeLeftOut: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "code-left-out", severity: .note, title: "code is compiled for a phone and left out here",
    rule:
      "The sources are compiled for Linux: os(iOS) is false, and canImport of a framework that is missing here is "
      + "false. The compiler leaves out the code without a message.",
    source:
      "documented: The Swift Programming Language, Conditional Compilation Block; ours: found in the sources of an "
      + "executable that SwiftPM built beside them, unless a branch is for Linux",
    advice:
      "Add os(Linux) to the condition where the code also compiles here, and test on a phone what depends on it.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let left = envelope.reading(LeftOutCode.self) else { return [] }
    var files: [String] = []
    for block in left.blocks where !files.contains(block.file) { files.append(block.file) }
    return files.map { file in
      let places = left.blocks.filter { $0.file == file }.map { "line \($0.line): \($0.directive)" }
      return Sighting(
        owner: left.address, subject: file, what: places.joined(separator: ", "), evidence: [Evidence(envelope)])
    }
  }
}
