// SPDX-License-Identifier: Apache-2.0

package import Cluster
import Glibc
import Journal

/// The settings of a broker.
package struct BrokerSettings: Sendable {
  package var instance: InstanceFolder
  /// The endpoint for peers. With the port `*` the broker reuses the port of the instance's last broker, so that its
  /// peers can reconnect.
  package var listen: Endpoint
  /// The endpoint for observers.
  package var tap: Endpoint
  /// The host name to announce; nil for that of the endpoint.
  package var advertise: String?
  /// In bytes.
  package var segmentLimit = JournalWriter.defaultSegmentLimit
  /// The maximum number of connected peers: a further hello is refused with `too-many-peers`.
  package var peerLimit: Int
  /// The maximum number of connections of any kind; nil to derive it from the limit of descriptors.
  package var connectionLimit: Int?
  /// How long a standing key is still accepted after the first hello with its successor.
  package var keyGrace: Duration
  /// The size limit of the whole journal, in bytes; beyond it the oldest segments are removed.
  package var journalLimit: Int
  /// Whether each batch of the journal is on the disk before it is forwarded.
  package var synchronizesJournal: Bool
  /// A replica of the push server from which nothing arrives for so long counts as disconnected. The database that the
  /// replicas share has the same limit.
  package var replicaSilence = Duration.seconds(5)
  /// Counts what happens; `nil` without metrics.
  package var metrics: BrokerMetrics?

  /// How many frames may wait for one peer, in each direction, before it is busy or is not read from. ZeroMQ counts
  /// frames and not bytes: for a peer that does not read, this is at most 128 MiB if all frames have the maximum
  /// length, and half a MiB for the usual ones of less than 1 KiB. A viewer at the tap loses frames beyond this limit.
  static let queueLimit: Int32 = 512
  /// Bytes; a peer that sends a longer message is disconnected. Up to this limit it gets a refusal with the reason.
  static let messageLimit: Int64 = 1 << 19

  package init(
    instance: InstanceFolder, listen: Endpoint = .loopback, tap: Endpoint = .loopback, advertise: String? = nil,
    limits: BusLimits = BusLimits()
  ) {
    self.instance = instance
    self.listen = listen
    self.tap = tap
    self.advertise = advertise
    self.peerLimit = limits.peers
    self.keyGrace = limits.keyGrace
    self.journalLimit = limits.journal.bytes
    self.synchronizesJournal = limits.synchronizesJournal
  }
}

/// `tcp://HOST:PORT`; the port `*` selects any free one.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  package var host: String
  /// Nil for any free port.
  package var port: UInt16?

  package static let loopback = Endpoint(host: "127.0.0.1", port: nil)

  package init(host: String, port: UInt16?) {
    self.host = host
    self.port = port
  }

  /// Parses an endpoint; nil when the text is malformed.
  package init?(_ text: String) {
    let scheme = "tcp://"
    guard text.hasPrefix(scheme), let colon = text.lastIndex(of: ":") else { return nil }
    let start = text.index(text.startIndex, offsetBy: scheme.count)
    guard start < colon else { return nil }
    let port = text[text.index(after: colon)...]
    guard port == "*" || UInt16(port) != nil else { return nil }
    self.init(host: String(text[start..<colon]), port: UInt16(port).flatMap { $0 == 0 ? nil : $0 })
  }

  /// Whether it listens on every interface, so that its host is not a reachable name.
  package var isWildcard: Bool { ["*", "0.0.0.0", "[::]"].contains(host) }
  package var description: String { "tcp://\(host):\(port.map(String.init) ?? "*")" }
}

/// Why a broker could not start. Definite.
package struct BrokerError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// Another broker serves the instance.
    case alreadyServed = "already-served"
    /// The endpoint cannot be listened on.
    case endpoint
    /// The lock file of the instance could not be opened or locked.
    case lock
  }
  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}

/// Prevents a second broker for an instance. The kernel releases the lock when the process exits, however that happens.
final class JournalLock: Sendable {
  private let descriptor: Int32

  /// - Throws: `alreadyServed` with the pid of the other broker, `lock`.
  init(_ instance: InstanceFolder) throws(BrokerError) {
    let path = instance.bus + "/lock"
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw BrokerError(.lock, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
    }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      var buffer = [UInt8](repeating: 0, count: 16)
      let count = max(0, pread(file, &buffer, buffer.count, 0))
      close(file)
      guard code == EWOULDBLOCK else {
        throw BrokerError(.lock, "\(path) cannot be locked: \(String(cString: strerror(code)))")
      }
      let pid = String(decoding: buffer.prefix(count), as: UTF8.self)
      throw BrokerError(
        .alreadyServed,
        "another message-bus (pid \(pid)) serves \(instance.path): use it, stop it, or choose another --instance")
    }
    let pid = Array(String(getpid()).utf8)
    _ = ftruncate(file, 0)
    _ = pwrite(file, pid, pid.count, 0)
    // Assigned last: a class that throws after all properties are set is deinitialized, and would close the file twice.
    descriptor = file
  }

  deinit {
    // A process that is being spawned from this one holds a copy until its exec; `LOCK_UN` releases the lock
    // nevertheless.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
