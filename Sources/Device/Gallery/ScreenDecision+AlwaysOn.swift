import Archive
import Conversations

// The Always-On display: the Lock Screen with less light. Source: `isLuminanceReduced`, Human Interface Guidelines, "Always On".

extension ScreenDecision {
  mutating func showAlwaysOn() throws(BusError) -> [Effect] {
    if let refusal = device.refusal(of: .lockScreen) { throw notNow(refusal) }
    guard device.hasAlwaysOn else {
      throw notNow("this model has no Always-On display: an iPhone 14 Pro has one, later Pro models, and an iPhone 17")
    }
    guard state.isLocked else { throw notNow("a device that is not locked is not Always-On: `widgetlab lock` first") }
    state.seen = .lockScreen
    state.isLuminanceReduced = true
    return []
  }

  /// What changes the display ends it; the rest leaves it as it is.
  mutating func leaveAlwaysOn(by change: ChangeScreen.Change) {
    switch change {
    case .lock, .unlock, .restart, .look, .darken: state.isLuminanceReduced = false
    case .alwaysOn, .background, .activity, .colorScheme, .system: break
    }
  }
}
