import Conversations
import Foundation
import Testing

@testable import Transfers

/// What an attempt sends, follows, decodes, reports and keeps.
@Suite(.timeLimit(.minutes(1))) struct TransferAttemptTests {
  @Test func `the request goes out with its body, its headers and those of the session`() async throws {
    try await withServer({ _ in [response("ok")] }) { scene, server in
      let request = TransferRequest(
        url: server.url + "?a=b%20c", method: "POST", headers: [["X-One", "1"], ["accept", "text/plain"]],
        body: Data("hello".utf8))
      try await scene.attempt(request, headers: [["X-One", "2"], ["X-Two", "2"]])
      let seen = try #require(server.seen.first)
      #expect(seen.line == "POST /file?a=b%20c HTTP/1.1")
      #expect(seen.header("X-One") == "1")
      #expect(seen.header("X-Two") == "2")
      #expect(seen.header("Accept") == "text/plain")
      #expect(seen.header("Content-Length") == "5")
      #expect(seen.body == Array("hello".utf8))
    }
  }

  @Test(arguments: ["404 Not Found", "500 Internal Server Error", "206 Partial Content", "416 Range Not Satisfiable"])
  func `a status is not a failure: the body is the file`(status: String) async throws {
    try await withServer({ _ in [response("sorry", status: status)] }) { scene, server in
      let result = try await scene.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == Int(status.prefix(3)))
      #expect(scene.bytes == Array("sorry".utf8))
      #expect(result.sha256 == digest(scene.bytes))
    }
  }

  @Test func `an answer without a body is whole, whatever length it has`() async throws {
    try await withServer({ request in
      let status =
        request.line.contains("/204") ? "204 No Content" : request.line.contains("/304") ? "304 No" : "200 OK"
      return [.send("HTTP/1.1 \(status)\r\nContent-Length: \(status.hasPrefix("204") ? 0 : 99)\r\n\r\n")]
    }) { scene, server in
      let head = try await scene.attempt(TransferRequest(url: server.url, method: "HEAD"))
      #expect(head.response.expectedLength == 99)
      #expect(head.bytes == 0)
      for path in ["/204", "/304"] {
        let result = try await scene.attempt(TransferRequest(url: "http://127.0.0.1:\(server.port)\(path)"))
        #expect(result.bytes == 0)
      }
    }
  }

  @Test func `a body that came with gzip is decoded, has no expected length and is not resumed`() async throws {
    // `printf hello | gzip -n`
    let packed: [UInt8] = [
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0,
    ]
    let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
    try await withServer({ _ in [.send(head), .bytes(packed)] }) { scene, server in
      let result = try await scene.attempt(TransferRequest(url: server.url))
      #expect(server.seen.first?.header("Accept-Encoding") == "gzip, deflate")
      #expect(scene.bytes == Array("hello".utf8))
      #expect(result.response.expectedLength == -1)
      #expect(result.sha256 == digest(scene.bytes))
    }
  }

  @Test func `progress ends with all bytes, and a small file's head is not stored before`() async throws {
    try await withServer({ _ in [response("hello", "ETag: \"a\"")] }) { scene, server in
      try await scene.attempt(TransferRequest(url: server.url))
      #expect(scene.events == [.started, .received(5, of: 5)])
      #expect(scene.head == nil)
    }
  }

  @Test(arguments: [65_536, 80_000] as [Int64])
  func `a file that is no longer than the setting says begins anew`(limit: Int64) async throws {
    let body = String(repeating: "a", count: 70_000)
    try await withServer({ _ in
      [.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 80000\r\n\r\n" + body), .close]
    }) { scene, server in
      _ = try? await scene.attempt(TransferRequest(url: server.url), resumableFrom: limit)
      #expect((scene.head != nil) == (limit < 80_000))
      _ = try? await scene.attempt(TransferRequest(url: server.url), resumableFrom: limit)
      #expect((server.seen.last?.header("Range") != nil) == (limit < 80_000))
    }
  }

  @Test func `a part that is whole is not asked for again`() async throws {
    let body = String(repeating: "a", count: 70_000)
    try await withServer({ _ in [response(body, "ETag: \"a\"")] }) { scene, server in
      try await scene.attempt(TransferRequest(url: server.url))
      let again = try await scene.attempt(TransferRequest(url: server.url))
      #expect(again.sha256 == digest(Array(body.utf8)))
      #expect(server.seen.count == 1)
    }
  }

  @Test func `bytes without a validator are thrown away`() async throws {
    try await withServer({ _ in [response("new")] }) { scene, server in
      try scene.leave(String(repeating: "a", count: 70_000), of: 80_000, tag: nil)
      try await scene.attempt(TransferRequest(url: server.url))
      #expect(server.seen.last?.header("Range") == nil)
      #expect(scene.bytes == Array("new".utf8))
    }
  }

  @Test func `cancelling an attempt ends it at once with -999`() async throws {
    try await withServer({ _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc")] }) { scene, server in
      let task = Task { await scene.fault(TransferRequest(url: server.url)) }
      while !scene.events.contains(.started) { await Task.yield() }
      task.cancel()
      #expect(await task.value?.code == -999)
    }
  }

  @Test func `the device's rate bounds what comes`() async throws {
    let body = String(repeating: "a", count: 60_000)
    try await withServer({ _ in [response(body)] }) { scene, server in
      scene.network.throttle.setRate(100_000)
      let began = ContinuousClock.now
      try await scene.attempt(TransferRequest(url: server.url))
      #expect(ContinuousClock.now - began >= .milliseconds(590))
      #expect(scene.bytes.count == 60_000)
    }
  }

  // MARK: Uploads

  @Test func `an upload sends its file, says how much, and keeps the answer's body`() async throws {
    let file = String(repeating: "upload ", count: 50_000)
    try await withServer({ _ in [response("thank you", status: "201 Created")] }) { scene, server in
      let path = scene.folder + "/body"
      try Data(file.utf8).write(to: URL(fileURLWithPath: path))
      let request = TransferRequest(url: server.url, method: "PUT", headers: [["Content-Type", "text/plain"]])
      let result = try await scene.attempt(request, upload: path)
      #expect(result.response.status == 201)
      #expect(scene.bytes == Array("thank you".utf8))
      #expect(server.seen.first?.body == Array(file.utf8))
      #expect(server.seen.first?.header("Content-Length") == "350000")
      #expect(scene.events.contains(.sent(350_000, of: 350_000)))
    }
  }

  @Test func `an upload of nothing is one of no bytes`() async throws {
    try await withServer({ _ in [response("thank you")] }) { scene, server in
      try Data().write(to: URL(fileURLWithPath: scene.folder + "/body"))
      try await scene.attempt(TransferRequest(url: server.url, method: "PUT"), upload: scene.folder + "/body")
      #expect(server.seen.first?.header("Content-Length") == "0")
      #expect(scene.bytes == Array("thank you".utf8))
    }
  }

  @Test func `an upload whose connection was lost is sent whole again`() async throws {
    let file = String(repeating: "upload ", count: 50_000)
    try await withServer({ $0.number == 1 ? [.close] : [response("thank you")] }) { scene, server in
      let path = scene.folder + "/body"
      try Data(file.utf8).write(to: URL(fileURLWithPath: path))
      let request = TransferRequest(url: server.url, method: "POST")
      let fault = await scene.fault(request, upload: path)
      #expect(fault?.code == -1005, "\(String(describing: fault))")
      try await scene.attempt(request, upload: path)
      #expect(server.seen.map(\.body.count) == [350_000, 350_000])
    }
  }

  @Test func `a file that is gone before the upload began: -1100, for good`() async throws {
    try await withServer({ _ in [response("thank you")] }) { scene, server in
      let fault = await scene.fault(TransferRequest(url: server.url, method: "PUT"), upload: scene.folder + "/none")
      #expect(fault?.code == -1100)
      #expect(fault?.next == .never)
      #expect(server.seen.isEmpty)
    }
  }

  // MARK: Redirections

  @Test func `a redirect is followed, and the current request shows where to`() async throws {
    try await withServer({ request in
      request.line.contains("/file")
        ? [response("elsewhere", status: "302 Found", "Location: /there?x=1")] : [response("here")]
    }) { scene, server in
      let result = try await scene.attempt(TransferRequest(url: server.url, headers: [["Authorization", "mine"]]))
      #expect(scene.bytes == Array("here".utf8))
      #expect(result.response.url == "http://127.0.0.1:\(server.port)/there?x=1")
      #expect(result.currentRequest?.url == result.response.url)
      #expect(result.redirectCount == 1)
      #expect(server.seen.last?.header("Authorization") == "mine")
      #expect(scene.events.contains(.redirected(try #require(result.currentRequest))))
    }
  }

  @Test func `trap 17: a redirect to another host drops Authorization, and its answer is a 403`() async throws {
    let other = try await RawServer.start { request in
      [request.header("Authorization") == nil ? response("no", status: "403 Forbidden") : response("secret")]
    }
    try await withServer({ _ in [response("", status: "307 Temporary Redirect", "Location: \(other.url)")] }) {
      scene, server in
      let result = try await scene.attempt(
        TransferRequest(url: server.url, headers: [["Authorization", "mine"], ["Cookie", "c"], ["X-Own", "stays"]]))
      #expect(result.response.status == 403)
      #expect(scene.bytes == Array("no".utf8))
      #expect(other.seen.first?.header("Cookie") == nil)
      #expect(other.seen.first?.header("X-Own") == "stays")
      #expect(result.currentRequest?.headers == [["X-Own", "stays"]])
    }
    await other.stop()
  }

  @Test(
    arguments: [
      ("301", "POST", "GET"), ("302", "POST", "GET"), ("303", "POST", "GET"), ("303", "PUT", "GET"),
      ("303", "HEAD", "HEAD"), ("302", "PUT", "PUT"), ("307", "POST", "POST"), ("308", "POST", "POST"),
    ])
  func `the method after a redirect`(status: String, method: String, then: String) async throws {
    try await withServer({ request in
      request.line.contains("/file")
        ? [.send("HTTP/1.1 \(status) X\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
    }) { scene, server in
      let request = TransferRequest(
        url: server.url, method: method, headers: [["Content-Type", "text/plain"]], body: Data("hello".utf8))
      let result = try await scene.attempt(request)
      let last = try #require(server.seen.last)
      #expect(last.line == "\(then) /there HTTP/1.1")
      let keepsBody = then == method
      #expect(last.body == (keepsBody ? Array("hello".utf8) : []))
      #expect((last.header("Content-Type") == nil) == !keepsBody)
      #expect(result.currentRequest?.method == then)
    }
  }

  @Test func `a redirect to no place is the answer, and one to another scheme fails with -1002`() async throws {
    try await withServer({ request in
      request.line.contains("/file")
        ? [response("where?", status: "302 Found")] : [response("", status: "302 Found", "Location: ftp://a/b")]
    }) { scene, server in
      let result = try await scene.attempt(TransferRequest(url: server.url))
      #expect(result.response.status == 302)
      #expect(scene.bytes == Array("where?".utf8))
      let fault = await scene.fault(TransferRequest(url: "http://127.0.0.1:\(server.port)/ftp"))
      #expect(fault?.code == -1002)
      #expect(fault?.next == .never)
    }
  }
}
