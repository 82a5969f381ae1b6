import CZeroMQ
import Glibc

/// The routing id that a ROUTER gave to a connection by itself: new for every connection, so a peer that comes back has another.
package struct PeerID: Hashable, Sendable, CustomStringConvertible {
  let raw: UInt32

  init(raw: UInt32) { self.raw = raw }

  /// Nil for an id that the peer chose itself: an automatic one is a zero byte and four more.
  init?(frame: UnsafeRawBufferPointer) {
    guard frame.count == 5, frame[0] == 0 else { return nil }
    raw = frame.loadUnaligned(fromByteOffset: 1, as: UInt32.self)
  }

  /// The id as the frame that stands before a message on a ROUTER.
  func withFrame<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    withUnsafeTemporaryAllocation(byteCount: 5, alignment: 1) { frame in
      frame[0] = 0
      frame.storeBytes(of: raw, toByteOffset: 1, as: UInt32.self)
      return body(UnsafeRawBufferPointer(frame))
    }
  }

  package var description: String { "peer \(raw)" }
}

/// What became of a message that was given to a socket without waiting.
package enum SendResult: Sendable, Equatable {
  /// In the socket's queue. Not a promise that it arrives.
  case queued
  /// `EAGAIN`: the queue to the peer is full, or there is no connection to queue for. Nothing was sent.
  case wouldBlock
  /// `EHOSTUNREACH`: a ROUTER with `mandatory` knows no such peer (any more). Nothing was sent.
  case unroutable
}

/// A received message.
package struct Message: Sendable {
  /// The connection that it came over; nil on sockets that are not ROUTERs.
  package let peer: PeerID?
  /// The first content frame.
  package var bytes: [UInt8]
  /// There was more than one content frame; the others are lost.
  package let isMultipart: Bool
  let origin: Origin

  /// What the authenticator admitted the connection as; nil where nobody asked it.
  package var userID: String? { origin.userID }
  /// The descriptor of the connection in this process, -1 when ZeroMQ does not say. Reused by later connections: trust it no longer than
  /// until `SocketEvent.disconnected`.
  package var descriptor: Int32 { origin.descriptor }
  /// The peer's IP address, without its port.
  package var peerAddress: String? { origin.peerAddress }
}

/// What is the same for all messages of a connection, and shared by them.
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

/// The messages that a socket received in one go, in the order of their arrival: at most 256, or the first that together
/// exceed 4 MiB.
package struct Batch: RandomAccessCollection, Sendable {
  static let capacity = 256
  static let capacityInBytes = 4 << 20

  private var messages: [Message] = []
  private(set) var byteCount = 0

  package var startIndex: Int { 0 }
  package var endIndex: Int { messages.count }
  package subscript(index: Int) -> Message { messages[index] }

  var isFull: Bool { messages.count >= Self.capacity || byteCount >= Self.capacityInBytes }

  /// Hands over each message for good, in order: its bytes can be taken out, and changed where they are.
  package mutating func drain(_ take: (inout Message) -> Void) {
    for index in messages.indices { take(&messages[index]) }
    removeAll()
  }

  mutating func append(_ message: Message) {
    messages.append(message)
    byteCount += message.bytes.count
  }

  mutating func removeAll() {
    messages.removeAll(keepingCapacity: true)
    byteCount = 0
  }
}
