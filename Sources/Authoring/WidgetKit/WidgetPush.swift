public import Foundation

/// The token by which the developer's backend reaches this app's widgets. Source: `WidgetKit.WidgetPushInfo` of the
/// macOS 27 SDK.
public struct WidgetPushInfo: Sendable {
  /// The token.
  public let token: Data
}

/// Is told of the token for widget pushes. Source: `WidgetKit.WidgetPushHandler` of the macOS 27 SDK.
public protocol WidgetPushHandler {
  /// The system makes the handler.
  init()
  /// There is a token, or another one, or other widgets that support pushes.
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo])
}
