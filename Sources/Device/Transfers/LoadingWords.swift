package import Conversations
package import Foundation
import HeapModule
import Timekeeping

// What the decision of what loads speaks of.

extension LoadingDecision {
  /// Which networks may be used.
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

    /// `NSURLErrorNetworkUnavailableReasonKey`; `nil` when the network may be used, or there is none.
    package func unavailableReason(on network: NetworkState) -> Int? {
      if network.path == .cellular {
        if !cellular { return 0 }
        if !expensive { return 1 }
      }
      return network.isConstrained && !constrained ? 2 : nil
    }
  }

  /// What a session's configuration says of loading.
  package struct Terms: Sendable, Hashable {
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
  package enum Wait: Sendable, Hashable, CustomStringConvertible {
    /// Its owner's `resume()`.
    case suspended
    case date(Date)
    /// The owner's word to `willBeginDelayedRequest`.
    case answer
    /// The next attempt after one that failed.
    case retry(Date)
    case limiter
    /// Any network.
    case connectivity
    /// A network that its session and its request permit.
    case permittedNetwork
    /// A discretionary task, for a network that costs nothing.
    case wifi
    /// One of its session's connections to the host.
    case connection(host: String)
    /// The device's turn: enough of its tasks load.
    case turn
    /// It was not looked at yet.
    case nothing

    package var description: String {
      switch self {
      case .suspended: "its owner's resume()"
      case .date(let date): "its earliest begin date, \(date.formatted(.iso8601))"
      case .answer: "the owner's answer to willBeginDelayedRequest"
      case .retry(let date): "the next attempt, \(date.formatted(.iso8601))"
      case .limiter: "the resume rate limiter"
      case .connectivity: "connectivity"
      case .permittedNetwork: "a network that session and request permit"
      case .wifi: "Wi-Fi, being discretionary"
      case .connection(let host): "a connection to \(host)"
      case .turn: "its turn on the device"
      case .nothing: "nothing"
      }
    }

    /// When it is over by itself.
    var instant: Date? {
      switch self {
      case .date(let date), .retry(let date): date
      default: nil
      }
    }

    /// Whether nothing but other tasks is in the way.
    var isQueue: Bool {
      switch self {
      case .connection, .turn: true
      default: false
      }
    }

    /// A failed attempt says itself when the next comes.
    var isSaid: Bool {
      switch self {
      case .retry, .nothing: false
      default: true
      }
    }
  }

  /// A task that has not ended.
  package struct Transfer: Sendable, Hashable {
    enum Place: Sendable, Hashable {
      case waiting(Wait)
      case loading
      /// Loading, and told to stop.
      case stopping
      /// It loads no more; its end is about to be told.
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
    /// Requests that went out.
    package internal(set) var attempts: Int
    /// Attempts that failed in a row without a byte.
    package internal(set) var failures: Int
    package internal(set) var notBefore: Date?
    var consent: Consent
    var place = Place.waiting(.nothing)
    var hasConnection = false
    var isUnderWay = false
    var order = 0
    /// Of the last change of place; what was queued under an older one is worth nothing.
    var stamp = 0
    /// What was said last of what it waits for.
    var told: Wait?

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
    package var wait: Wait? {
      if case .waiting(let wait) = place { return wait }
      return nil
    }

    mutating func fail(_ progressed: Bool, _ now: Date, _ settings: TransferSettings) {
      failures = progressed ? 1 : failures + 1
      notBefore = now.addingTimeInterval(settings.retries.pause(after: failures))
    }
  }

  /// The resume rate limiter of an account (documented: DOC-BG; the figures observed).
  package struct Limiter: Sendable, Hashable {
    /// Who raised it last.
    package let owner: Address
    /// Seconds; 0 when it is off.
    package let delay: Double
    /// When the first of the wakes came that doubled it.
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
  struct Lane: Sendable {
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
    var queue = Heap<Ticket>()
  }

  /// A place in a queue: by priority, then in the order of creation.
  struct Ticket: Comparable, Sendable {
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

    static func < (left: Ticket, right: Ticket) -> Bool {
      left.priority == right.priority ? left.order < right.order : left.priority > right.priority
    }
  }

  /// An instant at which something is to be looked at again.
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

/// Which app an extension belongs to: the one whose bundle identifier its own begins with.
package struct AppFamilies: Sendable {
  private let apps: [String]

  /// - Parameter apps: bundle identifiers of the device's apps.
  package init(apps: [String] = []) { self.apps = apps.sorted { $0.count > $1.count } }

  /// The app's bundle identifier; an extension without an app is a family of its own.
  package func family(of owner: Address) -> String {
    guard let bundle = owner.bundleIdentifier else { return owner.text }
    return apps.first { bundle == $0 || bundle.hasPrefix($0 + ".") } ?? bundle
  }
}
