// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// The notes about processes and their lifecycle.
enum ProcessNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .note(SpawnProcess.self, about: \.address) { "\($0.address.tailName) for \($0.reason)" },
    .reply(to: SpawnProcess.self) { "generation \($0.generation) pid \($0.pid)" },
    .note(SignalProcess.self, about: \.address) { signal in
      let instance = signal.generation.map { " generation \($0)" } ?? ""
      return "\(Ending.name(ofSignal: signal.signal)) to \(signal.address.tailName)\(instance)"
    },
    .note(AgentStarted.self) { "pid \($0.pid) with \($0.children.count) children" },
    .note(ProcessExited.self, mark: { _ in .exit }, about: \.address) {
      "\($0.address.tailName) generation \($0.generation) pid \($0.pid) exited: \($0.ending)"
    },
    .note(MemoryExceeded.self, mark: { _ in .refused }, about: \.address) {
      "\($0.address.tailName) generation \($0.generation) pid \($0.pid): \($0)"
    },
    .note(LocksHeld.self, mark: { _ in .refused }, about: \.address) {
      "\($0.address.tailName) generation \($0.generation) pid \($0.pid): \($0)"
    },
    .note(ProcessStarted.self, mark: { _ in .launch }, about: \.address) {
      "\($0.address.tailName) generation \($0.generation) pid \($0.pid) \($0.executable)"
    },
    .note(LeftOutCode.self, about: \.address) { left in
      let first = left.blocks.first.map { "\($0.file):\($0.line) \($0.directive)" } ?? ""
      return "\(left.address.tailName) left out: \(first)" + (left.count > 1 ? ", and \(left.count - 1) more" : "")
    },
    .note(ProcessOutput.self, about: \.address) { "\($0.address.tailName) \($0.stream): \($0.line)" },
    .note(ProcessState.self, about: \.address) { "\($0.address.tailName) \($0.state): \($0.why)" },
    .note(ProcessReady.self) { "pid \($0.pid) \($0.executable) \($0.widgetKinds.joined(separator: " "))" },
    .note(HoldProcess.self, mark: { $0.state == .overdue ? .refused : .none }) { hold in
      (["background task", hold.state.rawValue] + hold.names).joined(separator: " ")
    },
    .note(OpenApp.self) { $0.bundle },
    .note(AwaitLaunch.self) { $0.bundle ?? $0.widgetKind ?? "all extensions" },
    .note(DeviceEventNotice.self) { $0.event.rawValue },
    .note(AppActivation.self) { $0.isActive ? "in the foreground" : "in the background" },
    .constant(DeviceStatus.self),
    .constant(ListProcesses.self),
  ]
}

/// The notes about peers, keys and the broker.
enum BusNotes {
  /// The entries of the table.
  static let all = peers + keys + broker

  private static let peers: [NoteEntry] = [
    .note(Hello.self) { "pid \($0.pid)" },
    .reply(to: Hello.self) { "generation \($0.generation)" },
    .constant(Goodbye.self),
    .constant(HelloRequired.self),
    .constant(Ping.self),
    .reply(to: Ping.self) { reply in
      "pid \(reply.pid), " + (reply.isReady ? "ready" : "waiting for \(reply.waitingFor.joined(separator: ", "))")
    },
    .note(RaiseSignal.self) { Ending.name(ofSignal: $0.signal) },
    .note(Presence.self) { "\($0.address.tailName) \($0.isPresent ? "connected" : "disconnected")" },
    .note(Undelivered.self, mark: { _ in .refused }) {
      "\($0.kindName) to \($0.destination.tailName): \($0.code.rawValue)"
    },
    .note(Refused.self, mark: { _ in .refused }) {
      "\($0.reason): \($0.kindName) from \($0.claimed) with the key of \($0.keyOwner)"
    },
    .note(BodyRefused.self, mark: { _ in .refused }) {
      "\($0.kindName) from \($0.source.tailName) to \($0.destination.tailName): \($0.error)"
    },
    .note(PeerDisconnected.self, mark: { _ in .refused }) {
      "\($0.address?.tailName ?? $0.keyOwner) after \($0.refusals) refusals: \($0.reason)"
    },
    .note(RegisterInstance.self, about: \.address) { $0.address.tailName },
    .reply(to: RegisterInstance.self) { "generation \($0.generation)" },
    .note(RetireInstance.self, about: \.address) { "\($0.address.tailName) generation \($0.generation)" },
    .note(RegistrationChanged.self, mark: { $0.change.mark }, about: \.registration.address) { changed in
      let registration = changed.registration
      let pid = registration.pid.map { " pid \($0)" } ?? ""
      return "\(registration.address.tailName) generation \(registration.generation)\(pid) \(changed.change.rawValue)"
    },
  ]

