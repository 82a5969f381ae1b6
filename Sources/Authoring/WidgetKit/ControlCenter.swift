public import Foundation

/// Asks the system for what controls show. There are none on the device's screens: nothing comes of it. Source:
/// `WidgetKit.ControlCenter`.
public final class ControlCenter: Sendable {
  /// The one of this process.
  public static let shared = ControlCenter()

  private init() {}

  /// Which controls a person has placed: none.
  public func currentControls() async throws -> [ControlInfo] { [] }
  /// Asks for what controls of a kind show.
  public func reloadControls(ofKind kind: String) {}
  /// Asks for what all controls show.
  public func reloadAllControls() {}
}

/// One control that a person placed. Source: `WidgetKit.ControlInfo`.
public struct ControlInfo: Hashable, Sendable {
  /// The author's name of the control.
  public let kind: String
  /// By which the developer's backend reaches it.
  public let pushInfo: ControlPushInfo?
}

/// The token by which the developer's backend reaches a control. Source: `WidgetKit.ControlPushInfo`.
public struct ControlPushInfo: Hashable, Sendable {
  /// The token.
  public let token: Data
}

/// Is told of the tokens for pushes to controls. Source: `WidgetKit.ControlPushHandler`.
public protocol ControlPushHandler {
  /// The system makes the handler.
  init()
  /// There are tokens, or others, or other controls.
  func pushTokensDidChange(controls: [ControlInfo])
}
