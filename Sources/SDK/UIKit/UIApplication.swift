// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import AuthorRuntime
@_exported public import CoreGraphicsAPI
@_exported public import Foundation
import MessageBus
import Messages
// The modules that `import UIKit` makes visible to an author's file.
@_exported public import URLSessionAPI

/// An object that can respond to events. Source: `UIKit.UIResponder`.
@MainActor open class UIResponder: NSObject {
  public required nonisolated override init() { super.init() }
}

/// The app. Source: `UIKit.UIApplication`.
@MainActor open class UIApplication: UIResponder {
  /// The state of the app. Source: `UIKit.UIApplication.State`.
  public enum State: Int, Sendable {
    /// In the foreground.
    case active = 0
    /// In the foreground, without receiving events.
    case inactive = 1
    /// In the background.
    case background = 2
  }

  /// A key of the launch options. Source: `UIKit.UIApplication.LaunchOptionsKey`.
  public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  private static var instance: UIApplication?

  /// The app of this process.
  public class var shared: UIApplication {
    guard let instance else { fatalError("UIApplication.shared is available only while the app's main() runs") }
    return instance
  }

  /// Opens the settings of the app. Source: `UIKit.UIApplication.openSettingsURLString`.
  public nonisolated static let openSettingsURLString = "app-settings:"

  /// The author's delegate.
  open weak var delegate: (any UIApplicationDelegate)?
  /// Inactive while an app that the user opens is launched.
  public internal(set) var applicationState = State.background

  /// The scenes of the app: one at most here. Empty until the app comes to the foreground first.
  open var connectedScenes: Set<UIScene> { scene.map { [$0] } ?? [] }
  open var openSessions: Set<UISceneSession> { scene.map { [$0.session] } ?? [] }
  open var supportsMultipleScenes: Bool { false }

  /// Set for a SwiftUI app; `nil` without views.
  var opensURL: OpensURL?
  var entersState: EntersState?
  /// What `Info.plist` declares; `nil` for an app without scenes.
  var sceneManifest: SceneManifest?
  /// The scene, once it is connected.
  var scene: UIWindowScene?
  /// Widgets that the user tapped, and that are handled when the app comes to the foreground.
  private var heldOpenings: [(opening: OpenFromWidget, context: MessageContext)] = []
  /// Ends the process after SIGTERM.
  var leaving: Task<Void, Never>?
  // The app retains its delegate, as UIApplicationMain does.
  private var keptDelegate: (any UIApplicationDelegate)?

  package func begin(with delegate: (any UIApplicationDelegate)?) {
    UIApplication.instance = self
    keptDelegate = delegate
    self.delegate = delegate
  }
}

extension UIApplicationDelegate {
  /// Runs the app. Called through `@main`.
  @MainActor public static func main() {
    UIApplication.run { (Self(), [], nil, nil) }
  }
}

extension UIApplication {
  /// Passes a URL to the `onOpenURL` handlers of a SwiftUI app. Returns whether there is any.
  package typealias OpensURL = @MainActor (URL) -> Bool
  /// Notifies the views of a SwiftUI app of the state of the app.
  package typealias EntersState = @MainActor (State) -> Void

  /// The delegate that a SwiftUI app declares.
  package static var adopted: (any UIApplicationDelegate)?

  /// Runs an app. Does not return.
  ///
  /// - Parameter make: creates the author's delegate and the handlers of its scenes.
  package static func run(
    _ make: () -> (
      delegate: (any UIApplicationDelegate)?, handlers: [BackgroundEventsHandler], opens: OpensURL?,
      enters: EntersState?
    )
  ) -> Never {
    let process = HostedProcess.begin()
    // The author's initializers may already use `URLSession.shared`.
    CurlPerformer.serve(process)
    let app = UIApplication()
    let (delegate, handlers, opens, enters) = make()
    app.begin(with: delegate)
    app.entersState = enters
    app.sceneManifest = SceneManifest(Bundle.main.object(forInfoDictionaryKey: "UIApplicationSceneManifest"))
    app.serve(in: process, handlers, opens: opens)
    // Retained while the process runs.
    let termination = app.leavesOnRequest(process)
    withExtendedLifetime(termination) { process.run() }
  }

