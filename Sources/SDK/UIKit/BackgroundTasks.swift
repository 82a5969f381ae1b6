// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime

/// A task of an app in the background. Source: `UIKit.UIBackgroundTaskIdentifier`.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
  public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
}

extension UIApplication {
  /// Keeps the app from being suspended until the task ends. When the time in the background is over, the handler is
  /// called on the main thread; an app that does not end its task then is ended.
  public nonisolated func beginBackgroundTask(
    withName name: String?, expirationHandler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    guard let process = HostedProcess.current else { return .invalid }
    let number = BackgroundTime.of(process).begin(name ?? "unnamed", orElse: .termination) {
      if let expirationHandler { MainActor.assumeIsolated { expirationHandler() } }
    }
    return UIBackgroundTaskIdentifier(rawValue: number)
  }
  public nonisolated func beginBackgroundTask(
    expirationHandler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    beginBackgroundTask(withName: nil, expirationHandler: expirationHandler)
  }
  public nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
    if let process = HostedProcess.current { BackgroundTime.of(process).end(identifier.rawValue) }
  }
  /// Seconds; the greatest finite number in the foreground.
  public var backgroundTimeRemaining: Double {
    HostedProcess.current.flatMap { BackgroundTime.of($0).remaining } ?? .greatestFiniteMagnitude
  }
}
