package import Archive
package import Conversations

/// What a person sees of the device: whether it is locked, which screen is looked at, which app is in front. A plain value.
package struct ScreenDecision: Sendable {
  /// What follows from a change, besides the new state.
  package enum Effect: Sendable, Equatable {
    /// The app is in front no longer.
    case background(app: String)
    case systemChanged(String)
    case restarted
  }

  /// Settings of the system for which it asks all widgets anew. Source: "Keeping a widget up to date".
  package static let systemSettings = ["locale", "text-size", "accessibility", "account", "time"]

  package internal(set) var state: DeviceScreen
  let device: WidgetDevice

  package init(device: WidgetDevice, state: DeviceScreen = DeviceScreen()) {
    self.device = device
    self.state = state
  }

  /// What a person does.
  ///
  /// - Throws: `not-now`, definite, with what to do first.
  package mutating func take(_ change: ChangeScreen.Change) throws(BusError) -> [Effect] {
    let effects = try decide(change)
    leaveAlwaysOn(by: change)
    return effects
  }

  private mutating func decide(_ change: ChangeScreen.Change) throws(BusError) -> [Effect] {
    switch change {
    case .lock:
      let effects = leaveApp()
      state.isLocked = true
      state.seen = nil
      return effects
    case .unlock:
      state.isLocked = false
      state.wasUnlocked = true
      state.seen = state.frontApp == nil ? .homeScreen : nil
      return []
    case .restart:
      let effects = leaveApp()
      state = DeviceScreen(isLocked: true, wasUnlocked: false, seen: nil, colorScheme: state.colorScheme)
      return effects + [.restarted]
    case .look(let location): return try look(location)
    case .darken:
      let effects = leaveApp()
      state.seen = nil
      return effects
    case .alwaysOn: return try showAlwaysOn()
    case .background(let app):
      guard state.frontApp == app else { throw notNow("\(app) is not in front: `widgetlab app open` brings it there") }
      return leaveApp()
    case .activity(let app, let activity):
      state.activities[app] = activity
      return []
    case .colorScheme(let scheme):
      state.colorScheme = scheme
      return []
    case .system(let setting):
      guard Self.systemSettings.contains(setting) else {
        throw BusError(
          .malformed,
          "\(setting) is no setting that widgets are asked anew for; there are: "
            + Self.systemSettings.joined(separator: ", "))
      }
      return [.systemChanged(setting)]
    }
  }

  /// An app comes to the front, and another one leaves it.
  ///
  /// - Throws: `not-now`, definite, when the device is locked.
  package mutating func open(_ app: String) throws(BusError) -> [Effect] {
    guard !state.isLocked else { throw notNow("the device is locked: `widgetlab unlock` first") }
    let effects = state.frontApp == app ? [] : leaveApp()
    state.frontApp = app
    state.seen = nil
    return effects
  }

  /// The app's process is over.
  package mutating func ended(_ app: String) {
    if state.frontApp == app { _ = leaveApp() }
    state.activities[app] = nil
  }

  /// The screen that is meant when a person names none.
  package var current: WidgetLocationName {
    state.seen ?? (state.isLocked && device.refusal(of: .lockScreen) == nil ? .lockScreen : .homeScreen)
  }

  private mutating func look(_ location: WidgetLocationName) throws(BusError) -> [Effect] {
    if let refusal = device.refusal(of: location) { throw notNow(refusal) }
    guard !state.isLocked || location != .homeScreen else {
      throw notNow("the device is locked: `widgetlab unlock` shows its Home Screen")
    }
    let effects = leaveApp()
    state.seen = location
    return effects
  }

  private mutating func leaveApp() -> [Effect] {
    guard let app = state.frontApp else { return [] }
    state.frontApp = nil
    state.seen = .homeScreen
    return [.background(app: app)]
  }

  func notNow(_ reason: String) -> BusError { BusError(.notNow, reason) }
}

extension BusError.Code {
  /// The device is in a state in which a person cannot do this. Definite.
  package static let notNow = BusError.Code("not-now")
}