  /// Launches the app: registers its handlers, then calls the delegate's launch method. Call before the process is
  /// announced.
  ///
  /// - Parameters:
  ///   - handlers: those of the app's scenes. A handler for the delegate's method is added.
  ///   - opens: passes a URL to the app's views. A URL that no view handles is passed to the delegate.
  ///   - environment: has the state of the app at its launch.
  func serve(
    in process: HostedProcess, _ handlers: [BackgroundEventsHandler] = [], opens: OpensURL? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    opensURL = opens
    let isOpened = environment[LaunchVariables.launch] == LaunchVariables.foreground
    applicationState = isOpened ? .inactive : .background
    if isOpened { BackgroundTime.of(process).moves(toFront: true) }
    process.connection.onEvent(AppActivation.self) { activation, received in
      await self.becomes(activation.isActive ? .active : .background, in: process, received.context)
    }
    process.connection.onEvent(OpenFromWidget.self) { opening, received in
      await self.received(opening, in: process, received.context)
    }
    process.connection.onNotice(DeviceEventNotice.self) { notice, received in
      await self.happened(notice.event, in: process, received.context)
    }
    // Without a delegate only the scenes' handlers match sessions.
    let handler = BackgroundEventsHandler(matches: { _ in self.delegate != nil }) { identifier, completion in
      guard let delegate = self.delegate else { return completion() }
      delegate.application(self, handleEventsForBackgroundURLSession: identifier, completionHandler: completion)
    }
    serveNotifications(in: process)
    IntentPerformer.serve(process)
    SessionRegistry.of(process).serve(handlers + [handler])
    process.asCurrent {
      _ = delegate?.application(self, willFinishLaunchingWithOptions: nil)
      _ = delegate?.application(self, didFinishLaunchingWithOptions: nil)
    }
  }

  /// On `SIGTERM` calls the delegate's `applicationWillTerminate`, leaves the bus and exits.
  /// - Returns: the source of the signal's events.
  func leavesOnRequest(_ process: HostedProcess) -> any DispatchSourceSignal {
    let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
    termination.setEventHandler {
      MainActor.assumeIsolated {
        process.asCurrent {
          if let scene = self.scene { scene.delegate?.sceneDidDisconnect(scene) }
          self.delegate?.applicationWillTerminate(self)
        }
        self.leaving = Task { @concurrent in await process.leave() }
      }
    }
    termination.resume()
    return termination
  }

  /// The user tapped a widget. An app that is not yet in the foreground handles it on its way there.
  func received(_ opening: OpenFromWidget, in process: HostedProcess, _ context: MessageContext) {
    guard applicationState == .active else { return heldOpenings.append((opening, context)) }
    opens(opening, in: process, context)
  }

  /// A view, the scene's delegate or the app's delegate opens the URL of a widget, or continues a user activity that names
  /// the widget.
  private func opens(_ opening: OpenFromWidget, in process: HostedProcess, _ context: MessageContext) {
    let isHandled = process.asCurrent(context) {
      guard let url = opening.openedURL else {
        let activity = NSUserActivity(opening)
        if let scene, let sceneDelegate = scene.delegate {
          sceneDelegate.scene(scene, willContinueUserActivityWithType: activity.activityType)
          return OptionalMethod.isThere { sceneDelegate.scene(scene, continue: activity) }
        }
        guard sceneManifest == nil else { return false }
        _ = delegate?.application(self, willContinueUserActivityWithType: activity.activityType)
        return delegate?.application(self, continue: activity, restorationHandler: { _ in }) ?? false
      }
      if let opensURL, opensURL(url) { return true }
      if let scene, let sceneDelegate = scene.delegate {
        return OptionalMethod.isThere { sceneDelegate.scene(scene, openURLContexts: [UIOpenURLContext(url)]) }
      }
      guard sceneManifest == nil else { return false }
      return delegate?.application(self, open: url, options: [:]) ?? false
    }
    guard !isHandled else { return }
    let what = opening.url ?? "a user activity"
    process.log("opened from the widget \(opening.widgetKind) with \(what): neither a view nor a delegate handles it")
  }

