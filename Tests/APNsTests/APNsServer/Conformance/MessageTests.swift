// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import APNsServer

/// RFC 9113, section 8, over a socket.
@Suite(.timeLimit(.minutes(1))) struct `Messages of HTTP/2` {
  private func malformed(_ list: [(String, String)], body: [UInt8] = []) async throws -> Bool {
    let bytes = HTTP2Frames.headers(list, on: 1, ends: body.isEmpty) + body
    return try await Consequence.of(bytes) == .streamError(1, on: 1)
  }

  private func malformed(with name: String, _ value: String) async throws -> Bool {
    try await malformed(HTTP2Frames.request + [(name, value)])
  }

  @Test(
    .rule("HTTP-80"),
    arguments: [(":path", "/"), (":status", "200"), ("A", "b"), ("connection", "close"), ("a", "b\n")])
  func `trailers with a pseudo-header or a field that is not valid are malformed`(name: String, value: String)
    async throws
  {
    let open = HTTP2Frames.request(on: 1, ends: false)
    let bytes = open + HTTP2Frames.headers([(name, value)], on: 1, ends: true)
    #expect(try await Consequence.of(bytes) == .streamError(1, on: 1))
  }

  @Test(.rule("HTTP-81")) func `HEADERS within a request must end it`() async throws {
    let bytes = HTTP2Frames.request(on: 1, ends: false) + HTTP2Frames.headers([("a", "b")], on: 1)
    #expect(try await Consequence.of(bytes) == .streamError(1, on: 1))
  }

  @Test(.rule("HTTP-82"), arguments: ["1", "3", "-2", "+2", "2.0", ""])
  func `a content-length that differs from the body, or is no number, is malformed`(length: String) async throws {
    let list = HTTP2Frames.request + [("content-length", length)]
    #expect(try await malformed(list, body: HTTP2Frames.data("{}", on: 1)))
  }

  @Test(.rule("HTTP-83", "HTTP-88", "HTTP-92"))
  func `a response has one status, no other pseudo-header, names in lower case and no field of the connection`()
    async throws
  {
    try await TestWire.with { wire in
      let frames = await wire.send(HTTP2Frames.request(on: 1) + HTTP2Frames.request("/refused", on: 3))
      let refusal = try #require(try wire.response(on: 3, in: frames))
      #expect(refusal.headers == [":status": "400", "content-type": "application/json", "apns-id": "an-id"])
      let success = await wire.send(HTTP2Frames.request(on: 5))
      #expect(try wire.response(on: 5, in: success)?.headers == [":status": "200", "apns-id": "an-id"])
    }
  }

  @Test(.rule("HTTP-84"), arguments: ["A", "aB", "a b", "a\t", "\u{1}", "a\u{7f}", "\u{e9}"])
  func `a field name with a character that is not permitted is malformed`(name: String) async throws {
    #expect(try await malformed(with: name, "b"))
  }

  @Test(.rule("HTTP-85"), arguments: ["a:", "a:b"]) func `a field name with a colon is malformed`(name: String)
    async throws
  {
    #expect(try await malformed(with: name, "b"))
  }

  @Test(.rule("HTTP-86"), arguments: ["a\0b", "a\rb", "a\nb", "a\r\nb: c"])
  func `a value with NUL, CR or LF is malformed`(value: String) async throws {
    #expect(try await malformed(with: "a", value))
    #expect(try await malformed([(":method", "POST"), (":scheme", "https"), (":path", "/" + value)]))
  }

  @Test(.rule("HTTP-87"), arguments: [" b", "b ", "\tb", "b\t", " "])
  func `a value that begins or ends with white space is malformed`(value: String) async throws {
    #expect(try await malformed(with: "a", value))
  }

  @Test(.rule("HTTP-87")) func `a value may be empty, and have white space within`() async throws {
    try await TestWire.with { wire in
      let list = HTTP2Frames.request + [("a", ""), ("b", "c d\te"), ("c", "\u{e9}")]
      #expect(await wire.send(HTTP2Frames.headers(list, on: 1, ends: true)).map(\.kind) == [1])
    }
  }

  @Test(.rule("HTTP-89"), arguments: ["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"])
  func `a field of the connection is malformed`(name: String) async throws {
    #expect(try await malformed(with: name, "a"))
  }

  @Test(.rule("HTTP-90")) func `te has no other value than trailers`() async throws {
    #expect(try await malformed(with: "te", "gzip"))
    #expect(try await malformed(with: "te", "trailers, gzip"))
    try await TestWire.with { wire in
      let list = HTTP2Frames.request + [("te", "trailers")]
      #expect(await wire.send(HTTP2Frames.headers(list, on: 1, ends: true)).map(\.kind) == [1])
    }
  }

  @Test(.rule("HTTP-93"), arguments: [":status", ":protocol", ":", ":Path"])
  func `a pseudo-header that is not defined for requests is malformed`(name: String) async throws {
    #expect(try await malformed(with: name, "a"))
  }

  @Test(.rule("HTTP-94")) func `a pseudo-header after another field is malformed`() async throws {
    #expect(try await malformed(HTTP2Frames.request.dropLast() + [("a", "b"), (":path", "/")]))
  }

  @Test(.rule("HTTP-95"), arguments: [":method", ":scheme", ":path", ":authority"])
  func `a repeated pseudo-header is malformed`(name: String) async throws {
    let value = ["method": "POST", "scheme": "https"][name.dropFirst()] ?? "/"
    #expect(try await malformed(HTTP2Frames.request + [(":authority", "a"), (name, value)]))
  }

  @Test(.rule("HTTP-97")) func `an authority with user information is malformed`() async throws {
    #expect(try await malformed(with: ":authority", "user@api.push.apple.com"))
  }

  @Test(.rule("HTTP-98"), arguments: [":method", ":scheme", ":path"])
  func `a request without a method, a scheme or a path, or with an empty one, is malformed`(name: String) async throws {
    #expect(try await malformed(HTTP2Frames.request.filter { $0.0 != name }))
    #expect(try await malformed(HTTP2Frames.request.map { ($0.0, $0.0 == name ? "" : $0.1) }))
  }

  @Test(.rule("HTTP-99")) func `a GOAWAY reports no stream as not processed that the backend has seen`() async throws {
    try await TestWire.with { wire in
      let frames = await wire.send(
        HTTP2Frames.request("/held", on: 1) + HTTP2Frames.request(on: 3, ends: false)
          + HTTP2Frames.request("/held", on: 5) + HTTP2Frames.request("/left", on: 7))
      #expect(frames.last?.farewell?.last == 5)
    }
    try await TestWire.with { wire in
      let frames = await wire.send(
        HTTP2Frames.request(on: 3, ends: false) + HTTP2Frames.request("/held", on: 5)
          + HTTP2Frames.headers([(":method", "POST"), (":scheme", "https"), (":path", "/left")], on: 7)
          + HTTP2Frames.request("/held", on: 9) + HTTP2Frames.data("", on: 7))
      #expect(frames.last?.farewell?.last == 9)
    }
  }
}
