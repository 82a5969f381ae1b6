import Conversations
import Foundation
import Glibc
import Logging
import ZeroMQ

/// Which connections there are, those to the tap among them, and how many there may be.
struct OpenConnections {
  /// Descriptors that are left free for what the broker itself opens: segments, key files.
  static let reserve = 32
  /// How long it is quiet before the broker says that the strain is over.
  static let quiet = Duration.seconds(1)

  /// Not shaking hands only: from `accept` to the end.
  var descriptors: Set<Int32> = []
  /// Those of them that came to the tap.
  var viewers: Set<Int32> = []
  private let fixedLimit: Int?
  /// How many descriptors the process has that are no connections.
  private let others: Int
  /// Since it began; nil while there is none.
  var strain: (reason: String, turnedAway: Int, last: ContinuousClock.Instant)?

  /// - Parameter limit: nil for what the process's limit of descriptors leaves.
  init(limit: Int?) {
    fixedLimit = limit
    others = limit == nil ? (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 64 : 0
  }

  /// As it is now: the limit of a process can be changed from outside.
  var limit: Int {
    if let fixedLimit { return fixedLimit }
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
    return max(1, Int(clamping: limit.rlim_cur) - others - Self.reserve)
  }

  /// A listener that is closed takes the connections with it that still shake hands on it, and ZeroMQ does not tell of
  /// their end.
  mutating func forgetClosed() {
    descriptors = descriptors.filter { descriptor in
      var status = stat()
      return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
    viewers.formIntersection(descriptors)
  }

  /// Room enough to speak of the end of the strain.
  var hasRoom: Bool { descriptors.count <= limit - max(1, limit / 8) }
}

/// Where connections come in.
enum Door: Hashable {
  case bus, tap

  /// How long it stays closed when a connection could not be taken or was one too many.
  static let pause = Duration.milliseconds(100)
}

// A connection beyond the limit is shut down as soon as it was taken, so that descriptors are left, and those who are
// there are served; and the listener is closed for a moment. Who is shut out comes again after 10 ms, each time, while who
// finds nobody listening waits longer and longer: some fifty who are shut out leave a busy machine nothing else to do. Where
// descriptors run out all the same, such as in a burst, ZeroMQ's listener would spin, and flood its monitor.

extension Broker {
  func count(_ event: SocketEvent, at door: Door) {
    switch event {
    case .accepted(let descriptor):
      connections.descriptors.insert(descriptor)
      if door == .tap { connections.viewers.insert(descriptor) }
      guard connections.descriptors.count > connections.limit else { return }
      end(descriptor)
      strained("descriptors", turnedAway: 1)
      shut(door)
    case .disconnected(let descriptor), .closed(let descriptor):
      connections.descriptors.remove(descriptor)
      connections.viewers.remove(descriptor)
    case .acceptFailed(let code):
      strained(String(cString: strerror(code)), turnedAway: 0)
      shut(door)
    default: break
    }
  }

  private func socket(_ door: Door) -> Socket? { door == .bus ? router : tap }

  private func shut(_ door: Door) {
    guard let endpoint = endpoints[door], closedDoors.insert(door).inserted else { return }
    do {
      try socket(door)?.unbind(endpoint)
    } catch {
      logger.warning("a listener could not be closed", metadata: ["error": "\(error)"])
    }
    reopen(door, endpoint)
  }

  private func reopen(_ door: Door, _ endpoint: String) {
    _ = loop.after(Door.pause) { [weak self] in
      self?.assumeIsolated { broker in
        do {
          _ = try broker.socket(door)?.bind(endpoint)
          broker.closedDoors.remove(door)
          broker.connections.forgetClosed()
        } catch {
          broker.strained("\(error)", turnedAway: 0)
          broker.reopen(door, endpoint)
        }
      }
    }
  }

  /// Ends a connection: ZeroMQ sees that and closes it. If it was closed a moment ago, the descriptor is at worst that of
  /// a newcomer, who connects again.
  func end(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func strained(_ reason: String, turnedAway: Int) {
    if connections.strain != nil {
      connections.strain?.turnedAway += turnedAway
      connections.strain?.last = .now
      return
    }
    connections.strain = (reason, turnedAway, .now)
    logger.error(
      "no more connections are taken: those who are there are served",
      metadata: ["reason": "\(reason)", "limit": "\(connections.limit)"])
    say(strain: (reason, turnedAway), isOver: false)
    awaitQuiet()
  }

  private func awaitQuiet() {
    _ = loop.after(OpenConnections.quiet) { [weak self] in
      self?.assumeIsolated { broker in
        guard let strain = broker.connections.strain else { return }
        broker.connections.forgetClosed()
        guard broker.connections.hasRoom, broker.closedDoors.isEmpty,
          ContinuousClock.now - strain.last >= OpenConnections.quiet
        else {
          return broker.awaitQuiet()
        }
        broker.connections.strain = nil
        broker.logger.notice("connections are taken again", metadata: ["turnedAway": "\(strain.turnedAway)"])
        broker.say(strain: (strain.reason, strain.turnedAway), isOver: true)
      }
    }
  }

  private func say(strain: (reason: String, turnedAway: Int), isOver: Bool) {
    let notice = BusStrained(
      reason: strain.reason, connections: connections.descriptors.count, limit: connections.limit,
      turnedAway: strain.turnedAway, isOver: isOver)
    decide { $0.tells(notice) }
  }
}
