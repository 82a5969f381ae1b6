// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

/// Each rule of "Servers that misbehave" in Documentation/fidelity/transfers.md: what the author sees, and whether the
/// task is retried until its resource timeout.
@Suite(.timeLimit(.minutes(1))) struct MisbehavingServerTests {
  private let half = String(repeating: "a", count: 70_000)
  private let other = String(repeating: "b", count: 70_000)

  @Test(.rule("TRANSFER-42"))
  func `a request to a port without a listener fails with -1004 and is retried`() async throws {
    let fixture = try AttemptFixture()
    let absent = UnheardPort()
    let fault = await fixture.fault(TransferRequest(url: absent.url))
    withExtendedLifetime(absent) {}
    #expect(fault?.code == -1004)
    #expect(fault?.next == .later)
    await fixture.end()
  }

  @Test(.rule("TRANSFER-43")) func `a request to an unknown host fails with -1003 and is retried`() async throws {
    try await withServer({ _ in [] }) { fixture, _ in
      let fault = await fixture.fault(TransferRequest(url: "https://host.invalid/file"))
      #expect(fault?.code == -1003)
      #expect(fault?.next == .later)
    }
  }

  @Test(.rule("TRANSFER-44"))
  func `a connection that closes before the response fails with -1005 and is retried`() async throws {
    try await withServer({ _ in [.close] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1005)
      #expect(fault?.next == .later)
    }
  }

  @Test(.rule("TRANSFER-45"))
  func `a connection that closes in mid-body fails with -1005, and the next attempt requests the rest`() async throws {
    let whole = half + other
    try await withServer({ request in
      let first = request.header("Range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
      guard request.number > 1 else {
        return [
          .send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 140000\r\n\r\n" + whole.prefix(100_000)), .close,
        ]
      }
      return [
        response(
          String(whole.dropFirst(first)), status: "206 Partial Content", "ETag: \"a\"",
          "Content-Range: bytes \(first)-139999/140000")
      ]
    }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1005)
      #expect(fault?.next == .later)
      // Bytes in the buffers of the broken connection may be lost.
      let keptBytes = fixture.bytes.count
      #expect(keptBytes > 0)
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == 200)
      #expect(result.sha256 == digest(Array(whole.utf8)))
      #expect(fixture.bytes == Array(whole.utf8))
      #expect(server.seen.last?.header("Range") == "bytes=\(keptBytes)-")
      #expect(fixture.events.contains(.resumed(at: Int64(keptBytes))))
    }
  }

  @Test(.rule("TRANSFER-46"))
  func `a body that is shorter than its Content-Length fails with -1005 and is retried`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close] }) {
      fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1005)
      #expect(fault?.next == .later)
    }
  }

  @Test(.rule("TRANSFER-47"))
  func `a body that is longer than its Content-Length is cut at the Content-Length`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef")] }) { fixture, server in
      try await fixture.attempt(TransferRequest(url: server.url))
      #expect(fixture.bytes == Array("abc".utf8))
    }
  }

  @Test(
    .rule("TRANSFER-48"),
    arguments: ["bytes 0-69999/140000", "bytes 70001-139999/140000", "bytes 70000-139999/150000", "nonsense"])
  func `a 206 with a wrong Content-Range is rejected, and the download restarts at once from byte 0`(range: String)
    async throws
  {
    let (half, other) = (half, other)
    try await withServer({ request in
      request.number == 1
        ? [response(other, status: "206 Partial Content", "Content-Range: \(range)")] : [response(half + other)]
    }) { fixture, server in
      try fixture.leave(half, of: 140_000, tag: "\"a\"")
      #expect(await fixture.fault(TransferRequest(url: server.url))?.next == .atOnce)
      try await fixture.attempt(TransferRequest(url: server.url))
      #expect(fixture.bytes == Array((half + other).utf8))
      #expect(server.seen.map { $0.header("Range") } == ["bytes=70000-", nil])
    }
  }

  @Test(.rule("TRANSFER-50"))
  func `a changed entity tag makes the download restart from byte 0 with the new file`() async throws {
    let (half, other) = (half, other)
    try await withServer({ _ in [response(other + half, "ETag: \"b\"")] }) { fixture, server in
      try fixture.leave(half, of: 140_000, tag: "\"a\"")
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(server.seen.last?.header("If-Range") == "\"a\"")
      #expect(fixture.bytes == Array((other + half).utf8))
      #expect(result.sha256 == digest(fixture.bytes))
      #expect(fixture.events.contains(.restarted))
    }
  }

  @Test(.rule("TRANSFER-49"))
  func `a 206 with a different entity tag is rejected, and the download restarts at once from byte 0`() async throws {
    let (half, other) = (half, other)
    try await withServer({ _ in
      [response(other, status: "206 Partial Content", "ETag: \"b\"", "Content-Range: bytes 70000-139999/140000")]
    }) { fixture, server in
      try fixture.leave(half, of: 140_000, tag: "\"a\"")
      #expect(await fixture.fault(TransferRequest(url: server.url))?.next == .atOnce)
      #expect(fixture.bytes == [])
    }
  }

  @Test(.rule("TRANSFER-32", "TRANSFER-52"))
  func `a request without any response fails with -1001 after the idle limit and is retried`() async throws {
    try await withServer({ _ in [] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url), idle: 0.2)
      #expect(fault?.code == -1001)
      #expect(fault?.next == .later)
    }
  }

  @Test(.rule("TRANSFER-53"))
  func `a response that stalls fails with -1001 after the idle limit of the request and is retried`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url, timeoutInterval: 0.2))
      #expect(fault?.code == -1001)
      #expect(fault?.next == .later)
    }
  }

  @Test(.rule("TRANSFER-26", "TRANSFER-55"), arguments: [16, 2])
  func `a redirect loop fails permanently with -1007 after the configured number of redirects`(limit: Int) async throws
  {
    try await withServer({ _ in [response("", status: "301 Moved Permanently", "Location: /file")] }) {
      fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url), redirectLimit: limit)
      #expect(fault?.code == -1007)
      #expect(fault?.next == .never)
      #expect(server.seen.count == limit + 1)
    }
  }

  @Test(
    .rule("TRANSFER-57"),
    arguments: ["nonsense\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"])
  func `a response that is not HTTP fails permanently with -1017`(response: String) async throws {
    try await withServer({ _ in [.send(response)] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1017)
      #expect(fault?.next == .never)
    }
  }

  @Test(.rule("TRANSFER-58")) func `a response header without an end fails permanently with -1017`() async throws {
    let line = "X-More: " + String(repeating: "a", count: 1000) + "\r\n"
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\n"), .endless(line)] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1017)
      #expect(fault?.next == .never)
    }
  }

  @Test(.rule("TRANSFER-59"))
  func `a body that does not match its content encoding fails permanently with -1016`() async throws {
    try await withServer({ _ in [response("no gzip at all", "Content-Encoding: gzip")] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1016)
      #expect(fault?.next == .never)
    }
  }

  @Test(.rule("TRANSFER-62")) func `a write to a full disk fails with -3003 and is retried`() async throws {
    let server = try await RawServer.start { _ in [response("hello")] }
    let fixture = try AttemptFixture(path: "/dev/full")
    let fault = await fixture.fault(TransferRequest(url: server.url))
    #expect(fault?.code == -3003)
    #expect(fault?.next == .later)
    await fixture.end()
    await server.stop()
  }

  @Test(
    .rule("TRANSFER-60"),
    arguments: [TestCertificates.selfSigned, TestCertificates.otherHost, TestCertificates.expired])
  func `an untrusted certificate causes a challenge and by default fails permanently with -1202`(pem: String)
    async throws
  {
    try await withServer(certificate: pem, { _ in [response("secret")] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: "https://localhost:\(server.port)/file"))
      #expect(fault?.code == -1202)
      #expect(fault?.next == .never)
      #expect(fixture.challenges.map(\.method) == ["NSURLAuthenticationMethodServerTrust"])
      #expect(fixture.challenges.first?.host == "localhost")
      #expect(fixture.challenges.first?.port == server.port)
      #expect(server.seen.isEmpty)
    }
  }

  @Test(.rule("TRANSFER-61"))
  func `an https request to a plain-text server fails permanently with -1200`() async throws {
    try await withServer({ _ in [] }) { fixture, server in
      let plain = try await PlainTalker.start()
      let fault = await fixture.fault(TransferRequest(url: "https://localhost:\(plain.port)/file"))
      #expect(fault?.code == -1200)
      #expect(fault?.next == .never)
      #expect(fixture.challenges == [])
      await plain.stop()
    }
  }
}
