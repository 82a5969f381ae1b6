// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// The notes about pushes and device tokens.
enum PushNotes {
  /// The entries of the table.
  static let all = tokens + pushes + author

  private static let tokens: [NoteEntry] = [
    .note(IssueToken.self) { "\($0.use.rawValue) of \($0.bundle), \($0.environment.rawValue)" },
    .reply(to: IssueToken.self) { "token \($0.token.tokenPrefix)" },
    .note(ReleaseToken.self) { "\($0.use.rawValue) of \($0.bundle)" },
    .note(TokenReplaced.self) {
      "\($0.use.rawValue) of \($0.bundle): \($0.token?.tokenPrefix ?? "none until requested")"
    },
    .note(TokenChanged.self) { $0.token.text },
    .constant(ListTokens.self),
    .reply(to: ListTokens.self) { "\($0.tokens.count) tokens" },
    .note(ChangeToken.self) { "\($0.change.rawValue) \($0.subject.use.rawValue) of \($0.subject.bundle)" },
    .reply(to: ChangeToken.self) { $0.tokens.map(\.text).joined(separator: ", ") },
  ]

  private static let pushes: [NoteEntry] = [
    .note(ReplicaReadiness.self) { $0.isReady ? "has its database again" : "without its database" },
    .note(DeviceReach.self) { "\($0.isOnline ? "online" : "offline"), \($0.isAwake ? "awake" : "asleep")" },
    .note(DeliverPush.self) { deliver in
      let push = deliver.notification
      return "\(push.type.rawValue) \(push.uniqueID.prefix) for \(push.subject.bundle)"
    },
    .note(PushProgress.self, mark: { $0.step.name.mark }) { "\($0.uniqueID.prefix) \($0.step.text)" },
    .note(PushLogged.self, mark: { $0.step.name.mark }) { logged in
      [logged.type, logged.uniqueID.prefix, logged.subject?.bundle, logged.step.text].compactMap(\.self)
        .joined(separator: " ")
    },
    .note(SendPush.self) { send in
      let destination = send.subject?.bundle ?? send.token?.tokenPrefix ?? ""
      return "\(send.headers["apns-push-type"] ?? "") to \(destination)"
    },
    .reply(to: SendPush.self, mark: { $0.status == 200 ? .none : .refused }) {
      ["\($0.status)", $0.reason, $0.explanation].compactMap(\.self).joined(separator: " ")
    },
    .constant(ListPushes.self),
    .reply(to: ListPushes.self) { "\($0.pushes.count) pushes" },
    .note(OverrideResponses.self) { "\($0.status) \($0.reason ?? "") \($0.times) times" },
    .note(SetPower.self) { power in power.isAwake.map { $0 ? "wake" : "sleep" } ?? "" },
    .reply(to: SetPower.self) { $0.isAwake ? "awake" : "asleep" },
  ]

  private static let author: [NoteEntry] = [
    .constant(AskPushInfo.self),
    .reply(to: AskPushInfo.self) { $0.token?.tokenPrefix ?? "no token" },
    .note(RegisterForPushes.self) { $0.action.rawValue },
    .reply(to: RegisterForPushes.self) { reply in reply.token.map { "token \($0.tokenPrefix)" } ?? "no token" },
    .note(PushWithheld.self, mark: { _ in .refused }) {
      "\($0.address.short): \($0.reason.rawValue)"
    },
    .note(TellPushHandlers.self) { "token \($0.token.tokenPrefix), \($0.widgets.count) widgets" },
    .reply(to: TellPushHandlers.self) { $0.handlers.joined(separator: ", ") },
    .note(TellControlPushHandlers.self) { tell in
      let controls = tell.controls.map { "\($0.placement.id) token \($0.token.tokenPrefix)" }
      return controls.isEmpty ? "no controls" : "controls \(controls.joined(separator: ", "))"
    },
    .reply(to: TellControlPushHandlers.self) { $0.handlers.joined(separator: ", ") },
    .note(AskNotificationAccess.self) { $0.options.map { "asks with options \($0)" } ?? "reads" },
    .reply(to: AskNotificationAccess.self) { $0.status.rawValue },
    .note(AppTokenChanged.self) { "token \($0.token.tokenPrefix)" },
    .note(ReceiveNotification.self) { "\($0.uniqueID.prefix) \($0.payload.start(bytes: 80))" },
    .reply(to: ReceiveNotification.self) { $0.presentation ?? $0.result?.rawValue ?? "no such method" },
  ]
}

extension String {
  /// The device token, shortened to fit in a line.
  fileprivate var tokenPrefix: String { count > 12 ? prefix(8) + "…" : self }
}

extension UUID {
  /// The id, shortened to fit in a line.
  fileprivate var prefix: String { text.prefix(8) + "…" }
}

extension PushStep {
  fileprivate var text: String { [name.rawValue, detail].compactMap(\.self).joined(separator: ": ") }
}

extension PushStep.Name {
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

/// The notes about fleets.
enum FleetNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .constant(JoinFleet.self),
    .reply(to: JoinFleet.self) { _ in "joined" },
    .note(ChangeFleetTokens.self) { request in
      request.changes.map { "\($0.action.rawValue) \($0.use.rawValue) of \($0.devices.count) devices" }
        .joined(separator: ", ")
    },
    .note(FleetReach.self) { reach in
      let parts = [
        ("online", reach.online), ("offline", reach.offline), ("awake", reach.awake), ("asleep", reach.asleep),
      ]
      return parts.filter { !$0.1.isEmpty }.map { "\($0.1.count) \($0.0)" }.joined(separator: ", ")
    },
    .note(DeliverToFleet.self) { "\($0.notifications.count) notifications" },
    .reply(to: DeliverToFleet.self) { $0.refused.isEmpty ? "on disk" : "\($0.refused.count) refused" },
    .note(CountFleetPushes.self) { $0.fleet },
    .reply(to: CountFleetPushes.self) { "\($0.counts.count) counts" },
    .constant(FleetStatus.self),
    .reply(to: FleetStatus.self) { "\($0.online) of \($0.devices) online" },
    .note(ListFleetDevices.self) { "from \($0.first)" },
    .reply(to: ListFleetDevices.self) { "\($0.devices.count) devices" },
    .note(SetFleetNetwork.self) { $0.isOn ? "on" : "off" },
  ]
}
