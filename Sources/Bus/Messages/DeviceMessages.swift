// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

// The user's control of the device: its network, its clock, its apps; and the device's list of transfers.

/// The state of the device's network.
package struct NetworkState: Codable, Hashable, Sendable {
  package enum Path: String, Codable, Sendable, CaseIterable {
    /// Not constrained, not expensive.
    case wifi
    /// Expensive.
    case cellular
    /// No network.
    case off
  }
  package var path: Path
  /// Bytes per second for all transfers together; `nil`: unlimited.
  package var rate: Int64?
  /// Low Data Mode.
  package var isConstrained: Bool
  package init(path: Path = .wifi, rate: Int64? = nil, isConstrained: Bool = false) {
    self.path = path
    self.rate = rate
    self.isConstrained = isConstrained
  }
}

/// The user changes the device's network. The setting survives a restart of the host.
package struct SetNetwork: Request {
  package static let kind: Kind = "network.set"
  package typealias Reply = NetworkState
  package let state: NetworkState
  package init(state: NetworkState) { self.state = state }
}

/// The network changed, or a process receives its current state: requests that a process performs itself obey it too.
package struct NetworkChanged: Notice {
  package static let kind: Kind = "network.changed"
  package let state: NetworkState
  package init(state: NetworkState) { self.state = state }
}

/// The device moved far: a significant location change. The new location is not specified.
package struct MoveDevice: Request {
  package static let kind: Kind = "device.move"
  package init() {}

  /// The placements whose widgets use the location.
  package struct Reply: Codable, Hashable, Sendable {
    /// Visible, and therefore reloaded now.
    package let reloaded: [Int]
    /// Not visible, and therefore reloaded when they become visible.
    package let whenSeen: [Int]
    package init(reloaded: [Int], whenSeen: [Int]) {
      self.reloaded = reloaded
      self.whenSeen = whenSeen
    }
  }
}

/// The state of the device's clock.
package struct ClockState: Codable, Hashable, Sendable {
  package let now: Date
  package let isHeld: Bool
  /// Seconds ahead of the machine's clock; negative when behind.
  package let offset: Double
  /// Device seconds per machine second, while the clock is not held.
  package let rate: Double
  package init(now: Date, isHeld: Bool, offset: Double, rate: Double = 1) {
    self.now = now
    self.isHeld = isHeld
    self.offset = offset
    self.rate = rate
  }
}

/// The user holds, resumes, sets or advances the device's clock, or changes its rate. The setting survives a restart of
/// the host.
package struct SetClock: Request {
  package static let kind: Kind = "clock.set"
  package typealias Reply = ClockState
  package enum Change: Codable, Hashable, Sendable {
    /// Changes nothing.
    case ask
    case hold
    /// Resumes at the clock's rate, from its current time.
    case run
    /// Sets the time; the clock stays held or running as before.
    case set(Date)
    /// Device seconds per machine second.
    case rate(Double)
    /// Advances by seconds, held or running, from one due time to the next.
    case advance(Double)
    /// Resets to the machine's time, running.
    case reset
  }
  package let change: Change
  package init(change: Change) { self.change = change }
}

/// Journal: the device's clock was held, resumed, set or advanced.
package struct ClockChanged: Notice {
  package static let kind: Kind = "clock.changed"
  package let state: ClockState
  package init(state: ClockState) { self.state = state }
}

/// The user force quits the app: its transfers are cancelled with -999 and reason 0, and it is not woken.
package struct ForceQuitApp: Request {
  package static let kind: Kind = "app.force-quit"
  package typealias Reply = Done
  package let bundle: String
  package init(bundle: String) { self.bundle = bundle }
}

/// The app is replaced by the same or a newer build: its processes and those of its extensions are ended, and their
/// containers get another path.
package struct UpdateApp: Request {
  package static let kind: Kind = "app.update"
  package typealias Reply = Done
  package let bundle: String
  package init(bundle: String) { self.bundle = bundle }
}

