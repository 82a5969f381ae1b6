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

/// The messages that a ROUTER received in one turn, in ZeroMQ's own memory: a frame can be changed and sent on without
/// a copy. The limits are those of `Batch`.
///
/// Confined to the socket's loop, and valid until the handler returns. A frame that was sent on is ZeroMQ's.
package final class FrameBatch {
  private struct Entry {
    let peer: PeerID
    let isMultipart: Bool
    let origin: Origin
    /// Where ZeroMQ has the frame.
    let bytes: UnsafeMutableRawBufferPointer
    var isSent = false
  }

  /// All are initialized, also those that have no message.
  private let frames = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: Batch.capacity)
  // One thread uses the batch, and no access of one calls code that could begin another. The checks would be a sixth of
  // the broker's own work.
  @exclusivity(unchecked) private var entries: [Entry] = []
  @exclusivity(unchecked) private var byteCount = 0

  init() {
    for place in 0..<Batch.capacity { zmq_msg_init(frames + place) }
    entries.reserveCapacity(Batch.capacity)
  }

  deinit {
    for place in 0..<Batch.capacity { zmq_msg_close(frames + place) }
    frames.deallocate()
  }

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }
  var isFull: Bool { entries.count >= Batch.capacity || byteCount >= Batch.capacityInBytes }

  package func peer(_ index: Int) -> PeerID { entries[index].peer }
  package func isMultipart(_ index: Int) -> Bool { entries[index].isMultipart }

  /// The first content frame of a message that was not sent on.
  package func bytes(_ index: Int) -> UnsafeMutableRawBufferPointer {
    precondition(!entries[index].isSent, "the frame was sent on")
    return entries[index].bytes
  }

  /// A copy of a message, which stays valid.
  package subscript(index: Int) -> MultipartMessage {
    MultipartMessage(
      peer: entries[index].peer, bytes: [UInt8](bytes(index)), isMultipart: entries[index].isMultipart,
      origin: entries[index].origin)
  }

  /// Copies of all messages, in the order of their arrival.
  package var messages: [MultipartMessage] { entries.indices.map { self[$0] } }

  /// The place for the next message.
  var next: UnsafeMutablePointer<zmq_msg_t> { frames + entries.count }

  /// Adds the message at `next`.
  func append(from peer: PeerID, _ origin: Origin, isMultipart: Bool) {
    let bytes = next.bytes
    byteCount += bytes.count
    entries.append(Entry(peer: peer, isMultipart: isMultipart, origin: origin, bytes: bytes))
  }

  /// Sends the frame of a message without waiting. If that succeeds, ZeroMQ has the frame.
  func send(_ index: Int, on socket: RawSocket) throws(ZMQError) -> SendResult {
    let result = try socket.send(frames + index)
    if result == .queued { entries[index].isSent = true }
    return result
  }

  func removeAll() {
    for index in entries.indices where !entries[index].isSent { (frames + index).clear() }
    entries.removeAll(keepingCapacity: true)
    byteCount = 0
  }
}

@available(*, unavailable)
extension FrameBatch: Sendable {}

extension UnsafeMutablePointer<zmq_msg_t> {
  /// Receives without waiting and replaces the previous content. False when nothing is available, or never will be.
  func receive(from socket: RawSocket) -> Bool {
    while zmq_msg_recv(self, socket.pointer, ZMQ_DONTWAIT) == -1 {
      // Besides EAGAIN only ETERM is possible, which the next poll detects.
      guard zmq_errno() == EINTR else { return false }
    }
    return true
  }

  /// Frees the memory of a long frame.
  func clear() {
    zmq_msg_close(self)
    zmq_msg_init(self)
  }

  var hasMore: Bool { zmq_msg_more(self) != 0 }
  var descriptor: Int32 { zmq_msg_get(self, ZMQ_SRCFD) }

  /// The content, valid until the next call that changes it.
  var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: zmq_msg_data(self), count: zmq_msg_size(self))
  }

  /// A property of the connection: "User-Id", "Peer-Address".
  func property(_ name: String) -> String? { zmq_msg_gets(self, name).map { String(cString: $0) } }
}
