// SPDX-License-Identifier: Apache-2.0

import Archive
import Messages

// The Always-On display: the dimmed Lock Screen. Source: `isLuminanceReduced`, Human Interface Guidelines, "Always On".

extension ScreenStateMachine {
  mutating func showAlwaysOn() throws(BusError) -> [Action] {
    if let refusal = device.refusal(of: .lockScreen) { throw notNow(refusal) }
    guard device.hasAlwaysOn else {
      throw notNow("this model has no Always-On display; iPhone 14 Pro, later Pro models and iPhone 17 have one")
    }
    guard state.isLocked else { throw notNow("Always-On requires a locked device: run `widgetlab lock` first") }
    state.seen = .lockScreen
    state.isLuminanceReduced = true
    return []
  }

  /// Changes that concern the display end it; other changes do not affect it.
  mutating func leaveAlwaysOn(by change: ChangeScreen.Change) {
    switch change {
    case .lock, .unlock, .restart, .look, .darken: state.isLuminanceReduced = false
    case .alwaysOn, .background, .activity, .colorScheme, .system: break
    }
  }
}
