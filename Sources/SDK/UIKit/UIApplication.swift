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

  /// Set for a SwiftUI app; `nil` without views.
  var opensURL: OpensURL?
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
    UIApplication.run { (Self(), [], nil) }
  }
}

extension UIApplication {
  /// Passes a URL to the `onOpenURL` handlers of a SwiftUI app. Returns whether there is any.
  package typealias OpensURL = @MainActor (URL) -> Bool

  /// The delegate that a SwiftUI app declares.
  package static var adopted: (any UIApplicationDelegate)?

  /// Runs an app. Does not return.
  ///
  /// - Parameter make: creates the author's delegate and the handlers of its scenes.
  package static func run(
    _ make: () -> (delegate: (any UIApplicationDelegate)?, handlers: [BackgroundEventsHandler], opens: OpensURL?)
  ) -> Never {
    let process = HostedProcess.begin()
    // The author's initializers may already use `URLSession.shared`.
    CurlPerformer.serve(process)
    let app = UIApplication()
    let (delegate, handlers, opens) = make()
    app.begin(with: delegate)
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
    applicationState = environment[LaunchVariables.launch] == LaunchVariables.foreground ? .inactive : .background
    process.connection.onEvent(AppActivation.self) { activation, received in
      await self.becomes(activation.isActive ? .active : .background, in: process, received.context)
    }
    process.connection.onEvent(OpenFromWidget.self) { opening, received in
      await self.opens(opening, in: process, received.context)
    }
    // Without a delegate only the scenes' handlers match sessions.
    let handler = BackgroundEventsHandler(matches: { _ in self.delegate != nil }) { identifier, completion in
      guard let delegate = self.delegate else { return completion() }
      delegate.application(self, handleEventsForBackgroundURLSession: identifier, completionHandler: completion)
    }
    serveNotifications(in: process)
    IntentPerformer.serve(process)
    SessionRegistry.of(process).serve(handlers + [handler])
    _ = process.asCurrent { delegate?.application(self, didFinishLaunchingWithOptions: nil) }
  }

  /// On `SIGTERM` calls the delegate's `applicationWillTerminate`, leaves the bus and exits.
  /// - Returns: the source of the signal's events.
  func leavesOnRequest(_ process: HostedProcess) -> any DispatchSourceSignal {
    let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
    termination.setEventHandler {
      MainActor.assumeIsolated {
        _ = process.asCurrent { self.delegate?.applicationWillTerminate(self) }
        self.leaving = Task { @concurrent in await process.leave() }
      }
    }
    termination.resume()
    return termination
  }

  /// The user tapped a widget: the delegate opens its URL, or continues a user activity that names the widget.
  func opens(_ opening: OpenFromWidget, in process: HostedProcess, _ context: MessageContext) {
    let isHandled = process.asCurrent(context) {
      guard let url = opening.url.flatMap({ URL(string: $0) }) else {
        let activity = NSUserActivity(activityType: opening.widgetKind)
        activity.configuration = opening.configuration
        activity.intent = opening.intent
        activity.userInfo = [
          "WGWidgetUserInfoKeyKind": opening.widgetKind, "WGWidgetUserInfoKeyFamily": opening.family.rawValue,
        ]
        return delegate?.application(self, continue: activity, restorationHandler: { _ in }) ?? false
      }
      if let opensURL, opensURL(url) { return true }
      return delegate?.application(self, open: url, options: [:]) ?? false
    }
    guard !isHandled else { return }
    let what = opening.url ?? "a user activity"
    process.log("opened from the widget \(opening.widgetKind) with \(what): neither a view nor the delegate handles it")
  }

  func becomes(_ state: State, in process: HostedProcess, _ context: MessageContext) {
    guard state != applicationState else { return }
    applicationState = state
    BackgroundTime.of(process).moves(toFront: state == .active)
    process.asCurrent(context) {
      if state == .active {
        delegate?.applicationDidBecomeActive(self)
      } else {
        delegate?.applicationDidEnterBackground(self)
      }
    }
  }
}
