import Foundation
import Messages

extension EnvelopeNote {
  /// Notes about pushes.
  static func push(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case IssueToken.kind:
      let issue = try BodyCoding.decode(IssueToken.self, from: body)
      return EnvelopeNote("\(issue.use.rawValue) of \(issue.bundle), \(issue.environment.rawValue)")
    case ReleaseToken.kind:
      let release = try BodyCoding.decode(ReleaseToken.self, from: body)
      return EnvelopeNote("\(release.use.rawValue) of \(release.bundle)")
    case TokenReplaced.kind:
      let replaced = try BodyCoding.decode(TokenReplaced.self, from: body)
      return EnvelopeNote(
        "\(replaced.use.rawValue) of \(replaced.bundle): \(replaced.token?.tokenPrefix ?? "none until requested")"
      )
    case DeviceReach.kind:
      let reach = try BodyCoding.decode(DeviceReach.self, from: body)
      return EnvelopeNote("\(reach.isOnline ? "online" : "offline"), \(reach.isAwake ? "awake" : "asleep")")
    case DeliverPush.kind:
      let push = try BodyCoding.decode(DeliverPush.self, from: body).notification
      return EnvelopeNote("\(push.type.rawValue) \(push.uniqueID.prefix) for \(push.subject.bundle)")
    case PushProgress.kind:
      let progress = try BodyCoding.decode(PushProgress.self, from: body)
      return EnvelopeNote("\(progress.uniqueID.prefix) \(progress.station.text)", progress.station.name.mark)
    case PushLogged.kind:
      let logged = try BodyCoding.decode(PushLogged.self, from: body)
      return EnvelopeNote(
        [logged.type, logged.uniqueID.prefix, logged.subject?.bundle, logged.station.text].compactMap(\.self)
          .joined(separator: " "), logged.station.name.mark)
    case TokenChanged.kind: return EnvelopeNote(try BodyCoding.decode(TokenChanged.self, from: body).token.text)
    default: return try pushOrder(envelope)
    }
  }

  /// Notes about operator commands and messages to authors' processes.
  private static func pushOrder(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case SendPush.kind:
      let send = try BodyCoding.decode(SendPush.self, from: body)
      return EnvelopeNote(
        "\(send.headers["apns-push-type"] ?? "") to \(send.subject?.bundle ?? send.token?.tokenPrefix ?? "")")
    case ListPushes.kind, ListTokens.kind, AskPushInfo.kind: return EnvelopeNote("")
    case RegisterForPushes.kind:
      return EnvelopeNote(try BodyCoding.decode(RegisterForPushes.self, from: body).action.rawValue)
    case PushWithheld.kind:
      let withheld = try BodyCoding.decode(PushWithheld.self, from: body)
      return EnvelopeNote(
        "\(withheld.use.rawValue) of \(withheld.address.short): \(withheld.reason.rawValue)", .refused)
    case ChangeToken.kind:
      let change = try BodyCoding.decode(ChangeToken.self, from: body)
      return EnvelopeNote("\(change.change.rawValue) \(change.subject.use.rawValue) of \(change.subject.bundle)")
    case AnswerPushes.kind:
      let answer = try BodyCoding.decode(AnswerPushes.self, from: body)
      return EnvelopeNote("\(answer.status) \(answer.reason ?? "") \(answer.times) times")
    case SetPower.kind:
      let isAwake = try BodyCoding.decode(SetPower.self, from: body).isAwake
      return EnvelopeNote(isAwake.map { $0 ? "wake" : "sleep" } ?? "")
    case TellPushHandlers.kind:
      let tell = try BodyCoding.decode(TellPushHandlers.self, from: body)
      return EnvelopeNote("token \(tell.token.tokenPrefix), \(tell.widgets.count) widgets")
    case AppTokenChanged.kind:
      return EnvelopeNote("token \(try BodyCoding.decode(AppTokenChanged.self, from: body).token.tokenPrefix)")
    case ReceiveNotification.kind:
      let receive = try BodyCoding.decode(ReceiveNotification.self, from: body)
      return EnvelopeNote("\(receive.uniqueID.prefix) \(receive.payload.prefix(80))")
    default: return nil
    }
  }

  /// Notes about the replies.
  static func pushAction(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind.asked {
    case IssueToken.kind:
      return EnvelopeNote("token \(try BodyCoding.decode(IssueToken.Reply.self, from: body).token.tokenPrefix)")
    case SendPush.kind:
      let reply = try BodyCoding.decode(SendPush.Reply.self, from: body)
      return EnvelopeNote(
        ["\(reply.status)", reply.reason, reply.explanation].compactMap(\.self).joined(separator: " "),
        reply.status == 200 ? .none : .refused)
    case ListPushes.kind:
      return EnvelopeNote("\(try BodyCoding.decode(ListPushes.Reply.self, from: body).pushes.count) pushes")
    case ListTokens.kind:
      return EnvelopeNote("\(try BodyCoding.decode(ListTokens.Reply.self, from: body).tokens.count) tokens")
    case ChangeToken.kind:
      return EnvelopeNote(
        try BodyCoding.decode(ChangeToken.Reply.self, from: body).tokens.map(\.text).joined(separator: ", "))
    case SetPower.kind:
      return EnvelopeNote(try BodyCoding.decode(SetPower.Reply.self, from: body).isAwake ? "awake" : "asleep")
    case TellPushHandlers.kind:
      return EnvelopeNote(
        try BodyCoding.decode(TellPushHandlers.Reply.self, from: body).handlers.joined(separator: ", "))
    case AskPushInfo.kind:
      return EnvelopeNote(try BodyCoding.decode(AskPushInfo.Reply.self, from: body).token?.tokenPrefix ?? "no token")
    case RegisterForPushes.kind:
      let token = try BodyCoding.decode(RegisterForPushes.Reply.self, from: body).token
      return EnvelopeNote(token.map { "token \($0.tokenPrefix)" } ?? "no token")
    case ReceiveNotification.kind:
      let result = try BodyCoding.decode(ReceiveNotification.Reply.self, from: body).result
      return EnvelopeNote(result?.rawValue ?? "no such method")
    default: return nil
    }
  }
}

extension String {
  /// The device token, shortened to fit in a line.
  fileprivate var tokenPrefix: String { count > 12 ? prefix(8) + "…" : self }
}

extension UUID {
  /// The id, shortened to fit in a line.
  fileprivate var prefix: String { uuidString.lowercased().prefix(8) + "…" }
}

extension PushStation {
  fileprivate var text: String { [name.rawValue, detail].compactMap(\.self).joined(separator: ": ") }
}

extension PushStation.Name {
  fileprivate var mark: EnvelopeNote.Mark {
    switch self {
    case .refused, .expired, .notStored, .tokenUnregistered, .budget, .reloadFailed, .discarded: .refused
    default: .none
    }
  }
}

extension DeviceToken {
  fileprivate var text: String {
    "\(token.tokenPrefix) \(subject.use.rawValue) of \(subject.bundle) on \(subject.device): \(state.rawValue)"
  }
}
