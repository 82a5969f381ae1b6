// SPDX-License-Identifier: Apache-2.0

package import Foundation
import HeapModule
package import Messages

// The types of the loading state machine.

extension LoadingStateMachine {
  /// The networks that may be used.
  package struct Access: Sendable, Hashable {
    package var cellular: Bool
    package var expensive: Bool
    package var constrained: Bool
    package init(cellular: Bool = true, expensive: Bool = true, constrained: Bool = true) {
      self.cellular = cellular
      self.expensive = expensive
      self.constrained = constrained
    }

    package init(_ one: Access, and other: Access) {
      self.init(
        cellular: one.cellular && other.cellular, expensive: one.expensive && other.expensive,
        constrained: one.constrained && other.constrained)
    }

    /// `NSURLErrorNetworkUnavailableReasonKey`; `nil` when the network may be used or there is no network.
    package func unavailableReason(on network: NetworkState) -> Int? {
      if network.path == .cellular {
        if !cellular { return 0 }
        if !expensive { return 1 }
      }
      return network.isConstrained && !constrained ? 2 : nil
    }
  }

  /// The settings of a session's configuration that affect loading.
  package struct SessionPolicy: Sendable, Hashable {
    package var connectionsPerHost: Int
    /// Seconds.
    package var resourceTimeout: Double
    package var isDiscretionary: Bool
    package var access: Access
    package init(_ configuration: SessionConfiguration) {
      connectionsPerHost = configuration.httpMaximumConnectionsPerHost
      resourceTimeout = configuration.timeoutIntervalForResource
      isDiscretionary = configuration.isDiscretionary
      access = Access(
        cellular: configuration.allowsCellularAccess, expensive: configuration.allowsExpensiveNetworkAccess,
        constrained: configuration.allowsConstrainedNetworkAccess)
    }
  }

  /// What a task waits for.
  package enum WaitReason: Sendable, Hashable, CustomStringConvertible {
    /// The owner's `resume()`.
    case suspended
    case date(Date)
    /// The owner's reply to `willBeginDelayedRequest`.
    case ownerReply
    /// The next attempt after a failed one.
    case retry(Date)
    case limiter
    /// Any network.
    case connectivity
    /// A network that its session and its request permit.
    case permittedNetwork
    /// A discretionary task waits for a network without costs.
    case wifi
    /// One of its session's connections to the host.
    case connection(host: String)
    /// The device's turn: the maximum number of tasks load.
    case turn
    /// Not determined yet.
    case nothing

    package var description: String {
      switch self {
      case .suspended: "its owner's resume()"
      case .date(let date): "its earliest begin date, \(date.formatted(.iso8601))"
      case .ownerReply: "the owner's answer to willBeginDelayedRequest"
      case .retry(let date): "the next attempt, \(date.formatted(.iso8601))"
      case .limiter: "the resume rate limiter"
      case .connectivity: "connectivity"
      case .permittedNetwork: "a network that session and request permit"
      case .wifi: "Wi-Fi (the task is discretionary)"
      case .connection(let host): "a connection to \(host)"
      case .turn: "its turn on the device"
      case .nothing: "nothing"
      }
    }

    /// The date at which the wait ends by itself.
    package var instant: Date? {
      switch self {
      case .date(let date), .retry(let date): date
      default: nil
      }
    }

    /// Whether only other tasks are in the way.
    var isQueue: Bool {
      switch self {
      case .connection, .turn: true
      default: false
      }
    }

    /// Whether the wait is reported. A failed attempt reports its next date itself.
    var isSent: Bool {
      switch self {
      case .retry, .nothing: false
      default: true
      }
    }
  }