  private func happened(_ event: DeviceEventNotice.Event, in process: HostedProcess, _ context: MessageContext) {
    process.asCurrent(context) {
      switch event {
      case .timeChanged: delegate?.applicationSignificantTimeChange(self)
      case .locked: delegate?.applicationProtectedDataWillBecomeUnavailable(self)
      case .unlocked: delegate?.applicationProtectedDataDidBecomeAvailable(self)
      }
    }
  }

  func becomes(_ state: State, in process: HostedProcess, _ context: MessageContext) {
    guard state != applicationState else { return }
    BackgroundTime.of(process).moves(toFront: state == .active)
    process.asCurrent(context) {
      if state == .active { comesToFront(in: process) } else { leavesFront() }
    }
  }

  private func comesToFront(in process: HostedProcess) {
    let wasInBackground = applicationState == .background
    var openings = heldOpenings
    heldOpenings = []
    applicationState = .inactive
    if scene == nil, sceneManifest != nil || opensURL != nil {
      // A SwiftUI app's views get their URL in `opens`.
      let isForScene = opensURL == nil
      connectScene(isForScene ? UIScene.ConnectionOptions(openings.map(\.opening)) : .init(), log: process.log)
      if isForScene { openings = [] }
    }
    if let scene { scene.enters(.foregroundInactive) { $0.sceneWillEnterForeground(scene) } }
    if wasInBackground, callsDelegate { delegate?.applicationWillEnterForeground(self) }
    entersState?(.inactive)
    for (opening, context) in openings { opens(opening, in: process, context) }
    applicationState = .active
    if let scene { scene.enters(.foregroundActive) { $0.sceneDidBecomeActive(scene) } }
    if callsDelegate { delegate?.applicationDidBecomeActive(self) }
    entersState?(.active)
  }

  private func leavesFront() {
    if applicationState == .active {
      if let scene { scene.delegate?.sceneWillResignActive(scene) }
      if callsDelegate { delegate?.applicationWillResignActive(self) }
      entersState?(.inactive)
    }
    applicationState = .background
    if let scene {
      scene.enters(.background) { $0.sceneDidEnterBackground(scene) }
      scene.session.stateRestorationActivity = scene.delegate?.stateRestorationActivity(for: scene)
    }
    if callsDelegate { delegate?.applicationDidEnterBackground(self) }
    entersState?(.background)
  }

  /// Whether the app's delegate is called when the app enters or leaves the foreground. Source: `UIApplicationDelegate`: "if
  /// you're using scenes, UIKit will not call this method". The delegate of a SwiftUI app is called nevertheless.
  private var callsDelegate: Bool { sceneManifest == nil || opensURL != nil }
}

extension UIScene {
  fileprivate func enters(_ state: ActivationState, _ call: (any UISceneDelegate) -> Void) {
    activationState = state
    if let delegate { call(delegate) }
  }
}

extension UIScene.ConnectionOptions {
  fileprivate convenience init(_ openings: [OpenFromWidget]) {
    self.init(
      contexts: Set(openings.compactMap(\.openedURL).map { UIOpenURLContext($0) }),
      activities: Set(openings.filter { $0.openedURL == nil }.map { NSUserActivity($0) }))
  }
}

extension OpenFromWidget {
  fileprivate var openedURL: URL? { url.flatMap { URL(string: $0) } }
}

extension NSUserActivity {
  /// The activity that names a tapped widget.
  fileprivate convenience init(_ opening: OpenFromWidget) {
    self.init(activityType: opening.widgetKind)
    configuration = opening.configuration
    intent = opening.intent
    userInfo = [
      "WGWidgetUserInfoKeyKind": opening.widgetKind, "WGWidgetUserInfoKeyFamily": opening.family.rawValue,
    ]
  }
}
