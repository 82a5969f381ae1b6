// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalAnalysis
import Messages

/// A change of a real journal that breaks a law: what the journal would contain if a process of ours were wrong.
struct JournalMutation: Sendable, CustomStringConvertible {
  let law: String
  let what: String
  /// Changes the envelopes; returns whether it found what it changes. Sequence numbers are corrected afterwards.
  private let change: @Sendable (inout [Envelope]) throws -> Bool

  var description: String { "\(law): \(what)" }

  /// The verdict of the law about the changed journal; `nil` when the journal does not contain what is changed.
  func verdict(_ envelopes: [Envelope]) throws -> LawVerdict? {
    var changed = envelopes
    guard try change(&changed) else { return nil }
    for index in changed.indices { changed[index].header.sequence = UInt64(index + 1) }
    return Self.verdict(law, changed)
  }

  /// The verdict of a law about a journal.
  static func verdict(_ law: String, _ envelopes: [Envelope]) -> LawVerdict? {
    var checker = LawChecker(codes: [law])
    for envelope in envelopes { _ = checker.handle(envelope) }
    return checker.verdicts().first
  }

  /// All mutations: at least one for each law.
  static let all = tasks + files + system + liveness

  // MARK: Sessions

  private static let tasks = [
    JournalMutation(law: "no-loss", what: "the acknowledgement of a session's events is dropped") {
      remove(first(SessionEvents.kind.answered(.acknowledged), $0), &$0)
    },
    JournalMutation(law: "no-loss", what: "the host deletes one more task than it delivered") {
      try replace(SessionAcknowledged.self, in: &$0) { notice in
        SessionAcknowledged(
          owner: notice.owner, session: notice.session, delivery: notice.delivery,
          tasks: TaskNumbers((notice.tasks?.identifiers ?? []) + [77]))
      }
    },
    JournalMutation(law: "no-misrouting", what: "the events of the extension's session are sent to the app") {
      journal in
      guard
        let index = journal.firstIndex(where: {
          $0.header.kind == SessionEvents.kind && $0.header.destination.role == .widgetExtension
        }), let app = journal.first(where: { $0.header.source.role == .app })?.header.source
      else { return false }
      journal[index].header.destination = app
      return true
    },
    JournalMutation(law: "no-misrouting", what: "a timeline is requested of the app") { journal in
      guard let index = first(RequestTimeline.kind, journal), let device = journal[index].header.destination.device
      else { return false }
      journal[index].header.destination = .app(device, "com.example.Other")
      return true
    },
    JournalMutation(law: "no-misrouting", what: "a reply comes from another process") { journal in
      guard let index = first(CreateTransfer.kind.answered(.ok), journal) else { return false }
      journal[index].header.source = .pushServer
      return true
    },
    JournalMutation(law: "event-order", what: "the end of a task precedes its file") { journal in
      guard let file = delegate("didFinishDownloadingTo", journal),
        let end = journal[file...].firstIndex(where: {
          $0.reading(DelegateCalled.self)?.method == "didCompleteWithError"
            && $0.header.cause == journal[file].header.cause
        })
      else { return false }
      journal.swapAt(file, end)
      return true
    },
    JournalMutation(law: "event-order", what: "events are acknowledged before the completion handler is called") {
      journal in
      guard let completion = first(CompletionCalled.kind, journal),
        let reply = journal.firstIndex(where: {
          $0.header.kind == SessionEvents.kind.answered(.acknowledged)
            && $0.header.cause == journal[completion].header.cause
        }), reply > completion
      else { return false }
      journal.swapAt(completion, reply)
      return true
    },
    JournalMutation(law: "event-order", what: "a transfer starts again after its end") { journal in
      guard let started = first(TransferProgress.kind, journal),
        let task = journal[started].reading(TransferProgress.self),
        let finished = journal.firstIndex(where: {
          let progress = $0.reading(TransferProgress.self)
          return progress?.step == .finished && progress?.session == task.session && progress?.owner == task.owner
        })
      else { return false }
      journal.insert(journal[started], at: finished + 1)
      return true
    },
    JournalMutation(law: "nothing-after-acknowledgement", what: "a delivery is repeated after its deletion") {
      journal in
      guard let deleted = first(SessionAcknowledged.kind, journal),
        let delivery = journal[deleted].reading(SessionAcknowledged.self)?.delivery,
        let sent = journal.firstIndex(where: { $0.header.id == delivery })
      else { return false }
      journal.insert(journal[sent], at: deleted + 1)
      return true
    },
    JournalMutation(law: "nothing-after-acknowledgement", what: "a push is sent again after it was delivered") {
      journal in
      guard let delivered = journal.firstIndex(where: { $0.reading(PushLogged.self)?.step.name == .delivered }),
        let id = journal[delivered].reading(PushLogged.self)?.uniqueID,
        let sent = journal.firstIndex(where: { $0.header.kind == DeliverPush.kind && $0.header.id == id })
      else { return false }
      journal.insert(journal[sent], at: delivered + 1)
      return true
    },
  ]

