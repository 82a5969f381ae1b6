// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation
package import Messages

// The values of messages as short texts, for notes and for the tool.

extension NetworkState {
  /// `cellular, 50 kB/s, Low Data Mode`.
  package var text: String {
    path.rawValue + (rate.map { ", \(Amount.text(bytes: $0))/s" } ?? "") + (isConstrained ? ", Low Data Mode" : "")
  }
}

extension ClockState {
  /// `2026-11-21 07:15:03Z, held, 1 d 2 h ahead of this machine`.
  package var text: String {
    let pace = rate == 1 ? "" : ", \(Amount.text(factor: rate)) times as fast"
    return "\(Amount.text(now)), \(isHeld ? "held" : "running")\(pace), \(distance)"
  }

  private var distance: String {
    // A clock with the machine's time differs by some microseconds when it is read.
    guard abs(offset) >= 0.05 else { return "same as this machine's" }
    return "\(Amount.text(seconds: abs(offset))) \(offset > 0 ? "ahead of" : "behind") this machine's"
  }
}

extension DeviceScreen {
  /// `locked, lockScreen is visible, dark`.
  package var text: String {
    let lock = isLocked ? wasUnlocked ? "locked" : "locked, not unlocked since the restart" : "unlocked"
    let light = isLuminanceReduced ? ", Always-On" : ""
    let view =
      seen.map { "\($0.rawValue) is visible\(light)" } ?? frontApp.map { "\($0) is in front" } ?? "the display is off"
    let work = activities.sorted { $0.key < $1.key }.map { ", \($0.key) \($0.value.text)" }
    return "\(lock), \(view)\(work.joined())\(colorScheme == .dark ? ", dark" : "")"
  }
}

extension AppActivity {
  /// The app's activity, after its name.
  var text: String {
    switch self {
    case .audio: "has an audio session"
    case .navigation: "has a navigation session"
    case .location: "uses the location service"
    }
  }
}

extension TurnStack.Reply {
  /// `1, 2, 3`.
  package var text: String { members.map { "\($0)" }.joined(separator: ", ") }
}

extension LedgerEntry {
  /// A line of the ledger as text.
  package var text: String {
    let until = until.map { " until \(Amount.text($0))" } ?? ""
    let balance = balance.formatted(.number.precision(.fractionLength(1)))
    return "\(verdict.rawValue)\(until) by \(rule), \(balance) left"
  }
}

extension ArchivedValue {
  /// The value as users write it.
  package var text: String {
    switch self {
    case .bool(let value): value ? "true" : "false"
    case .number(let value): value == value.rounded() && abs(value) < 1e15 ? "\(Int(saturating: value))" : "\(value)"
    case .string(let value): value
    case .date(let value): value.formatted(.iso8601)
    case .list(let values): values.map(\.text).joined(separator: ", ")
    case .record(let values):
      values.sorted.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ")
    }
  }
}

extension MoveDevice.Reply {
  /// `reloaded: 1, 2; when seen: 3`.
  package var text: String {
    let parts = [("reloaded", reloaded), ("when seen", whenSeen)].filter { !$0.1.isEmpty }
    guard !parts.isEmpty else {
      return "no widget uses the location: no Info.plist in widgetlab.yaml has NSWidgetWantsLocation"
    }
    return parts.map { "\($0.0): \($0.1.map { "\($0)" }.joined(separator: ", "))" }.joined(separator: "; ")
  }
}