  /// A task that has not ended.
  package struct Transfer: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
      case waiting(WaitReason)
      case loading
      /// Loading, and requested to stop.
      case stopping
      /// No longer loading; the end is about to be reported.
      case ending
    }

    enum Consent: Sendable {
      case given, needed, asked
    }

    package let key: TaskKey
    /// Where its connections go: scheme, name and port.
    package internal(set) var host: String
    package let access: Access
    /// When `resume()` was recorded.
    package let created: Date
    package let isInBackground: Bool
    package internal(set) var priority: Float
    package internal(set) var earliestBeginDate: Date?
    package internal(set) var isSuspended: Bool
    /// The number of requests that were sent.
    package internal(set) var attempts: Int
    /// Consecutive attempts that failed without receiving a byte.
    package internal(set) var failures: Int
    package internal(set) var notBefore: Date?
    var consent: Consent
    package internal(set) var place = Place.waiting(.nothing)
    var hasConnection = false
    var isUnderWay = false
    var order = 0
    /// The stamp of the last change of place. Queue entries with an older stamp are void.
    var stamp = 0
    /// The wait that was reported last.
    var notified: WaitReason?

    package init(
      key: TaskKey, host: String, access: Access = Access(), created: Date, isInBackground: Bool = true,
      priority: Float = 0.5, earliestBeginDate: Date? = nil, asksBeforeBegin: Bool = false, isSuspended: Bool = false,
      attempts: Int = 0, failures: Int = 0, notBefore: Date? = nil
    ) {
      self.key = key
      self.host = host
      self.access = access
      self.created = created
      self.isInBackground = isInBackground
      self.priority = priority
      self.earliestBeginDate = earliestBeginDate
      self.isSuspended = isSuspended
      self.attempts = attempts
      self.failures = failures
      self.notBefore = notBefore
      consent = asksBeforeBegin ? .needed : .given
    }

    /// What it waits for; `nil` while it loads.
    package var wait: WaitReason? {
      if case .waiting(let wait) = place { return wait }
      return nil
    }

    mutating func fail(_ progressed: Bool, _ now: Date, _ settings: TransferSettings) {
      failures = progressed ? 1 : failures + 1
      notBefore = now.addingTimeInterval(settings.resumeBackoff.pause(after: failures))
    }
  }

  /// The resume rate limiter of an account (documented: *NSURLSession's Resume Rate
  /// Limiter*; the first figures observed).
  package struct Limiter: Sendable, Hashable {
    /// The owner that raised it last.
    package let owner: Address
    /// Seconds; 0 when it is off.
    package let delay: Double
    /// The date of the first of the wakes that doubled it.
    package let since: Date
    package let until: Date
    package init(owner: Address, delay: Double, since: Date, until: Date) {
      self.owner = owner
      self.delay = delay
      self.since = since
      self.until = until
    }
  }

  /// The connections of a session to one host.
  struct HostQueue: Sendable {
    struct Key: Hashable, Comparable {
      let session: SessionKey
      let host: String

      init(_ transfer: Transfer) {
        session = transfer.key.session
        host = transfer.host
      }

      static func < (left: Key, right: Key) -> Bool {
        (left.session.owner.text, left.session.identifier, left.host)
          < (right.session.owner.text, right.session.identifier, right.host)
      }
    }

    var taken = 0
    var queue = Heap<QueueEntry>()
  }

  /// An entry of a queue: ordered by priority, then by creation.
  struct QueueEntry: Comparable, Sendable {
    let priority: Float
    let order: Int
    let key: TaskKey
    let stamp: Int

    init(_ transfer: Transfer, stamp: Int) {
      priority = transfer.priority
      order = transfer.order
      key = transfer.key
      self.stamp = stamp
    }

    static func < (left: QueueEntry, right: QueueEntry) -> Bool {
      left.priority == right.priority ? left.order < right.order : left.priority > right.priority
    }
  }

  /// A date at which a task or a limiter must be checked again.
  struct Alarm: Comparable, Sendable {
    enum What: Equatable {
      case task(TaskKey, stamp: Int)
      case expiry(TaskKey)
      case limiter(String)
    }

    let instant: Date
    let what: What

    static func < (left: Alarm, right: Alarm) -> Bool { left.instant < right.instant }
  }
}

/// Which app an extension belongs to: the app whose bundle identifier is a prefix of the extension's.
package struct AppFamilies: Sendable {
  private let apps: [String]

  /// - Parameter apps: bundle identifiers of the device's apps.
  package init(apps: [String] = []) { self.apps = apps.sorted { $0.count > $1.count } }

  /// The app's bundle identifier. An extension without an app is its own family.
  package func family(of owner: Address) -> String {
    guard let bundle = owner.bundleIdentifier else { return owner.text }
    return apps.first { bundle == $0 || bundle.hasPrefix($0 + ".") } ?? bundle
  }
}