  // MARK: Files

  private static let files = [
    JournalMutation(law: "files-intact", what: "the owner's process reads other bytes") { journal in
      guard let index = delegate("didFinishDownloadingTo", journal) else { return false }
      return try replace(DelegateCalled.self, at: index, in: &journal) { called in
        DelegateCalled(
          session: called.session, method: called.method, taskIdentifier: called.taskIdentifier, bytes: called.bytes,
          sha256: String(repeating: "0", count: 64))
      }
    },
    JournalMutation(law: "files-intact", what: "the owner's process gets a shorter file") { journal in
      guard let index = delegate("didFinishDownloadingTo", journal) else { return false }
      return try replace(DelegateCalled.self, at: index, in: &journal) { called in
        DelegateCalled(
          session: called.session, method: called.method, taskIdentifier: called.taskIdentifier,
          bytes: (called.bytes ?? 0) - 1, sha256: called.sha256)
      }
    },
  ]

  // MARK: Processes, pushes, budgets

  private static let system = [
    JournalMutation(law: "no-orphan", what: "the exit of a process is reported twice") { journal in
      guard let exit = first(ProcessExited.kind, journal) else { return false }
      var second = journal[exit]
      second.header.id = UUID()
      journal.insert(second, at: exit + 1)
      return true
    },
    JournalMutation(law: "no-orphan", what: "the exit of a process is never reported") { journal in
      remove(first(ProcessExited.kind, journal), &journal)
    },
    JournalMutation(law: "no-orphan", what: "a process runs that no agent has registered") { journal in
      remove(first(RegisterInstance.kind.answered(.ok), journal), &journal)
    },
    JournalMutation(law: "no-orphan", what: "a process that was killed sends a message") { journal in
      guard let exit = first(ProcessExited.kind, journal), let exited = journal[exit].reading(ProcessExited.self),
        let sentIndex = journal.firstIndex(where: {
          $0.header.source == exited.address && $0.header.sourceGeneration == exited.generation
        })
      else { return false }
      let header = journal[sentIndex].header
      var late = EnvelopeHeader(
        kind: header.kind, sentAt: Timestamp(microseconds: journal[exit].header.sentAt.microseconds + 1_000),
        source: header.source, destination: header.destination)
      late.sourceGeneration = header.sourceGeneration
      journal.insert(Envelope(header: late, body: journal[sentIndex].body), at: exit + 1)
      return true
    },
    JournalMutation(law: "pushes-settled", what: "a push is logged as delivered without the device's acknowledgement") {
      remove(first(DeliverPush.kind.answered(.acknowledged), $0), &$0)
    },
    JournalMutation(law: "pushes-settled", what: "a push has two results") { journal in
      guard let index = journal.firstIndex(where: { $0.reading(PushLogged.self)?.step.name == .delivered }),
        let logged = journal[index].reading(PushLogged.self)
      else { return false }
      let expired = PushLogged(
        uniqueID: logged.uniqueID, subject: logged.subject, type: logged.type,
        step: PushStep(.expired, at: logged.step.at))
      var header = journal[index].header
      header.id = UUID()
      journal.insert(Envelope(header: header, body: try BodyCoding.encode(expired)), at: index + 1)
      return true
    },
    JournalMutation(law: "budget-kept", what: "a placement pays more than it has") { journal in
      try replace(BudgetDecided.self, in: &journal) { decided in
        let entry = decided.entry
        return BudgetDecided(
          LedgerEntry(
            number: entry.number, date: entry.date, reload: entry.reload, placement: entry.placement,
            bundle: entry.bundle, widgetKind: entry.widgetKind, because: entry.because, verdict: .granted,
            rule: "budget", balance: -1, until: nil), allowance: 55, window: 24)
      }
    },
    JournalMutation(law: "budget-kept", what: "a decision is missing in the ledger") { journal in
      let decided = journal.indices.filter { journal[$0].header.kind == BudgetDecided.kind }
      return remove(decided.count > 2 ? decided[1] : nil, &journal)
    },
  ]

