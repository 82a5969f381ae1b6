// SPDX-License-Identifier: Apache-2.0

package import Foundation

// Pushes: tokens and notifications, as used on both sides of the push server.

/// The use of a device token, which determines its topic. Written `app`, `widgets`, `control-3`, `liveactivity-1`,
/// `liveactivity-start-RideAttributes` or `voip`. Suffixes of the
/// topics: Apple's *Sending notification requests to APNs*.
package enum PushTokenUse: RawRepresentable, Codable, Hashable, Sendable {
  /// The containing app's, from `registerForRemoteNotifications()`: its topic is the app's bundle identifier.
  case app
  /// The app's widgets', from `WidgetPushHandler`: its topic is the app's bundle identifier with `.push-type.widgets`.
  case widgets
  /// The token of the control with this placement number, from `ControlPushHandler`: its topic is the app's bundle
  /// identifier with `.push-type.controls`.
  case control(Int)
  /// The token of the app's Live Activity with this number, from `pushTokenUpdates`.
  case liveActivity(Int)
  /// The token with which a backend starts an app's Live Activities of one type of attributes, from
  /// `pushToStartTokenUpdates`.
  case liveActivityStarts(String)
  /// A token that only devices of a fleet have.
  case fleet(FleetTokenUse)

  private static let control = "control-"
  private static let liveActivity = "liveactivity-"
  private static let liveActivityStarts = "liveactivity-start-"

  package init?(rawValue: String) {
    func number(after prefix: String) -> Int? {
      rawValue.hasPrefix(prefix) ? Int(rawValue.dropFirst(prefix.count)) : nil
    }
    switch rawValue {
    case "app": self = .app
    case "widgets": self = .widgets
    default:
      if let use = FleetTokenUse(rawValue: rawValue) {
        self = .fleet(use)
      } else if let placement = number(after: Self.control) {
        self = .control(placement)
      } else if let activity = number(after: Self.liveActivity) {
        self = .liveActivity(activity)
      } else if rawValue.hasPrefix(Self.liveActivityStarts), rawValue != Self.liveActivityStarts {
        self = .liveActivityStarts(String(rawValue.dropFirst(Self.liveActivityStarts.count)))
      } else {
        return nil
      }
    }
  }

  package var rawValue: String {
    switch self {
    case .app: "app"
    case .widgets: "widgets"
    case .control(let placement): "\(Self.control)\(placement)"
    case .liveActivity(let activity): "\(Self.liveActivity)\(activity)"
    case .liveActivityStarts(let type): "\(Self.liveActivityStarts)\(type)"
    case .fleet(let use): use.rawValue
    }
  }
}

/// A use of a device token for which the simulated device has no code of an author. Devices of a fleet have such tokens.
package enum FleetTokenUse: String, Codable, Hashable, Sendable, CaseIterable {
  /// A complication's, from PushKit.
  case complication
  /// A file provider's, from PushKit.
  case fileprovider
  /// The token with which a backend starts a Live Activity, from `pushToStartTokenUpdates`.
  case liveActivityStart = "liveactivity-start"
  /// The token of a location push service extension.
  case location
  /// A managed device's. Its topic is the UID of its certificate, `com.apple.mgmt.…`, which replaces the bundle identifier.
  case mdm
  /// The channel manager's.
  case pushtotalk
  /// From PushKit.
  case voip
}

/// The value of the entitlement `aps-environment`. A token of one environment is a `BadDeviceToken` in the other.
package enum PushEnvironment: String, Codable, Hashable, Sendable, CaseIterable {
  /// `api.sandbox.push.apple.com`.
  case development
  /// `api.push.apple.com`.
  case production
}

/// The values of `apns-push-type`. Source: Apple's *Sending notification requests to APNs*.
package enum PushType: String, Codable, Hashable, Sendable, CaseIterable {
  case alert, background, complication, controls, fileprovider, liveactivity, location, mdm, pushtotalk, voip, widgets
}

/// The subject of a token: one token exists for each device, app and use. Each control has its own.
package struct PushSubject: Codable, Hashable, Sendable {
  /// The device's name.
  package let device: String
  /// The containing app's bundle identifier.
  package let bundle: String
  package let use: PushTokenUse
  package init(device: String, bundle: String, use: PushTokenUse) {
    self.device = device
    self.bundle = bundle
    self.use = use
  }
}

/// The push server's record of a device token.
package struct DeviceToken: Codable, Hashable, Sendable {
  package enum State: String, Codable, Hashable, Sendable {
    case active
    /// `Unregistered`: the app was removed from the device, another token replaced this one, or its control or the last
    /// widget is no longer placed.
    case unregistered
    /// `ExpiredToken`.
    case expired
  }
  /// Lower-case hexadecimal; the length may vary.
  package let token: String
  package let subject: PushSubject
  package let environment: PushEnvironment
  package let state: State
  /// When it entered this state.
  package let since: Date
  package init(token: String, subject: PushSubject, environment: PushEnvironment, state: State, since: Date) {
    self.token = token
    self.subject = subject
    self.environment = environment
    self.state = state
    self.since = since
  }
}

