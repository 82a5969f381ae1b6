// SPDX-License-Identifier: Apache-2.0

import Cluster
import Dispatch
package import Foundation
import Glibc
import Synchronization

/// A small HTTP/1.1 server on a free port. The test provides the responses.
package final class LocalServer: Sendable {
  /// A client's request.
  package struct Request: Sendable {
    package let method: String
    package let path: String
    /// Names in lower case.
    package let headers: [String: String]
    package let body: Data
  }

  /// A response, which may be malformed.
  package struct Reply: Sendable {
    package var status = 200
    package var headers: [String: String] = [:]
    package var body = Data()
    /// Pauses after this many bytes of the body, until `release()`.
    package var holdsAfter: Int?
    /// Closes the connection after this many bytes of the body.
    package var cutsAfter: Int?
    /// Sent unchanged, instead of the other properties.
    package var raw: String?

    /// A response; by default 200 without a body.
    package init(
      status: Int = 200, headers: [String: String] = [:], body: Data = Data(), holdsAfter: Int? = nil,
      cutsAfter: Int? = nil, raw: String? = nil
    ) {
      self.status = status
      self.headers = headers
      self.body = body
      self.holdsAfter = holdsAfter
      self.cutsAfter = cutsAfter
      self.raw = raw
    }

    /// A response with a text.
    package static func text(_ text: String, _ status: Int = 200, _ headers: [String: String] = [:]) -> Reply {
      Reply(status: status, headers: headers, body: Data(text.utf8))
    }
  }

  private struct State {
    var requests: [Request] = []
  }

  /// The port on 127.0.0.1.
  package var port: UInt16 { listener.port }
  private let listener: LocalListener
  private let answer: @Sendable (Request) -> Reply
  private let state = Mutex(State())
  private let gate = DispatchSemaphore(value: 0)
  private let arrivals: AsyncStream<Request>
  private let arrive: AsyncStream<Request>.Continuation

  /// Listens on a free port, and handles each request on a separate thread.
  ///
  /// - Throws: an error when no port is free.
  package init(_ answer: @escaping @Sendable (Request) -> Reply) throws {
    self.answer = answer
    (arrivals, arrive) = AsyncStream.makeStream()
    listener = try LocalListener()
    listener.accept { self.serve($0) }
  }

  /// The URL of a path on this server.
  package func url(_ path: String = "/") -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { fatalError("\(path) is not a path") }
    return url
  }

  /// The requests received, in order.
  package var requests: [Request] { state.withLock { $0.requests } }
  /// The number of connections accepted.
  package var connectionCount: Int { listener.connectionCount }

  /// The next request that arrives.
  package func next() async -> Request? {
    for await request in arrivals { return request }
    return nil
  }

  /// Continues one paused response.
  package func release() { gate.signal() }

  /// Closes all connections, and accepts no more.
  package func stop() {
    listener.stop()
    for _ in 0..<64 { gate.signal() }
    arrive.finish()
  }

  private func serve(_ connection: Int32) {
    var buffer = Data()
    while let request = read(connection, &buffer) {
      state.withLock { $0.requests.append(request) }
      arrive.yield(request)
      guard send(answer(request), for: request, on: connection) else { break }
    }
  }

  private func read(_ connection: Int32, _ buffer: inout Data) -> Request? {
    func more() -> Bool {
      var piece = [UInt8](repeating: 0, count: 65_536)
      let count = recv(connection, &piece, piece.count, 0)
      if count > 0 { buffer += piece[..<count] }
      return count > 0
    }
    var end = buffer.range(of: Data("\r\n\r\n".utf8))
    while end == nil {
      guard more() else { return nil }
      end = buffer.range(of: Data("\r\n\r\n".utf8))
    }
    guard let end else { return nil }
    let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    let pairs = lines.dropFirst().map { line -> (String, String) in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return (parts[0].lowercased(), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
    }
    let headers = Dictionary(pairs) { "\($0),\($1)" }
    buffer = Data(buffer[end.upperBound...])
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    while buffer.count < length { guard more() else { return nil } }
    let body = Data(buffer.prefix(length))
    buffer = Data(buffer.dropFirst(length))
    return Request(method: String(words[0]), path: String(words[1]), headers: headers, body: body)
  }

  /// Sends a reply; returns whether the connection can be reused.
  private func send(_ reply: Reply, for request: Request, on connection: Int32) -> Bool {
    func put(_ data: Data) -> Bool {
      var rest = data
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return false }
        rest = Data(rest.dropFirst(count))
      }
      return true
    }
    if let raw = reply.raw {
      _ = put(Data(raw.utf8))
      return false
    }
    var head = "HTTP/1.1 \(reply.status) Words\r\nContent-Length: \(reply.body.count)\r\n"
    for (name, value) in reply.headers { head += "\(name): \(value)\r\n" }
    guard put(Data((head + "\r\n").utf8)) else { return false }
    if request.method == "HEAD" { return true }
    if let count = reply.cutsAfter {
      _ = put(Data(reply.body.prefix(count)))
      return false
    }
    if let count = reply.holdsAfter {
      guard put(Data(reply.body.prefix(count))) else { return false }
      guard gate.wait(timeout: .now() + 600) == .success else { return false }
      return put(Data(reply.body.dropFirst(count)))
    }
    return put(reply.body)
  }
}

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
