// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

// Pushes: messages between push server and device, on the device, and for the operator's control of both.

extension BusError.Code {
  /// The app's or the extension's entitlements have no `aps-environment`. Definite.
  package static let noPushEntitlement = BusError.Code("no-push-entitlement")
  /// The token, app or device is unknown. Definite.
  package static let noSuchToken = BusError.Code("no-such-token")
  /// The device has no network at present. Definite.
  package static let offline = BusError.Code("offline")
  /// The notification arrived after its expiration. Definite.
  package static let expired = BusError.Code("expired")
}

// MARK: Between the push server and the device

/// The device requests a token: the same one is returned until it is replaced or no longer active.
package struct IssueToken: Request {
  package static let kind: Kind = "push.token.issue"
  /// The containing app's bundle identifier; the device is the sender's.
  package let bundle: String
  package let use: PushTokenUse
  package let environment: PushEnvironment
  package init(bundle: String, use: PushTokenUse, environment: PushEnvironment) {
    self.bundle = bundle
    self.use = use
    self.environment = environment
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// Lower-case hexadecimal.
    package let token: String
    package init(token: String) { self.token = token }
  }
}

/// The device no longer accepts notifications for a token: from now on providers get `Unregistered`.
package struct ReleaseToken: Request {
  package static let kind: Kind = "push.token.release"
  package typealias Reply = Done
  package let bundle: String
  package let use: PushTokenUse
  package init(bundle: String, use: PushTokenUse) {
    self.bundle = bundle
    self.use = use
  }
}

/// A token was replaced, or is no longer active. Acknowledged when it is on the device's disk.
package struct TokenReplaced: Event {
  package static let kind: Kind = "push.token.replaced"
  package let bundle: String
  package let use: PushTokenUse
  /// The new token, lower-case hexadecimal; `nil` until the device requests one.
  package let token: String?
  package init(bundle: String, use: PushTokenUse, token: String?) {
    self.bundle = bundle
    self.use = use
    self.token = token
  }
}

/// Whether the device is reachable; sent when its host starts, when the push server connects, and on every change.
package struct DeviceReach: Event {
  package static let kind: Kind = "push.reach"
  /// The device has a network.
  package let isOnline: Bool
  /// Only priority 10 wakes a device that is asleep.
  package let isAwake: Bool
  package init(isOnline: Bool, isAwake: Bool) {
    self.isOnline = isOnline
    self.isAwake = isAwake
  }
}

/// Delivers a notification to the device. Acknowledged when it is on the device's disk.
package struct DeliverPush: Event {
  package static let kind: Kind = "push.deliver"
  package let notification: PushedNotification
  package init(notification: PushedNotification) { self.notification = notification }
}

/// The progress of a notification on the device. Acknowledged when it is in the delivery log.
package struct PushProgress: Event {
  package static let kind: Kind = "push.progress"
  package let uniqueID: UUID
  package let step: PushStep
  package init(uniqueID: UUID, step: PushStep) {
    self.uniqueID = uniqueID
    self.step = step
  }
}

/// Journal: an entry was added to the delivery log.
package struct PushLogged: Notice {
  package static let kind: Kind = "push.logged"
  package let uniqueID: UUID
  package let subject: PushSubject?
  package let type: String?
  package let step: PushStep
  /// Entries before this one that are in the delivery log and not in the journal, because the journal gets a limited
  /// number per second; `nil` for none.
  package let omitted: Int?
  package init(uniqueID: UUID, subject: PushSubject?, type: String?, step: PushStep, omitted: Int? = nil) {
    self.uniqueID = uniqueID
    self.subject = subject
    self.type = type
    self.step = step
    self.omitted = omitted
  }
}

/// Journal: a device token was issued, replaced, released or expired.
package struct TokenChanged: Notice {
  package static let kind: Kind = "push.token.changed"
  package let token: DeviceToken
  package init(token: DeviceToken) { self.token = token }
}

// MARK: The operator's control of the push server

