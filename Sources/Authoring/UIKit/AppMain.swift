import AuthoredProcess
import BackgroundURLSession
import Conversations
import ForegroundURLSession
import Foundation
import MessageBus

extension UIApplicationDelegate {
  /// Runs the app. Called by `@main`.
  @MainActor public static func main() {
    let process = HostedProcess.begin()
    let app = UIApplication()
    app.begin(with: Self())
    app.serve(in: process)
    // Held as long as the process runs: that is for ever.
    let termination = app.leavesOnRequest(process)
    withExtendedLifetime(termination) { process.run(widgetKinds: []) }
  }
}

extension UIApplication {
  /// Launches: answers for the app, then tells the delegate that the process has begun. Before it is announced.
  func serve(in process: HostedProcess) {
    process.connection.onEvent(AppActivation.self) { activation, received in
      await self.becomes(activation.isActive ? .active : .background, in: process, received.story)
    }
    let handler = BackgroundEventsHandler(matches: { _ in true }) { identifier, completion in
      guard let delegate = self.delegate else { return completion() }
      delegate.application(self, handleEventsForBackgroundURLSession: identifier, completionHandler: completion)
    }
    ForegroundPerformer.serve(process)
    SessionRegistry.of(process).serve([handler])
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