/// Requests the sessions with their tasks, in pages.
package struct ListSessions: Request {
  package static let kind: Kind = "session.list"
  /// Only this session; `nil`: all.
  package let session: String?
  /// Tasks to skip, of all selected ones.
  package let offset: Int
  /// Sessions to skip.
  package let sessionOffset: Int
  package init(session: String? = nil, offset: Int = 0, sessionOffset: Int = 0) {
    self.session = session
    self.offset = offset
    self.sessionOffset = sessionOffset
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let network: NetworkState
    package let clock: ClockState
    /// One page.
    package let sessions: [SessionReport]
    /// Of all pages.
    package let sessionCount: Int
    /// One page.
    package let tasks: [TaskReport]
    /// Of all pages.
    package let taskCount: Int
    package init(
      network: NetworkState, clock: ClockState, sessions: [SessionReport], sessionCount: Int, tasks: [TaskReport],
      taskCount: Int
    ) {
      self.network = network
      self.clock = clock
      self.sessions = sessions
      self.sessionCount = sessionCount
      self.tasks = tasks
      self.taskCount = taskCount
    }
  }
}

/// A session as printed by `sessions`.
package struct SessionReport: Codable, Hashable, Sendable {
  package let owner: Address
  package let session: String
  package let configuration: SessionConfiguration
  /// The generation of the process in which it is open.
  package let openIn: UInt32?
  /// Tasks that have not ended.
  package let running: Int
  /// Tasks that ended and are not acknowledged.
  package let undelivered: Int
  /// What its delivery waits for; `nil` when it has no pending delivery.
  package let waitsFor: String?
  /// Until when the resume rate limiter delays tasks created in the background.
  package let limitedUntil: Date?
  package init(
    owner: Address, session: String, configuration: SessionConfiguration, openIn: UInt32?, running: Int,
    undelivered: Int, waitsFor: String?, limitedUntil: Date?
  ) {
    self.owner = owner
    self.session = session
    self.configuration = configuration
    self.openIn = openIn
    self.running = running
    self.undelivered = undelivered
    self.waitsFor = waitsFor
    self.limitedUntil = limitedUntil
  }
}

/// A task as printed by `sessions`.
package struct TaskReport: Codable, Hashable, Sendable {
  package enum State: String, Codable, Sendable {
    /// A request is in progress.
    case loading
    /// `waitsFor` gives the reason.
    case waiting
    /// Suspended by its owner.
    case suspended
    /// With `failure` if it failed; not acknowledged yet.
    case ended
  }
  package let owner: Address
  package let session: String
  package let task: TaskSnapshot
  package let state: State
  package let waitsFor: String?
  package let nextTry: Date?
  package let attempts: Int
  package let response: TransferResponse?
  package let failure: TransferFailure?
  package init(
    owner: Address, session: String, task: TaskSnapshot, state: State, waitsFor: String?, nextTry: Date?, attempts: Int,
    response: TransferResponse?, failure: TransferFailure?
  ) {
    self.owner = owner
    self.session = session
    self.task = task
    self.state = state
    self.waitsFor = waitsFor
    self.nextTry = nextTry
    self.attempts = attempts
    self.response = response
    self.failure = failure
  }
}

// The settings of the device that views and the author's code read.

/// The user reads or changes a setting of the device. A change survives a restart of the host.
package struct ChangeSetting: Request {
  package static let kind: Kind = "setting.change"
  package enum Change: Codable, Hashable, Sendable {
    /// Changes nothing.
    case ask
    /// The value as `DeviceSettings.set(_:to:)` reads it.
    case set(SettingName, String)
    /// Back to the value of `widgetlab.yaml`.
    case reset(SettingName)
  }
  package let change: Change
  package init(_ change: Change) { self.change = change }

  /// The settings after the change.
  package struct Reply: Codable, Hashable, Sendable {
    package let settings: DeviceSettings
    /// What the user changed, in the order of `SettingName`.
    package let changed: [SettingName]
    package let appearance: ColorSchemeName
    package init(settings: DeviceSettings, changed: [SettingName], appearance: ColorSchemeName) {
      self.settings = settings
      self.changed = changed
      self.appearance = appearance
    }
  }
}

/// A setting changed, or a process receives the current settings: it applies locale and time zone to itself.
package struct SettingChanged: Notice {
  package static let kind: Kind = "setting.changed"
  /// As they apply to the receiver.
  package let settings: DeviceSettings
  /// `nil` for a process that receives several changes.
  package let name: SettingName?
  package init(settings: DeviceSettings, name: SettingName? = nil) {
    self.settings = settings
    self.name = name
  }
}
