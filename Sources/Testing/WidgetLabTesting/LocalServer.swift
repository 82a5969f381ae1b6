// SPDX-License-Identifier: Apache-2.0

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
    var connections: Set<Int32> = []
    var connectionCount = 0
    var requests: [Request] = []
    var isOver = false
  }

  /// The port on 127.0.0.1.
  package let port: UInt16
  private let listener: Int32
  private let answer: @Sendable (Request) -> Reply
  private let state = Mutex(State())
  private let gate = DispatchSemaphore(value: 0)
  private let arrivals: AsyncStream<Request>
  private let arrive: AsyncStream<Request>.Continuation

  /// Listens on a free port, and handles each request on a separate thread.
  ///
  /// - Throws: `cannotConnectToHost` when no port is free.
  package init(_ answer: @escaping @Sendable (Request) -> Reply) throws {
    self.answer = answer
    (arrivals, arrive) = AsyncStream.makeStream()
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw -> Int32 in
        guard bind(descriptor, raw, size) == 0, listen(descriptor, 64) == 0 else { return -1 }
        return getsockname(descriptor, raw, &size)
      }
    }
    guard result == 0 else { throw URLError(.cannotConnectToHost) }
    port = UInt16(bigEndian: address.sin_port)
    Thread { self.accept() }.start()
  }

  /// The URL of a path on this server.
  package func url(_ path: String = "/") -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { fatalError("\(path) is not a path") }
    return url
  }

  /// The requests received, in order.
  package var requests: [Request] { state.withLock { $0.requests } }
  /// The number of connections accepted.
  package var connectionCount: Int { state.withLock { $0.connectionCount } }

  /// The next request that arrives.
  package func next() async -> Request? {
    for await request in arrivals { return request }
    return nil
  }

  /// Continues one paused response.
  package func release() { gate.signal() }

  /// Closes all connections, and accepts no more.
  package func stop() {
    let connections = state.withLock { state in
      state.isOver = true
      return state.connections
    }
    for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
    shutdown(listener, Int32(SHUT_RDWR))
    for _ in 0..<64 { gate.signal() }
    arrive.finish()
  }

  private func accept() {
    while true {
      let connection = Glibc.accept(listener, nil, nil)
      guard connection >= 0 else { break }
      let isOver = state.withLock { state in
        state.connections.insert(connection)
        state.connectionCount += 1
        return state.isOver
      }
      if isOver { shutdown(connection, Int32(SHUT_RDWR)) }
      Thread { self.serve(connection) }.start()
    }
    close(listener)
  }

  private func serve(_ connection: Int32) {
    var buffer = Data()
    while let request = read(connection, &buffer) {
      state.withLock { $0.requests.append(request) }
      arrive.yield(request)
      guard send(answer(request), for: request, on: connection) else { break }
    }
    state.withLock { _ = $0.connections.remove(connection) }
    close(connection)
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
