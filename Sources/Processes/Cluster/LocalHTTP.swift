// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Foundation
import Glibc
import Synchronization

/// An HTTP/1.1 client over a plain socket. It is enough for a server on this machine that sends the length of its
/// response.
package enum LocalHTTP {
  /// A response.
  package struct Answer: Sendable {
    package let status: Int
    /// The status line and the headers.
    package let head: String
    package let body: Data
  }

  /// Why there is no response, or no port.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String
    package init(description: String) { self.description = description }
  }

  /// Sends a request to a URL such as `http://127.0.0.1:4711/counters`.
  ///
  /// - Parameters:
  ///   - json: the body of a POST; `nil` for a GET.
  ///   - limit: how long it waits for the connection, and then each time to send or receive the next bytes; `nil` for
  ///     no limit.
  /// - Throws: `Failure` when the URL has no host and port, the server is not reachable, or sends a chunked response.
  package static func request(_ url: String, json: Data? = nil, within limit: Duration? = nil) async throws -> Answer {
    guard let parts = URLComponents(string: url), let host = parts.host,
      let port = parts.port.flatMap({ UInt16(exactly: $0) })
    else {
      throw Failure(description: "\(url) needs a host and a port up to 65535, such as http://127.0.0.1:8080/")
    }
    let path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    let content = json.map { "Content-Type: application/json\r\nContent-Length: \($0.count)\r\n" } ?? ""
    let head =
      "\(json == nil ? "GET" : "POST") \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(content)Connection: close\r\n\r\n"
    let request: [UInt8] = Array(head.utf8) + (json ?? Data())
    let bytes: Data = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try exchange(request, host, port, within: limit) })
      }
    }
    return try answer(bytes, from: url)
  }

  private static func answer(_ bytes: Data, from url: String) throws(Failure) -> Answer {
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { throw Failure(description: "\(url): no HTTP answer") }
    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    let lines = head.split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw Failure(description: "\(url): no status line")
    }
    guard !lines.contains(where: { $0.lowercased().hasPrefix("transfer-encoding: chunked") }) else {
      throw Failure(description: "\(url): the response is chunked, which this client does not support")
    }
    return Answer(status: status, head: head, body: Data(bytes[end.upperBound...]))
  }

  private static func exchange(_ request: [UInt8], _ host: String, _ port: UInt16, within limit: Duration?)
    throws(Failure) -> Data
  {
    func failure() -> Failure {
      let isLate = limit != nil && [EAGAIN, EINPROGRESS].contains(errno)
      let reason = isLate ? "no answer within the time limit; is the server running?" : String(cString: strerror(errno))
      return Failure(description: "\(host):\(port): \(reason)")
    }
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    if let limit {
      // Zero would be no limit. The limit of sending is also that of connecting.
      let (seconds, fraction) = limit.components
      var time = timeval(tv_sec: Int(seconds), tv_usec: Int(fraction / 1_000_000_000_000))
      if limit < .microseconds(1) { time = timeval(tv_sec: 0, tv_usec: 1) }
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
      }
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
      throw Failure(description: "\(host) is not an IPv4 address")
    }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw failure() }
    var rest = request[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure() }
      rest = rest.dropFirst(count)
    }
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure() }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }
}

/// Listens on a free port of 127.0.0.1, with a thread for each connection. It serves tests and campaigns, whose servers
/// send what no HTTP library would.
package final class LocalListener: Sendable {
  private struct State {
    var connections: Set<Int32> = []
    var count = 0
    var isOver = false
  }

  /// The port.
  package let port: UInt16
  private let listener: Int32
  private let state = Mutex(State())

  /// - Throws: why there is no port.
  package init() throws(LocalHTTP.Failure) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw -> Int32 in
        guard bind(descriptor, raw, size) == 0, listen(descriptor, 256) == 0 else { return -1 }
        return getsockname(descriptor, raw, &size)
      }
    }
    guard result == 0 else {
      let failure = LocalHTTP.Failure(description: String(cString: strerror(errno)))
      if descriptor >= 0 { close(descriptor) }
      throw failure
    }
    listener = descriptor
    port = UInt16(bigEndian: address.sin_port)
  }

  /// Accepts connections.
  ///
  /// - Parameter serve: called with each connection on its thread; the connection is closed when it returns.
  package func accept(_ serve: @escaping @Sendable (Int32) -> Void) {
    Thread.detachNewThread {
      while true {
        let connection = Glibc.accept(self.listener, nil, nil)
        if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
        guard connection >= 0 else { break }
        let isOver = self.state.withLock { state in
          state.connections.insert(connection)
          state.count += 1
          return state.isOver
        }
        if isOver { shutdown(connection, Int32(SHUT_RDWR)) }
        Thread.detachNewThread {
          serve(connection)
          self.state.withLock { _ = $0.connections.remove(connection) }
          close(connection)
        }
      }
      close(self.listener)
    }
  }

  /// The number of connections accepted.
  package var connectionCount: Int { state.withLock { $0.count } }

  /// Ends all connections, and accepts no more.
  package func stop() {
    let connections = state.withLock { state in
      state.isOver = true
      return state.connections
    }
    for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
    shutdown(listener, Int32(SHUT_RDWR))
  }
}