  private static let keys: [NoteEntry] = [
    .note(AuthenticationFailed.self, mark: { _ in .refused }) {
      "\($0.reason) \($0.publicKey.prefix(8))… from \($0.peerAddress)"
    },
    .note(KeyChanged.self, mark: { $0.change == .revoked ? .refused : .none }) {
      "\($0.key.pattern) \($0.key.publicKey.prefix(8))… \($0.change.rawValue)"
    },
    .note(RegisterKey.self) { "\($0.publicKey.prefix(8))…" },
    .constant(RenewKey.self),
    .reply(to: RenewKey.self) { "\($0.current.prefix(8))… follows \($0.former.prefix(8))…" },
    .constant(ListKeys.self),
  ]

  private static let broker: [NoteEntry] = [
    .note(BusStarted.self, mark: { _ in .launch }, about: { _ in .messageBus }) {
      "message-bus generation \($0.generation) pid \($0.pid), \($0.registrations.count) addresses"
        + ($0.lostFrom.map { ", the end of the journal from #\($0) on was lost" } ?? "")
    },
    .constant(BusStatus.self),
    .note(BusStrained.self, mark: { $0.isOver ? .none : .refused }) { strained in
      let state = strained.isOver ? "accepts connections again" : "accepts no more connections"
      return "\(state): \(strained.reason), \(strained.connections) of \(strained.limit), "
        + "\(strained.turnedAway) rejected"
    },
    .note(JournalTrimmed.self) {
      "deleted #\($0.firstSequence) to #\($0.lastSequence): \($0.segments) segments, \($0.bytes) bytes"
    },
    .note(JournalResumed.self, mark: { _ in .refused }) {
      "writing again after \($0.milliseconds) ms (\($0.reason)), \($0.turnedDown) rejected as busy"
    },
  ]
}

extension RegistrationChanged.Change {
  fileprivate var mark: EnvelopeNote.Mark {
    switch self {
    case .connected: .launch
    case .disconnected, .left: .exit
    case .registered, .retired: .none
    }
  }
}

/// The notes about user actions on the device, its network and its clock.
enum DeviceNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .note(SetNetwork.self) { $0.state.text },
    .reply(to: SetNetwork.self) { $0.text },
    .constant(MoveDevice.self, "moved far"),
    .reply(to: MoveDevice.self) { $0.text },
    .note(NetworkChanged.self) { $0.state.text },
    .note(ChangeSetting.self) { $0.change.text },
    .reply(to: ChangeSetting.self) { reply in
      let changed = reply.changed.map { "\($0.rawValue) \(reply.settings[$0])" }
      return changed.isEmpty ? "nothing is changed" : changed.joined(separator: ", ")
    },
    .note(SettingChanged.self) { notice in
      let names = notice.name.map { [$0] } ?? [.locale, .timeZone]
      return names.map { "\($0.rawValue) \(notice.settings[$0])" }.joined(separator: ", ")
    },
    .note(SetClock.self) { $0.change.text },
    .reply(to: SetClock.self) { $0.text },
    .note(ClockChanged.self) { $0.state.text },
    .note(ForceQuitApp.self) { $0.bundle },
    .note(UpdateApp.self) { $0.bundle },
  ]
}

extension ChangeSetting.Change {
  /// A short text.
  fileprivate var text: String {
    switch self {
    case .ask: "ask"
    case .set(let name, let value): "\(name.rawValue) \(value)"
    case .reset(let name): "reset \(name.rawValue)"
    }
  }
}

extension SetClock.Change {
  /// A short text.
  fileprivate var text: String {
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
