// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Foundation
import Glibc
import Synchronization

/// Serves the metrics of a process at `/metrics` over HTTP/1.1, on its own thread that sleeps between requests.
///
/// The thread reads atomic values and calls no actor, so a request never waits for the work of the process, and the work
/// never waits for a request.
package final class MetricsServer: Sendable {
  /// More connections at once are closed on arrival.
  private static let connectionLimit = 16
  /// How long no connection is accepted after one could not be: without descriptors, `poll` would return at once.
  private static let pause = 0.1
  /// How long a client may take from its connection to the end of the response, seconds.
  private static let patience = 5.0

  /// The endpoint with the port that was bound.
  package let endpoint: MetricsEndpoint
  private let listener: Int32
  private let wakeReader: Int32
  private let wakeWriter: Int32
  private let families: @Sendable () -> [MetricFamily]
  private let ended = DispatchSemaphore(value: 0)
  private let isStopped = Atomic(false)

  /// Binds the port and starts serving.
  ///
  /// - Parameter families: called on the server's thread for each request; must not block. The metrics of the process
  ///   itself are added.
  /// - Throws: when the host is unknown or the port is in use.
  package init(_ endpoint: MetricsEndpoint, _ families: @escaping @Sendable () -> [MetricFamily]) throws(MetricsError) {
    let listener = try Self.listen(endpoint)
    var ends: [Int32] = [-1, -1]
    guard process_pipe(&ends) == 0 else {
      let reason = Self.reason
      close(listener)
      throw MetricsError("no pipe for the metrics: \(reason)")
    }
    self.listener = listener
    self.endpoint = MetricsEndpoint(host: endpoint.host, port: Self.port(of: listener) ?? endpoint.port)
    (wakeReader, wakeWriter) = (ends[0], ends[1])
    self.families = families
    let thread = Thread { self.run() }
    thread.name = "metrics"
    thread.start()
  }

  /// Closes the port and the connections. Returns when the thread has ended. Call once.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    var byte: UInt8 = 0
    _ = write(wakeWriter, &byte, 1)
    ended.wait()
    for descriptor in [listener, wakeReader, wakeWriter] { close(descriptor) }
  }

  /// The page as it is now.
  package var page: String { MetricText.page(families() + ProcessFamilies.read()) }

  // MARK: Listening

  private static var reason: String { String(cString: strerror(errno)) }

  private static func listen(_ endpoint: MetricsEndpoint) throws(MetricsError) -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var foundAddresses: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(endpoint.host, "\(endpoint.port)", &hints, &foundAddresses)
    guard code == 0, let address = foundAddresses else {
      throw MetricsError("cannot expose metrics at \(endpoint): \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(foundAddresses) }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.pointee.ai_family, kind, 0)
    guard descriptor >= 0 else { throw MetricsError("cannot expose metrics at \(endpoint): \(reason)") }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0, Glibc.listen(descriptor, 16) == 0
    else {
      let reason = reason
      close(descriptor)
      throw MetricsError("cannot expose metrics at \(endpoint): \(reason)")
    }
    return descriptor
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard status == 0 else { return nil }
    // The port has the same place in the addresses of IPv4 and IPv6.
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
    }
  }

  // MARK: The thread

  private struct Connection {
    let descriptor: Int32
    let deadline: Double
    var exchange = MetricsExchange()
    var response: ArraySlice<UInt8>?
  }

  private static var now: Double { ProcessInfo.processInfo.systemUptime }

  private func run() {
    var connections: [Connection] = []
    var resumesAt: Double?
    while !isStopped.load(ordering: .relaxed) {
      wait(for: connections, until: resumesAt)
      connections = connections.compactMap(step)
      if let at = resumesAt, Self.now < at { continue }
      resumesAt = accept(into: &connections) ? nil : Self.now + Self.pause
    }
    for connection in connections { close(connection.descriptor) }
    ended.signal()
  }

  /// Sleeps until something can be read or written, or a deadline passes.
  ///
  /// - Parameter resumesAt: when connections are accepted again; `nil` when they are.
  private func wait(for connections: [Connection], until resumesAt: Double?) {
    var polled = [
      // `poll` ignores a negative descriptor.
      pollfd(fd: resumesAt == nil ? listener : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0),
    ]
    polled += connections.map {
      pollfd(fd: $0.descriptor, events: Int16($0.response == nil ? POLLIN : POLLOUT), revents: 0)
    }
    let first = (connections.map(\.deadline) + [resumesAt].compactMap(\.self)).min()
    let timeout = first.map { Int32(exactly: max(0, ($0 - Self.now) * 1_000).rounded(.up)) ?? .max } ?? -1
    poll(&polled, nfds_t(polled.count), timeout)
  }

  /// Returns whether more connections can be accepted.
  private func accept(into connections: inout [Connection]) -> Bool {
    while true {
      let descriptor = Glibc.accept(listener, nil, nil)
      guard descriptor >= 0 else { return [EAGAIN, EINTR, ECONNABORTED].contains(errno) }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      guard connections.count < Self.connectionLimit else {
        close(descriptor)
        continue
      }
      connections.append(Connection(descriptor: descriptor, deadline: Self.now + Self.patience))
    }
  }

  /// Reads and writes what is possible.
  ///
  /// - Returns: the connection, or `nil` when it is over.
  private func step(_ connection: Connection) -> Connection? {
    var connection = connection
    let isOver =
      Self.now >= connection.deadline || (connection.response == nil && receive(&connection)) || send(&connection)
    if isOver { close(connection.descriptor) }
    return isOver ? nil : connection
  }

  /// Returns whether the connection is over.
  private func receive(_ connection: inout Connection) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while connection.response == nil {
      let count = recv(connection.descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 || errno != EAGAIN }
      connection.response = connection.exchange.receive(buffer[..<count]) { page }.map { $0[...] }
    }
    return false
  }

  /// Returns whether the connection is over.
  private func send(_ connection: inout Connection) -> Bool {
    while let rest = connection.response {
      guard !rest.isEmpty else { return true }
      let count = rest.withUnsafeBytes {
        Glibc.send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return errno != EAGAIN }
      connection.response = rest.dropFirst(count)
    }
    return false
  }
}

