// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

/// Requests, redirects, decoding, progress and stored state of a transfer attempt.
@Suite(.timeLimit(.minutes(1))) struct TransferAttemptTests {
  @Test(.rule("TRANSFER-24"))
  func `a request is sent with its body, its own headers and the headers of the session`() async throws {
    try await withServer({ _ in [response("ok")] }) { fixture, server in
      let request = TransferRequest(
        url: server.url + "?a=b%20c", method: "POST", headers: [["X-One", "1"], ["accept", "text/plain"]],
        body: Data("hello".utf8))
      try await fixture.attempt(request, headers: [["X-One", "2"], ["X-Two", "2"]])
      let seen = try #require(server.seen.first)
      #expect(seen.line == "POST /file?a=b%20c HTTP/1.1")
      #expect(seen.header("X-One") == "1")
      #expect(seen.header("X-Two") == "2")
      #expect(seen.header("Accept") == "text/plain")
      #expect(seen.header("Content-Length") == "5")
      #expect(seen.body == Array("hello".utf8))
    }
  }

  @Test(
    .rule("DELIVERY-05"),
    arguments: ["404 Not Found", "500 Internal Server Error", "206 Partial Content", "416 Range Not Satisfiable"])
  func `an HTTP error status is not a failure, and its body is the downloaded file`(status: String) async throws {
    try await withServer({ _ in [response("sorry", status: status)] }) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == Int(status.prefix(3)))
      #expect(fixture.bytes == Array("sorry".utf8))
      #expect(result.sha256 == digest(fixture.bytes))
    }
  }

  @Test(arguments: [0, 1, 32 << 10, 32 << 10 + 1, 100_000])
  func `a body of at most 32 KiB is not written to the partial file`(length: Int) async throws {
    let body = String(repeating: "x", count: length)
    try await withServer({ _ in [response(body)] }) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(result.bytes == Int64(length))
      #expect(fixture.bytes == Array(body.utf8))
      #expect(result.sha256 == digest(fixture.bytes))
      #expect((result.content != nil) == (length <= 32 << 10))
      #expect(fixture.part.count == (length <= 32 << 10 ? 0 : length))
    }
  }

  @Test func `what a failed attempt has received of a short body is in the partial file`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close] }) {
      fixture, server in
      #expect(await fixture.fault(TransferRequest(url: server.url)) != nil)
      #expect(fixture.part == Array("abc".utf8))
    }
  }

  @Test(.rule("TRANSFER-30")) func `a response without a body is complete, whatever its Content-Length`() async throws {
    try await withServer({ request in
      let status =
        request.line.contains("/204") ? "204 No Content" : request.line.contains("/304") ? "304 No" : "200 OK"
      return [.send("HTTP/1.1 \(status)\r\nContent-Length: \(status.hasPrefix("204") ? 0 : 99)\r\n\r\n")]
    }) { fixture, server in
      let head = try await fixture.attempt(TransferRequest(url: server.url, method: "HEAD"))
      #expect(head.response.expectedLength == 99)
      #expect(head.bytes == 0)
      for path in ["/204", "/304"] {
        let result = try await fixture.attempt(TransferRequest(url: "http://127.0.0.1:\(server.port)\(path)"))
        #expect(result.bytes == 0)
      }
    }
  }

  @Test(.rule("TRANSFER-31"))
  func `a gzip body is decoded and has no expected length`() async throws {
    // `printf hello | gzip -n`
    let packed: [UInt8] = [
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0,
    ]
    let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
    try await withServer({ _ in [.send(head), .bytes(packed)] }) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(server.seen.first?.header("Accept-Encoding") == "gzip, deflate")
      #expect(fixture.bytes == Array("hello".utf8))
      #expect(result.response.expectedLength == -1)
      #expect(result.sha256 == digest(fixture.bytes))
    }
  }

  @Test(.rule("TRANSFER-35"))
  func `progress ends with all bytes, and the response head of a small file is not stored`() async throws {
    try await withServer({ _ in [response("hello", "ETag: \"a\"")] }) { fixture, server in
      try await fixture.attempt(TransferRequest(url: server.url))
      #expect(fixture.events == [.started, .received(5, of: 5)])
      #expect(fixture.head == nil)
      let request = TransferRequest(url: server.url)
      #expect(
        ResumeData(part: UUID(), request: request, response: fixture.head, validator: "\"a\"", bytes: 5) == nil,
        "no resume data without the head")
    }
  }

  @Test(.rule("TRANSFER-35"), arguments: [65_536, 80_000] as [Int64])
  func `a download below the configured size restarts from byte 0 instead of resuming`(limit: Int64) async throws {
    let body = String(repeating: "a", count: 70_000)
    try await withServer({ _ in
      [.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 80000\r\n\r\n" + body), .close]
    }) { fixture, server in
      _ = try? await fixture.attempt(TransferRequest(url: server.url), resumableFrom: limit)
      #expect((fixture.head != nil) == (limit < 80_000))
      _ = try? await fixture.attempt(TransferRequest(url: server.url), resumableFrom: limit)
      #expect((server.seen.last?.header("Range") != nil) == (limit < 80_000))
    }
  }

  @Test func `a complete partial file is not requested again`() async throws {
    let body = String(repeating: "a", count: 70_000)
    try await withServer({ _ in [response(body, "ETag: \"a\"")] }) { fixture, server in
      try await fixture.attempt(TransferRequest(url: server.url))
      let again = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(again.sha256 == digest(Array(body.utf8)))
      #expect(server.seen.count == 1)
    }
  }

  @Test(.rule("TRANSFER-34")) func `a partial file without a validator is discarded`() async throws {
    try await withServer({ _ in [response("new")] }) { fixture, server in
      try fixture.leave(String(repeating: "a", count: 70_000), of: 80_000, tag: nil)
      try await fixture.attempt(TransferRequest(url: server.url))
      #expect(server.seen.last?.header("Range") == nil)
      #expect(fixture.bytes == Array("new".utf8))
    }
  }

  @Test(.rule("TASK-14")) func `cancelling an attempt ends it with error -999`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc")] }) { fixture, server in
      let task = Task { await fixture.fault(TransferRequest(url: server.url)) }
      while !fixture.events.contains(.started) {
        try Task.checkCancellation()
        await Task.yield()
      }
      task.cancel()
      #expect(await task.value?.code == -999)
    }
  }

  @Test(.rule("TRANSFER-37")) func `the network rate of the device limits the speed of a download`() async throws {
    let body = String(repeating: "a", count: 60_000)
    try await withServer({ _ in [response(body)] }) { fixture, server in
      fixture.network.throttle.setRate(100_000)
      let began = ContinuousClock.now
      try await fixture.attempt(TransferRequest(url: server.url))
      #expect(ContinuousClock.now - began >= .milliseconds(590))
      #expect(fixture.bytes.count == 60_000)
    }
  }

  // MARK: Uploads

  @Test func `an upload sends its file, reports the sent bytes and stores the response body`() async throws {
    let file = String(repeating: "upload ", count: 50_000)
    try await withServer({ _ in [response("thank you", status: "201 Created")] }) { fixture, server in
      let path = fixture.folder + "/body"
      try Data(file.utf8).write(to: URL(fileURLWithPath: path))
      let request = TransferRequest(url: server.url, method: "PUT", headers: [["Content-Type", "text/plain"]])
      let result = try await fixture.attempt(request, upload: path)
      #expect(result.response.status == 201)
      #expect(fixture.bytes == Array("thank you".utf8))
      #expect(server.seen.first?.body == Array(file.utf8))
      #expect(server.seen.first?.header("Content-Length") == "350000")
      #expect(fixture.events.contains(.sent(350_000, of: 350_000)))
    }
  }

  @Test func `an upload of an empty file sends a Content-Length of 0`() async throws {
    try await withServer({ _ in [response("thank you")] }) { fixture, server in
      try Data().write(to: URL(fileURLWithPath: fixture.folder + "/body"))
      try await fixture.attempt(TransferRequest(url: server.url, method: "PUT"), upload: fixture.folder + "/body")
      #expect(server.seen.first?.header("Content-Length") == "0")
      #expect(fixture.bytes == Array("thank you".utf8))
    }
  }

  @Test(.rule("TRANSFER-36"))
  func `an upload whose connection is lost is sent again from the beginning`() async throws {
    let file = String(repeating: "upload ", count: 50_000)
    try await withServer({ $0.number == 1 ? [.close] : [response("thank you")] }) { fixture, server in
      let path = fixture.folder + "/body"
      try Data(file.utf8).write(to: URL(fileURLWithPath: path))
      let request = TransferRequest(url: server.url, method: "POST")
      let fault = await fixture.fault(request, upload: path)
      #expect(fault?.code == -1005, "\(String(describing: fault))")
      try await fixture.attempt(request, upload: path)
      #expect(server.seen.map(\.body.count) == [350_000, 350_000])
    }
  }

  @Test(.rule("TASK-13")) func `an upload whose file does not exist or cannot be read fails permanently`() async throws
  {
    try await withServer({ _ in [response("thank you")] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url, method: "PUT"), upload: fixture.folder + "/none")
      #expect(fault?.code == -1100)
      #expect(fault?.next == .never)
      // One that may not be read: more links than the kernel follows, also for the superuser.
      try FileManager.default.createSymbolicLink(
        atPath: fixture.folder + "/loop", withDestinationPath: fixture.folder + "/loop")
      let unreadable = await fixture.fault(
        TransferRequest(url: server.url, method: "PUT"), upload: fixture.folder + "/loop")
      #expect(unreadable?.code == -1102)
      #expect(unreadable?.next == .never)
      #expect(server.seen.isEmpty)
    }
  }

  // MARK: Redirections

  @Test(.rule("TASK-06", "TRANSFER-26"))
  func `a redirect is followed, and the current request has the new URL`() async throws {
    try await withServer({ request in
      request.line.contains("/file")
        ? [response("elsewhere", status: "302 Found", "Location: /there?x=1")] : [response("here")]
    }) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url, headers: [["Authorization", "mine"]]))
      #expect(fixture.bytes == Array("here".utf8))
      #expect(result.response.url == "http://127.0.0.1:\(server.port)/there?x=1")
      #expect(result.currentRequest?.url == result.response.url)
      #expect(result.redirectCount == 1)
      #expect(server.seen.last?.header("Authorization") == "mine")
    }
  }

  @Test func `a redirect with an endless body is followed`() async throws {
    try await withServer({ request in
      request.line.contains("/file")
        ? [.send("HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n"), .endless(String(repeating: "x", count: 10_000))]
        : [response("here")]
    }) { fixture, server in
      try await fixture.attempt(TransferRequest(url: server.url))
      #expect(fixture.bytes == Array("here".utf8))
    }
  }

  @Test func `the first bytes of a body that can be resumed are in the partial file at once`() async throws {
    try await withServer({ _ in
      [.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 100000\r\n\r\nabc"), .drip(1000)]
    }) { fixture, server in
      let attempt = Task { await fixture.fault(TransferRequest(url: server.url)) }
      // A pause between two looks: the attempt reports the piece, and not that the file has it.
      while fixture.part.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      #expect(fixture.head?.expectedLength == 100_000)
      attempt.cancel()
      _ = await attempt.value
    }
  }

  @Test(.rule("TRANSFER-27"))
  func `a redirect to another host drops Authorization, and the server responds with a 403`() async throws {
    let other = try await RawServer.start { request in
      [request.header("Authorization") == nil ? response("no", status: "403 Forbidden") : response("secret")]
    }
    try await withServer({ _ in [response("", status: "307 Temporary Redirect", "Location: \(other.url)")] }) {
      fixture, server in
      let result = try await fixture.attempt(
        TransferRequest(url: server.url, headers: [["Authorization", "mine"], ["Cookie", "c"], ["X-Own", "stays"]]))
      #expect(result.response.status == 403)
      #expect(fixture.bytes == Array("no".utf8))
      #expect(other.seen.first?.header("Cookie") == nil)
      #expect(other.seen.first?.header("X-Own") == "stays")
      #expect(result.currentRequest?.headers == [["X-Own", "stays"]])
    }
    await other.stop()
  }

  @Test(
    .rule("TRANSFER-28"),
    arguments: [
      ("301", "POST", "GET"), ("302", "POST", "GET"), ("303", "POST", "GET"), ("303", "PUT", "GET"),
      ("303", "HEAD", "HEAD"), ("302", "PUT", "PUT"), ("307", "POST", "POST"), ("308", "POST", "POST"),
    ])
  func `the status of a redirect determines the method and body of the next request`(
    status: String, method: String, then: String
  ) async throws {
    try await withServer({ request in
      request.line.contains("/file")
        ? [.send("HTTP/1.1 \(status) X\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
    }) { fixture, server in
      let request = TransferRequest(
        url: server.url, method: method, headers: [["Content-Type", "text/plain"]], body: Data("hello".utf8))
      let result = try await fixture.attempt(request)
      let last = try #require(server.seen.last)
      #expect(last.line == "\(then) /there HTTP/1.1")
      let keepsBody = then == method
      #expect(last.body == (keepsBody ? Array("hello".utf8) : []))
      #expect((last.header("Content-Type") == nil) == !keepsBody)
      #expect(result.currentRequest?.method == then)
    }
  }

  @Test(.rule("TRANSFER-29", "TRANSFER-56"))
  func `a redirect without a location is the final response, and one to another scheme fails with -1002`() async throws
  {
    try await withServer({ request in
      request.line.contains("/file")
        ? [response("where?", status: "302 Found")] : [response("", status: "302 Found", "Location: ftp://a/b")]
    }) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == 302)
      #expect(fixture.bytes == Array("where?".utf8))
      let fault = await fixture.fault(TransferRequest(url: "http://127.0.0.1:\(server.port)/ftp"))
      #expect(fault?.code == -1002)
      #expect(fault?.next == .never)
    }
  }
}
