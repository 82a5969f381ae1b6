// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

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
