// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// A TCP connection of a test to a server of this machine. It is closed when the object is deinitialised.
package final class TestSocket: Sendable {
  private let descriptor: Int32
  private let isClosed = Mutex(false)

  /// Connects to a port of 127.0.0.1.
  ///
  /// - Parameter receiveBuffer: the size of the kernel's buffer in bytes; nil for the usual one.
  /// - Throws: `LabError` with the kernel's reason.
  package init(port: UInt16, receiveBuffer: Int32? = nil) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw LabError("no socket: \(String(cString: strerror(errno)))") }
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      let reason = String(cString: strerror(errno))
      Glibc.close(descriptor)
      throw LabError("127.0.0.1:\(port): \(reason)")
    }
    self.descriptor = descriptor
  }

  deinit { close() }

  /// Sends all bytes.
  ///
  /// - Throws: `LabError` when the peer has closed the connection.
  package func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw LabError("send: \(String(cString: strerror(errno)))") }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits for bytes; empty when the peer has closed the connection. Cancellation closes it.
  ///
  /// - Throws: `LabError` when the connection was reset.
  package func receive() async throws -> [UInt8] {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try self.receiveNow() }) }
      }
    } onCancel: {
      shutdown(descriptor, Int32(SHUT_RDWR))
    }
  }

  private func receiveNow() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw LabError("recv: \(String(cString: strerror(errno)))") }
      return Array(buffer[..<count])
    }
  }

  /// Closes the connection.
  package func close() {
    let isFirst = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    if isFirst { Glibc.close(descriptor) }
  }
}