/// Sends a notification as Apple's console does: with the fields of a provider's request, except its authorization.
package struct SendPush: Request {
  package static let kind: Kind = "push.send"
  /// The token, or `nil` for the token of `subject`.
  package let token: String?
  package let subject: PushSubject?
  /// Names in lower case.
  package let headers: [String: String]
  package let payload: String
  package init(token: String?, subject: PushSubject?, headers: [String: String], payload: String) {
    self.token = token
    self.subject = subject
    self.headers = headers
    self.payload = payload
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let status: Int
    package let reason: String?
    /// Why it was rejected: the error and the rule.
    package let explanation: String?
    package let apnsID: String
    package let uniqueID: UUID
    package init(status: Int, reason: String?, explanation: String?, apnsID: String, uniqueID: UUID) {
      self.status = status
      self.reason = reason
      self.explanation = explanation
      self.apnsID = apnsID
      self.uniqueID = uniqueID
    }
  }
}

/// Requests the delivery log, in pages, oldest entry first. A page has fewer entries than requested when these have many
/// steps: the last one has all of `count`, and the one after it is empty.
package struct ListPushes: Request {
  package static let kind: Kind = "push.log"
  private static let pageLimit = 100
  /// Bytes of the entries in a page. The rest of an envelope is for the responses that the operator has set.
  package static let room = Wire.bodyLimit * 3 / 4
  /// Only this notification.
  package let uniqueID: UUID?
  /// Only entries after this number.
  package let after: Int64
  /// The maximum number of entries, at most 100; the newest of all when `after` is 0.
  package let limit: Int
  package init(uniqueID: UUID? = nil, after: Int64 = 0, limit: Int = 50) {
    self.uniqueID = uniqueID
    self.after = after
    self.limit = limit
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let pushes: [PushRecord]
    /// The number of all selected entries.
    package let count: Int
    /// The responses that the operator has set with `OverrideResponses` and that are not used up.
    package var overrides: [OverrideResponses]?
    package init(pushes: [PushRecord], count: Int) {
      self.pushes = pushes
      self.count = count
    }
  }

  /// The number of entries that a store reads for a page.
  package var entryLimit: Int { max(1, min(limit, Self.pageLimit)) }

  /// What it selects from a log in memory, as the statements of the stores do.
  ///
  /// - Parameters:
  ///   - log: by number, the oldest entry first.
  ///   - id: the unique id of an entry.
  ///   - number: the number of an entry.
  /// - Returns: the entries of a page without a limit of bytes, and the number of all that are selected.
  package func selection<Log: BidirectionalCollection>(
    from log: Log, id: (Log.Element) -> UUID, number: (Log.Element) -> Int64
  ) -> (found: [Log.Element], count: Int) {
    if let uniqueID {
      let found = log.filter { id($0) == uniqueID }
      return (found, found.count)
    }
    guard after != 0 else { return (Array(log.suffix(entryLimit)), log.count) }
    let later = log.filter { number($0) > after }
    return (Array(later.prefix(entryLimit)), later.count)
  }

  /// The reply with as many entries as there is room for, at least one: the newest of all, or the oldest after `after`.
  ///
  /// - Parameters:
  ///   - found: the entries of a page, the oldest first.
  ///   - count: the number of all that are selected.
  /// - Throws: `malformed-body`.
  package func reply(_ found: [PushRecord], count: Int) throws(BusError) -> Reply {
    let selectsNewest = uniqueID == nil && after == 0
    var page: [PushRecord] = []
    var left = Self.room
    for record in selectsNewest ? found.reversed() : found {
      let record = page.isEmpty ? try record.shortened(to: left) : record
      left -= try BodyCoding.data(record).count + 1
      guard left >= 0 || page.isEmpty else { break }
      page.append(record)
    }
    return Reply(pushes: selectsNewest ? page.reversed() : page, count: count)
  }
}

/// Requests a page of the push server's device tokens, oldest first.
package struct ListTokens: Request {
  package static let kind: Kind = "push.token.list"
  /// Only the active tokens of this device.
  package let device: String?
  /// Only tokens after this one.
  package let after: DeviceToken?
  package init(device: String? = nil, after: DeviceToken? = nil) {
    self.device = device
    self.after = after
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// Empty after the last one.
    package let tokens: [DeviceToken]
    package init(tokens: [DeviceToken]) { self.tokens = tokens }
  }
}

