// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_exported public import Foundation

/// Source: `WatchConnectivity.WCSessionActivationState`.
public enum WCSessionActivationState: Int, Sendable {
  case notActivated, inactive, activated
}

/// Source: `WatchConnectivity.WCErrorDomain`.
public let WCErrorDomain = "WCErrorDomain"

/// Source: `WatchConnectivity.WCError`.
public struct WCError: CustomNSError, Hashable, Sendable {
  /// Source: `WatchConnectivity.WCError.Code`.
  public enum Code: Int, Sendable {
    case genericError = 7001
    case sessionNotSupported = 7002
    case sessionMissingDelegate = 7003
    case sessionNotActivated = 7004
    case deviceNotPaired = 7005
    case watchAppNotInstalled = 7006
    case notReachable = 7007
    case invalidParameter = 7008
    case payloadTooLarge = 7009
    case payloadUnsupportedTypes = 7010
    case messageReplyFailed = 7011
    case messageReplyTimedOut = 7012
    case fileAccessDenied = 7013
    case deliveryFailed = 7014
    case insufficientSpace = 7015
    case sessionInactive = 7016
    case transferTimedOut = 7017
    case companionAppNotInstalled = 7018
    case watchOnlyApp = 7019
  }

  public let code: Code
  public init(_ code: Code) { self.code = code }

  public static var errorDomain: String { WCErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: localizedDescription] }
  public var localizedDescription: String {
    code == .sessionNotSupported
      ? "WatchConnectivity session is not supported on this device."
      : "The operation couldn’t be completed: WatchConnectivity, \(code)."
  }
}

/// Source: `WatchConnectivity.WCSessionDelegate`. Never called here.
public protocol WCSessionDelegate: NSObjectProtocol {
  func session(
    _ session: WCSession, activationDidCompleteWith activationState: WCSessionActivationState, error: (any Error)?)
  func sessionDidBecomeInactive(_ session: WCSession)
  func sessionDidDeactivate(_ session: WCSession)
  func sessionWatchStateDidChange(_ session: WCSession)
  func sessionReachabilityDidChange(_ session: WCSession)
  func session(_ session: WCSession, didReceiveMessage message: [String: Any])
  func session(
    _ session: WCSession, didReceiveMessage message: [String: Any], replyHandler: @escaping ([String: Any]) -> Void)
  func session(_ session: WCSession, didReceiveMessageData messageData: Data)
  func session(
    _ session: WCSession, didReceiveMessageData messageData: Data, replyHandler: @escaping (Data) -> Void)
  func session(_ session: WCSession, didReceiveApplicationContext applicationContext: [String: Any])
  func session(_ session: WCSession, didReceiveUserInfo userInfo: [String: Any])
}

extension WCSessionDelegate {
  public func sessionDidBecomeInactive(_ session: WCSession) {}
  public func sessionDidDeactivate(_ session: WCSession) {}
  public func sessionWatchStateDidChange(_ session: WCSession) {}
  public func sessionReachabilityDidChange(_ session: WCSession) {}
  public func session(_ session: WCSession, didReceiveMessage message: [String: Any]) {}
  public func session(
    _ session: WCSession, didReceiveMessage message: [String: Any], replyHandler: @escaping ([String: Any]) -> Void
  ) {}
  public func session(_ session: WCSession, didReceiveMessageData messageData: Data) {}
  public func session(
    _ session: WCSession, didReceiveMessageData messageData: Data, replyHandler: @escaping (Data) -> Void
  ) {}
  public func session(_ session: WCSession, didReceiveApplicationContext applicationContext: [String: Any]) {}
  public func session(_ session: WCSession, didReceiveUserInfo userInfo: [String: Any]) {}
}

/// The connection of a phone with its watch. Source: `WatchConnectivity.WCSession`. A device here has no watch and no
/// phone: `isSupported()` is `false`, as on an iPad, and everything else fails with `sessionNotSupported`. The diagnosis
/// `not-simulated` names the use.
public final class WCSession: NSObject, Sendable {
  private static let only = WCSession()

  private override init() { super.init() }

  private static func notice() {
    HostedProcess.current?.noticeUnsimulated(
      "WCSession", "a device has no watch: isSupported() is false, and nothing is sent or received")
  }

  private static func unsupported() -> WCError {
    notice()
    return WCError(.sessionNotSupported)
  }

  public class var `default`: WCSession { only }
  public class func isSupported() -> Bool {
    notice()
    return false
  }

  /// Kept, and never called.
  // The author sets and reads it on one thread, as on a phone.
  public nonisolated(unsafe) weak var delegate: (any WCSessionDelegate)?

  /// Has no effect.
  public func activate() { Self.notice() }

  public var activationState: WCSessionActivationState { .notActivated }
  public var isPaired: Bool { false }
  public var isWatchAppInstalled: Bool { false }
  public var isCompanionAppInstalled: Bool { false }
  public var isComplicationEnabled: Bool { false }
  public var isReachable: Bool { false }
  public var iOSDeviceNeedsUnlockAfterRebootForReachability: Bool { false }
  public var hasContentPending: Bool { false }
  public var remainingComplicationUserInfoTransfers: Int { 0 }
  public var watchDirectoryURL: URL? { nil }
  public var applicationContext: [String: Any] { [:] }
  public var receivedApplicationContext: [String: Any] { [:] }

  public func sendMessage(
    _ message: [String: Any], replyHandler: (([String: Any]) -> Void)?,
    errorHandler: (@Sendable (any Error) -> Void)? = nil
  ) { fail(errorHandler) }
  public func sendMessageData(
    _ data: Data, replyHandler: ((Data) -> Void)?, errorHandler: (@Sendable (any Error) -> Void)? = nil
  ) { fail(errorHandler) }
  public func updateApplicationContext(_ applicationContext: [String: Any]) throws { throw Self.unsupported() }

  private func fail(_ handler: (@Sendable (any Error) -> Void)?) {
    let error = Self.unsupported()
    guard let handler else { return }
    DispatchQueue.global().async { handler(error) }
  }
}
