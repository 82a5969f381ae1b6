import Conversations
import Foundation
import Testing

@testable import Transfers

/// Each row of the table "What a server does" in Documentation/fidelity.md: what the author sees, and whether the task is
/// tried again until its resource time-out.
@Suite(.timeLimit(.minutes(1))) struct MisbehavingServerTests {
  private let half = String(repeating: "a", count: 70_000)
  private let other = String(repeating: "b", count: 70_000)

  @Test func `nobody listens: -1004, tried again`() async throws {
    let scene = try AttemptScene()
    let nobody = UnheardPort()
    let fault = await scene.fault(TransferRequest(url: nobody.url))
    withExtendedLifetime(nobody) {}
    #expect(fault?.code == -1004)
    #expect(fault?.next == .later)
    await scene.end()
  }

  @Test func `no such host: -1003, tried again`() async throws {
    try await withServer({ _ in [] }) { scene, _ in
      let fault = await scene.fault(TransferRequest(url: "http://nobody.invalid/file"))
      #expect(fault?.code == -1003)
      #expect(fault?.next == .later)
    }
  }

  @Test func `the connection is dropped before an answer: -1005, tried again`() async throws {
    try await withServer({ _ in [.close] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1005)
      #expect(fault?.next == .later)
    }
  }

  @Test func `the connection is dropped at byte n: -1005, and the next attempt asks for the rest`() async throws {
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
    }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1005)
      #expect(fault?.next == .later)
      // What the connection still held when it broke may be lost.
      let kept = scene.bytes.count
      #expect(kept > 0)
      let result = try await scene.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == 200)
      #expect(result.sha256 == digest(Array(whole.utf8)))
      #expect(scene.bytes == Array(whole.utf8))
      #expect(server.seen.last?.header("Range") == "bytes=\(kept)-")
      #expect(scene.events.contains(.resumed(at: Int64(kept))))
    }
  }

  @Test func `fewer bytes than it said: -1005, tried again`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close] }) {
      scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1005)
      #expect(fault?.next == .later)
    }
  }

  @Test func `more bytes than it said: those that it said`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef")] }) { scene, server in
      try await scene.attempt(TransferRequest(url: server.url))
      #expect(scene.bytes == Array("abc".utf8))
    }
  }

  @Test(arguments: ["bytes 0-69999/140000", "bytes 70001-139999/140000", "bytes 70000-139999/150000", "nonsense"])
  func `a 206 with the wrong range: from byte 0 again at once, and no wrong byte`(range: String) async throws {
    let (half, other) = (half, other)
    try await withServer({ request in
      request.number == 1
        ? [response(other, status: "206 Partial Content", "Content-Range: \(range)")] : [response(half + other)]
    }) { scene, server in
      try scene.leave(half, of: 140_000, tag: "\"a\"")
      #expect(await scene.fault(TransferRequest(url: server.url))?.next == .atOnce)
      try await scene.attempt(TransferRequest(url: server.url))
      #expect(scene.bytes == Array((half + other).utf8))
      #expect(server.seen.map { $0.header("Range") } == ["bytes=70000-", nil])
    }
  }

  @Test func `another entity tag in between: the new file from byte 0`() async throws {
    let (half, other) = (half, other)
    try await withServer({ _ in [response(other + half, "ETag: \"b\"")] }) { scene, server in
      try scene.leave(half, of: 140_000, tag: "\"a\"")
      let result = try await scene.attempt(TransferRequest(url: server.url))
      #expect(server.seen.last?.header("If-Range") == "\"a\"")
      #expect(scene.bytes == Array((other + half).utf8))
      #expect(result.sha256 == digest(scene.bytes))
      #expect(scene.events.contains(.restarted))
    }
  }

  @Test func `a range of another entity tag: from byte 0 again at once`() async throws {
    let (half, other) = (half, other)
    try await withServer({ _ in
      [response(other, status: "206 Partial Content", "ETag: \"b\"", "Content-Range: bytes 70000-139999/140000")]
    }) { scene, server in
      try scene.leave(half, of: 140_000, tag: "\"a\"")
      #expect(await scene.fault(TransferRequest(url: server.url))?.next == .atOnce)
      #expect(scene.bytes == [])
    }
  }

  @Test func `it never answers: -1001 after the idle limit, tried again`() async throws {
    try await withServer({ _ in [] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url), idle: 0.2)
      #expect(fault?.code == -1001)
      #expect(fault?.next == .later)
    }
  }

  @Test func `it falls silent in the middle: -1001 after the request's own idle limit, tried again`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url, timeoutInterval: 0.2))
      #expect(fault?.code == -1001)
      #expect(fault?.next == .later)
    }
  }

  @Test func `a byte now and then: goes on until the resource limit, and then -1001`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n"), .drip(10_000)] }) {
      scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url), within: 0.5)
      #expect(fault?.code == -1001)
    }
  }

  @Test(arguments: [16, 2]) func `redirected in a circle: -1007 after 16, for good`(limit: Int) async throws {
    try await withServer({ _ in [response("", status: "301 Moved Permanently", "Location: /file")] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url), redirectLimit: limit)
      #expect(fault?.code == -1007)
      #expect(fault?.next == .never)
      #expect(server.seen.count == limit + 1)
    }
  }

  @Test(arguments: ["nonsense\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"])
  func `what is no HTTP: -1017, for good`(answer: String) async throws {
    try await withServer({ _ in [.send(answer)] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1017)
      #expect(fault?.next == .never)
    }
  }

  @Test func `headers without an end: -1017, for good`() async throws {
    let line = "X-More: " + String(repeating: "a", count: 1000) + "\r\n"
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\n"), .endless(line)] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1017)
      #expect(fault?.next == .never)
    }
  }

  @Test func `a body that is not what its encoding says: -1016, for good`() async throws {
    try await withServer({ _ in [response("no gzip at all", "Content-Encoding: gzip")] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url))
      #expect(fault?.code == -1016)
      #expect(fault?.next == .never)
    }
  }

  @Test func `a disk that is full: -3003, tried again`() async throws {
    let server = try await RawServer.start { _ in [response("hello")] }
    let scene = try AttemptScene(path: "/dev/full")
    let fault = await scene.fault(TransferRequest(url: server.url))
    #expect(fault?.code == -3003)
    #expect(fault?.next == .later)
    await scene.end()
    await server.stop()
  }

  @Test(
    arguments: [TestCertificates.selfSigned, TestCertificates.otherHost, TestCertificates.expired])
  func `a certificate that is not trusted: a challenge, and by default -1202, for good`(pem: String) async throws {
    try await withServer(certificate: pem, { _ in [response("secret")] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: "https://localhost:\(server.port)/file"))
      #expect(fault?.code == -1202)
      #expect(fault?.next == .never)
      #expect(scene.challenges.map(\.method) == ["NSURLAuthenticationMethodServerTrust"])
      #expect(scene.challenges.first?.host == "localhost")
      #expect(scene.challenges.first?.port == server.port)
      #expect(server.seen.isEmpty)
    }
  }

  @Test func `no TLS where it should be: -1200, for good`() async throws {
    try await withServer({ _ in [] }) { scene, server in
      let plain = try await PlainTalker.start()
      let fault = await scene.fault(TransferRequest(url: "https://localhost:\(plain.port)/file"))
      #expect(fault?.code == -1200)
      #expect(fault?.next == .never)
      #expect(scene.challenges == [])
      await plain.stop()
    }
  }
}
