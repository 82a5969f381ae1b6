import AppIntents
import Archive
import AuthoredProcess
package import BackgroundURLSession
import Conversations
import ForegroundURLSession
import Foundation
import MessageBus

extension UIApplicationDelegate {
  /// Runs the app. Called by `@main`.
  @MainActor public static func main() {
    UIApplication.run { (Self(), [], nil) }
  }
}

extension UIApplication {
  /// Hands a URL to the views of a SwiftUI app that want to hear of one; says whether any does.
  package typealias OpensURL = @MainActor (URL) -> Bool

  /// The delegate that a SwiftUI app names.
  package static var adopted: (any UIApplicationDelegate)?

  /// Runs an app for ever.
  ///
  /// - Parameter make: the author's delegate, and the handlers of its scenes.
  package static func run(
    _ make: () -> (delegate: (any UIApplicationDelegate)?, handlers: [BackgroundEventsHandler], opens: OpensURL?)
  ) -> Never {
    let process = HostedProcess.begin()
    let app = UIApplication()
    let (delegate, handlers, opens) = make()
    app.begin(with: delegate)
    app.serve(in: process, handlers, opens: opens)
    // Held as long as the process runs: that is for ever.
    let termination = app.leavesOnRequest(process)
    withExtendedLifetime(termination) { process.run() }
  }

  /// Launches: answers for the app, then tells the delegate that the process has begun. Before it is announced.
  ///
  /// - Parameters:
  ///   - handlers: of the app's scenes; the delegate's method is one more.
  ///   - opens: hands the app's views a URL; what none of them wants is the delegate's to open.
  func serve(in process: HostedProcess, _ handlers: [BackgroundEventsHandler] = [], opens: OpensURL? = nil) {
    opensURL = opens
    process.connection.onEvent(AppActivation.self) { activation, received in
      await self.becomes(activation.isActive ? .active : .background, in: process, received.story)
    }
    process.connection.onEvent(OpenFromWidget.self) { opening, received in
      await self.opens(opening, in: process, received.story)
    }
    // Without a delegate the scenes alone say which sessions are theirs.
    let handler = BackgroundEventsHandler(matches: { _ in self.delegate != nil }) { identifier, completion in
      guard let delegate = self.delegate else { return completion() }
      delegate.application(self, handleEventsForBackgroundURLSession: identifier, completionHandler: completion)
    }
    serveNotifications(in: process)
    ForegroundPerformer.serve(process)
    IntentPerformer.serve(process)
    SessionRegistry.of(process).serve(handlers + [handler])
    _ = process.asCurrent { delegate?.application(self, didFinishLaunchingWithOptions: nil) }
  }

  /// On `SIGTERM` tells the delegate, says goodbye and ends the process.
  /// - Returns: what listens for the signal.
  func leavesOnRequest(_ process: HostedProcess) -> any DispatchSourceSignal {
    signal(SIGTERM, SIG_IGN)
    let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
    termination.setEventHandler {
      MainActor.assumeIsolated { process.asCurrent { self.delegate?.applicationWillTerminate(self) } }
      Task { await process.leave() }
    }
    termination.resume()
    return termination
  }

  /// A person touched a widget: its URL is the delegate's to open, or the activity that names it to continue.
  func opens(_ opening: OpenFromWidget, in process: HostedProcess, _ story: Story) {
    let isHandled = process.asCurrent(story) {
      guard let url = opening.url.flatMap({ URL(string: $0) }) else {
        let activity = NSUserActivity(activityType: opening.widgetKind)
        activity.configuration = opening.configuration
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

  func becomes(_ state: State, in process: HostedProcess, _ story: Story) {
    guard state != applicationState else { return }
    applicationState = state
    process.asCurrent(story) {
      if state == .active {
        delegate?.applicationDidBecomeActive(self)
      } else {
        delegate?.applicationDidEnterBackground(self)
      }
    }
  }
}
