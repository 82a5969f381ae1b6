// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

/// The routing id that a ROUTER assigned to a connection: new for every connection, so a peer that reconnects gets
/// another.
package struct PeerID: Hashable, Sendable, CustomStringConvertible {
  let raw: UInt32

  init(raw: UInt32) { self.raw = raw }

  /// Nil for an id that the peer chose. An assigned id is a zero byte and four more.
  init?(frame: UnsafeRawBufferPointer) {
    guard frame.count == 5, frame[0] == 0 else { return nil }
    raw = frame.loadUnaligned(fromByteOffset: 1, as: UInt32.self)
  }

  /// Passes the id as the frame that precedes a message on a ROUTER.
  func withFrame<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    withUnsafeTemporaryAllocation(byteCount: 5, alignment: 1) { frame in
      frame[0] = 0
      frame.storeBytes(of: raw, toByteOffset: 1, as: UInt32.self)
      return body(UnsafeRawBufferPointer(frame))
    }
  }

  package var description: String { "peer \(raw)" }
}

/// The result of queueing a message without waiting.
package enum SendResult: Sendable, Equatable {
  /// In the socket's queue; delivery is not guaranteed.
  case queued
  /// `EAGAIN`: the queue to the peer is full, or there is no connection to queue for. Nothing was sent.
  case wouldBlock
  /// `EHOSTUNREACH`: a ROUTER with `mandatory` has no such peer. Nothing was sent.
  case unroutable
}

/// A received message.
package struct MultipartMessage: Sendable {
  /// The connection that it arrived on; nil on sockets that are not ROUTERs.
  package let peer: PeerID?
  /// The first content frame.
  package var bytes: [UInt8]
  /// The message had more than one content frame; the others were discarded.
  package let isMultipart: Bool
  let origin: Origin

  /// The user id under which the authenticator admitted the connection; nil without authentication.
  package var userID: String? { origin.userID }
  /// The descriptor of the connection in this process, -1 when ZeroMQ does not report it. Later connections reuse it:
  /// it is valid only until `SocketEvent.disconnected`.
  package var descriptor: Int32 { origin.descriptor }
  /// The peer's IP address, without its port.
  package var peerAddress: String? { origin.peerAddress }
}

/// Properties that all messages of a connection share.
final class Origin: Sendable {
  let userID: String?
  let descriptor: Int32
  let peerAddress: String?

  init(userID: String?, descriptor: Int32, peerAddress: String?) {
    self.userID = userID
    self.descriptor = descriptor
    self.peerAddress = peerAddress
  }
}

/// The messages that a socket received in one turn, in the order of their arrival: at most 256, or the first that
/// together exceed 4 MiB.
package struct Batch: RandomAccessCollection, Sendable {
  static let capacity = 256
  static let capacityInBytes = 4 << 20

  private var messages: [MultipartMessage] = []
  private(set) var byteCount = 0

  package var startIndex: Int { 0 }
  package var endIndex: Int { messages.count }
  package subscript(index: Int) -> MultipartMessage { messages[index] }

  var isFull: Bool { messages.count >= Self.capacity || byteCount >= Self.capacityInBytes }

  mutating func append(_ message: MultipartMessage) {
    messages.append(message)
    byteCount += message.bytes.count
  }

  mutating func removeAll() {
    messages.removeAll(keepingCapacity: true)
    byteCount = 0
  }
}
