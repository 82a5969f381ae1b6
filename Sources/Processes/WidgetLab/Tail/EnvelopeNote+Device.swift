import Foundation
import Messages

extension EnvelopeNote {
  /// Notes about user actions on the device.
  static func device(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case SetNetwork.kind: return EnvelopeNote(try BodyCoding.decode(SetNetwork.self, from: body).state.text)
    case MoveDevice.kind: return EnvelopeNote("moved far")
    case NetworkChanged.kind: return EnvelopeNote(try BodyCoding.decode(NetworkChanged.self, from: body).state.text)
    case SetClock.kind: return EnvelopeNote(try BodyCoding.decode(SetClock.self, from: body).change.text)
    case ClockChanged.kind: return EnvelopeNote(try BodyCoding.decode(ClockChanged.self, from: body).state.text)
    case ForceQuitApp.kind: return EnvelopeNote(try BodyCoding.decode(ForceQuitApp.self, from: body).bundle)
    case UpdateApp.kind: return EnvelopeNote(try BodyCoding.decode(UpdateApp.self, from: body).bundle)
    case ListSessions.kind:
      let list = try BodyCoding.decode(ListSessions.self, from: body)
      return EnvelopeNote((list.session ?? "all") + (list.offset > 0 ? " from task \(list.offset)" : ""))
    default: return nil
    }
  }

  /// Notes about tasks, except their creation and their end.
  static func transfer(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case CloseSession.kind: return EnvelopeNote(try BodyCoding.decode(CloseSession.self, from: body).identifier)
    case ExpireEvents.kind:
      return EnvelopeNote(
        "\(try BodyCoding.decode(ExpireEvents.self, from: body).session): the time is running out", .refused)
    case ChangeTransfer.kind:
      let change = try BodyCoding.decode(ChangeTransfer.self, from: body)
      return EnvelopeNote("\(change.session) task \(change.taskIdentifier) \(change.text)")
    case TransferCounted.kind:
      let count = try BodyCoding.decode(TransferCounted.self, from: body)
      return EnvelopeNote("\(count.session) task \(count.taskIdentifier) \(count.text)")
    case BeginDelayedRequest.kind:
      let begin = try BodyCoding.decode(BeginDelayedRequest.self, from: body)
      return EnvelopeNote("\(begin.session) task \(begin.task.taskIdentifier) may begin")
    case AnswerChallenge.kind:
      let challenge = try BodyCoding.decode(AnswerChallenge.self, from: body)
      let method = challenge.method.replacing("NSURLAuthenticationMethod", with: "")
      let again = challenge.previousFailures > 0 ? ", failed \(challenge.previousFailures) times" : ""
      return EnvelopeNote(
        "\(challenge.session) task \(challenge.task.taskIdentifier) \(method) of "
          + "\(challenge.scheme)://\(challenge.host):\(challenge.port)\(again)"
          + (challenge.wakesHandler ? ", wakes the handler" : ""))
    case LimiterChanged.kind:
      let limiter = try BodyCoding.decode(LimiterChanged.self, from: body)
      let delay = limiter.delay > 0 ? "waits \(Amount.text(seconds: limiter.delay))" : "is free"
      return EnvelopeNote("\(limiter.owner.tailName) \(delay): \(limiter.reason)", about: limiter.owner)
    default: return nil
    }
  }

  /// Notes about the replies to both.
  static func answer(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind.asked {
    case SetNetwork.kind: return EnvelopeNote(try BodyCoding.decode(SetNetwork.Reply.self, from: body).text)
    case MoveDevice.kind: return EnvelopeNote(try BodyCoding.decode(MoveDevice.Reply.self, from: body).text)
    case SetClock.kind: return EnvelopeNote(try BodyCoding.decode(SetClock.Reply.self, from: body).text)
    case ListSessions.kind:
      let reply = try BodyCoding.decode(ListSessions.Reply.self, from: body)
      return EnvelopeNote("\(reply.sessions.count) sessions, \(reply.tasks.count) of \(reply.taskCount) tasks")
    case CancelTransfer.kind:
      let reply = try BodyCoding.decode(CancelTransfer.Reply.self, from: body)
      return EnvelopeNote(reply.resumeData.map { "resume data of \($0.count) bytes" } ?? "")
    case BeginDelayedRequest.kind:
      let reply = try BodyCoding.decode(BeginDelayedRequest.Reply.self, from: body)
      return EnvelopeNote([reply.disposition.rawValue, reply.request?.url].compactMap(\.self).joined(separator: " "))
    case AnswerChallenge.kind:
      // The user name is enough. The password must not be shown.
      let reply = try BodyCoding.decode(AnswerChallenge.Reply.self, from: body)
      return EnvelopeNote([reply.disposition.rawValue, reply.user].compactMap(\.self).joined(separator: " "))
    default: return try galleryAction(envelope)
    }
  }
}

extension SetClock.Change {
  /// A short text.
  var text: String {
    switch self {
    case .ask: "ask"
    case .hold: "hold"
    case .run: "run"
    case .advance(let seconds): "advance \(Amount.text(seconds: seconds))"
    case .reset: "reset"
    case .set(let date): "set to \(Amount.text(date))"
    case .rate(let rate): "rate \(Amount.text(factor: rate))"
    }
  }
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
