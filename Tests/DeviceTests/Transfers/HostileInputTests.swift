// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Stores
import Testing

@testable import Device
@testable import DeviceRules

/// Input of an author or a server for which a library below would end the process, or repeat a request that can never
/// succeed.
@Suite(.timeLimit(.minutes(1))) struct HostileInputTests {
  @Test(
    .rule("TRANSFER-64"),
    arguments: [
      "http://127.0.0.1:99999/x", "https://127.0.0.1:65536/x", "http://[::1]:70000/",
      "http://user:secret@localhost:70000",
      "http://localhost:99999999999999999999/", "http://127.0.0.1%00.example/", "http://local%20host/", "http:///x",
      "http://%5D/", "http://%5B%5D:80/",
    ])
  func `a URL with an impossible port or host fails permanently with -1000, also as a redirection`(url: String)
    async throws
  {
    try await withServer({ _ in [response("", status: "302 Found", "Location: \(url)")] }) { fixture, server in
      for first in [url, server.url] {
        let fault = await fixture.fault(TransferRequest(url: first))
        #expect(fault?.code == -1000)
        #expect(fault?.next == .never)
        #expect(fault?.failure.message.contains(url) == true)
      }
      #expect(server.seen.count == 1)
    }
  }

  @Test(arguments: ["http://localhost:0/", "http://localhost:65535/", "http://localhost:/", "http://localhost:0080/"])
  func `a URL with any port of TCP, or none, is not refused`(url: String) async throws {
    let request = TransferRequest(url: url)
    let exchange = try HTTPExchange(request, SessionConfiguration(), rangeHeaders: [], isUpload: false)
    #expect(exchange.url.absoluteString == url)
  }

  @Test(.rule("TRANSFER-57"))
  func `a request that meets something else on a connection that was used before may be sent again`() async throws {
    try await withServer({ request in
      request.number == 1 ? [response("fine")] : [.send("garbage")]
    }) { fixture, server in
      let first = await fixture.fault(TransferRequest(url: server.url))
      #expect(first == nil)
      let second = await fixture.fault(TransferRequest(url: server.url))
      #expect(second?.code == -1005)
      #expect(second?.next != .never)
      // The connection is a new one.
      let third = await fixture.fault(TransferRequest(url: server.url))
      #expect(third?.code == -1017)
      #expect(third?.next == .never)
    }
  }

  @Test(
    .rule("TRANSFER-57"),
    arguments: ["000 Zero", "001 One", "099 Low", "1000 High", "-20 No", "101 Switching Protocols"],
    ["Content-Length: 2\r\n\r\nok", "Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
  func `a response with an impossible status fails permanently with -1017, and the next request succeeds`(
    status: String, rest: String
  ) async throws {
    try await withServer({ request in
      request.number == 1 ? [.send("HTTP/1.1 \(status)\r\n\(rest)")] : [response("fine")]
    }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1017)
      #expect(fault?.next == .never)
      try await fixture.attempt(TransferRequest(url: server.url))
      #expect(fixture.bytes == Array("fine".utf8))
    }
  }

  @Test(.rule("TRANSFER-57"), arguments: [100, 10_000, 10_001])
  func `interim responses are skipped, and more than 10,000 of them fail permanently with -1017`(count: Int)
    async throws
  {
    let interims = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", count: count)
    try await withServer({ _ in [.send(interims), response("fine")] }) { fixture, server in
      if count > ResponseGate.interimLimit {
        let fault = await fixture.fault(TransferRequest(url: server.url))
        #expect(fault?.code == -1017)
        #expect(fault?.next == .never)
      } else {
        try await fixture.attempt(TransferRequest(url: server.url))
        #expect(fixture.bytes == Array("fine".utf8))
        try await fixture.attempt(TransferRequest(url: server.url))
      }
    }
  }

  @Test func `a status between 200 and 999 is the response`() async throws {
    try await withServer({ request in [response("x", status: request.line.split(separator: "/")[1] + " What")] }) {
      fixture, server in
      for status in [299, 600, 999] {
        let result = try await fixture.attempt(
          TransferRequest(url: "http://127.0.0.1:\(server.port)/\(status)/"))
        #expect(result.response.status == status)
      }
    }
  }

  @Test(
    .rule("TRANSFER-65"),
    arguments: [
      ("GET", "Größe", "1"), ("GET", "a b", "1"), ("GET", "", "1"), ("GET", "a:", "1"), ("GET", "a\r\nb", "1"),
      ("GET", "a", "1\r\nb: 2"), ("GET", "a", "1\0"), ("GET", "a", "\u{7f}"), ("", "a", "1"), ("GET /x", "a", "1"),
      ("G\r\n", "a", "1"), ("TRACE", "a", "1"), ("TRACE", "a b", "1"),
      ("CONNECT", "a", "1"),
    ])
  func `a method or a header field that HTTP does not allow fails permanently with -1 and is not sent`(
    method: String, name: String, value: String
  ) async throws {
    try await withServer({ _ in [response("")] }) { fixture, server in
      let body = method == "TRACE" ? Data("x".utf8) : nil
      let ownRequest = TransferRequest(url: server.url, method: method, headers: [[name, value]], body: body)
      let fault = await fixture.fault(ownRequest)
      #expect(fault?.code == -1)
      #expect(fault?.next == .never)
      #expect(server.seen.isEmpty)
      guard method == "GET" else { return }
      let ofSession = await #expect(throws: TransferFault.self) {
        try await fixture.attempt(TransferRequest(url: server.url), headers: [[name, value]])
      }
      #expect(ofSession?.next == .never)
      #expect(server.seen.isEmpty)
    }
  }

  @Test func `a header field with text of any language and with a tab is sent`() async throws {
    try await withServer({ _ in [response("")] }) { fixture, server in
      try await fixture.attempt(
        TransferRequest(url: server.url, headers: [["X-City", "Zürich\t東京"], ["X-Empty", ""]]))
      #expect(server.seen.first?.header("X-City") == "Zürich\t東京")
      #expect(server.seen.first?.header("X-Empty") == "")
    }
  }
}
