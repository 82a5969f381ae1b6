import CZeroMQ
import Glibc

/// What happened to a socket's connections, from its monitor.
package enum SocketEvent: Sendable, Equatable {
  /// The transport of a connecting socket is up; the handshake follows.
  case connected
  /// A listener took a connection; the handshake follows.
  case accepted(descriptor: Int32)
  /// The peer may send and be sent to. The descriptor is `unknownDescriptor` when several connections shook hands at once:
  /// ZeroMQ does not say which one it was.
  case handshakeSucceeded(descriptor: Int32)
  /// The connection is refused. `code` is the status of the authenticator (300, 400, 500) if `isAuthentication`, or else one of
  /// ZeroMQ's protocol errors or an errno. The descriptor is as in `handshakeSucceeded`.
  case handshakeFailed(code: Int32, isAuthentication: Bool, descriptor: Int32)
  /// A connection is gone. Reported before any message of a later connection with the same descriptor; messages of the
  /// connection itself may still follow.
  case disconnected(descriptor: Int32)
  /// A listener, or a connection that never came to be, was closed.
  case closed(descriptor: Int32)
  /// A connecting socket has begun and waits for the transport.
  case connecting
  /// A connecting socket tries again after its interval.
  case retrying
  /// A bound socket takes connections.
  case listening
  case bindFailed(code: Int32)
  /// A connection could not be taken: `EMFILE` where descriptors ran out.
  case acceptFailed(code: Int32)
  case closeFailed(code: Int32)
  /// A peer chose a routing id itself, which this wrapper doesn't serve: its message was dropped.
  case foreignRoutingID(descriptor: Int32)

  /// Stands where ZeroMQ does not say which connection an event is about.
  package static let unknownDescriptor: Int32 = -1
}

/// Reads a monitor's messages, and keeps which connections are shaking hands, since only some events name theirs.
struct EventReader {
  private var shaking: Set<Int32> = []
  /// How many of them are done without our knowing which.
  private var endedUnknown = 0

  /// Nil for an event that says nothing to a user of sockets.
  mutating func event(_ number: Int32, value: Int32) -> SocketEvent? {
    switch number {
    case ZMQ_EVENT_CONNECTED:
      shaking.insert(value)
      return .connected
    case ZMQ_EVENT_ACCEPTED:
      shaking.insert(value)
      return .accepted(descriptor: value)
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .handshakeSucceeded(descriptor: endOfHandshake())
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      return .handshakeFailed(code: value, isAuthentication: true, descriptor: endOfHandshake())
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      return .handshakeFailed(code: value, isAuthentication: false, descriptor: endOfHandshake())
    case ZMQ_EVENT_DISCONNECTED:
      remove(value)
      return .disconnected(descriptor: value)
    case ZMQ_EVENT_CLOSED:
      remove(value)
      return .closed(descriptor: value)
    case ZMQ_EVENT_CONNECT_DELAYED: return .connecting
    case ZMQ_EVENT_CONNECT_RETRIED: return .retrying
    case ZMQ_EVENT_LISTENING: return .listening
    case ZMQ_EVENT_BIND_FAILED: return .bindFailed(code: value)
    case ZMQ_EVENT_ACCEPT_FAILED: return .acceptFailed(code: value)
    case ZMQ_EVENT_CLOSE_FAILED: return .closeFailed(code: value)
    default: return nil
    }
  }
}

extension EventReader {
  /// The one connection that shakes hands, if it is only one.
  private mutating func endOfHandshake() -> Int32 {
    if shaking.count == 1, let only = shaking.popFirst() {
      endedUnknown = 0
      return only
    }
    endedUnknown += 1
    if endedUnknown >= shaking.count { forget() }
    return SocketEvent.unknownDescriptor
  }

  /// A connection that ended was, if it still stands here, one of those whose handshake ended unknown.
  private mutating func remove(_ descriptor: Int32) {
    guard shaking.remove(descriptor) != nil else { return }
    endedUnknown = max(0, endedUnknown - 1)
    if endedUnknown >= shaking.count { forget() }
  }

  private mutating func forget() {
    shaking = []
    endedUnknown = 0
  }
}
