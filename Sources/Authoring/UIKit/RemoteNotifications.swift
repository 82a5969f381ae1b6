import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Synchronization

/// What came of a remote notification. Source: `UIKit.UIBackgroundFetchResult`.
public enum UIBackgroundFetchResult: UInt, Sendable {
  /// New data was downloaded.
  case newData = 0
  /// There was no new data.
  case noData = 1
  /// The download came to nothing.
  case failed = 2
}

// Source: `UIKit.UIApplication`, "Registering your app with APNs".
extension UIApplication {
  /// Asks for a device token. Returns at once; the delegate is told when there is one, or why there is none.
  public func registerForRemoteNotifications() {
    submit(.register) { result, process in Task { await self.registered(result, in: process) } }
  }

  /// Gives the app's token back: nothing is pushed to it any longer.
  public func unregisterForRemoteNotifications() {
    submit(.unregister) { result, process in
      if case .failure(let error) = result { process.log("unregisterForRemoteNotifications(): \(error)") }
    }
  }

  /// Whether the app has a token. Blocks until the host has answered.
  public var isRegisteredForRemoteNotifications: Bool {
    let answer = TokenAnswer()
    let limit = submit(.ask) { result, _ in answer.come(try? result.get().token) }
    return answer.wait(seconds: limit + 1) != nil
  }

  /// Asks the host, in the order of the calls. `completion` runs on the connection's executor.
  ///
  /// - Returns: how long an answer that is waited for may take.
  @discardableResult
  private func submit(
    _ action: RegisterForPushes.Action,
    _ completion: @escaping @Sendable (Result<RegisterForPushes.Reply, BusError>, HostedProcess) -> Void
  ) -> Double {
    guard let process = HostedProcess.current else {
      fatalError("UIApplication needs the device of `widgetlab up`; this process was not started by its agent")
    }
    let limit = process.rules.callDeadline
    process.connection.submit(
      RegisterForPushes(action), to: process.host, id: UUID(), story: HostedProcess.currentStory,
      within: .seconds(action == .ask ? limit : 86_400), whenUnreachable: .wait
    ) { completion($0, process) }
    return limit
  }

  private func registered(_ result: Result<RegisterForPushes.Reply, BusError>, in process: HostedProcess) {
    switch result {
    case .success(let reply): if let token = reply.token { has(token, in: process) }
    case .failure(let error) where error.code == .closed: return
    case .failure(let error):
      // As `UIApplication` fails without the entitlement: NSCocoaErrorDomain, 3000.
      let reason = error.code == .noPushEntitlement ? error.message : "\(error)"
      let failure = NSError(
        domain: NSCocoaErrorDomain, code: error.code == .noPushEntitlement ? 3000 : 3010,
        userInfo: [NSLocalizedDescriptionKey: reason])
      process.asCurrent {
        delegate?.application(self, didFailToRegisterForRemoteNotificationsWithError: failure)
      }
    }
  }

  private func has(_ token: String, in process: HostedProcess, _ story: Story = .none) {
    guard let data = Data(hexadecimal: token) else { return process.log("\(token) is no device token") }
    process.asCurrent(story) {
      delegate?.application(self, didRegisterForRemoteNotificationsWithDeviceToken: data)
    }
  }

  // MARK: What the host says

  /// Before the process is announced.
  func serveNotifications(in process: HostedProcess) {
    process.connection.onEvent(AppTokenChanged.self) { event, received in
      await self.has(event.token, in: process, received.story)
    }
    process.connection.onRequest(ReceiveNotification.self) { request, received in
      let result = await self.receives(request, in: process, received.story)
      await process.settled()
      return ReceiveNotification.Reply(result: result)
    }
  }

  /// Returns when the author's completion was called for the first time.
  ///
  /// - Returns: `nil` when the delegate has no such method.
  private func receives(
    _ request: ReceiveNotification, in process: HostedProcess, _ story: Story
  ) async -> ReceiveNotification.Reply.Result? {
    guard let delegate else { return nil }
    let object = try? JSONSerialization.jsonObject(with: Data(request.payload.utf8))
    let payload = object as? [String: Any] ?? [:]
    let completion = FetchCompletion()
    let result = await withCheckedContinuation { continuation in
      completion.wait(continuation)
      process.asCurrent(story) {
        FetchCompletion.$current.withValue(completion) {
          delegate.application(self, didReceiveRemoteNotification: payload) { completion.call($0) }
        }
      }
    }
    return completion.isMissing ? nil : ReceiveNotification.Reply.Result(result)
  }
}

/// The completion handler of one notification, of which the first call counts. Any thread.
final class FetchCompletion: Sendable {
  private let waiting = Mutex<CheckedContinuation<UIBackgroundFetchResult, Never>?>(nil)
  /// The delegate has neither form of the method.
  private let missing = Mutex(false)
  /// That of the notification that the delegate is being told of.
  @TaskLocal static var current: FetchCompletion?

  var isMissing: Bool { missing.withLock { $0 } }

  func wait(_ continuation: CheckedContinuation<UIBackgroundFetchResult, Never>) {
    waiting.withLock { $0 = continuation }
  }

  func call(_ result: UIBackgroundFetchResult) {
    waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }?.resume(returning: result)
  }

  func isNotThere() { missing.withLock { $0 = true } }
}

/// A token that an author's thread waits for.
private final class TokenAnswer: Sendable {
  private let token = Mutex<String?>(nil)
  private let arrival = DispatchSemaphore(value: 0)

  func come(_ token: String?) {
    self.token.withLock { $0 = token }
    arrival.signal()
  }

  func wait(seconds: Double) -> String? {
    _ = arrival.wait(timeout: .now() + seconds)
    return token.withLock { $0 }
  }
}

extension ReceiveNotification.Reply.Result {
  fileprivate init(_ result: UIBackgroundFetchResult) {
    self =
      switch result {
      case .newData: .newData
      case .noData: .noData
      case .failed: .failed
      }
  }
}
