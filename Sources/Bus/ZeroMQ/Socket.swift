// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

/// A socket, confined to its loop's thread: every member traps elsewhere. The loop retains it until it is closed, and
/// `Loop.stop()` closes it.
///
/// Handlers are called on the loop and may use any of its sockets. They are released when the socket is closed.
package final class Socket {
  private let context: Context
  private let loop: Loop
  private let kind: Kind
  private let options: Options
  private let raw: RawSocket
  private let monitor: RawSocket
  private var isClosed = false
  /// Whether the socket was used since its events were last queried.
  private var isUsed = true

  private var messageHandler: ((inout Batch) -> Void)?
  private var frameHandler: ((FrameBatch) -> Void)?
  private var writableHandler: (() -> Void)?
  private var eventHandler: ((SocketEvent) -> Void)?

  private let frame = ZMQFrame()
  private var batch = Batch()
  /// The messages for `onFrames`; nil before it was called.
  private var frames: FrameBatch?
  private var origins = Origins()
  private var eventReader = EventReader()
  /// Events that this wrapper detected itself, delivered with those of the monitor.
  private var ownEvents: [SocketEvent] = []

  /// Creates a socket and its monitor. Throws `EMFILE` and `ENFILE` when descriptors ran out, `EINVAL` for a malformed
  /// key.
  package init(_ context: Context, _ kind: Kind, on loop: Loop, _ options: Options) throws(ZMQError) {
    let state = loop.confined
    let raw = try RawSocket(context, type: kind.type)
    let monitor: RawSocket
    do {
      try options.apply(to: raw, kind)
      monitor = try RawSocket.monitor(of: raw, context)
    } catch {
      raw.close(linger: .zero)
      throw error
    }
    (self.context, self.loop, self.kind, self.options) = (context, loop, kind, options)
    (self.raw, self.monitor) = (raw, monitor)
    state.add(self)
  }

  /// Binds, and returns the endpoint with its port: `tcp://127.0.0.1:*` takes a free one.
  package func bind(_ endpoint: String) throws(ZMQError) -> String {
    try open("zmq_bind(\(endpoint))")
    try raw.bind(endpoint)
    return try raw.lastEndpoint()
  }

  /// Stops listening at an endpoint that `bind` returned; connections accepted there stay.
  package func unbind(_ endpoint: String) throws(ZMQError) {
    try open("zmq_unbind(\(endpoint))")
    try raw.unbind(endpoint)
  }

  /// Connects in the background, and reconnects whenever the connection is lost. Success means only that the endpoint
  /// is well formed.
  package func connect(_ endpoint: String) throws(ZMQError) {
    try open("zmq_connect(\(endpoint))")
    try raw.connect(endpoint)
  }

  /// Queues a received frame of this ROUTER for another peer, without a copy and without waiting. If that succeeds, the
  /// frame is no longer in the batch.
  package func send(_ batch: FrameBatch, _ index: Int, to peer: PeerID) throws(ZMQError) -> SendResult {
    try open("zmq_msg_send")
    let addressed = try address(peer)
    guard addressed == .queued else { return addressed }
    return try batch.send(index, on: raw)
  }

  private func address(_ peer: PeerID) throws(ZMQError) -> SendResult {
    try peer.withFrame { frame in
      Result { () throws(ZMQError) -> SendResult in try raw.send(frame, more: true) }
    }.get()
  }

  /// Queues one frame without waiting. A ROUTER requires the peer, other sockets accept none.
  package func send(_ bytes: UnsafeRawBufferPointer, to peer: PeerID? = nil) throws(ZMQError) -> SendResult {
    try open("zmq_send")
    guard (kind == .router) == (peer != nil) else {
      throw ZMQError(code: EINVAL, call: "zmq_send: a ROUTER needs a peer, and no other socket takes one")
    }
    if let peer {
      let addressed = try address(peer)
      guard addressed == .queued else { return addressed }
    }
    return try raw.send(bytes, more: false)
  }

  /// Queues one frame without waiting. A ROUTER requires the peer, other sockets accept none.
  package func send(_ bytes: [UInt8], to peer: PeerID? = nil) throws(ZMQError) -> SendResult {
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(ZMQError) -> SendResult in try send(bytes, to: peer) }
    }.get()
  }

  /// Sets the handler, which gets up to 256 messages per call. While there is no handler, messages wait in ZeroMQ's
  /// queues, and the peers wait once those are full.
  package func onMessages(_ handler: ((inout Batch) -> Void)?) {
    _ = loop.confined
    (messageHandler, frameHandler) = (handler, nil)
    isUsed = true
  }

  /// Sets the handler of a ROUTER in place of that of `onMessages`: it gets the messages in ZeroMQ's own memory.
  package func onFrames(_ handler: ((FrameBatch) -> Void)?) {
    precondition(kind == .router, "only a ROUTER sends frames on")
    _ = loop.confined
    if frames == nil { frames = FrameBatch() }
    (messageHandler, frameHandler) = (nil, handler)
    isUsed = true
  }

  /// Sets a handler that is called in every turn in which the socket accepts messages; remove it with nil when there is
  /// nothing to send. Use it after `wouldBlock`. Not for a ROUTER, which is writable while any of its peers is.
  package func onWritable(_ handler: (() -> Void)?) {
    precondition(kind != .router || handler == nil, "a ROUTER is writable while any peer is: the loop would spin")
    _ = loop.confined
    writableHandler = handler
    isUsed = true
  }

  /// Sets the handler for monitor events, from now on. The monitor is drained without a handler as well.
  package func onEvent(_ handler: @escaping (SocketEvent) -> Void) {
    _ = loop.confined
    eventHandler = handler
  }

  /// SUB only: subscribes to messages that begin with these bytes, or to all of them with an empty prefix.
  package func subscribe(_ prefix: [UInt8]) throws(ZMQError) {
    try open("zmq_setsockopt(ZMQ_SUBSCRIBE)")
    try raw.set(ZMQ_SUBSCRIBE, "ZMQ_SUBSCRIBE", bytes: prefix)
  }

  /// Closes the socket; queued frames are still sent while the linger lasts. Idempotent. Every later call throws
  /// `ENOTSOCK`.
  package func close(linger: Duration) {
    let state = loop.confined
    guard !isClosed else { return }
    isClosed = true
    (messageHandler, frameHandler, writableHandler, eventHandler) = (nil, nil, nil, nil)
    zmq_socket_monitor(raw.pointer, nil, 0)
    monitor.close(linger: .zero)
    raw.close(linger: linger)
    state.remove(self)
  }

  private func open(_ call: @autoclosure () -> String) throws(ZMQError) {
    _ = loop.confined
    isUsed = true
    if isClosed { throw ZMQError(code: ENOTSOCK, call: call()) }
  }
}

