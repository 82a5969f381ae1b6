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
  package init(_ context: Context, kind: Kind, on loop: Loop, options: Options) throws(ZMQError) {
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
      try reader.set(ZMQ_RCVHWM, named: "ZMQ_RCVHWM", to: 0)
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

extension Socket {
  /// The socket type, named as in ZeroMQ's manual.
  package enum Kind: Sendable {
    case router, dealer, xpub, sub

    var type: Int32 {
      switch self {
      case .router: ZMQ_ROUTER
      case .dealer: ZMQ_DEALER
      case .xpub: ZMQ_XPUB
      case .sub: ZMQ_SUB
      }
    }
  }

  /// The CURVE mode and keys.
  package enum Curve: Sendable {
    case none
    /// Proves its own key, and the authenticator checks the client's. Requires a ZAP domain, or the socket is not
    /// created.
    case server(CurveKeyPair)
    /// Connects only to the holder of the secret key for `serverPublicKey`.
    case client(CurveKeyPair, serverPublicKey: String)
  }

  /// The options of a socket, all set before it is bound or connected. The defaults suit the bus; `ROUTER_HANDOVER`
  /// is always off.
  package struct Options: Sendable {
    package var curve: Curve = .none
    /// The authenticator checks every connection under this name; without an authenticator all are rejected.
    package var zapDomain: String?
    /// ROUTER only: sending to an unknown or full peer returns a result instead of being dropped silently.
    package var mandatory = false
    /// Messages per connection, 0 for no limit.
    package var sendHighWaterMark: Int32 = 4096
    package var receiveHighWaterMark: Int32 = 4096
    /// How long queued messages are still sent after a close without an explicit linger, as in `Loop.stop()`.
    package var linger: Duration = .milliseconds(500)
    /// Queue only to established connections, and drop the queue with the connection.
    package var immediate = false
    package var reconnectInterval: Duration = .milliseconds(10)
    package var maximumReconnectInterval: Duration = .milliseconds(250)
    /// Never for a process that may be stopped by a signal: it would lose its queue.
    package var heartbeat: (interval: Duration, timeout: Duration)?
    package var handshakeInterval: Duration = .milliseconds(500)
    /// Bytes; a peer that sends more is disconnected.
    package var maxMessageSize: Int64 = 1 << 20
    package var backlog: Int32 = 256

    package init(
      curve: Curve = .none, zapDomain: String? = nil, mandatory: Bool = false, sendHighWaterMark: Int32 = 4096,
      receiveHighWaterMark: Int32 = 4096, linger: Duration = .milliseconds(500), immediate: Bool = false,
      reconnectInterval: Duration = .milliseconds(10), maximumReconnectInterval: Duration = .milliseconds(250),
      heartbeat: (interval: Duration, timeout: Duration)? = nil, handshakeInterval: Duration = .milliseconds(500),
      maxMessageSize: Int64 = 1 << 20, backlog: Int32 = 256
    ) {
      self.curve = curve
      self.zapDomain = zapDomain
      self.mandatory = mandatory
      self.sendHighWaterMark = sendHighWaterMark
      self.receiveHighWaterMark = receiveHighWaterMark
      self.linger = linger
      self.immediate = immediate
      self.reconnectInterval = reconnectInterval
      self.maximumReconnectInterval = maximumReconnectInterval
      self.heartbeat = heartbeat
      self.handshakeInterval = handshakeInterval
      self.maxMessageSize = maxMessageSize
      self.backlog = backlog
    }
  }
}

extension Socket.Options {
  func apply(to socket: RawSocket, _ kind: Socket.Kind) throws(ZMQError) {
    try socket.set(ZMQ_SNDHWM, named: "ZMQ_SNDHWM", to: sendHighWaterMark)
    try socket.set(ZMQ_RCVHWM, named: "ZMQ_RCVHWM", to: receiveHighWaterMark)
    try socket.set(ZMQ_LINGER, named: "ZMQ_LINGER", to: linger.milliseconds)
    try socket.set(ZMQ_IMMEDIATE, named: "ZMQ_IMMEDIATE", to: immediate ? 1 : 0)
    try socket.set(ZMQ_RECONNECT_IVL, named: "ZMQ_RECONNECT_IVL", to: reconnectInterval.milliseconds)
    try socket.set(ZMQ_RECONNECT_IVL_MAX, named: "ZMQ_RECONNECT_IVL_MAX", to: maximumReconnectInterval.milliseconds)
    try socket.set(ZMQ_HANDSHAKE_IVL, named: "ZMQ_HANDSHAKE_IVL", to: handshakeInterval.milliseconds)
    try socket.set(ZMQ_MAXMSGSIZE, "ZMQ_MAXMSGSIZE", wide: maxMessageSize)
    try socket.set(ZMQ_BACKLOG, named: "ZMQ_BACKLOG", to: backlog)
    if let heartbeat {
      try socket.set(ZMQ_HEARTBEAT_IVL, named: "ZMQ_HEARTBEAT_IVL", to: heartbeat.interval.milliseconds)
      try socket.set(ZMQ_HEARTBEAT_TIMEOUT, named: "ZMQ_HEARTBEAT_TIMEOUT", to: heartbeat.timeout.milliseconds)
    }
    if kind == .router {
      try socket.set(ZMQ_ROUTER_MANDATORY, named: "ZMQ_ROUTER_MANDATORY", to: mandatory ? 1 : 0)
      // An authenticated peer could otherwise take over another's routing id and receive its messages.
      try socket.set(ZMQ_ROUTER_HANDOVER, named: "ZMQ_ROUTER_HANDOVER", to: 0)
    }
    try applySecurity(to: socket)
  }

  private func applySecurity(to socket: RawSocket) throws(ZMQError) {
    if let zapDomain {
      try socket.set(ZMQ_ZAP_DOMAIN, "ZMQ_ZAP_DOMAIN", bytes: Array(zapDomain.utf8))
      // Option 93, ZMQ_ZAP_ENFORCE_DOMAIN: Debian's header hides it as a draft, but its library has it. Without it a
      // server without an authenticator admits all clients, so a library that rejects the option gets no socket.
      try socket.set(93, named: "ZMQ_ZAP_ENFORCE_DOMAIN", to: 1)
    }
    switch curve {
    case .none: break
    case .server(let keys):
      guard zapDomain?.isEmpty == false else {
        throw ZMQError(code: EINVAL, call: "a CURVE server without a ZAP domain would admit every client")
      }
      try socket.set(ZMQ_CURVE_SERVER, named: "ZMQ_CURVE_SERVER", to: 1)
      try socket.set(ZMQ_CURVE_SECRETKEY, "ZMQ_CURVE_SECRETKEY", key: keys.secretKey)
    case .client(let keys, let serverPublicKey):
      try socket.set(ZMQ_CURVE_SERVERKEY, "ZMQ_CURVE_SERVERKEY", key: serverPublicKey)
      try socket.set(ZMQ_CURVE_PUBLICKEY, "ZMQ_CURVE_PUBLICKEY", key: keys.publicKey)
      try socket.set(ZMQ_CURVE_SECRETKEY, "ZMQ_CURVE_SECRETKEY", key: keys.secretKey)
    }
  }
}

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

/// ZeroMQ's calls on one socket. Errors are thrown, interrupted calls repeated. Confined like the socket itself.
struct RawSocket {
  let pointer: UnsafeMutableRawPointer
  /// `ZMQ_FD`: readable when ZeroMQ has events for the socket, until the next call on it.
  let descriptor: Int32

  /// Throws `EMFILE` when descriptors or ZeroMQ's 1023 sockets have run out, and `ETERM` after the context was
  /// terminated.
  init(_ context: Context, type: Int32) throws(ZMQError) {
    let pointer = try context.makeSocket(type)
    do throws(ZMQError) {
      descriptor = try pointer.option(ZMQ_FD, "ZMQ_FD")
    } catch {
      zmq_close(pointer)
      throw error
    }
    self.pointer = pointer
  }

  /// The operations that would not block: `ZMQ_POLLIN`, `ZMQ_POLLOUT`. Resets the descriptor's signal.
  func events() throws(ZMQError) -> Int32 { try pointer.option(ZMQ_EVENTS, "ZMQ_EVENTS") }

  func set(_ option: Int32, named name: String, to value: Int32) throws(ZMQError) {
    var value = value
    try check("zmq_setsockopt(\(name))") { zmq_setsockopt(pointer, option, &value, MemoryLayout<Int32>.size) }
  }

  func set(_ option: Int32, _ name: String, wide value: Int64) throws(ZMQError) {
    var value = value
    try check("zmq_setsockopt(\(name))") { zmq_setsockopt(pointer, option, &value, MemoryLayout<Int64>.size) }
  }

  func set(_ option: Int32, _ name: String, bytes: [UInt8]) throws(ZMQError) {
    try check("zmq_setsockopt(\(name))") {
      bytes.withUnsafeBytes { zmq_setsockopt(pointer, option, $0.baseAddress, $0.count) }
    }
  }

  /// Sets a key in Z85, with the terminating NUL that ZeroMQ expects.
  func set(_ option: Int32, _ name: String, key: String) throws(ZMQError) {
    guard key.utf8.count == 40 else { throw ZMQError(code: EINVAL, call: "zmq_setsockopt(\(name))") }
    try set(option, name, bytes: Array(key.utf8) + [0])
  }

  func bind(_ endpoint: String) throws(ZMQError) {
    try check("zmq_bind(\(endpoint))") { zmq_bind(pointer, endpoint) }
  }

  func unbind(_ endpoint: String) throws(ZMQError) {
    try check("zmq_unbind(\(endpoint))") { zmq_unbind(pointer, endpoint) }
  }

  func connect(_ endpoint: String) throws(ZMQError) {
    try check("zmq_connect(\(endpoint))") { zmq_connect(pointer, endpoint) }
  }

  func lastEndpoint() throws(ZMQError) -> String {
    var buffer = [UInt8](repeating: 0, count: 512)
    var count = buffer.count
    try check("zmq_getsockopt(ZMQ_LAST_ENDPOINT)") {
      zmq_getsockopt(pointer, ZMQ_LAST_ENDPOINT, &buffer, &count)
    }
    return String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Sends a frame without waiting. ZeroMQ copies the bytes.
  func send(_ bytes: UnsafeRawBufferPointer, more: Bool) throws(ZMQError) -> SendResult {
    let flags = more ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
    while zmq_send(pointer, bytes.baseAddress, bytes.count, flags) == -1 {
      if let result = try refusal("zmq_send") { return result }
    }
    return .queued
  }

  /// Sends a message without waiting. If that succeeds, ZeroMQ has its content, and it is empty.
  func send(_ message: UnsafeMutablePointer<zmq_msg_t>) throws(ZMQError) -> SendResult {
    while zmq_msg_send(message, pointer, ZMQ_DONTWAIT) == -1 {
      if let result = try refusal("zmq_msg_send") { return result }
    }
    return .queued
  }

  /// Why the last call did not queue; nil to repeat it.
  private func refusal(_ call: String) throws(ZMQError) -> SendResult? {
    switch zmq_errno() {
    case EINTR: nil
    case EAGAIN: .wouldBlock
    case EHOSTUNREACH: .unroutable
    case let code: throw ZMQError(code: code, call: call)
    }
  }

  func send(_ bytes: [UInt8], more: Bool) throws(ZMQError) -> SendResult {
    // `withUnsafeBytes` does not propagate typed throws from a throwing closure everywhere; a Result does.
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(ZMQError) -> SendResult in try send(bytes, more: more) }
    }.get()
  }

  func close(linger: Duration) {
    var milliseconds = linger.milliseconds
    zmq_setsockopt(pointer, ZMQ_LINGER, &milliseconds, MemoryLayout<Int32>.size)
    zmq_close(pointer)
  }
}

extension UnsafeMutableRawPointer {
  /// Reads an option of the socket that this points to.
  fileprivate func option(_ option: Int32, _ name: String) throws(ZMQError) -> Int32 {
    var value: Int32 = 0
    var count = MemoryLayout<Int32>.size
    try check("zmq_getsockopt(\(name))") { zmq_getsockopt(self, option, &value, &count) }
    return value
  }
}

/// One received frame at a stable address: short frames are stored inside `zmq_msg_t` itself.
struct ZMQFrame: ~Copyable {
  let message: UnsafeMutablePointer<zmq_msg_t>

  init() {
    message = .allocate(capacity: 1)
    zmq_msg_init(message)
  }

  deinit {
    zmq_msg_close(message)
    message.deallocate()
  }

  /// Receives without waiting and replaces the previous content. False when nothing is available, or never will be.
  func receive(from socket: RawSocket) -> Bool { message.receive(from: socket) }

  /// Frees the memory of a long frame.
  func clear() { message.clear() }

  var hasMore: Bool { message.hasMore }

  /// The bytes, valid until the next `receive` or `clear`.
  func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { body(UnsafeRawBufferPointer(message.bytes)) }

  func copy() -> [UInt8] { withBytes { [UInt8]($0) } }
}
