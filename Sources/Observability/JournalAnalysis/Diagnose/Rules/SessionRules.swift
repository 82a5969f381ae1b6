// SPDX-License-Identifier: Apache-2.0

import Messages

/// The deadline for a session's events passed, the author's code has created the session, and no completion handler was
/// called.
struct CompletionNeverCalled: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "completion-never-called", severity: .error, title: "the events' completion handler is never called",
    rule:
      "The handler of onBackgroundURLSessionEvents (in an app: handleEventsForBackgroundURLSession) receives a "
      + "completion handler. Until it is called, the events are not acknowledged: the process is evicted and receives "
      + "them again.",
    source:
      "documented: onBackgroundURLSessionEvents(matching:_:), urlSessionDidFinishEvents(forBackgroundURLSession:); ours: "
      + "the deadline (settings completionDeadline, completionGrace)",
    advice:
      "Store the completion handler before the handler returns, and call it on the main thread in "
      + "urlSessionDidFinishEvents(forBackgroundURLSession:). The two may be called in either order.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let expired = Expiry(envelope, record), expired.hasSession, expired.handling.completions.isEmpty else {
      return []
    }
    return [
      expired.sighting("the handler was called, but its completion handler was not called before the deadline")
    ]
  }
}

/// The deadline of a session's events, with outstanding completion handlers.
struct Expiry {
  let owner: Address
  let session: String
  let handling: DeviceRecord.Handling
  /// Whether this instance of the owner has created the session, or may have created it before the journal begins.
  let hasSession: Bool
  private let last: Evidence

  init?(_ envelope: Envelope, _ record: DeviceRecord) {
    guard let expired = envelope.reading(ExpireEvents.self) else { return nil }
    owner = envelope.header.destination
    session = expired.session
    let instance = record.instance(of: owner)
    guard let handling = instance.handling[session], handling.outstanding > 0 else { return nil }
    self.handling = handling
    hasSession = instance.sessions[session] != nil || !instance.isWhole
    last = Evidence(envelope)
  }

  func sighting(_ what: String) -> Sighting {
    Sighting(
      owner: owner, subject: "session \(session)", what: what,
      evidence: [handling.called] + handling.completions + [last])
  }
}

/// Several handlers match a session, and only some had called their completion handler at the deadline.
struct CompletionOfOneHandlerMissing: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "completion-of-one-handler-missing", severity: .error,
    title: "one of several matching handlers never calls its completion handler",
    rule:
      "Every widget whose matching fits the session is called with its own completion handler. The events are "
      + "acknowledged when all of them were called.",
    source: "ours: all are required (setting firstCompletionCounts); undocumented",
    advice:
      "Store all completion handlers in an array and call each, or use matching in only one widget of the bundle.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let expired = Expiry(envelope, record), !expired.handling.completions.isEmpty else { return [] }
    let (outstanding, matching) = (expired.handling.outstanding, expired.handling.matching)
    return [expired.sighting("\(matching) handlers were called, but \(outstanding) of their completion handlers not")]
  }
}

/// Events arrived, no handler matches the session, and the process has not created it.
struct EventsWithoutHandler: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "events-without-handler", severity: .error, title: "no handler matches the session of the events",
    rule:
      "A widget extension that created a background session is woken for its events through "
      + "onBackgroundURLSessionEvents (an app: handleEventsForBackgroundURLSession). When no handler matches the "
      + "identifier, the events are kept until the code creates the session for another reason.",
    source: "documented: onBackgroundURLSessionEvents(matching:_:); ours: the events are kept",
    advice: "Add the modifier to a widget of the bundle, and compare `matching` with the session's identifier.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let unclaimed = envelope.reading(SessionUnclaimed.self) else { return [] }
    let handling = record.instance(of: unclaimed.owner).handling[unclaimed.session]
    guard handling?.delivery != unclaimed.delivery else { return [] }
    return [
      Sighting(
        owner: unclaimed.owner, subject: "session \(unclaimed.session)",
        what: "the process was woken for the session's events, but none of its handlers matches the identifier",
        evidence: [Evidence(envelope)])
    ]
  }
}

