package import Conversations
package import ZeroMQ

/// One DEALER under CURVE.
final class ZeroMQTransport: Transport {
  private let loop: Loop
  private let endpoint: String
  private let context: Context
  private let options: Socket.Options
  private var socket: Socket?

  /// - Parameter heartbeats: only for processes that are never suspended: a heartbeat takes a stopped process for dead.
  init(loop: Loop, endpoint: String, serverKey: String, keys: CurveKeyPair, heartbeats: Bool) throws {
    self.loop = loop
    self.endpoint = endpoint
    self.context = try Context()
    var options = Socket.Options()
    options.curve = .client(keys, serverPublicKey: serverKey)
    options.maxMessageSize = Int64(Wire.frameLimit)
    if heartbeats { options.heartbeat = (interval: .seconds(2), timeout: .seconds(10)) }
    self.options = options
  }

  func open(_ told: @escaping @Sendable (TransportEvent) -> Void) throws {
    let socket = try Socket(context, .dealer, on: loop, options)
    self.socket = socket
    socket.onEvent { event in
      switch event {
      case .handshakeSucceeded: told(.up)
      case .disconnected: told(.down)
      case .handshakeFailed(code: 400, isAuthentication: true, descriptor: _): told(.turnedAway)
      default: break
      }
    }
    socket.onMessages { batch in
      for message in batch { told(.received(message.bytes)) }
    }
    try socket.connect(endpoint)
  }

  func send(_ frame: [UInt8]) -> Bool {
    guard let socket, let result = try? socket.send(frame) else { return true }
    return result != .wouldBlock
  }

  func whenWritable(_ handler: @escaping @Sendable () -> Void) {
    guard let socket else { return }
    socket.onWritable {
      socket.onWritable(nil)
      handler()
    }
  }

  func close() {
    socket?.close(linger: .milliseconds(500))
    socket = nil
  }
}

extension Connection {
  /// A connection over ZeroMQ, with a thread of its own.
  ///
  /// - Parameters:
  ///   - endpoint: where the broker listens, `tcp://host:port`.
  ///   - serverKey: the broker's public key, z85.
  ///   - keys: this process's own.
  ///   - heartbeats: only for processes that nobody suspends.
  package static func zeroMQ(
    address: Address, endpoint: String, serverKey: String, keys: CurveKeyPair, heartbeats: Bool
  ) -> Connection {
    Connection(address: address, loop: Loop(name: "bus"), ownsLoop: true) { loop in
      try ZeroMQTransport(
        loop: loop, endpoint: endpoint, serverKey: serverKey, keys: keys, heartbeats: heartbeats)
    }
  }
}
