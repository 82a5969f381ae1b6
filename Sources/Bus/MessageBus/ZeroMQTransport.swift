// SPDX-License-Identifier: Apache-2.0

import Messages
import ZeroMQ

/// One DEALER socket with CURVE.
final class ZeroMQTransport: Transport {
  private let loop: Loop
  private let endpoint: String
  private let context: Context
  private let currentKeys: @Sendable () throws -> CurveKeyPair
  private let keys: CurveKeyPair
  private let options: Socket.Options
  private var socket: Socket?

  /// - Parameters:
  ///   - currentKeys: called now, and again when these keys are rejected.
  ///   - heartbeats: only for processes that are never suspended: heartbeats treat a stopped process as disconnected.
  ///   - isReplaceable: others do the work of this process when the broker receives nothing from it for 5 s.
  ///   - formerTransport: the transport that this one replaces.
  init(
    loop: Loop, endpoint: String, serverKey: String, heartbeats: Bool, isReplaceable: Bool,
    following formerTransport: ZeroMQTransport?,
    currentKeys: @escaping @Sendable () throws -> CurveKeyPair
  ) throws {
    self.loop = loop
    self.endpoint = endpoint
    self.context = try formerTransport?.context ?? Context()
    self.currentKeys = currentKeys
    self.keys = try currentKeys()
    var options = Socket.Options()
    options.curve = .client(keys, serverPublicKey: serverKey)
    options.maxMessageSize = Int64(Wire.frameLimit)
    if heartbeats { options.heartbeat = (interval: isReplaceable ? .seconds(1) : .seconds(2), timeout: .seconds(10)) }
    self.options = options
  }

  var hasNewerKey: Bool { (try? currentKeys()).map { $0 != keys } ?? false }

  func open(_ deliver: @escaping @Sendable (TransportEvent) -> Void) throws {
    let socket = try Socket(context, kind: .dealer, on: loop, options: options)
    self.socket = socket
    socket.onEvent { event in
      switch event {
      case .handshakeSucceeded: deliver(.up)
      case .disconnected: deliver(.down)
      case .handshakeFailed(code: 400, isAuthentication: true, descriptor: _): deliver(.turnedAway)
      default: break
      }
    }
    socket.onMessages { batch in
      for message in batch { deliver(.received(message.bytes)) }
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
