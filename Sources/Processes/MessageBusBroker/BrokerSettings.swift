package import Cluster
import Glibc
import Journal

/// What a broker is started with.
package struct BrokerSettings: Sendable {
  package var instance: InstanceFolder
  /// Where peers connect. With the port `*` the port of the last broker of the instance is taken again, so that its
  /// peers find this one.
  package var listen: Endpoint
  /// Where subscribers connect that only look on.
  package var tap: Endpoint
  /// The host name under which others reach this one; nil for that of the endpoint.
  package var advertise: String?
  /// In bytes.
  package var segmentLimit = JournalWriter.defaultSegmentLimit
  /// How many peers may be connected at once: a further hello is refused `too-many-peers`.
  package var peerLimit: Int
  /// How many connections there may be, whoever they are; nil for what the limit of descriptors leaves.
  package var connectionLimit: Int?
  /// How long a standing key is still let in when its successor has spoken.
  package var keyGrace: Duration
  /// How long the whole journal may get, in bytes: then the oldest segments go.
  package var journalLimit: Int

  /// How many frames wait for one peer, in each direction, before it is busy or is not read from. ZeroMQ counts frames
  /// and not bytes, so for a peer that does not read this is at most 128 MiB, if all of them are as long as they may be;
  /// of the usual ones, of less than 1 KiB, it is half a MiB. A viewer at the tap loses what it has no room for.
  static let queueLimit: Int32 = 512
  /// Bytes; a peer that sends more at once is disconnected. Up to here it gets a refusal with its reason.
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
  }
}

/// `tcp://HOST:PORT`, where the port may be `*`: any free one.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  package var host: String
  /// Nil for any free one.
  package var port: UInt16?

  package static let loopback = Endpoint(host: "127.0.0.1", port: nil)

  package init(host: String, port: UInt16?) {
    self.host = host
    self.port = port
  }

  /// Reads an endpoint; nil when the text is none.
  package init?(_ text: String) {
    let scheme = "tcp://"
    guard text.hasPrefix(scheme), let colon = text.lastIndex(of: ":") else { return nil }
    let start = text.index(text.startIndex, offsetBy: scheme.count)
    guard start < colon else { return nil }
    let port = text[text.index(after: colon)...]
    guard port == "*" || UInt16(port) != nil else { return nil }
    self.init(host: String(text[start..<colon]), port: UInt16(port).flatMap { $0 == 0 ? nil : $0 })
  }

  /// Whether it listens on every interface, so that its host is nobody's name.
  package var isWildcard: Bool { ["*", "0.0.0.0", "[::]"].contains(host) }
  package var description: String { "tcp://\(host):\(port.map(String.init) ?? "*")" }
}

/// Why a broker does not start. Definite.
package struct BrokerError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// Another broker serves the instance.
    case alreadyServed = "already-served"
    /// The endpoint cannot be listened on.
    case endpoint
    /// The lock of the instance cannot be taken for a reason of the file system.
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

/// Keeps a second broker from an instance. The kernel gives it up when the process dies, however that happens.
final class InstanceLock: Sendable {
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
        "another message-bus (pid \(pid)) serves \(instance.path): use that one, end it, or choose another --instance")
    }
    let pid = Array(String(getpid()).utf8)
    _ = ftruncate(file, 0)
    _ = pwrite(file, pid, pid.count, 0)
    // Last of all: a class that throws after its properties are set is deinitialized, and would close the file twice.
    descriptor = file
  }

  deinit {
    // A process that is just being spawned from this one holds a copy until its exec; the lock is given up all the same.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
