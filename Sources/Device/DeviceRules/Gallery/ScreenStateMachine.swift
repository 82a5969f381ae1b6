// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

/// The state machine of the screen: lock, visible screen, and the app in the foreground. A plain value.
package struct ScreenStateMachine: Sendable {
  /// What follows from a change, besides the new state.
  package enum Action: Sendable, Equatable {
    /// The app left the foreground.
    case background(app: String)
    case systemChanged(String)
    case restarted
  }

  package private(set) var state: DeviceScreen
  let device: WidgetDevice

  package init(device: WidgetDevice, state: DeviceScreen = DeviceScreen()) {
    self.device = device
    self.state = state
  }

  /// Applies an action of the user.
  ///
  /// - Throws: `not-now`, definite; the message states what to do first.
  package mutating func handle(_ change: ChangeScreen.Change) throws(BusError) -> [Action] {
    let actions = try decide(change)
    // Changes that concern the display end the Always-On state.
    switch change {
    case .lock, .unlock, .restart, .look, .darken: state.isLuminanceReduced = false
    case .alwaysOn, .background, .activity, .colorScheme, .system: break
    }
    return actions
  }

  private mutating func decide(_ change: ChangeScreen.Change) throws(BusError) -> [Action] {
    switch change {
    case .lock:
      let actions = leaveApp()
      state.isLocked = true
      state.seen = nil
      return actions
    case .unlock:
      state.isLocked = false
      state.wasUnlocked = true
      state.seen = state.frontApp == nil ? .homeScreen : nil
      return []
    case .restart:
      let actions = leaveApp()
      state = DeviceScreen(isLocked: true, wasUnlocked: false, seen: nil, colorScheme: state.colorScheme)
      return actions + [.restarted]
    case .look(let location): return try look(location)
    case .darken:
      let actions = leaveApp()
      state.seen = nil
      return actions
    case .alwaysOn:
      // The dimmed Lock Screen. Source: `isLuminanceReduced`, Human Interface Guidelines, "Always On".
      if let refusal = device.refusal(of: .lockScreen) { throw notNow(refusal) }
      guard device.hasAlwaysOn else {
        throw notNow("this model has no Always-On display; iPhone 14 Pro, later Pro models and iPhone 17 have one")
      }
      guard state.isLocked else { throw notNow("Always-On requires a locked device: run `widgetlab lock` first") }
      state.seen = .lockScreen
      state.isLuminanceReduced = true
      return []
    case .background(let app):
      guard state.frontApp == app else { throw notNow("\(app) is not in the foreground: run `widgetlab app open`") }
      return leaveApp()
    case .activity(let app, let activity):
      state.activities[app] = activity
      return []
    case .colorScheme(let scheme):
      state.colorScheme = scheme
      return []
    case .system(let setting):
      guard ChangeScreen.systemSettings.contains(setting) else {
        throw BusError(
          .malformed,
          "\(setting) is not a change that reloads widgets; there are: "
            + ChangeScreen.systemSettings.joined(separator: ", "))
      }
      return [.systemChanged(setting)]
    }
  }

  /// Brings an app to the foreground, and sends another one to the background.
  ///
  /// - Throws: `not-now`, definite, if the device is locked.
  package mutating func open(_ app: String) throws(BusError) -> [Action] {
    guard !state.isLocked else { throw notNow("the device is locked: run `widgetlab unlock` first") }
    let actions = state.frontApp == app ? [] : leaveApp()
    state.frontApp = app
    state.seen = nil
    return actions
  }

  /// The app's process exited.
  package mutating func ended(_ app: String) {
    if state.frontApp == app { _ = leaveApp() }
    state.activities[app] = nil
  }

  /// The screen that is meant if the user names none.
  package var current: WidgetLocationName {
    state.seen ?? (state.isLocked && device.refusal(of: .lockScreen) == nil ? .lockScreen : .homeScreen)
  }

  private mutating func look(_ location: WidgetLocationName) throws(BusError) -> [Action] {
    if let refusal = device.refusal(of: location) { throw notNow(refusal) }
    guard !state.isLocked || location != .homeScreen else {
      throw notNow("the device is locked: `widgetlab unlock` shows its Home Screen")
    }
    let actions = leaveApp()
    state.seen = location
    return actions
  }

  private mutating func leaveApp() -> [Action] {
    guard let app = state.frontApp else { return [] }
    state.frontApp = nil
    state.seen = .homeScreen
    return [.background(app: app)]
  }

  private func notNow(_ reason: String) -> BusError { BusError(.notNow, reason) }
}

extension BusError.Code {
  /// The device is in a state that does not permit this action. Definite.
  package static let notNow = BusError.Code("not-now")
}