/// A notification as the push server delivers it to a device.
package struct PushedNotification: Codable, Hashable, Sendable {
  /// `apns-unique-id`: the push server's id, and the correlation id of all messages about it.
  package let uniqueID: UUID
  /// `apns-id` as sent by the provider, or generated.
  package let apnsID: String
  package let subject: PushSubject
  package let type: PushType
  /// 10, 5 or 1.
  package let priority: Int
  package let collapseID: String?
  /// The JSON as it was sent, at most 5,120 bytes.
  package let payload: String
  package let acceptedAt: Date
  /// `nil`: according to the storage policy. The epoch itself: one attempt.
  package let expiration: Date?
  /// It was stored because the device was offline or asleep.
  package let isFromStorage: Bool
  package init(
    uniqueID: UUID, apnsID: String, subject: PushSubject, type: PushType, priority: Int, collapseID: String?,
    payload: String, acceptedAt: Date, expiration: Date?, isFromStorage: Bool
  ) {
    self.uniqueID = uniqueID
    self.apnsID = apnsID
    self.subject = subject
    self.type = type
    self.priority = priority
    self.collapseID = collapseID
    self.payload = payload
    self.acceptedAt = acceptedAt
    self.expiration = expiration
    self.isFromStorage = isFromStorage
  }
}

/// One step in the delivery of a notification.
package struct PushStep: Codable, Hashable, Sendable {
  package enum Name: String, Codable, Hashable, Sendable, CaseIterable {
    // At the push server.
    /// Answered with 200.
    case accepted
    /// Rejected with another status: `detail` contains the reason and the rule.
    case refused
    /// Stored, since the device is offline.
    case storedOffline
    /// Stored, since the device is asleep and the notification does not wake it.
    case storedPower
    /// Replaced before delivery by another notification for the same app.
    case superseded
    /// Replaced before delivery by another one with the same `apns-collapse-id`.
    case collapsed
    /// Expired before delivery.
    case expired
    /// The single attempt for an expiration of 0 failed, since the device was not reachable.
    case notStored
    /// Its token was no longer active at the time of delivery.
    case tokenUnregistered
    /// Sent to the device.
    case sent
    /// On the device's disk.
    case delivered

    // On the device.
    /// A push to widgets or to a control without `content-changed: true`: it reloads nothing.
    case noContentChanged
    /// A push to widgets while no widget that supports pushes is placed, or to a control that is not placed.
    case noWidget
    /// Reloads are requested; `detail` lists the placements.
    case reloading
    /// The budget delays or refuses the reload of a placement: `detail` contains the placement and the rule.
    case budget
    /// The new timeline of a placement was stored.
    case reloaded
    /// The reload failed; the last timeline stays.
    case reloadFailed
    /// Another push to the same widgets or control arrived before this one's reload began.
    case supersededOnDevice
    /// The app's delegate was called, and completed with `detail`.
    case handled
    /// Not delivered to the app: it was force-quit, or the system does not wake it for this notification.
    case discarded
  }
  package let name: Name
  package let at: Date
  package let detail: String?
  package init(_ name: Name, at: Date, detail: String? = nil) {
    self.name = name
    self.at = at
    self.detail = detail
  }
}

/// A notification in the push server's delivery log, or a request that it rejected.
package struct PushRecord: Codable, Hashable, Sendable {
  /// Its number in the log: 1, 2, 3 …
  package let number: Int64
  package let uniqueID: UUID
  package let apnsID: String
  /// `nil` when the token is unknown.
  package let subject: PushSubject?
  /// The token as sent.
  package let token: String
  /// The push type as sent; `nil` when missing.
  package let type: String?
  /// The status of the response.
  package let status: Int
  /// The reason in the response, when rejected.
  package let reason: String?
  package private(set) var steps: [PushStep]
  /// Steps after the first one that an envelope has no room for; `nil` for none.
  package private(set) var omittedSteps: Int?
  package init(
    number: Int64, uniqueID: UUID, apnsID: String, subject: PushSubject?, token: String, type: String?, status: Int,
    reason: String?, steps: [PushStep]
  ) {
    self.number = number
    self.uniqueID = uniqueID
    self.apnsID = apnsID
    self.subject = subject
    self.token = token
    self.type = type
    self.status = status
    self.reason = reason
    self.steps = steps
  }

  /// The entry with its first step and the newest ones, if all together have more bytes than there is room for.
  ///
  /// - Throws: `malformed-body`.
  func shortened(to room: Int) throws(BusError) -> PushRecord {
    guard try BodyCoding.data(self).count > room else { return self }
    var short = self
    short.steps = Array(steps.prefix(1))
    short.omittedSteps = steps.count
    var left = room - (try BodyCoding.data(short).count)
    var newest: [PushStep] = []
    for step in steps.dropFirst().reversed() {
      left -= try BodyCoding.data(step).count + 1
      guard left >= 0 else { break }
      newest.append(step)
    }
    short.steps += newest.reversed()
    short.omittedSteps = steps.count - short.steps.count
    return short
  }
}

// Topics of push types and of device tokens.

extension PushType {
  /// The suffix that follows the bundle identifier in the topic of this type. Source: Apple's *Sending notification
  /// requests to APNs*.
  package var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .complication: ".complication"
    case .controls: ".push-type.controls"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    case .pushtotalk: ".voip-ptt"
    case .voip: ".voip"
    case .widgets: ".push-type.widgets"
    }
  }
}

extension PushTokenUse {
  /// The push type that determines the topic of a token of this use.
  package var topicType: PushType {
    switch self {
    case .app: .alert
    case .widgets: .widgets
    case .control: .controls
    case .liveActivity, .liveActivityStarts, .fleet(.liveActivityStart): .liveactivity
    case .fleet(.complication): .complication
    case .fleet(.fileprovider): .fileprovider
    case .fleet(.location): .location
    case .fleet(.mdm): .mdm
    case .fleet(.pushtotalk): .pushtotalk
    case .fleet(.voip): .voip
    }
  }

  /// The topic of a token of this use.
  package func topic(ofBundle bundle: String) -> String { bundle + topicType.topicSuffix }
}