/// One request over HTTP/1.1 and its response. Decides; the server reads and writes.
///
/// A connection has one request. Source: RFC 9112; a response with `Connection: close` is permitted for each.
struct MetricsExchange {
  /// The longest head of a request, bytes.
  static let headLimit = 8_192

  private var head: [UInt8] = []

  /// Takes received bytes.
  ///
  /// - Parameter page: creates the page; called at most once.
  /// - Returns: the response when the head of the request is complete; `nil` to continue reading.
  mutating func receive(_ bytes: some Sequence<UInt8>, page: () -> String) -> [UInt8]? {
    head += bytes
    guard let end = Self.endOfHead(head) else {
      return head.count > Self.headLimit ? Self.response(431, phrase: "Request Header Fields Too Large", body: "") : nil
    }
    let text = String(decoding: head[..<end], as: UTF8.self)
    // CR LF is one character.
    let first = text.split(whereSeparator: \.isNewline).first ?? ""
    let words = first.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
      return Self.response(400, phrase: "Bad Request", body: "")
    }
    let isHead = words[0] == "HEAD"
    let path = words[1].split(separator: "?", omittingEmptySubsequences: false).first ?? ""
    guard path == "/metrics" else {
      return Self.response(404, phrase: "Not Found", body: "The metrics are at /metrics.\n", hasBody: !isHead)
    }
    switch words[0] {
    case "GET", "HEAD":
      return Self.response(200, phrase: "OK", body: page(), type: MetricText.contentType, hasBody: !isHead)
    default: return Self.response(405, phrase: "Method Not Allowed", body: "", type: "text/plain", allow: "GET, HEAD")
    }
  }

  /// The number of bytes up to the empty line.
  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    let line = UInt8(ascii: "\n")
    var start = 0
    for index in bytes.indices where bytes[index] == line {
      let length = index - start
      if length == 0 || (length == 1 && bytes[start] == UInt8(ascii: "\r")) { return start }
      start = index + 1
    }
    return nil
  }

  private static func response(
    _ status: Int, phrase: String, body: String, type: String = "text/plain; charset=utf-8", allow: String? = nil,
    hasBody: Bool = true
  ) -> [UInt8] {
    let allowed = allow.map { "Allow: \($0)\r\n" } ?? ""
    let head =
      "HTTP/1.1 \(status) \(phrase)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
      + "\(allowed)Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    return Array((hasBody ? head + body : head).utf8)
  }
}

/// Where a process exposes its metrics: `HOST:PORT`, with an IPv6 address in brackets. The port 0 selects a free one.
package struct MetricsEndpoint: Hashable, Sendable, CustomStringConvertible {
  package let host: String
  package let port: UInt16
  /// Whether only processes of this machine reach it.
  package var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Returns `nil` when the text is not `HOST:PORT`.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" }) else { return nil }
    self.init(host: String(host), port: port)
  }

  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why the metrics cannot be exposed. Definite.
package struct MetricsError: Error, Hashable, Sendable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}
