// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

/// An event of a socket's connections, from its monitor.
package enum SocketEvent: Sendable, Equatable {
  /// The transport of a connecting socket is established; the handshake follows.
  case connected
  /// A listener accepted a connection; the handshake follows.
  case accepted(descriptor: Int32)
  /// The peer is ready to send and receive. The descriptor is `unknownDescriptor` when several handshakes overlapped:
  /// ZeroMQ does not report which connection it was.
  case handshakeSucceeded(descriptor: Int32)
  /// The connection was rejected. `code` is the authenticator's status (300, 400, 500) if `isAuthentication`, otherwise
  /// one of ZeroMQ's protocol errors or an errno. The descriptor is as in `handshakeSucceeded`.
  case handshakeFailed(code: Int32, isAuthentication: Bool, descriptor: Int32)
  /// A connection was closed. Delivered before any message of a later connection with the same descriptor; messages of
  /// the closed connection itself may still follow.
  case disconnected(descriptor: Int32)
  /// A listener, or a connection that was never established, was closed.
  case closed(descriptor: Int32)
  /// A connecting socket has started and waits for the transport.
  case connecting
  /// A connecting socket tries again after its interval.
  case retrying
  /// A bound socket accepts connections.
  case listening
  case bindFailed(code: Int32)
  /// A connection could not be accepted: `EMFILE` when descriptors ran out.
  case acceptFailed(code: Int32)
  case closeFailed(code: Int32)
  /// A peer chose its own routing id, which this wrapper does not support: its message was dropped.
  case foreignRoutingID(descriptor: Int32)

  /// The value where ZeroMQ does not report which connection an event concerns.
  package static let unknownDescriptor: Int32 = -1
}

/// Reads a monitor's messages and tracks which connections are in the handshake, since only some events name theirs.
struct EventReader {
  /// Their descriptors; few, because a handshake has a deadline.
  private var shaking: [Int32] = []
  /// How many handshakes have ended without a known descriptor.
  private var endedUnknown = 0

  /// Nil for an event that is irrelevant to users of sockets.
  mutating func event(_ number: Int32, value: Int32) -> SocketEvent? {
    switch number {
    case ZMQ_EVENT_CONNECTED:
      add(value)
      return .connected
    case ZMQ_EVENT_ACCEPTED:
      add(value)
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
  /// Returns the connection in the handshake if it is the only one.
  private mutating func endOfHandshake() -> Int32 {
    if shaking.count == 1, let only = shaking.popLast() {
      endedUnknown = 0
      return only
    }
    endedUnknown += 1
    if endedUnknown >= shaking.count { forget() }
    return SocketEvent.unknownDescriptor
  }

  private mutating func add(_ descriptor: Int32) {
    if !shaking.contains(descriptor) { shaking.append(descriptor) }
  }

  /// A connection that ended while it was still listed had finished its handshake with an unknown descriptor.
  private mutating func remove(_ descriptor: Int32) {
    guard let index = shaking.firstIndex(of: descriptor) else { return }
    shaking.remove(at: index)
    endedUnknown = max(0, endedUnknown - 1)
    if endedUnknown >= shaking.count { forget() }
  }

  private mutating func forget() {
    shaking = []
    endedUnknown = 0
  }
}
