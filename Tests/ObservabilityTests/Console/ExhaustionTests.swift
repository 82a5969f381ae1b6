// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Synchronization
import Testing
import WidgetLabTesting

@testable import Console

/// Clients that hold on to connections. Over real sockets.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `Clients that hold on to the console` {
  @Test func `a head that never ends is cut off at its deadline, and others are served`() async throws {
    try await ConsoleFixture.with {
      $0.headLimit = .milliseconds(300)
    } _: { _, client in
      let silent = try TestSocket(port: client.port)
      let slow = try TestSocket(port: client.port)
      try slow.send(Array("GET / HTTP/1.1\r\nHost: ".utf8))
      let dripping = Task {
        // One byte at a time, faster than any idle time: only a deadline of the whole head ends it.
        while (try? slow.send([UInt8(ascii: "a")])) != nil { try await Task.sleep(for: .milliseconds(20)) }
      }
      #expect(try await client.get("/api/state").status == 200)
      #expect(try await silent.receive().isEmpty)
      _ = await dripping.result
      #expect(try await client.get("/api/state").status == 200)
    }
  }

  @Test func `a body that does not arrive is cut off at its deadline`() async throws {
    try await ConsoleFixture.with {
      $0.bodyLimit = .milliseconds(200)
    } _: { fixture, client in
      let lines: [String] = [
        "POST /api/actions HTTP/1.1", "Host: \(client.host)", "Origin: http://\(client.host)",
        "Cookie: \(client.cookie)", "Content-Type: application/json", "Content-Length: 30", "Connection: close", "",
        "{",
      ]
      let socket = try TestSocket(port: client.port)
      try socket.send(Array(lines.joined(separator: "\r\n").utf8))
      let answer = String(decoding: try await socket.receive(), as: UTF8.self)
      #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
      #expect(fixture.cluster.performed.withLock { $0.isEmpty })
    }
  }

  @Test func `a thousand streams: those over the limit get 503, others are served, and none is left behind`()
    async throws
  {
    #expect(RawLine.raiseDescriptorLimit() > 2500)
    try await ConsoleFixture.with { fixture, client in
      let head = "GET /api/events?rows=1 HTTP/1.1\r\nHost: \(client.host)\r\nCookie: \(client.cookie)\r\n\r\n"
      var sockets: [TestSocket] = []
      for _ in 0..<1000 {
        let socket = try TestSocket(port: client.port)
        try socket.send(Array(head.utf8))
        sockets.append(socket)
      }
      var statuses: [String: Int] = [:]
      for socket in sockets {
        statuses[String(decoding: try await socket.receive().prefix(12), as: UTF8.self), default: 0] += 1
      }
      #expect(statuses == ["HTTP/1.1 200": 64, "HTTP/1.1 503": 936])
      #expect(fixture.journal.feed.clients == 64)
      #expect(try await client.get("/api/state").status == 200)
      for socket in sockets { socket.close() }
      try await fixture.until { $0.feed.clients == 0 }
      let events = try await client.events("rows=1")
      try fixture.fill(1)
      #expect(try await events.until { $0.name == "rows" }.last?.sequences == [2])
    }
  }

  @Test func `a console that stops while clients connect ends in order`() async throws {
    // A connection that was dropped unused ended the process.
    for _ in 0..<20 {
      var sockets: [TestSocket] = []
      try await ConsoleFixture.with { _, client in
        for _ in 0..<50 { sockets.append(try TestSocket(port: client.port)) }
      }
      for socket in sockets { socket.close() }
    }
  }

  @Test func `a client that does not read costs bounded memory, is closed in the end, and delays no other`()
    async throws
  {
    try await ConsoleFixture.with {
      $0.writeLimit = .seconds(2)
    } _: { fixture, client in
      let stuck = try TestSocket(port: client.port, receiveBuffer: 2048)
      let head = "GET /api/events?rows=1 HTTP/1.1\r\nHost: \(client.host)\r\nCookie: \(client.cookie)\r\n\r\n"
      try stuck.send(Array(head.utf8))
      let events = try await client.events("rows=1")
      try await fixture.until { $0.feed.clients == 2 }
      let line = String(repeating: "x", count: 300)
      let count = 20_000
      for _ in 0..<count / 500 { try fixture.fill(500, text: line) }
      var received: [UInt64] = []
      while received.last != UInt64(count + 1), let event = try await events.next() { received += event.sequences }
      #expect(received == Array(2...UInt64(count + 1)))
      // The other one is closed, and what it did not read was never stored for it.
      try await fixture.until { $0.feed.clients == 1 }
      #expect(try await client.get("/api/state").status == 200)
    }
  }
}
