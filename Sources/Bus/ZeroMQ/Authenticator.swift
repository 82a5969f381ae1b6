// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

/// A client that asks to connect to a socket with a ZAP domain.
package struct AuthenticationRequest: Sendable {
  /// The ZAP domain of the socket.
  package let domain: String
  /// The client's IP address, without its port.
  package let address: String
  /// "NULL", "PLAIN" or "CURVE".
  package let mechanism: String
  /// The client's proven public key in Z85; nil for mechanisms other than CURVE.
  package let publicKey: String?
}

/// The reply to a request. The texts go to ZeroMQ's own log; a client sees only the status.
package enum AuthenticationVerdict: Sendable {
  /// 200. Every message of the connection carries the user id (at most 255 bytes).
  case admit(userID: String)
  /// 300: rejected for now. The client is dropped without a reply and tries again.
  case tryAgain(String)
  /// 400: rejected. The client receives the status.
  case refuse(String)

  fileprivate var reply: (status: String, text: String, userID: String) {
    switch self {
    case .admit(let userID): ("200", "OK", userID)
    case .tryAgain(let text): ("300", text, "")
    case .refuse(let text): ("400", text, "")
    }
  }
}

/// Answers the authentication requests of all sockets of a context (ZAP, RFC 27), on the loop. Create it before the
/// first socket of the context is bound, one per context. The loop keeps it alive until it is closed.
package final class Authenticator {
  private let loop: Loop
  private let context: Context
  private let raw: RawSocket
  private let frame = ZMQFrame()
  private var decide: ((AuthenticationRequest) -> AuthenticationVerdict)?
  /// As in `Socket`.
  private var isUsed = true

  /// Throws `EADDRINUSE` when the context already has an authenticator. Traps off the loop.
  package init(
    _ context: Context, on loop: Loop, _ decide: @escaping (AuthenticationRequest) -> AuthenticationVerdict
  ) throws(ZMQError) {
    let state = loop.confined
    // ZeroMQ asserts that a handler is a ROUTER or a REP.
    let raw = try RawSocket(context, type: ZMQ_ROUTER)
    do {
      // The queue must not be limited: a lost reply would hang the handshake until its interval ends.
      try raw.set(ZMQ_SNDHWM, named: "ZMQ_SNDHWM", to: 0)
      try raw.set(ZMQ_RCVHWM, named: "ZMQ_RCVHWM", to: 0)
      try raw.bind("inproc://zeromq.zap.01")
    } catch {
      raw.close(linger: .zero)
      throw error
    }
    (self.loop, self.context, self.raw, self.decide) = (loop, context, raw, decide)
    state.add(self)
  }

  /// From now on every socket with a ZAP domain rejects all clients. Idempotent.
  package func close() {
    let state = loop.confined
    guard decide != nil else { return }
    decide = nil
    raw.close(linger: .zero)
    state.remove(self)
  }
}

@available(*, unavailable)
extension Authenticator: Sendable {}

extension Authenticator: Polled {
  var descriptors: [Int32] { [raw.descriptor] }

  func hasMore() throws(ZMQError) -> Bool {
    guard isUsed else { return false }
    isUsed = false
    return try raw.events() & ZMQ_POLLIN != 0
  }

  func closeAtStop() { close() }

  func serve() {
    isUsed = true
    var served = 0
    while served < Batch.capacity, let decide, frame.receive(from: raw) {
      var frames = [frame.copy()]
      while frame.hasMore, frame.receive(from: raw) { frames.append(frame.copy()) }
      answer(frames, decide)
      served += 1
    }
  }

  /// Frames: the requesting session, a delimiter, version, request id, domain, address, routing id, mechanism,
  /// credentials.
  private func answer(_ frames: [[UInt8]], _ decide: (AuthenticationRequest) -> AuthenticationVerdict) {
    // Only ZeroMQ itself sends requests, in the format of its version; anything shorter is not a request.
    guard frames.count >= 8, frames[2] == Array("1.0".utf8) else { return }
    let mechanism = String(decoding: frames[7], as: UTF8.self)
    let request = AuthenticationRequest(
      domain: String(decoding: frames[4], as: UTF8.self), address: String(decoding: frames[5], as: UTF8.self),
      mechanism: mechanism, publicKey: mechanism == "CURVE" && frames.count > 8 ? z85(frames[8]) : nil)
    let reply = decide(request).reply
    let head = [frames[0], [], frames[2], frames[3]]
    let body = [reply.status, reply.text, String(decoding: reply.userID.utf8.prefix(255), as: UTF8.self)]
    do {
      for part in head + body.map({ Array($0.utf8) }) {
        // A ROUTER drops the reply if the session has ended in the meantime.
        _ = try raw.send(part, more: true)
      }
      _ = try raw.send([UInt8](), more: false)
    } catch {
      // The only error left is a terminated context (ETERM), whose sockets the next poll closes.
    }
  }
}

/// Encodes a 32-byte key in Z85; nil for another length.
private func z85(_ key: [UInt8]) -> String? {
  guard key.count == 32 else { return nil }
  var text = [CChar](repeating: 0, count: 41)
  guard zmq_z85_encode(&text, key, key.count) != nil else { return nil }
  return String(decoding: text.prefix(40).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// A CURVE key pair in Z85, 40 characters each. Its description omits the secret key.
package struct CurveKeyPair: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
  package let publicKey: String
  package let secretKey: String

  /// Takes stored keys without checking them; a socket that gets malformed keys throws `EINVAL`.
  package init(publicKey: String, secretKey: String) {
    self.publicKey = publicKey
    self.secretKey = secretKey
  }

  /// Derives the public key. Throws `EINVAL` when the secret key is not 40 characters of Z85.
  package init(secretKey: String) throws(ZMQError) {
    // zmq_curve_public reads past a short string, so its length is checked first.
    guard secretKey.utf8.count == 40 else { throw ZMQError(code: EINVAL, call: "zmq_curve_public") }
    var publicKey = [CChar](repeating: 0, count: 41)
    try check("zmq_curve_public") { secretKey.withCString { zmq_curve_public(&publicKey, $0) } }
    self.init(publicKey: text(publicKey), secretKey: secretKey)
  }

  /// Generates a key pair from libsodium's (or the kernel's) random numbers. Any thread.
  package static func generate() throws(ZMQError) -> CurveKeyPair {
    var publicKey = [CChar](repeating: 0, count: 41)
    var secretKey = [CChar](repeating: 0, count: 41)
    try check("zmq_curve_keypair") { zmq_curve_keypair(&publicKey, &secretKey) }
    return CurveKeyPair(publicKey: text(publicKey), secretKey: text(secretKey))
  }

  package var description: String { "CurveKeyPair(\(publicKey))" }
  package var debugDescription: String { description }
}

/// The text before the first NUL.
private func text(_ buffer: [CChar]) -> String {
  String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
