// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
import Messages
// The modules that `import ActivityKit` makes visible to an author's file.
@_exported public import URLSessionAPI

// Source of all: `ActivityKit` of the iOS 18 SDK.

/// What a Live Activity shows and does not change. Source: `ActivityKit.ActivityAttributes`.
public protocol ActivityAttributes: Decodable, Encodable {
  /// What changes during the activity.
  associatedtype ContentState: Decodable, Encodable, Hashable
}

/// The content of a Live Activity. Source: `ActivityKit.ActivityContent`.
public struct ActivityContent<State: Decodable & Encodable & Hashable> {
  public var state: State
  /// When the content becomes stale; `nil`: never.
  public var staleDate: Date?
  /// The activity with the highest score is shown first.
  public var relevanceScore: Double

  public init(state: State, staleDate: Date?, relevanceScore: Double = 0.0) {
    self.state = state
    self.staleDate = staleDate
    self.relevanceScore = relevanceScore
  }
}

extension ActivityContent: Sendable where State: Sendable {}
extension ActivityContent: Equatable, Hashable {}

extension ActivityContent: CustomStringConvertible {
  public var description: String {
    "ActivityContent(state: \(state), staleDate: \(staleDate.map { "\($0)" } ?? "nil"), "
      + "relevanceScore: \(relevanceScore))"
  }
}

/// Source: `ActivityKit.ActivityState`.
public enum ActivityState: Codable, Hashable, Sendable {
  /// It is shown and can be updated.
  case active
  /// It is shown, and its content is the last one.
  case ended
  /// It is not shown any more.
  case dismissed
  /// Its content is outdated.
  case stale
  /// It was requested with a start date that is not reached. Never here: no such request is simulated.
  case pending
}

/// Whether a Live Activity ends when the device is locked. Source: `ActivityKit.ActivityStyle`.
public enum ActivityStyle: Codable, Hashable, Sendable {
  case standard
  /// Accepted, and shown as `standard`.
  case transient

  var name: String {
    switch self {
    case .standard: "standard"
    case .transient: "transient"
    }
  }
}

/// Source: `ActivityKit.PushType`.
public struct PushType: Hashable, Sendable {
  let channel: String?
  /// The activity gets a device token.
  public static let token = PushType(channel: nil)
  /// Broadcast push notifications. Fails by name: no channels are simulated.
  public static func channel(_ channelID: String) -> PushType { PushType(channel: channelID) }
}

/// When an ended activity leaves the Lock Screen. Source: `ActivityKit.ActivityUIDismissalPolicy`.
public struct ActivityUIDismissalPolicy: Hashable, Sendable {
  let value: ChangeActivity.Dismissal
  /// Four hours after its end.
  public static let `default` = ActivityUIDismissalPolicy(value: .standard)
  /// At once.
  public static let immediate = ActivityUIDismissalPolicy(value: .immediate)
  /// At a date, at most four hours after its end.
  public static func after(_ date: Date) -> ActivityUIDismissalPolicy { ActivityUIDismissalPolicy(value: .after(date)) }
}

/// How the system alerts the user of an update. Source: `ActivityKit.AlertConfiguration`. The journal has its title;
/// nothing sounds.
public struct AlertConfiguration: Hashable, Sendable {
  /// Source: `AlertConfiguration.AlertSound`.
  public struct AlertSound: Hashable, Sendable {
    let name: String?
    public static let `default` = AlertSound(name: nil)
    public static func named(_ name: String) -> AlertSound { AlertSound(name: name) }
  }

  public var title: LocalizedStringResource
  public var body: LocalizedStringResource
  public var sound: AlertSound

  public init(title: LocalizedStringResource, body: LocalizedStringResource, sound: AlertSound) {
    self.title = title
    self.body = body
    self.sound = sound
  }
}

/// Why a Live Activity cannot be started. Source: `ActivityKit.ActivityAuthorizationError`.
public enum ActivityAuthorizationError: Error, Hashable, Sendable, LocalizedError, CustomNSError {
  case unsupported
  case denied
  case globalMaximumExceeded
  case targetMaximumExceeded
  case visibility
  case persistenceFailure
  case unsupportedTarget
  case attributesTooLarge
  case unentitled
  case missingProcessIdentifier
  case malformedActivityIdentifier
  case reconnectNotPermitted

  public static var errorDomain: String { "com.apple.ActivityKit.ActivityAuthorizationError" }

  public var errorDescription: String? { failureReason }

  public var failureReason: String? {
    switch self {
    case .unsupported: "The device does not support Live Activities."
    case .denied: "The user or the Info.plist of the app does not allow Live Activities."
    case .globalMaximumExceeded: "The device has as many Live Activities as it may."
    case .targetMaximumExceeded: "The app has as many Live Activities as it may."
    case .visibility: "The app is not in the foreground."
    case .persistenceFailure: "The host did not reply."
    case .unsupportedTarget: "The app has no Live Activities."
    case .attributesTooLarge: "The attributes and the content exceed 4 KB."
    case .unentitled: "The app lacks an entitlement."
    case .missingProcessIdentifier: "The process is unknown."
    case .malformedActivityIdentifier: "The identifier of the activity is malformed."
    case .reconnectNotPermitted: "The process has lost its connection to the activity."
    }
  }
}
