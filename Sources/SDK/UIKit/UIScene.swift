// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A part of an app's user interface. An app has one here. Source: `UIKit.UIScene`.
@MainActor open class UIScene: UIResponder {
  /// Source: `UIKit.UIScene.ActivationState`.
  public enum ActivationState: Int, Sendable {
    case unattached = -1
    case foregroundActive, foregroundInactive, background
  }

  /// Source: `UIKit.UIScene.OpenURLOptions`.
  public final class OpenURLOptions: NSObject {
    /// `nil`: a widget is of the app's own bundle, and is not named.
    public let sourceApplication: String? = nil
    public let annotation: Any? = nil
    public let openInPlace = false
  }

  /// Why a scene connects. Source: `UIKit.UIScene.ConnectionOptions`.
  @MainActor public final class ConnectionOptions: NSObject {
    private let contexts: Set<UIOpenURLContext>
    private let activities: Set<NSUserActivity>
    /// Whether the delegate has read the URLs or activities.
    private(set) var isRead = false

    init(contexts: Set<UIOpenURLContext> = [], activities: Set<NSUserActivity> = []) {
      (self.contexts, self.activities) = (contexts, activities)
      super.init()
    }

    /// The URL of the widget that launched the app.
    public var urlContexts: Set<UIOpenURLContext> {
      isRead = true
      return contexts
    }
    /// The activity of the widget that launched the app, if it has no URL.
    public var userActivities: Set<NSUserActivity> {
      isRead = true
      return activities
    }
    public var handoffUserActivityType: String? { nil }
    public var sourceApplication: String? { nil }

    var isEmpty: Bool { contexts.isEmpty && activities.isEmpty }
  }

  public let session: UISceneSession
  open var delegate: (any UISceneDelegate)?
  public internal(set) var activationState = ActivationState.unattached
  open var title: String! = ""
  open var userActivity: NSUserActivity?

  public required init(session: UISceneSession, connectionOptions: UIScene.ConnectionOptions) {
    self.session = session
    super.init()
    session.scene = self
  }

  public required nonisolated init() { fatalError("UIScene needs a session") }
}

/// Source: `UIKit.UIWindowScene`. Nothing of it is drawn.
@MainActor open class UIWindowScene: UIScene {
  fileprivate(set) var kept: [UIWindow] = []

  /// The windows that were made for this scene.
  open var windows: [UIWindow] { kept }
  open var keyWindow: UIWindow? { kept.last { $0.isKeyWindow } }
}

/// Source: `UIKit.UIWindow`. Nothing of it is drawn.
@MainActor open class UIWindow: UIView {
  open weak var windowScene: UIWindowScene? {
    didSet {
      oldValue?.kept.removeAll { $0 === self }
      windowScene?.kept.append(self)
    }
  }
  open var rootViewController: UIViewController?
  open private(set) var isKeyWindow = false

  public required nonisolated init() { super.init() }
  public convenience init(windowScene: UIWindowScene) {
    self.init()
    self.windowScene = windowScene
    windowScene.kept.append(self)
  }

  open func makeKey() { isKeyWindow = true }
  open func makeKeyAndVisible() { makeKey() }
}

/// Source: `UIKit.UISceneSession`.
@MainActor open class UISceneSession: NSObject {
  /// Source: `UIKit.UISceneSession.Role`.
  public struct Role: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let windowApplication = Role(rawValue: "UIWindowSceneSessionRoleApplication")
  }

  public let role: Role
  public let persistentIdentifier: String
  public internal(set) weak var scene: UIScene?
  public internal(set) var configuration: UISceneConfiguration
  open var userInfo: [String: Any]?
  /// What `stateRestorationActivity(for:)` returned last. It is not kept when the process ends.
  open var stateRestorationActivity: NSUserActivity?

  init(role: Role, identifier: String) {
    self.role = role
    persistentIdentifier = identifier
    configuration = UISceneConfiguration(name: nil, sessionRole: role)
    super.init()
  }
}

/// Source: `UIKit.UISceneConfiguration`.
@MainActor open class UISceneConfiguration: NSObject {
  public let name: String?
  public let role: UISceneSession.Role
  open var sceneClass: AnyClass?
  open var delegateClass: AnyClass?

  public init(name: String?, sessionRole: UISceneSession.Role) {
    (self.name, role) = (name, sessionRole)
    super.init()
  }
}

/// A URL that the app is to open. Source: `UIKit.UIOpenURLContext`.
open class UIOpenURLContext: NSObject {
  public let url: URL
  public let options = UIScene.OpenURLOptions()

  init(_ url: URL) {
    self.url = url
    super.init()
  }
}

/// The methods that the system calls for a scene. Source: `UIKit.UISceneDelegate`; every method is optional.
@MainActor public protocol UISceneDelegate: NSObjectProtocol, ClassInstantiable {
  /// The scene is there. `connectionOptions` has the URL or the activity of the widget that launched the app.
  func scene(
    _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
  /// The process is about to exit.
  func sceneDidDisconnect(_ scene: UIScene)
  func sceneDidBecomeActive(_ scene: UIScene)
  func sceneWillResignActive(_ scene: UIScene)
  /// Called at a launch too.
  func sceneWillEnterForeground(_ scene: UIScene)
  func sceneDidEnterBackground(_ scene: UIScene)
  /// The user opened a URL of the app, such as that of a widget, while the scene was connected.
  func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>)
  /// Called when the scene enters the background.
  func stateRestorationActivity(for scene: UIScene) -> NSUserActivity?
  func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String)
  /// The user tapped a widget without a URL, while the scene was connected.
  func scene(_ scene: UIScene, continue userActivity: NSUserActivity)
}

extension UISceneDelegate {
  public func scene(
    _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
  ) {}
  public func sceneDidDisconnect(_ scene: UIScene) {}
  public func sceneDidBecomeActive(_ scene: UIScene) {}
  public func sceneWillResignActive(_ scene: UIScene) {}
  public func sceneWillEnterForeground(_ scene: UIScene) {}
  public func sceneDidEnterBackground(_ scene: UIScene) {}
  public func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) { OptionalMethod.isMissing() }
  public func stateRestorationActivity(for scene: UIScene) -> NSUserActivity? { nil }
  public func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String) {}
  public func scene(_ scene: UIScene, continue userActivity: NSUserActivity) { OptionalMethod.isMissing() }
}

/// Source: `UIKit.UIWindowSceneDelegate`.
@MainActor public protocol UIWindowSceneDelegate: UISceneDelegate {
  var window: UIWindow? { get set }
}

extension UIWindowSceneDelegate {
  public var window: UIWindow? {
    get { nil }
    set {}
  }
}

/// One call of a method of a delegate. Detects whether the delegate has the method.
@MainActor enum OptionalMethod {
  private static var missing = false

  /// Called by the default implementation.
  static func isMissing() { missing = true }

  /// - Returns: whether the delegate has the method.
  static func isThere(_ call: () -> Void) -> Bool {
    missing = false
    call()
    return !missing
  }
}
