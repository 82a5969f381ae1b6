// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
public import Foundation

/// An activity of the user that an app can continue. Source: `Foundation.NSUserActivity`, which does not exist on
/// Linux.
open class NSUserActivity: NSObject {
  /// The app's name of the activity; the kind for a widget.
  public let activityType: String
  /// For a tapped widget: the kind and family, under `WidgetCenter.UserInfoKey`.
  open var userInfo: [AnyHashable: Any]?
  /// A web page with the same content.
  open var webpageURL: URL?
  open var title: String?

  /// For a tapped widget: its configuration.
  var configuration: [String: ArchivedValue] = [:]
  /// For a tapped widget: the type of its configuration.
  var intent: String?

  public init(activityType: String) { self.activityType = activityType }
}

extension NSUserActivity {
  /// The configuration of the tapped widget; `nil` when it does not match this intent type. Blocks until the author's
  /// query has returned the chosen entities. Source: the overlay of AppIntents, iOS 17.
  public func widgetConfigurationIntent<Intent: WidgetConfigurationIntent>(of intentType: Intent.Type) -> Intent? {
    intentType.restoredBlocking(configuration, of: intent)
  }
}

/// An object that can restore an activity's state. Source: `UIKit.UIUserActivityRestoring`.
@MainActor public protocol UIUserActivityRestoring {
  func restoreUserActivityState(_ activity: NSUserActivity)
}

extension UIApplication {
  /// A key of the options for opening a URL. Source: `UIKit.UIApplication.OpenURLOptionsKey`.
  public struct OpenURLOptionsKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}
