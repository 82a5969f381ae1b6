// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The token with which the developer's backend sends pushes to this app's widgets. Source: `WidgetKit.WidgetPushInfo`
/// of the macOS 27 SDK.
public struct WidgetPushInfo: Sendable {
  public let token: Data
}

/// Receives the token for widget pushes. Source: `WidgetKit.WidgetPushHandler` of the macOS 27 SDK.
public protocol WidgetPushHandler {
  /// The system creates the handler.
  init()
  /// The token or the set of widgets that support pushes has changed.
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo])
}
