// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Requests reloads of controls. Accepted without effect: the device does not display controls. Source:
/// `WidgetKit.ControlCenter`.
public final class ControlCenter: Sendable {
  public static let shared = ControlCenter()

  private init() {}

  /// The controls that the user has placed: always empty.
  public func currentControls() async throws -> [ControlInfo] { [] }
  /// Requests a reload of the controls of a kind.
  public func reloadControls(ofKind kind: String) {}
  /// Requests a reload of all controls.
  public func reloadAllControls() {}
}

/// A control that the user has placed. Source: `WidgetKit.ControlInfo`.
public struct ControlInfo: Hashable, Sendable {
  /// The author's name of the control.
  public let kind: String
  /// The push token of the control.
  public let pushInfo: ControlPushInfo?
}

/// The token with which the developer's backend sends pushes to a control. Source: `WidgetKit.ControlPushInfo`.
public struct ControlPushInfo: Hashable, Sendable {
  public let token: Data
}

/// Receives the push tokens of controls. Source: `WidgetKit.ControlPushHandler`.
public protocol ControlPushHandler {
  /// The system creates the handler.
  init()
  /// A token or the set of controls has changed.
  func pushTokensDidChange(controls: [ControlInfo])
}
