import Archive
import Foundation
import Messages

/// A short text about an envelope: the last column of `tail`, and the transcript of the demo.
struct EnvelopeNote {
  /// The mark in the margin: process started, process exited, refused, or none.
  enum Mark: String {
    case launch = "^"
    case exit = "!"
    case refused = "x"
    case none = " "
  }

  var mark = Mark.none
  var text = ""
  /// The process that started, exited or changed its state, when it is not the sender.
  var subject: Address?

  /// Creates the note of any envelope. For a body that cannot be decoded, the note contains the error.
  init(_ envelope: Envelope) {
    do {
      self = try EnvelopeNote(reading: envelope)
    } catch {
      text = "body of \(envelope.body.count) bytes: \(error.message)"
    }
  }

  init(_ text: String, _ mark: Mark = .none, about subject: Address? = nil) {
    self.mark = mark
    self.text = text
    self.subject = subject
  }

  private init(reading envelope: Envelope) throws(BusError) {
    let body = envelope.body
    if let answer = envelope.header.kind.answer {
      self = try Self.note(of: answer, envelope)
      return
    }
    var found = try Self.instance(envelope)
    if found == nil { found = try Self.bus(envelope) }
    if found == nil { found = try Self.session(envelope) }
    if found == nil { found = try Self.transfer(envelope) }
    if found == nil { found = try Self.device(envelope) }
    if found == nil { found = try Self.timeline(envelope) }
    if found == nil { found = try Self.gallery(envelope) }
    if found == nil { found = try Self.push(envelope) }
    self = found ?? EnvelopeNote(String(decoding: body.prefix(120), as: UTF8.self))
    if envelope.header.attempt > 0 { text += text.isEmpty ? "again" : " (sent again, \(envelope.header.attempt))" }
  }

  private static func note(of answer: Kind.Answer, _ envelope: Envelope) throws(BusError) -> EnvelopeNote {
    let body = envelope.body
    switch (answer, envelope.header.kind.asked) {
    case (.failed, _):
      let error = try BodyCoding.decode(BusError.self, from: body)
      return EnvelopeNote(
        "\(error.code.rawValue)\(error.isDefinite ? "" : " (indefinite)"): \(error.message)", .refused)
    case (.ok, SpawnProcess.kind):
      let reply = try BodyCoding.decode(SpawnProcess.Reply.self, from: body)
      return EnvelopeNote("generation \(reply.generation) pid \(reply.pid)")
    case (.ok, RegisterInstance.kind):
      return EnvelopeNote("generation \(try BodyCoding.decode(RegisterInstance.Reply.self, from: body).generation)")
    case (.ok, Hello.kind):
      return EnvelopeNote("generation \(try BodyCoding.decode(Hello.Reply.self, from: body).generation)")
    case (.ok, RenewKey.kind):
      let reply = try BodyCoding.decode(RenewKey.Reply.self, from: body)
      return EnvelopeNote("\(reply.current.prefix(8))… follows \(reply.former.prefix(8))…")
    case (.ok, OpenSession.kind):
      let reply = try BodyCoding.decode(OpenSession.Reply.self, from: body)
      return EnvelopeNote("\(reply.tasks.count) task\(reply.tasks.count == 1 ? "" : "s") kept")
    case (.ok, RequestTimeline.kind):
      let reply = try BodyCoding.decode(RequestTimeline.Reply.self, from: body)
      return EnvelopeNote("\(reply.entries.count) entries")
    case (.ok, TakeSnapshot.kind):
      return EnvelopeNote(try BodyCoding.decode(TakeSnapshot.Reply.self, from: body).text.joined(separator: " | "))
    case (.ok, Ping.kind):
      let reply = try BodyCoding.decode(Ping.Reply.self, from: body)
      let wait = reply.isReady ? "ready" : "waiting for \(reply.waitingFor.joined(separator: ", "))"
      return EnvelopeNote("pid \(reply.pid), \(wait)")
    case (.ok, _): return try Self.answer(envelope) ?? EnvelopeNote("")
    case (.acknowledged, _): return EnvelopeNote("")
    }
  }

