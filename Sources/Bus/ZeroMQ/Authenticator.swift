import CZeroMQ
import Glibc

/// Somebody wants to connect to a socket that has a ZAP domain.
package struct AuthenticationRequest: Sendable {
  /// The ZAP domain of the socket.
  package let domain: String
  /// The client's IP address, without its port.
  package let address: String
  /// "NULL", "PLAIN" or "CURVE".
  package let mechanism: String
  /// The client's key in Z85, proven to be its own; nil for another mechanism than CURVE.
  package let publicKey: String?
}

/// The answer to a request. The texts are for ZeroMQ's own log: a client sees the status only.
package enum AuthenticationDecision: Sendable {
  /// 200. Every message of the connection carries the user id (at most 255 bytes).
  case admit(userID: String)
  /// 300: not now. The client is dropped in silence and tries again.
  case tryAgain(String)
  /// 400: no. The client is told so.
  case refuse(String)

  fileprivate var reply: (status: String, text: String, userID: String) {
    switch self {
    case .admit(let userID): ("200", "OK", userID)
    case .tryAgain(let text): ("300", text, "")
    case .refuse(let text): ("400", text, "")
    }
  }
}

/// Answers the authentication requests of all sockets of a context (ZAP, RFC 27), on the loop. To be made before the first
/// socket of the context is bound, one per context. The loop keeps it alive until it is closed.
package final class Authenticator {
  private let loop: Loop
  private let context: Context
  private let raw: RawSocket
  private let frame = Frame()
  private var decide: ((AuthenticationRequest) -> AuthenticationDecision)?
  /// As in `Socket`.
  private var isUsed = true

  /// Throws `EADDRINUSE` when the context has an authenticator. Traps off the loop.
  package init(
    _ context: Context, on loop: Loop, _ decide: @escaping (AuthenticationRequest) -> AuthenticationDecision
  ) throws(ZMQError) {
    let state = loop.confined
    // ZeroMQ asserts that a handler is a ROUTER or a REP.
    let raw = try RawSocket(context, type: ZMQ_ROUTER)
    do {
      // A reply that finds no room must not be lost, or the handshake would hang until its interval ends.
      try raw.set(ZMQ_SNDHWM, "ZMQ_SNDHWM", 0)
      try raw.set(ZMQ_RCVHWM, "ZMQ_RCVHWM", 0)
      try raw.bind("inproc://zeromq.zap.01")
    } catch {
      raw.close(linger: .zero)
      throw error
    }
    (self.loop, self.context, self.raw, self.decide) = (loop, context, raw, decide)
    state.add(self)
  }

  /// From now on every socket with a ZAP domain refuses everybody. Idempotent.
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

  /// Frames: the asking session, a delimiter, version, request id, domain, address, routing id, mechanism, credentials.
  private func answer(_ frames: [[UInt8]], _ decide: (AuthenticationRequest) -> AuthenticationDecision) {
    // Only ZeroMQ itself asks, in the form of its own version: what is shorter is no request.
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
        // A session that is gone meanwhile needs no answer: a ROUTER drops it.
        _ = try raw.send(part, more: true)
      }
      _ = try raw.send([UInt8](), more: false)
    } catch {
      // Only a terminated context is left (ETERM), whose sockets the next poll closes.
    }
  }
}

/// A 32-byte key in Z85; nil for another length.
private func z85(_ key: [UInt8]) -> String? {
  guard key.count == 32 else { return nil }
  var text = [CChar](repeating: 0, count: 41)
  guard zmq_z85_encode(&text, key, key.count) != nil else { return nil }
  return String(decoding: text.prefix(40).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