/// Changes a device token, as happens over time on a real device.
package struct ChangeToken: Request {
  package static let kind: Kind = "push.token.change"
  package enum Change: String, Codable, Hashable, Sendable, CaseIterable {
    /// Another token replaces it; the old one is `Unregistered`.
    case rotate
    /// It is an `ExpiredToken`, until the device requests another one.
    case expire
    /// It is `Unregistered`, until the device requests another one.
    case unregister
  }
  package let subject: PushSubject
  package let change: Change
  package init(subject: PushSubject, change: Change) {
    self.subject = subject
    self.change = change
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let tokens: [DeviceToken]
    package init(tokens: [DeviceToken]) { self.tokens = tokens }
  }
}

/// Makes the push server send something else than the regular response.
package struct OverrideResponses: Request, Hashable {
  package static let kind: Kind = "push.answer"
  package typealias Reply = Done
  /// What the provider receives.
  package enum Manner: String, Codable, Hashable, Sendable, CaseIterable {
    case response
    /// The stream is reset.
    case closesStream
    /// A GOAWAY with the reason, in the middle of the stream.
    case goesAway
  }
  package let status: Int
  package let reason: String?
  package let manner: Manner
  /// 0: cancels the remaining ones.
  package let times: Int
  /// Only requests for this token.
  package let token: String?
  /// Seconds until the response is sent.
  package let latency: Double
  package init(
    status: Int, reason: String?, manner: Manner = .response, times: Int = 1, token: String? = nil, latency: Double = 0
  ) {
    self.status = status
    self.reason = reason
    self.manner = manner
    self.times = times
    self.token = token
    self.latency = latency
  }
}

// MARK: On the device

/// Puts the device to sleep or wakes it. The state survives a restart of the host.
package struct SetPower: Request {
  package static let kind: Kind = "device.power"
  /// `nil`: the state is returned unchanged.
  package let isAwake: Bool?
  package init(isAwake: Bool?) { self.isAwake = isAwake }
  package struct Reply: Codable, Hashable, Sendable {
    package let isAwake: Bool
    package let network: NetworkState
    package init(isAwake: Bool, network: NetworkState) {
      self.isAwake = isAwake
      self.network = network
    }
  }
}

/// Calls each unique `WidgetPushHandler` of the extension once: a token is available or was replaced, or the placed
/// widgets changed.
package struct TellPushHandlers: Request, Hashable {
  package static let kind: Kind = "push.handlers"
  /// Lower-case hexadecimal.
  package let token: String
  /// The placed widgets that support pushes.
  package let widgets: [Placement]
  package init(token: String, widgets: [Placement]) {
    self.token = token
    self.widgets = widgets
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// The types that were called.
    package let handlers: [String]
    package init(handlers: [String]) { self.handlers = handlers }
  }
}

/// Calls each unique `ControlPushHandler` of the extension once: the token of a control is available or was replaced, or
/// the placed controls changed.
package struct TellControlPushHandlers: Request, Hashable {
  package static let kind: Kind = "push.handlers.controls"
  package struct Control: Codable, Hashable, Sendable {
    package let placement: Placement
    /// Lower-case hexadecimal.
    package let token: String
    package init(placement: Placement, token: String) {
      self.placement = placement
      self.token = token
    }
  }
  /// The placed controls that support pushes.
  package let controls: [Control]
  package init(controls: [Control]) { self.controls = controls }
  package typealias Reply = TellPushHandlers.Reply
}

/// `WidgetCenter.currentPushInfo`, and the push infos of `ControlCenter.currentControls()`.
package struct AskPushInfo: Request {
  package static let kind: Kind = "push.info"
  package init() {}
  package struct Reply: Codable, Hashable, Sendable {
    /// Lower-case hexadecimal; `nil` while there is no token, or no widget that supports pushes is placed.
    package let token: String?
    /// The tokens of the app's controls, lower-case hexadecimal, by placement number.
    package let controls: [Int: String]
    package init(token: String?, controls: [Int: String] = [:]) {
      self.token = token
      self.controls = controls
    }
  }
}

