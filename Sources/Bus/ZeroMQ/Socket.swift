import CZeroMQ
import Glibc

/// A socket, confined to its loop's thread: every member traps elsewhere. The loop keeps it alive until it is closed, and
/// `Loop.stop()` closes it.
///
/// Handlers are called on the loop and may use any socket of it. They are dropped when the socket is closed.
package final class Socket {
  private let context: Context
  private let loop: Loop
  private let kind: Kind
  private let options: Options
  private let raw: RawSocket
  private let monitor: RawSocket
  private var isClosed = false
  /// Whether something was called on the socket since it was last asked what there is.
  private var isUsed = true

  private var messageHandler: ((inout Batch) -> Void)?
  private var writableHandler: (() -> Void)?
  private var eventHandler: ((SocketEvent) -> Void)?

  private let frame = Frame()
  private var batch = Batch()
  private var origins = Origins()
  private var eventReader = EventReader()
  /// Events that this wrapper found itself, told with those of the monitor.
  private var ownEvents: [SocketEvent] = []

  /// Makes a socket and its monitor. Throws `EMFILE` and `ENFILE` when descriptors ran out, `EINVAL` for a wrong key.
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

  /// Listens, and returns the endpoint with its port: `tcp://127.0.0.1:*` takes a free one.
  package func bind(_ endpoint: String) throws(ZMQError) -> String {
    try open("zmq_bind(\(endpoint))")
    try raw.bind(endpoint)
    return try raw.lastEndpoint()
  }

  /// Listens no longer at an endpoint that `bind` returned; the connections that came there stay.
  package func unbind(_ endpoint: String) throws(ZMQError) {
    try open("zmq_unbind(\(endpoint))")
    try raw.unbind(endpoint)
  }

  /// Connects in the background, and again whenever the connection is lost. Success says only that the endpoint is well formed.
  package func connect(_ endpoint: String) throws(ZMQError) {
    try open("zmq_connect(\(endpoint))")
    try raw.connect(endpoint)
  }

  /// Queues one frame without waiting. A ROUTER needs the peer, no other socket takes one.
  package func send(_ bytes: UnsafeRawBufferPointer, to peer: PeerID? = nil) throws(ZMQError) -> SendResult {
    try open("zmq_send")
    guard (kind == .router) == (peer != nil) else {
      throw ZMQError(code: EINVAL, call: "zmq_send: a ROUTER needs a peer, and no other socket takes one")
    }
    if let peer {
      let addressed = try peer.withFrame { frame in
        Result { () throws(ZMQError) -> SendResult in try raw.send(frame, more: true) }
      }.get()
      guard addressed == .queued else { return addressed }
    }
    return try raw.send(bytes, more: false)
  }

  /// Queues one frame without waiting. A ROUTER needs the peer, no other socket takes one.
  package func send(_ bytes: [UInt8], to peer: PeerID? = nil) throws(ZMQError) -> SendResult {
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(ZMQError) -> SendResult in try send(bytes, to: peer) }
    }.get()
  }

  /// Called with up to 256 messages received in one go. Until there is a handler, and again after nil, messages wait in
  /// ZeroMQ's queues, and the peers wait once those are full.
  package func onMessages(_ handler: ((inout Batch) -> Void)?) {
    _ = loop.confined
    messageHandler = handler
    isUsed = true
  }

  /// Called in every turn in which the socket takes messages, so it is taken away by nil once there is nothing to send. After
  /// `wouldBlock` this is the way to wait. Not for a ROUTER, which reports room as long as any of its peers has some.
  package func onWritable(_ handler: (() -> Void)?) {
    precondition(kind != .router || handler == nil, "a ROUTER is writable while any peer is: the loop would spin")
    _ = loop.confined
    writableHandler = handler
    isUsed = true
  }

  /// Called with what the monitor reports, from now on. The monitor is drained without a handler as well.
  package func onEvent(_ handler: @escaping (SocketEvent) -> Void) {
    _ = loop.confined
    eventHandler = handler
  }

  /// SUB only: receive messages that begin with these bytes, or all of them for an empty prefix.
  package func subscribe(_ prefix: [UInt8]) throws(ZMQError) {
    try open("zmq_setsockopt(ZMQ_SUBSCRIBE)")
    try raw.set(ZMQ_SUBSCRIBE, "ZMQ_SUBSCRIBE", bytes: prefix)
  }

  /// Closes the socket; what is queued is still sent for as long as the linger. Idempotent. Every later call throws `ENOTSOCK`.
  package func close(linger: Duration) {
    let state = loop.confined
    guard !isClosed else { return }
    isClosed = true
    (messageHandler, writableHandler, eventHandler) = (nil, nil, nil)
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

  /// The monitor is read to its end whenever this is served, so that its descriptor tells enough.
  func hasMore() throws(ZMQError) -> Bool {
    guard isUsed else { return false }
    isUsed = false
    let events = try raw.events()
    return events & ZMQ_POLLIN != 0 && messageHandler != nil || events & ZMQ_POLLOUT != 0 && writableHandler != nil
  }

  func closeAtStop() { close(linger: options.linger) }

  /// Receives first, then tells the events, then hands over what was received: so an end of a connection that happened before
  /// another took over its descriptor is told before the other's first message, whatever the threads did meanwhile.
  func serve() {
    guard !isClosed else { return }
    isUsed = true
    var received = Batch()
    swap(&received, &batch)
    if messageHandler != nil { receive(into: &received) }
    tellEvents()
    if !received.isEmpty { messageHandler?(&received) }
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
      let origin = origins.origin(of: frame, from: peer)
      let bytes = frame.copy()
      let isMultipart = frame.hasMore
      while frame.hasMore, frame.receive(from: raw) {}
      if kind == .router, peer == nil {
        ownEvents.append(.foreignRoutingID(descriptor: origin.descriptor))
        continue
      }
      batch.append(Message(peer: peer, bytes: bytes, isMultipart: isMultipart, origin: origin))
    }
    frame.clear()
  }

  private func tellEvents() {
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
  /// The reading end of a socket's monitor. Connected before the socket is used, and without a limit: a full monitor would
  /// halt the context's I/O thread.
  static func monitor(of socket: RawSocket, _ context: Context) throws(ZMQError) -> RawSocket {
    let endpoint = context.nextMonitorEndpoint()
    // The reader is made first, where descriptors may run out: a monitor that lacks one blocks the socket's close.
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

/// The origins of the connections that there are, read from ZeroMQ once and not once per message.
private struct Origins {
  private var byPeer: [PeerID: Origin] = [:]
  /// Who had the descriptor last: at most one peer per descriptor is kept.
  private var byDescriptor: [Int32: PeerID] = [:]

  mutating func origin(of frame: borrowing Frame, from peer: PeerID?) -> Origin {
    if let peer, let known = byPeer[peer] { return known }
    let origin = Origin(
      userID: frame.property("User-Id"), descriptor: frame.descriptor, peerAddress: frame.property("Peer-Address"))
    guard let peer else { return origin }
    if let previous = byDescriptor.updateValue(peer, forKey: origin.descriptor) { byPeer[previous] = nil }
    byPeer[peer] = origin
    return origin
  }
}