/// An extension has a handler for the events of background sessions, has provided its timeline, is idle, and has never
/// created a session.
struct HandlerWithoutSession: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "handler-without-session", severity: .note, title: "an events handler that is never called",
    rule:
      "The handler is only called when transfers of a background session have ended: not when the widget is shown, "
      + "and not when a reload is due. If the only download is started in the handler, it is never started.",
    source: "documented: onBackgroundURLSessionEvents(matching:_:); ours: reported when the extension is suspended",
    advice:
      "Start the download where the widget needs it, in getTimeline or in the app's own session, and use the "
      + "handler for its end. A widget that has had nothing to download yet is correct.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let state = envelope.reading(ProcessState.self), state.state == "suspended" else { return [] }
    return record.unfedHandlers(of: state.address).map { kind in
      Sighting(
        owner: state.address, subject: record.provider(of: kind, in: state.address),
        what: "the extension has provided its timeline and is suspended, but never created a background session",
        evidence: [Evidence(envelope)])
    }
  }
}

/// A task is created between the call of the handler and its completion handler, and no provider request is open that
/// could have created it.
struct DownloadInEventsHandler: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "download-in-events-handler", severity: .warning, title: "a download is started in the events handler",
    rule:
      "The handler is called when transfers have ended. Starting the next transfer there makes a chain of one task "
      + "per wake, and each wake doubles the delay of tasks that are started in the background. After a few, "
      + "downloads seem to hang.",
    source:
      "documented: Downloading files in the background (the delay); observed: 60 s, 120 s, 240 s … (settings limiterFirst, "
      + "limiterMax)",
    advice:
      "Start all downloads where they are first needed, in getTimeline or in the app, in one session: they end in "
      + "one wake. In the handler, only create the session and handle the results.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let create = envelope.reading(CreateTransfer.self), envelope.header.attempt == 0 else { return [] }
    let owner = envelope.header.source
    let instance = record.instance(of: owner)
    guard instance.askedRequests.isEmpty else { return [] }
    let open = instance.handling.filter { $0.value.outstanding > 0 }.sorted { $0.key < $1.key }
    return open.prefix(1).map { session, handling in
      Sighting(
        owner: owner, subject: "session \(create.session)",
        what: "task \(create.taskIdentifier) was started while the events of session \(session) were handled",
        evidence: [handling.called, Evidence(envelope)])
    }
  }
}

/// The handler was called in a process instance that has no session with the identifier and does not create one.
struct SessionNeverRecreated: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "session-never-recreated", severity: .error, title: "the events handler does not recreate the session",
    rule:
      "A process that was launched for a session's events has no session object: its delegate is not called before "
      + "the code creates a URLSession with the same identifier. Until then the events are kept.",
    source: "documented: background(withIdentifier:), Downloading files in the background; ours: the events are kept",
    advice:
      "Create the session in the handler, before it returns: access the object that holds the session, using the "
      + "identifier that the handler receives.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    if let expired = Expiry(envelope, record), !expired.hasSession {
      return [expired.sighting("no session with the identifier was created before the handler's deadline")]
    }
    guard let unclaimed = envelope.reading(SessionUnclaimed.self),
      let handling = record.instance(of: unclaimed.owner).handling[unclaimed.session],
      handling.delivery == unclaimed.delivery
    else { return [] }
    return [
      Sighting(
        owner: unclaimed.owner, subject: "session \(unclaimed.session)",
        what: "the completion handler was called, but no session with the identifier was created: the events are kept",
        evidence: [handling.called] + handling.completions + [Evidence(envelope)])
    ]
  }
}

/// The host rejects a session that another running process of the app has open.
struct SameIdentifier: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "same-identifier", severity: .error, title: "app and extension use the same session identifier",
    rule:
      "Only one process at a time can be connected to a background session. The second session is invalid with -996 "
      + "(backgroundSessionInUseByAnotherProcess), and its tasks fail.",
    source: "documented: Performing network tasks in a short-lived extension",
    advice: "Derive the identifier from Bundle.main.bundleIdentifier, which differs between app and extension.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    if let takenSession = envelope.reading(SessionTaken.self), header.attempt == 0 {
      return [
        Sighting(
          owner: header.destination, subject: "session \(takenSession.session)",
          what: "the session became invalid: \(takenSession.holder.short) opened it while the process was suspended",
          evidence: [Evidence(envelope)])
      ]
    }
    guard header.kind == OpenSession.kind.answered(.failed),
      let error = try? BodyCoding.decode(BusError.self, from: envelope.body), error.code == .sessionInUse,
      let opening = record.opening(answeredBy: header)
    else { return [] }
    let holder = record.holder(of: opening.identifier, except: header.destination)
    let other = holder.map { "\($0.owner.short) has it open" } ?? "another process has it open"
    return [
      Sighting(
        owner: header.destination, subject: "session \(opening.identifier)", what: "the session was rejected: \(other)",
        evidence: [holder?.opened].compactMap(\.self) + [opening.evidence, Evidence(envelope)])
    ]
  }
}