  // MARK: Time

  private static let liveness = [
    JournalMutation(law: "liveness", what: "the host does not acknowledge an exit") { journal in
      remove(first(ProcessExited.kind.answered(.acknowledged), journal), &journal) && wait(&journal)
    },
    JournalMutation(law: "liveness", what: "the host does not delete acknowledged events") { journal in
      remove(journal.lastIndex { $0.header.kind == SessionAcknowledged.kind }, &journal) && wait(&journal)
    },
    JournalMutation(law: "liveness", what: "the host does not send the events of ended tasks") { journal in
      guard let sent = journal.lastIndex(where: { $0.header.kind == SessionEvents.kind }) else { return false }
      let id = journal[sent].header.id
      journal.removeAll { $0.header.id == id || $0.header.cause == id }
      return wait(&journal)
    },
  ]

  /// Adds messages for two minutes after the others: the law reads the time from the envelopes.
  private static func wait(_ journal: inout [Envelope]) -> Bool {
    guard let last = journal.last?.header.sentAt else { return false }
    for second in stride(from: 20, through: 120, by: 20) as StrideThrough<Int64> {
      var header = EnvelopeHeader(
        kind: Ping.kind, sentAt: Timestamp(microseconds: last.microseconds + second * 1_000_000),
        source: .operator("1"),
        destination: .messageBus)
      header.sourceGeneration = 1
      journal.append(Envelope(header: header, body: Array("{}".utf8)))
    }
    return true
  }

  // MARK: Finding and changing

  private static func first(_ kind: Kind, _ journal: [Envelope]) -> Int? {
    journal.firstIndex { $0.header.kind == kind }
  }

  private static func delegate(_ method: String, _ journal: [Envelope]) -> Int? {
    journal.firstIndex { $0.reading(DelegateCalled.self)?.method == method }
  }

  private static func remove(_ index: Int?, _ journal: inout [Envelope]) -> Bool {
    guard let index else { return false }
    journal.remove(at: index)
    return true
  }

  /// Changes the last message of a type.
  private static func replace<M: Message>(
    _ type: M.Type, in journal: inout [Envelope], change: (M) -> M
  ) throws -> Bool {
    guard let index = journal.lastIndex(where: { $0.header.kind == M.kind }) else { return false }
    return try replace(type, at: index, in: &journal, change: change)
  }

  private static func replace<M: Message>(
    _: M.Type, at index: Int, in journal: inout [Envelope], change: (M) -> M
  ) throws -> Bool {
    let body = try BodyCoding.encode(change(try BodyCoding.decode(M.self, from: journal[index].body)))
    journal[index] = Envelope(header: journal[index].header, body: body)
    return true
  }
}