/// `UIApplication.registerForRemoteNotifications()` and related calls.
package struct RegisterForPushes: Request {
  package static let kind: Kind = "push.app.register"
  package enum Action: String, Codable, Hashable, Sendable {
    /// The reply is sent when a token is available, however long that takes.
    case register
    /// `unregisterForRemoteNotifications()`.
    case unregister
    /// `isRegisteredForRemoteNotifications`.
    case ask
  }
  package let action: Action
  package init(_ action: Action = .register) { self.action = action }
  package struct Reply: Codable, Hashable, Sendable {
    /// Lower-case hexadecimal; `nil` when the app is not registered, or has no token yet.
    package let token: String?
    package init(token: String?) { self.token = token }
  }
}

/// `UNUserNotificationCenter.requestAuthorization` and `getNotificationSettings`.
package struct AskNotificationAccess: Request {
  package static let kind: Kind = "notification.access"
  /// The raw value of the `UNAuthorizationOptions` that the app asks for; `nil` to read only.
  package let options: UInt?
  package init(options: UInt? = nil) { self.options = options }

  /// The cases of `UNAuthorizationStatus`.
  package enum Status: String, Codable, Hashable, Sendable {
    case notDetermined = "not-determined"
    case denied, authorized, provisional
  }

  package struct Reply: Codable, Hashable, Sendable {
    package let status: Status
    /// The options with which the app asked last; 0 if it has not asked.
    package let options: UInt
    package init(status: Status, options: UInt) {
      self.status = status
      self.options = options
    }
  }
}

/// Journal: a process that needs a device token gets none.
package struct PushWithheld: Notice, Hashable {
  package static let kind: Kind = "push.withheld"
  package enum Reason: String, Codable, Hashable, Sendable {
    /// Its entitlements have no `aps-environment`.
    case noEntitlement = "no-entitlement"
    /// The device's system version is older than pushes of this use.
    case systemTooOld = "system-too-old"
  }
  package let address: Address
  package let reason: Reason
  /// The author's types that wait for it; none when the app itself asked.
  package let handlers: [String]
  package init(address: Address, reason: Reason, handlers: [String] = []) {
    self.address = address
    self.reason = reason
    self.handlers = handlers
  }
}

/// The app's token changed: `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
package struct AppTokenChanged: Event {
  package static let kind: Kind = "push.app.token"
  /// Lower-case hexadecimal.
  package let token: String
  package init(token: String) { self.token = token }
}

/// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`: the reply is sent when the author called the
/// completion.
package struct ReceiveNotification: Request {
  package static let kind: Kind = "push.app.receive"
  package let uniqueID: UUID
  /// The JSON as the provider sent it.
  package let payload: String
  /// Whether it is an alert that the app, which is in front, may show: `willPresent`.
  package let isPresented: Bool
  package init(uniqueID: UUID, payload: String, isPresented: Bool = false) {
    self.uniqueID = uniqueID
    self.payload = payload
    self.isPresented = isPresented
  }
  package struct Reply: Codable, Hashable, Sendable {
    package enum Result: String, Codable, Hashable, Sendable { case newData, noData, failed }
    /// `nil`: the delegate does not implement the method.
    package let result: Result?
    /// What `willPresent` chose, such as `banner, sound`; `nil` if it was not called.
    package let presentation: String?
    package init(result: Result?, presentation: String? = nil) {
      self.result = result
      self.presentation = presentation
    }

    /// As the log of pushes says it.
    package var text: String {
      let none = "the delegate has no application(_:didReceiveRemoteNotification:fetchCompletionHandler:)"
      guard let presentation else { return result?.rawValue ?? none }
      let presented = "willPresent: \(presentation.isEmpty ? "nothing" : presentation)"
      return result.map { "\(presented); \($0.rawValue)" } ?? presented
    }
  }
}

/// A replica of the push server cannot serve devices, or can again: it has lost the shared database. The broker then maps
/// its senders to another replica.
package struct ReplicaReadiness: Notice {
  package static let kind: Kind = "push.replica"
  package let isReady: Bool
  package init(isReady: Bool) { self.isReady = isReady }
}
