package import Foundation

// What a person does to the device: its network, its clock, its apps; and what it says of its transfers.

/// The network as the device has it.
package struct NetworkState: Codable, Hashable, Sendable {
  package enum Path: String, Codable, Sendable, CaseIterable {
    /// Not constrained, not expensive.
    case wifi
    /// Expensive.
    case cellular
    /// None.
    case off
  }
  package var path: Path
  /// Bytes a second of all transfers together; as fast as the machine is when `nil`.
  package var rate: Int64?
  /// Low Data Mode.
  package var isConstrained: Bool
  package init(path: Path = .wifi, rate: Int64? = nil, isConstrained: Bool = false) {
    self.path = path
    self.rate = rate
    self.isConstrained = isConstrained
  }
}

/// A person changes the device's network. It stays so over the host's death.
package struct SetNetwork: Request {
  package static let kind: Kind = "network.set"
  package typealias Reply = NetworkState
  package let state: NetworkState
  package init(state: NetworkState) { self.state = state }
}

/// The network changed, or the process is told how it is: requests that a process performs itself obey it too.
package struct NetworkChanged: Notice {
  package static let kind: Kind = "network.changed"
  package let state: NetworkState
  package init(state: NetworkState) { self.state = state }
}

/// The device moved far: a significant change of its location. Where it is then nobody says.
package struct MoveDevice: Request {
  package static let kind: Kind = "device.move"
  package init() {}

  /// Of the placements whose widgets want the location.
  package struct Reply: Codable, Hashable, Sendable {
    /// They are seen, and so reloaded now.
    package let reloaded: [Int]
    /// They are out of sight, and so reloaded when they are seen.
    package let whenSeen: [Int]
    package init(reloaded: [Int], whenSeen: [Int]) {
      self.reloaded = reloaded
      self.whenSeen = whenSeen
    }
  }
}

/// The device's clock as it goes.
package struct ClockState: Codable, Hashable, Sendable {
  package let now: Date
  package let isHeld: Bool
  /// Seconds that it is ahead of the machine's; negative when behind.
  package let offset: Double
  /// Device seconds in one of the machine's, while it is not held.
  package let rate: Double
  package init(now: Date, isHeld: Bool, offset: Double, rate: Double = 1) {
    self.now = now
    self.isHeld = isHeld
    self.offset = offset
    self.rate = rate
  }
}

/// A person holds the device's clock, lets it go, sets it, changes its rate, or advances it. It stays so over the host's death.
package struct SetClock: Request {
  package static let kind: Kind = "clock.set"
  package typealias Reply = ClockState
  package enum Change: Codable, Hashable, Sendable {
    /// Changes nothing.
    case ask
    case hold
    /// It goes on, at its rate, from where it is.
    case run
    /// It stands at an instant, or goes on from there: as it did before.
    case set(Date)
    /// So many device seconds in one of the machine's.
    case rate(Double)
    /// By seconds, held or not, from one due instant to the next.
    case advance(Double)
    /// To the machine's time, running.
    case reset
  }
  package let change: Change
  package init(change: Change) { self.change = change }
}

/// Journal: the device's clock was held, let go or advanced.
package struct ClockChanged: Notice {
  package static let kind: Kind = "clock.changed"
  package let state: ClockState
  package init(state: ClockState) { self.state = state }
}

/// A person ends the app: its transfers are cancelled with -999 and reason 0, and it is not woken.
package struct ForceQuitApp: Request {
  package static let kind: Kind = "app.force-quit"
  package typealias Reply = Done
  package let bundle: String
  package init(bundle: String) { self.bundle = bundle }
}

/// The app is replaced by the same or a newer build: its processes and its extensions' end, and their containers have
/// another path.
package struct UpdateApp: Request {
  package static let kind: Kind = "app.update"
  package typealias Reply = Done
  package let bundle: String
  package init(bundle: String) { self.bundle = bundle }
}

/// Every session with its tasks, a page at a time.
package struct ListSessions: Request {
  package static let kind: Kind = "session.list"
  /// Only this session; all when `nil`.
  package let session: String?
  /// Tasks to be skipped, of all that are meant.
  package let offset: Int
  /// Sessions to be skipped.
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

/// A session as `sessions` prints it.
package struct SessionReport: Codable, Hashable, Sendable {
  package let owner: Address
  package let session: String
  package let configuration: SessionConfiguration
  /// The generation of the process that has it open.
  package let openIn: UInt32?
  /// Tasks that have not ended.
  package let running: Int
  /// Tasks that ended and were not acknowledged.
  package let undelivered: Int
  /// What its delivery waits for; `nil` when there is none.
  package let waitsFor: String?
  /// Until when tasks created in the background wait, by the resume rate limiter.
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

/// A task as `sessions` prints it.
package struct TaskReport: Codable, Hashable, Sendable {
  package enum State: String, Codable, Sendable {
    /// A request is under way.
    case loading
    /// `waitsFor` says for what.
    case waiting
    /// By its owner.
    case suspended
    /// With `failure` when it failed; not acknowledged yet.
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
