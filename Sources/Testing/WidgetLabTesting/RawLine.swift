// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A TCP connection to a bus that never completes the handshake. It is closed when the object is deinitialised.
package final class RawLine: Sendable {
  private let descriptor: Int32

  /// Connects. Retries refused and reset connections for a minute, since a bus stops listening for a moment at times.
  ///
  /// - Parameter endpoint: such as `tcp://127.0.0.1:7701`.
  /// - Throws: `LabError` with the kernel's reason.
  package init(_ endpoint: String) throws {
    guard let port = endpoint.split(separator: ":").last.flatMap({ UInt16($0) }),
      let host = endpoint.split(separator: "/").last?.split(separator: ":").first
    else {
      throw LabError("\(endpoint) has no port")
    }
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do throws(Refusal) {
        // Set last: a class that throws after its properties are set is deinitialised, and would close the file twice.
        self.descriptor = try Self.connected(to: String(host), port)
        return
      } catch {
        guard [ECONNREFUSED, ECONNRESET].contains(error.code), ContinuousClock.now < end else {
          throw LabError("\(endpoint): \(String(cString: strerror(error.code)))")
        }
        _ = poll(nil, 0, 5)
      }
    }
  }

  private struct Refusal: Error { let code: Int32 }

  private static func connected(to host: String, _ port: UInt16) throws(Refusal) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Refusal(code: errno) }
    // Binds another source address, so that the connection does not occupy a port that a restarted broker of another
    // test needs.
    guard withAddress("127.0.0.2", port: 0, { bind(descriptor, $0, $1) }) == 0,
      withAddress(host, port: port, { connect(descriptor, $0, $1) }) == 0
    else {
      let code = errno
      close(descriptor)
      throw Refusal(code: code)
    }
    // A listener that closes with a full queue forgets connections that are established for the client. The kernel
    // refuses what arrives for them, so the client asks.
    for (level, option) in [
      (SOL_SOCKET, SO_KEEPALIVE), (Int32(IPPROTO_TCP), TCP_KEEPIDLE), (Int32(IPPROTO_TCP), TCP_KEEPINTVL),
    ] {
      var value: Int32 = 1
      setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
    return descriptor
  }

  private static func withAddress(
    _ host: String, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  deinit { close(descriptor) }

  /// Sends only the first bytes of a ZMTP 3 greeting.
  package func greetHalfWay() { write([0xff, 0, 0, 0]) }

  /// Sends a whole ZMTP 3.1 greeting with CURVE, and nothing of the handshake.
  package func greet() {
    write([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 1] + Array("CURVE".utf8) + Array(repeating: 0, count: 47))
  }

  private func write(_ bytes: [UInt8]) { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  /// Returns when the peer has closed the connection, or when the task is cancelled, which ends the connection.
  package func untilEnded() async {
    let descriptor = descriptor
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        Thread.detachNewThread {
          var buffer = [UInt8](repeating: 0, count: 256)
          while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
          continuation.resume()
        }
      }
    } onCancel: {
      shutdown(descriptor, Int32(SHUT_RDWR))
    }
  }

  /// Raises the limit of open descriptors to the maximum, since each connection needs one.
  ///
  /// - Returns: the new limit.
  package static func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }
}
