package import Foundation

// Pushes: what is said of tokens and notifications, on both sides of the push server.

/// What a device token is for, and so which topics it takes.
package enum PushTokenUse: String, Codable, Hashable, Sendable, CaseIterable {
  /// The containing app's, from `registerForRemoteNotifications()`: its topic is the app's bundle identifier.
  case app
  /// The app's widgets', from `WidgetPushHandler`: its topic is the app's bundle identifier with `.push-type.widgets`.
  case widgets
}

/// The value of the entitlement `aps-environment`. A token of one is a `BadDeviceToken` in the other.
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

/// Whose token it is: one for each device, app and use.
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

/// A device token as the push server knows it.
package struct DeviceToken: Codable, Hashable, Sendable {
  package enum State: String, Codable, Hashable, Sendable {
    case active
    /// `Unregistered`: the app is gone from the device, another token took its place, or no widget is placed any more.
    case unregistered
    /// `ExpiredToken`.
    case expired
  }
  /// Lower-case hexadecimal; its length is not promised.
  package let token: String
  package let subject: PushSubject
  package let environment: PushEnvironment
  package let state: State
  /// Since when it is in this state.
  package let since: Date
  package init(token: String, subject: PushSubject, environment: PushEnvironment, state: State, since: Date) {
    self.token = token
    self.subject = subject
    self.environment = environment
    self.state = state
    self.since = since
  }
}

/// One notification as the push server hands it to a device.
package struct PushedNotification: Codable, Hashable, Sendable {
  /// `apns-unique-id`: the push server's name of it, and the correlation of everything that is said of it.
  package let uniqueID: UUID
  /// `apns-id` as it was sent or made.
  package let apnsID: String
  package let subject: PushSubject
  package let type: PushType
  /// 10, 5 or 1.
  package let priority: Int
  package let collapseID: String?
  /// The JSON as it was sent, at most 5,120 bytes.
  package let payload: String
  package let acceptedAt: Date
  /// `nil`: by the storage policy. The epoch itself: one attempt.
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

/// One place that a notification passed.
package struct PushStation: Codable, Hashable, Sendable {
  package enum Name: String, Codable, Hashable, Sendable, CaseIterable {
    // At the push server.
    /// Answered with 200.
    case accepted
    /// Answered with another status: `detail` names the reason and the rule.
    case refused
    /// On disk, since the device is offline.
    case storedOffline
    /// On disk, since the device is asleep and the notification does not wake it.
    case storedPower
    /// Another notification of the same app took its place before it was delivered.
    case superseded
    /// Another one with the same `apns-collapse-id` took its place before it was delivered.
    case collapsed
    /// Its expiration passed before it was delivered.
    case expired
    /// One attempt was made, as its expiration of 0 asks, and the device was not there.
    case notStored
    /// Its token was no longer active when it was to be delivered.
    case tokenUnregistered
    /// Handed to the device.
    case sent
    /// On the device's disk.
    case delivered

    // On the device.
    /// A widget push without `content-changed: true`: it reloads nothing.
    case noContentChanged
    /// A widget push while no widget that supports pushes is placed.
    case noWidget
    /// Reloads are asked for; `detail` names the placements.
    case reloading
    /// The budget lets a placement wait, or refuses: `detail` names it, with the rule.
    case budget
    /// The new timeline of a placement is stored.
    case reloaded
    /// The reload came to nothing; the last timeline stays.
    case reloadFailed
    /// Another widget push came before this one's reload began.
    case supersededOnDevice
    /// The app's delegate was called, and completed with `detail`.
    case handled
    /// The app was not told: it was force-quit, or the system does not wake it for this one.
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

/// A notification in the push server's delivery log, or a request that it refused.
package struct PushRecord: Codable, Hashable, Sendable {
  /// Its number in the log: 1, 2, 3 …
  package let number: Int64
  package let uniqueID: UUID
  package let apnsID: String
  /// `nil` when the token is not known.
  package let subject: PushSubject?
  /// The token as it was sent.
  package let token: String
  /// The push type as it was sent; `nil` when it was not.
  package let type: String?
  /// Of the answer.
  package let status: Int
  /// Of the answer, when it was refused.
  package let reason: String?
  package let stations: [PushStation]
  package init(
    number: Int64, uniqueID: UUID, apnsID: String, subject: PushSubject?, token: String, type: String?, status: Int,
    reason: String?, stations: [PushStation]
  ) {
    self.number = number
    self.uniqueID = uniqueID
    self.apnsID = apnsID
    self.subject = subject
    self.token = token
    self.type = type
    self.status = status
    self.reason = reason
    self.stations = stations
  }
}
