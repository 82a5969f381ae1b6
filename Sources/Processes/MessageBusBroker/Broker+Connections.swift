// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logging
import Messages
import PrometheusMetrics
import ZeroMQ

/// The open connections, including those to the tap, and their limit.
struct OpenConnections {
  /// Descriptors reserved for the broker itself: segments, key files.
  static let reserve = 32
  /// The quiet time after which the broker reports the end of the strain.
  static let quiet = Duration.seconds(1)

  /// The descriptors of all connections, from `accept` to the end, including those still in the handshake.
  var descriptors: Set<Int32> = []
  /// Those that connected to the tap.
  var viewers: Set<Int32> = []
  private let fixedLimit: Int?
  /// The number of the process's descriptors that are not connections.
  private let others: Int
  /// The current strain since it began; nil without one.
  var strain: (reason: String, turnedAway: Int, last: ContinuousClock.Instant)?

  /// - Parameter limit: nil to derive it from the process's limit of descriptors.
  init(limit: Int?) {
    fixedLimit = limit
    others = limit == nil ? (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 64 : 0
  }

  /// The current limit, since the limit of a process can be changed from outside.
  var limit: Int {
    if let fixedLimit { return fixedLimit }
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
    return max(1, Int(clamping: limit.rlim_cur) - others - Self.reserve)
  }

  /// Removes the connections that were closed with a listener. A closed listener closes the connections that are still
  /// in the handshake, and ZeroMQ does not report their end.
  mutating func forgetClosed() {
    descriptors = descriptors.filter { descriptor in
      var status = stat()
      return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
    viewers.formIntersection(descriptors)
  }

  /// Whether there is enough room to report the end of the strain.
  var hasRoom: Bool { descriptors.count <= limit - max(1, limit / 8) }
}

/// A listener for connections.
enum ListeningSocket: Hashable {
  case bus, tap

  /// How long it stays closed after a connection could not be accepted or was one too many.
  static let pause = Duration.milliseconds(100)
}

// A connection beyond the limit is shut down as soon as it was accepted, so that descriptors are left and existing
// peers are served. In addition the listener is closed for a moment: a client that is shut down reconnects after 10 ms
// each time, while a client that finds no listener waits longer and longer. About fifty rejected clients would
// otherwise consume all time of a busy machine. If descriptors run out nevertheless, such as in a burst, ZeroMQ's
// listener would spin and flood its monitor.

extension Broker {
  func count(_ event: SocketEvent, at door: ListeningSocket) {
    switch event {
    case .accepted(let descriptor):
      connections.descriptors.insert(descriptor)
      metrics?.accepted.add()
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

  private func socket(_ door: ListeningSocket) -> Socket? { door == .bus ? router : tap }

  private func shut(_ door: ListeningSocket) {
    guard let endpoint = endpoints[door], closedDoors.insert(door).inserted else { return }
    do {
      try socket(door)?.unbind(endpoint)
    } catch {
      logger.warning("a listener could not be closed", metadata: ["error": "\(error)"])
    }
    reopen(door, endpoint)
  }

  private func reopen(_ door: ListeningSocket, _ endpoint: String) {
    _ = loop.after(ListeningSocket.pause) { [weak self] in
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

  /// Shuts a connection down: ZeroMQ detects that and closes it. If it was closed a moment ago, the descriptor is at
  /// worst that of a new connection, whose peer reconnects.
  func end(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func strained(_ reason: String, turnedAway: Int) {
    if connections.strain != nil {
      connections.strain?.turnedAway += turnedAway
      connections.strain?.last = .now
      return
    }
    connections.strain = (reason, turnedAway, .now)
    logger.error(
      "no more connections are accepted: existing ones are served",
      metadata: ["reason": "\(reason)", "limit": "\(connections.limit)"])
    report(strain: (reason, turnedAway), isOver: false)
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
        broker.logger.notice("connections are accepted again", metadata: ["turnedAway": "\(strain.turnedAway)"])
        broker.report(strain: (strain.reason, strain.turnedAway), isOver: true)
      }
    }
  }

  private func report(strain: (reason: String, turnedAway: Int), isOver: Bool) {
    let notice = BusStrained(
      reason: strain.reason, connections: connections.descriptors.count, limit: connections.limit,
      turnedAway: strain.turnedAway, isOver: isOver)
    decide { $0.recording(notice) }
  }
}

/// The time since the last data arrived on a TCP connection, by the kernel's clock; `nil` for a closed descriptor.
func silence(of descriptor: Int32) -> Duration? {
  var info = tcp_info()
  var length = socklen_t(MemoryLayout<tcp_info>.size)
  guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
  return .milliseconds(Int(info.tcpi_last_data_recv))
}
