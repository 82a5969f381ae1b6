// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import PrometheusMetrics

@Suite(.timeLimit(.minutes(1))) struct `The server of metrics` {
  /// A blocking connection to the server.
  private struct Client {
    let descriptor: Int32

    init(_ port: UInt16) throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(status == 0)
    }

    func send(_ text: String) { _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    /// Everything until the server closes the connection.
    func rest() -> String {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        bytes += buffer[..<count]
      }
      close(descriptor)
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private func serving(_ body: (MetricsServer, Counter) throws -> Void) throws {
    let counter = Counter()
    let server = try MetricsServer(MetricsEndpoint(host: "127.0.0.1", port: 0)) {
      [.counter("test_total", help: "Counts.", counter)]
    }
    defer { server.stop() }
    try body(server, counter)
  }

  @Test func `it selects a free port, and answers each request with the values of that moment`() throws {
    try serving { server, counter in
      #expect(server.endpoint.port != 0)
      for count in 1...3 {
        counter.add()
        let client = try Client(server.endpoint.port)
        client.send("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        let text = client.rest()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.contains("\ntest_total \(count)\n"))
        #expect(text.contains("\nprocess_resident_memory_bytes "))
      }
    }
  }

  @Test func `a client that sends nothing does not delay another one`() throws {
    try serving { server, _ in
      let silent = try Client(server.endpoint.port)
      let client = try Client(server.endpoint.port)
      client.send("GET /metrics HTTP/1.1\r\n\r\n")
      #expect(client.rest().contains("test_total 0"))
      close(silent.descriptor)
    }
  }

  @Test func `a port in use is refused with the endpoint and the reason`() throws {
    try serving { server, _ in
      let error = #expect(throws: MetricsError.self) { _ = try MetricsServer(server.endpoint) { [] } }
      #expect(error?.message == "cannot expose metrics at \(server.endpoint): Address already in use")
    }
  }

  @Test func `the values of the process are those of the kernel`() {
    let families = Dictionary(uniqueKeysWithValues: ProcessFamilies.read().map { ($0.name, $0.samples[0].value) })
    #expect(families["process_resident_memory_bytes", default: 0] > 1e6)
    #expect(families["process_open_fds", default: 0] >= 3)
    let age = Date().timeIntervalSince1970 - families["process_start_time_seconds", default: 0]
    #expect((-2...86_400).contains(age))
    #expect(families.count == 6)
  }
}