@available(*, unavailable)
extension Socket: Sendable {}

extension Socket: Polled {
  var descriptors: [Int32] { [raw.descriptor, monitor.descriptor] }

  /// `serve` always drains the monitor, so its descriptor is sufficient.
  func hasMore() throws(ZMQError) -> Bool {
    guard isUsed else { return false }
    isUsed = false
    let events = try raw.events()
    let isReading = messageHandler != nil || frameHandler != nil
    return events & ZMQ_POLLIN != 0 && isReading || events & ZMQ_POLLOUT != 0 && writableHandler != nil
  }

  func closeAtStop() { close(linger: options.linger) }

  /// Receives messages first, then delivers the events, then the messages. The disconnection of a connection whose
  /// descriptor was reused is therefore always delivered before the first message of the new connection, whatever the
  /// timing of the threads.
  func serve() {
    guard !isClosed else { return }
    isUsed = true
    var received = Batch()
    swap(&received, &batch)
    if messageHandler != nil { receive(into: &received) }
    if frameHandler != nil, let frames { receive(into: frames) }
    sendEvents()
    if !received.isEmpty { messageHandler?(&received) }
    if let frames, !frames.isEmpty {
      frameHandler?(frames)
      frames.removeAll()
    }
    received.removeAll()
    swap(&received, &batch)
    if !isClosed, writableHandler != nil, let events = try? raw.events(), events & ZMQ_POLLOUT != 0 {
      writableHandler?()
    }
  }

