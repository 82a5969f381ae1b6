public import AppIntents
import Archive
public import Foundation

/// What a person was doing, so that an app can go on with it. Source: `Foundation.NSUserActivity`, which Linux lacks.
open class NSUserActivity: NSObject {
  /// What the app calls it; of a widget its kind.
  public let activityType: String
  /// Of a widget that was touched: `WidgetCenter.UserInfoKey`'s kind and family.
  open var userInfo: [AnyHashable: Any]?
  /// The page that shows the same.
  open var webpageURL: URL?
  /// What a person reads.
  open var title: String?

  /// Of a widget that was touched: what a person chose for it.
  var configuration: [String: ArchivedValue] = [:]

  /// An activity of a type.
  public init(activityType: String) { self.activityType = activityType }
}

extension NSUserActivity {
  /// What a person chose for the widget that was touched; `nil` when it does not fit this type of intent. Blocks until the
  /// author's query has found the entities that were chosen. Source: the overlay of AppIntents, iOS 17.
  public func widgetConfigurationIntent<Intent: WidgetConfigurationIntent>(of intentType: Intent.Type) -> Intent? {
    intentType.restoredBlocking(configuration)
  }
}

/// What can take an activity's state up again. Source: `UIKit.UIUserActivityRestoring`.
@MainActor public protocol UIUserActivityRestoring {
  /// Takes the state of an activity up again.
  func restoreUserActivityState(_ activity: NSUserActivity)
}

extension UIApplication {
  /// A key of the options that a URL is opened with. Source: `UIKit.UIApplication.OpenURLOptionsKey`.
  public struct OpenURLOptionsKey: Hashable, RawRepresentable, Sendable {
    /// The key's text.
    public let rawValue: String
    /// A key from its text.
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}
