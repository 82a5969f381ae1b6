// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// The notes about background sessions and their transfers.
enum SessionNotes {
  /// The entries of the table.
  static let all = sessions + transfers + delegates

  private static let sessions: [NoteEntry] = [
    .note(OpenSession.self) { $0.identifier },
    .reply(to: OpenSession.self) { "\(count($0.tasks.count)) kept" },
    .note(CloseSession.self) { $0.identifier },
    .note(SessionEvents.self) {
      "\($0.session): \(count($0.outcomes.count))" + ($0.wakesHandler ? ", wakes the handler" : "")
    },
    .note(SessionTaken.self, mark: { _ in .refused }) { "\($0.session) is open in \($0.holder.short) now" },
    .note(ExpireEvents.self, mark: { _ in .refused }) { "\($0.session): the time is running out" },
    .note(SessionUnclaimed.self, mark: { _ in .refused }, about: \.owner) { "\($0.session): \($0.reason)" },
    .note(SessionAcknowledged.self, about: \.owner) { "\($0.session) of \($0.owner.tailName)" },
    .note(ListSessions.self) { ($0.session ?? "all") + ($0.offset > 0 ? " from task \($0.offset)" : "") },
    .reply(to: ListSessions.self) { "\($0.sessions.count) sessions, \($0.tasks.count) of \($0.taskCount) tasks" },
  ]

  private static let transfers: [NoteEntry] = [
    .note(CreateTransfer.self) { "\($0.session) task \($0.taskIdentifier) \($0.request.url)" },
    .note(CancelTransfer.self) { "\($0.session) task \($0.taskIdentifier)" },
    .reply(to: CancelTransfer.self) { $0.resumeData.map { "resume data of \($0.count) bytes" } ?? "" },
    .note(ChangeTransfer.self) { "\($0.session) task \($0.taskIdentifier) \($0.text)" },
    .note(TransferCounted.self) { "\($0.session) task \($0.taskIdentifier) \($0.text)" },
    .note(TransferProgress.self, about: \.owner) { progress in
      let task =
        "\(progress.step.rawValue) \(progress.session) task \(progress.taskIdentifier), \(progress.bytes) bytes"
      return [task, progress.sha256.map { "sha256 \($0.prefix(12))…" }, progress.detail].compactMap(\.self)
        .joined(separator: ", ")
    },
    .note(LimiterChanged.self, about: \.owner) { limiter in
      let delay = limiter.delay > 0 ? "waits \(Amount.text(seconds: limiter.delay))" : "is free"
      return "\(limiter.owner.tailName) \(delay): \(limiter.reason)"
    },
  ]

  private static let delegates: [NoteEntry] = [
    .note(HandlerCalled.self) { "\($0.session) in pid \($0.pid), \($0.matching) matching" },
    .note(DelegateCalled.self) { call in
      let facts = [
        call.taskIdentifier.map { "task \($0)" }, call.bytes.map { "\($0) bytes" },
        call.failureCode.map { "error \($0)" },
      ]
      return ([call.method] + facts.compactMap(\.self)).joined(separator: " ")
    },
    .note(CompletionCalled.self) { "\($0.session), \($0.outstanding) outstanding" },
    .note(BeginDelayedRequest.self) { "\($0.session) task \($0.task.taskIdentifier) may begin" },
    .reply(to: BeginDelayedRequest.self) {
      [$0.disposition.rawValue, $0.request?.url].compactMap(\.self).joined(separator: " ")
    },
    .note(AnswerChallenge.self) { challenge in
      let method = challenge.method.replacing("NSURLAuthenticationMethod", with: "")
      let again = challenge.previousFailures > 0 ? ", failed \(challenge.previousFailures) times" : ""
      return "\(challenge.session) task \(challenge.task.taskIdentifier) \(method) of "
        + "\(challenge.scheme)://\(challenge.host):\(challenge.port)\(again)"
        + (challenge.wakesHandler ? ", wakes the handler" : "")
    },
    // The user name is enough. The password must not be shown.
    .reply(to: AnswerChallenge.self) {
      [$0.disposition.rawValue, $0.user].compactMap(\.self).joined(separator: " ")
    },
  ]

  private static func count(_ tasks: Int) -> String { "\(tasks) task\(tasks == 1 ? "" : "s")" }
}

extension ChangeTransfer {
  fileprivate var text: String {
    let parts = [
      isSuspended.map { $0 ? "suspended" : "resumed" }, description.map { "described as \($0.text ?? "nothing")" },
      priority.map { "priority \($0)" }, earliestBeginDate.map { "not before \(Amount.text($0))" },
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }
}

extension TransferCounted {
  fileprivate var text: String {
    let received = "\(bytesReceived) bytes" + (bytesExpected > 0 ? " of \(bytesExpected)" : "")
    let sent = bytesSent > 0 ? "\(bytesSent) bytes sent" : nil
    return [resumedAt.map { "resumed at byte \($0)" }, sent, received].compactMap(\.self).joined(separator: ", ")
  }
}

/// The notes about user defaults.
enum DefaultsNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .note(ReadDefaults.self) { [$0.domain ?? "the domains", $0.key].compactMap(\.self).joined(separator: " ") },
    .reply(to: ReadDefaults.self) { $0.values.isEmpty ? "\($0.domains.count) domains" : "\($0.values.count) values" },
    .note(WriteDefaults.self) { "\($0.domain) \($0.change.text)" },
    .note(DefaultsChanged.self) { changed in
      let keys = changed.keys.joined(separator: ", ")
      return "\(changed.domain) \(keys)" + (changed.changes > changed.keys.count ? "; \(changed.changes) changes" : "")
    },
  ]
}

extension WriteDefaults.Change {
  /// `limit = 400`.
  fileprivate var text: String {
    switch self {
    case .set(let key, let value): "\(key) = \(value.text.start(bytes: 100))"
    case .remove(let key): "removes \(key)"
    case .clear: "removes all keys"
    }
  }
}

extension DefaultsValue {
  /// The value as an operator reads it: a string as it is, `(a, b)` for an array, `{k = v}` for a dictionary, bytes in
  /// hexadecimal.
  package var text: String {
    switch self {
    case .string(let value): value
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .bool(let value): value ? "true" : "false"
    case .date(let value): value.formatted(.iso8601)
    case .data(let value): "<" + value.hexadecimal + ">"
    case .array(let values): "(\(values.map(\.text).joined(separator: ", ")))"
    case .dictionary(let values):
      "{\(values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value.text)" }.joined(separator: ", "))}"
    }
  }
}