  private func receive(into batch: inout Batch) {
    while !batch.isFull, frame.receive(from: raw) {
      var peer: PeerID?
      if kind == .router {
        peer = frame.withBytes { PeerID(frame: $0) }
        guard frame.hasMore, frame.receive(from: raw) else { continue }
      }
      let origin = origins.origin(of: frame.message, from: peer)
      let bytes = frame.copy()
      let isMultipart = frame.hasMore
      while frame.hasMore, frame.receive(from: raw) {}
      if kind == .router, peer == nil {
        ownEvents.append(.foreignRoutingID(descriptor: origin.descriptor))
        continue
      }
      batch.append(MultipartMessage(peer: peer, bytes: bytes, isMultipart: isMultipart, origin: origin))
    }
    frame.clear()
  }

  private func receive(into batch: FrameBatch) {
    while !batch.isFull, frame.receive(from: raw) {
      let peer = frame.withBytes { PeerID(frame: $0) }
      let content = batch.next
      guard frame.hasMore, content.receive(from: raw) else { continue }
      let origin = origins.origin(of: content, from: peer)
      let isMultipart = content.hasMore
      if isMultipart { while frame.receive(from: raw), frame.hasMore {} }
      if let peer {
        batch.append(from: peer, origin, isMultipart: isMultipart)
      } else {
        content.clear()
        ownEvents.append(.foreignRoutingID(descriptor: origin.descriptor))
      }
    }
    frame.clear()
  }

  private func sendEvents() {
    while !isClosed, frame.receive(from: monitor) {
      let (number, value) = frame.withBytes { bytes in
        (
          Int32(bytes.loadUnaligned(fromByteOffset: 0, as: UInt16.self)),
          Int32(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
        )
      }
      while frame.hasMore, frame.receive(from: monitor) {}
      if let event = eventReader.event(number, value: value) { eventHandler?(event) }
    }
    let own = ownEvents
    ownEvents = []
    for event in own { eventHandler?(event) }
  }
}

extension RawSocket {
  /// The reading end of a socket's monitor. It is connected before the socket is used and has no limit: a full monitor
  /// would block the context's I/O thread.
  static func monitor(of socket: RawSocket, _ context: Context) throws(ZMQError) -> RawSocket {
    let endpoint = context.nextMonitorEndpoint()
    // The reader is created first, where descriptors may run out: a monitor without a reader blocks the socket's close.
    let reader = try RawSocket(context, type: ZMQ_PAIR)
    do {
      try reader.set(ZMQ_RCVHWM, "ZMQ_RCVHWM", 0)
      try check("zmq_socket_monitor") { zmq_socket_monitor(socket.pointer, endpoint, ZMQ_EVENT_ALL) }
      try reader.connect(endpoint)
    } catch {
      reader.close(linger: .zero)
      throw error
    }
    return reader
  }
}

/// The properties of the open connections, read from ZeroMQ once per connection and not once per message.
private struct Origins {
  private var byPeer: [PeerID: Origin] = [:]
  /// The peer that had the descriptor last: at most one peer per descriptor is kept.
  private var byDescriptor: [Int32: PeerID] = [:]
  /// The peers that sent last, by the low bits of their ids, which saves most look-ups in the dictionary. ZeroMQ counts
  /// the ids, so that each of a few hundred connections has its own place.
  private var recent: [(peer: PeerID, origin: Origin)?] = []
  private static let recentCount = 512

  mutating func origin(of frame: UnsafeMutablePointer<zmq_msg_t>, from peer: PeerID?) -> Origin {
    guard let peer else { return read(frame) }
    let place = Int(peer.raw.byteSwapped) % Self.recentCount
    if !recent.isEmpty, let last = recent[place], last.peer == peer { return last.origin }
    let origin = byPeer[peer] ?? added(read(frame), peer)
    if recent.isEmpty { recent = Array(repeating: nil, count: Self.recentCount) }
    recent[place] = (peer, origin)
    return origin
  }

  private func read(_ frame: UnsafeMutablePointer<zmq_msg_t>) -> Origin {
    Origin(
      userID: frame.property("User-Id"), descriptor: frame.descriptor, peerAddress: frame.property("Peer-Address"))
  }

  private mutating func added(_ origin: Origin, _ peer: PeerID) -> Origin {
    if let previous = byDescriptor.updateValue(peer, forKey: origin.descriptor) { byPeer[previous] = nil }
    byPeer[peer] = origin
    return origin
  }
}
