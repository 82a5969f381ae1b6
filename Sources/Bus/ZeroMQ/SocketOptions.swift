// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

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

  /// The options of a socket, all set before it is bound or connected. Defaults are those of the bus; `ROUTER_HANDOVER`
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
    try socket.set(ZMQ_SNDHWM, "ZMQ_SNDHWM", sendHighWaterMark)
    try socket.set(ZMQ_RCVHWM, "ZMQ_RCVHWM", receiveHighWaterMark)
    try socket.set(ZMQ_LINGER, "ZMQ_LINGER", linger.milliseconds)
    try socket.set(ZMQ_IMMEDIATE, "ZMQ_IMMEDIATE", immediate ? 1 : 0)
    try socket.set(ZMQ_RECONNECT_IVL, "ZMQ_RECONNECT_IVL", reconnectInterval.milliseconds)
    try socket.set(ZMQ_RECONNECT_IVL_MAX, "ZMQ_RECONNECT_IVL_MAX", maximumReconnectInterval.milliseconds)
    try socket.set(ZMQ_HANDSHAKE_IVL, "ZMQ_HANDSHAKE_IVL", handshakeInterval.milliseconds)
    try socket.set(ZMQ_MAXMSGSIZE, "ZMQ_MAXMSGSIZE", wide: maxMessageSize)
    try socket.set(ZMQ_BACKLOG, "ZMQ_BACKLOG", backlog)
    if let heartbeat {
      try socket.set(ZMQ_HEARTBEAT_IVL, "ZMQ_HEARTBEAT_IVL", heartbeat.interval.milliseconds)
      try socket.set(ZMQ_HEARTBEAT_TIMEOUT, "ZMQ_HEARTBEAT_TIMEOUT", heartbeat.timeout.milliseconds)
    }
    if kind == .router {
      try socket.set(ZMQ_ROUTER_MANDATORY, "ZMQ_ROUTER_MANDATORY", mandatory ? 1 : 0)
      // An authenticated peer could otherwise take over another's routing id and receive its messages.
      try socket.set(ZMQ_ROUTER_HANDOVER, "ZMQ_ROUTER_HANDOVER", 0)
    }
    try applySecurity(to: socket)
  }

  private func applySecurity(to socket: RawSocket) throws(ZMQError) {
    if let zapDomain {
      try socket.set(ZMQ_ZAP_DOMAIN, "ZMQ_ZAP_DOMAIN", bytes: Array(zapDomain.utf8))
      // Option 93, ZMQ_ZAP_ENFORCE_DOMAIN: Debian's header hides it as a draft, but its library has it. Without it a
      // server without an authenticator admits all clients, so a library that rejects the option gets no socket.
      try socket.set(93, "ZMQ_ZAP_ENFORCE_DOMAIN", 1)
    }
    switch curve {
    case .none: break
    case .server(let keys):
      guard zapDomain?.isEmpty == false else {
        throw ZMQError(code: EINVAL, call: "a CURVE server without a ZAP domain would admit every client")
      }
      try socket.set(ZMQ_CURVE_SERVER, "ZMQ_CURVE_SERVER", 1)
      try socket.set(ZMQ_CURVE_SECRETKEY, "ZMQ_CURVE_SECRETKEY", key: keys.secretKey)
    case .client(let keys, let serverPublicKey):
      try socket.set(ZMQ_CURVE_SERVERKEY, "ZMQ_CURVE_SERVERKEY", key: serverPublicKey)
      try socket.set(ZMQ_CURVE_PUBLICKEY, "ZMQ_CURVE_PUBLICKEY", key: keys.publicKey)
      try socket.set(ZMQ_CURVE_SECRETKEY, "ZMQ_CURVE_SECRETKEY", key: keys.secretKey)
    }
  }
}
