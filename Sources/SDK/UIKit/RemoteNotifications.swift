// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
import Foundation
import MessageBus
import Messages
import Synchronization

/// The result of handling a remote notification. Source: `UIKit.UIBackgroundFetchResult`.
public enum UIBackgroundFetchResult: UInt, Sendable {
  /// New data was downloaded.
  case newData = 0
  /// There was no new data.
  case noData = 1
  /// The download failed.
  case failed = 2
}

// Source: `UIKit.UIApplication`, "Registering your app with APNs".
extension UIApplication {
  /// Requests a device token. Returns at once. The delegate receives the token or an error.
  public func registerForRemoteNotifications() {
    submit(.register) { result, process in
      process.startTask { await self.registered(result, in: process) }
    }
  }

  /// Releases the app's token. No further pushes are delivered.
  public func unregisterForRemoteNotifications() {
    submit(.unregister) { result, process in
      if case .failure(let error) = result { process.log("unregisterForRemoteNotifications(): \(error)") }
    }
  }

  /// Whether the app has a token. Blocks until the host has replied.
  public var isRegisteredForRemoteNotifications: Bool {
    let reply = try? process.ask(RegisterForPushes(.ask), context: HostedProcess.currentContext).get()
    return reply?.token != nil
  }

  private var process: HostedProcess {
    guard let process = HostedProcess.current else {
      fatalError("UIApplication needs the device of `widgetlab up`; this process was not started by its agent")
    }
    return process
  }

  /// Sends a request to the host, in the order of the calls. `completion` runs on the connection's executor.
  private func submit(
    _ action: RegisterForPushes.Action,
    _ completion: @escaping @Sendable (Result<RegisterForPushes.Reply, BusError>, HostedProcess) -> Void
  ) {
    let process = process
    process.connection.submit(
      RegisterForPushes(action), to: process.host, id: UUID(), context: HostedProcess.currentContext,
      within: .seconds(86_400), whenUnreachable: .wait
    ) { completion($0, process) }
  }

  private func registered(_ result: Result<RegisterForPushes.Reply, BusError>, in process: HostedProcess) {
    switch result {
    case .success(let reply): if let token = reply.token { has(token, in: process) }
    case .failure(let error) where error.code == .closed: return
    case .failure(let error):
      // The error of `UIApplication` without the entitlement: NSCocoaErrorDomain, 3000.
      let reason = error.code == .noPushEntitlement ? error.message : "\(error)"
      let failure = NSError(
        domain: NSCocoaErrorDomain, code: error.code == .noPushEntitlement ? 3000 : 3010,
        userInfo: [NSLocalizedDescriptionKey: reason])
      process.asCurrent {
        delegate?.application(self, didFailToRegisterForRemoteNotificationsWithError: failure)
      }
    }
  }

  private func has(_ token: String, in process: HostedProcess, _ context: MessageContext = .none) {
    guard let data = Data(hexadecimal: token) else { return process.log("\(token) is no device token") }
    process.asCurrent(context) {
      delegate?.application(self, didRegisterForRemoteNotificationsWithDeviceToken: data)
    }
  }

  // MARK: Messages from the host

  /// Call before the process is announced.
  func serveNotifications(in process: HostedProcess) {
    process.connection.onEvent(AppTokenChanged.self) { event, received in
      await self.has(event.token, in: process, received.context)
    }
    process.connection.onRequest(ReceiveNotification.self) { request, received in
      var presentation: String?
      if request.isPresented, let present = NotificationPresenter.of(process).present {
        presentation = await process.asCurrent(received.context) { await present(request.payload) }
      }
      // What the centre's delegate presented is not for the app's delegate, unless it has content too.
      let isForDelegate = presentation == nil || request.payload.isContentAvailable
      let result = isForDelegate ? await self.receives(request, in: process, received.context) : nil
      await process.settled()
      return ReceiveNotification.Reply(result: result, presentation: presentation)
    }
  }

  /// Returns after the first call of the author's completion handler.
  ///
  /// - Returns: `nil` when the delegate does not implement the method.
  private func receives(
    _ request: ReceiveNotification, in process: HostedProcess, _ context: MessageContext
  ) async -> ReceiveNotification.Reply.Result? {
    guard let delegate else { return nil }
    let object = try? JSONSerialization.jsonObject(with: Data(request.payload.utf8))
    let payload = object as? [String: Any] ?? [:]
    let completion = FetchCompletion()
    let result = await withCheckedContinuation { continuation in
      completion.wait(continuation)
      process.asCurrent(context) {
        FetchCompletion.$current.withValue(completion) {
          delegate.application(self, didReceiveRemoteNotification: payload) { completion.call($0) }
        }
      }
    }
    return completion.isMissing ? nil : ReceiveNotification.Reply.Result(result)
  }
}

/// The completion handler of one notification. Only the first call counts. Any thread.
final class FetchCompletion: Sendable {
  private let waitingContinuation = Mutex<CheckedContinuation<UIBackgroundFetchResult, Never>?>(nil)
  /// The delegate implements neither form of the method.
  private let missing = Mutex(false)
  /// That of the notification that the delegate is handling.
  @TaskLocal static var current: FetchCompletion?

  var isMissing: Bool { missing.withLock { $0 } }

  func wait(_ continuation: CheckedContinuation<UIBackgroundFetchResult, Never>) {
    waitingContinuation.withLock { $0 = continuation }
  }

  func call(_ result: UIBackgroundFetchResult) {
    waitingContinuation.withLock { waitingContinuation in
      defer { waitingContinuation = nil }
      return waitingContinuation
    }?.resume(returning: result)
  }

  func isNotThere() { missing.withLock { $0 = true } }
}

extension String {
  /// Whether this payload has `"content-available": 1`.
  fileprivate var isContentAvailable: Bool {
    let object = try? JSONSerialization.jsonObject(with: Data(utf8)) as? [String: Any]
    return ((object?["aps"] as? [String: Any])?["content-available"] as? NSNumber)?.intValue == 1
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