  private static func instance(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case SpawnProcess.kind:
      let spawn = try BodyCoding.decode(SpawnProcess.self, from: body)
      return EnvelopeNote("\(spawn.address.tailName) for \(spawn.reason)", about: spawn.address)
    case SignalProcess.kind:
      let signal = try BodyCoding.decode(SignalProcess.self, from: body)
      let instance = signal.generation.map { " generation \($0)" } ?? ""
      return EnvelopeNote(
        "\(Ending.name(ofSignal: signal.signal)) to \(signal.address.tailName)\(instance)", about: signal.address)
    case AgentStarted.kind:
      let started = try BodyCoding.decode(AgentStarted.self, from: body)
      return EnvelopeNote("pid \(started.pid) with \(started.children.count) children")
    case ProcessExited.kind:
      let exited = try BodyCoding.decode(ProcessExited.self, from: body)
      return EnvelopeNote(
        "\(exited.address.tailName) generation \(exited.generation) pid \(exited.pid) exited: \(exited.ending)", .exit,
        about: exited.address)
    case MemoryExceeded.kind:
      let exceeded = try BodyCoding.decode(MemoryExceeded.self, from: body)
      return EnvelopeNote(
        "\(exceeded.address.tailName) generation \(exceeded.generation) pid \(exceeded.pid): \(exceeded)", .refused,
        about: exceeded.address)
    case ProcessStarted.kind:
      let started = try BodyCoding.decode(ProcessStarted.self, from: body)
      return EnvelopeNote(
        "\(started.address.tailName) generation \(started.generation) pid \(started.pid) \(started.executable)",
        .launch,
        about: started.address)
    case ProcessOutput.kind:
      let output = try BodyCoding.decode(ProcessOutput.self, from: body)
      return EnvelopeNote("\(output.address.tailName) \(output.stream): \(output.line)", about: output.address)
    case ProcessState.kind:
      let state = try BodyCoding.decode(ProcessState.self, from: body)
      return EnvelopeNote("\(state.address.tailName) \(state.state): \(state.why)", about: state.address)
    case ProcessReady.kind:
      let ready = try BodyCoding.decode(ProcessReady.self, from: body)
      return EnvelopeNote("pid \(ready.pid) \(ready.executable) \(ready.widgetKinds.joined(separator: " "))")
    case OpenApp.kind: return EnvelopeNote(try BodyCoding.decode(OpenApp.self, from: body).bundle)
    case AwaitLaunch.kind:
      let question = try BodyCoding.decode(AwaitLaunch.self, from: body)
      return EnvelopeNote(question.bundle ?? question.widgetKind ?? "all extensions")
    case AppActivation.kind:
      return EnvelopeNote(
        try BodyCoding.decode(AppActivation.self, from: body).isActive ? "in the foreground" : "in the background")
    case DeviceStatus.kind, ListProcesses.kind, ListKeys.kind, RenewKey.kind, Ping.kind: return EnvelopeNote("")
    default: return nil
    }
  }

  private static func bus(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case Hello.kind: return EnvelopeNote("pid \(try BodyCoding.decode(Hello.self, from: body).pid)")
    case RaiseSignal.kind:
      return EnvelopeNote(Ending.name(ofSignal: try BodyCoding.decode(RaiseSignal.self, from: body).signal))
    case Presence.kind:
      let presence = try BodyCoding.decode(Presence.self, from: body)
      return EnvelopeNote("\(presence.address.tailName) \(presence.isPresent ? "connected" : "disconnected")")
    case Undelivered.kind:
      let undelivered = try BodyCoding.decode(Undelivered.self, from: body)
      return EnvelopeNote(
        "\(undelivered.kindName) to \(undelivered.destination.tailName): \(undelivered.code.rawValue)", .refused)
    case Refused.kind:
      let refused = try BodyCoding.decode(Refused.self, from: body)
      return EnvelopeNote(
        "\(refused.reason): \(refused.kindName) from \(refused.claimed) with the key of \(refused.keyOwner)", .refused)
    case AuthenticationFailed.kind:
      let away = try BodyCoding.decode(AuthenticationFailed.self, from: body)
      return EnvelopeNote("\(away.reason) \(away.publicKey.prefix(8))… from \(away.peerAddress)", .refused)
    case KeyChanged.kind:
      let changed = try BodyCoding.decode(KeyChanged.self, from: body)
      return EnvelopeNote(
        "\(changed.key.pattern) \(changed.key.publicKey.prefix(8))… \(changed.change.rawValue)",
        changed.change == .revoked ? .refused : .none)
    case RegisterKey.kind:
      return EnvelopeNote("\(try BodyCoding.decode(RegisterKey.self, from: body).publicKey.prefix(8))…")
    case RegisterInstance.kind:
      let register = try BodyCoding.decode(RegisterInstance.self, from: body)
      return EnvelopeNote(register.address.tailName, about: register.address)
    case RetireInstance.kind:
      let retire = try BodyCoding.decode(RetireInstance.self, from: body)
      return EnvelopeNote("\(retire.address.tailName) generation \(retire.generation)", about: retire.address)
    case BusStarted.kind:
      let started = try BodyCoding.decode(BusStarted.self, from: body)
      return EnvelopeNote(
        "message-bus generation \(started.generation) pid \(started.pid), \(started.registrations.count) addresses",
        .launch, about: .messageBus)
    case JournalTrimmed.kind:
      let trimmed = try BodyCoding.decode(JournalTrimmed.self, from: body)
      return EnvelopeNote(
        "deleted #\(trimmed.firstSequence) to #\(trimmed.lastSequence): \(trimmed.segments) segments, "
          + "\(trimmed.bytes) bytes"
      )
    case PeerDisconnected.kind:
      let cut = try BodyCoding.decode(PeerDisconnected.self, from: body)
      return EnvelopeNote(
        "\(cut.address?.tailName ?? cut.keyOwner) after \(cut.refusals) refusals: \(cut.reason)", .refused)
    case BodyRefused.kind:
      let refused = try BodyCoding.decode(BodyRefused.self, from: body)
      return EnvelopeNote(
        "\(refused.kindName) from \(refused.source.tailName) to \(refused.destination.tailName): \(refused.error)",
        .refused)
    case BusStrained.kind:
      let strained = try BodyCoding.decode(BusStrained.self, from: body)
      let state = strained.isOver ? "accepts connections again" : "accepts no more connections"
      return EnvelopeNote(
        "\(state): \(strained.reason), \(strained.connections) of \(strained.limit), \(strained.turnedAway) rejected",
        strained.isOver ? .none : .refused)
    case JournalResumed.kind:
      let resumed = try BodyCoding.decode(JournalResumed.self, from: body)
      return EnvelopeNote(
        "writing again after \(resumed.milliseconds) ms (\(resumed.reason)), \(resumed.turnedDown) rejected as busy",
        .refused)
    case RegistrationChanged.kind:
      return registration(try BodyCoding.decode(RegistrationChanged.self, from: body))
    default: return nil
    }
  }

  private static func registration(_ changed: RegistrationChanged) -> EnvelopeNote {
    let mark: Mark =
      switch changed.change {
      case .connected: .launch
      case .disconnected, .left: .exit
      case .registered, .retired: .none
      }
    let pid = changed.registration.pid.map { " pid \($0)" } ?? ""
    return EnvelopeNote(
      "\(changed.registration.address.tailName) generation \(changed.registration.generation)\(pid) "
        + changed.change.rawValue, mark, about: changed.registration.address)
  }

  private static func session(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case OpenSession.kind: return EnvelopeNote(try BodyCoding.decode(OpenSession.self, from: body).identifier)
    case CreateTransfer.kind:
      let create = try BodyCoding.decode(CreateTransfer.self, from: body)
      return EnvelopeNote("\(create.session) task \(create.taskIdentifier) \(create.request.url)")
    case CancelTransfer.kind:
      let cancel = try BodyCoding.decode(CancelTransfer.self, from: body)
      return EnvelopeNote("\(cancel.session) task \(cancel.taskIdentifier)")
    case SessionEvents.kind:
      let events = try BodyCoding.decode(SessionEvents.self, from: body)
      return EnvelopeNote(
        "\(events.session): \(events.outcomes.count) task\(events.outcomes.count == 1 ? "" : "s")"
          + (events.wakesHandler ? ", wakes the handler" : ""))
    case HandlerCalled.kind:
      let handler = try BodyCoding.decode(HandlerCalled.self, from: body)
      return EnvelopeNote("\(handler.session) in pid \(handler.pid), \(handler.matching) matching")
    case DelegateCalled.kind:
      let call = try BodyCoding.decode(DelegateCalled.self, from: body)
      let facts = [
        call.taskIdentifier.map { "task \($0)" }, call.bytes.map { "\($0) bytes" },
        call.failureCode.map { "error \($0)" },
      ]
      return EnvelopeNote(([call.method] + facts.compactMap(\.self)).joined(separator: " "))
    case CompletionCalled.kind:
      let completion = try BodyCoding.decode(CompletionCalled.self, from: body)
      return EnvelopeNote("\(completion.session), \(completion.outstanding) outstanding")
    case TransferProgress.kind:
      let progress = try BodyCoding.decode(TransferProgress.self, from: body)
      let tail = [progress.sha256.map { "sha256 \($0.prefix(12))…" }, progress.detail].compactMap(\.self)
      return EnvelopeNote(
        (["\(progress.step.rawValue) \(progress.session) task \(progress.taskIdentifier), \(progress.bytes) bytes"]
          + tail)
          .joined(separator: ", "), about: progress.owner)
    case SessionUnclaimed.kind:
      let unclaimed = try BodyCoding.decode(SessionUnclaimed.self, from: body)
      return EnvelopeNote("\(unclaimed.session): \(unclaimed.reason)", .refused, about: unclaimed.owner)
    case SessionAcknowledged.kind:
      let acknowledged = try BodyCoding.decode(SessionAcknowledged.self, from: body)
      return EnvelopeNote("\(acknowledged.session) of \(acknowledged.owner.tailName)", about: acknowledged.owner)
    default: return nil
    }
  }
}

extension Address {
  /// The address shortened for a column: only the last part of a bundle identifier.
  var tailName: String {
    guard let bundle = bundleIdentifier, let last = bundle.split(separator: ".").last else { return short }
    return "\(role.rawValue)/…\(last)"
  }
}
