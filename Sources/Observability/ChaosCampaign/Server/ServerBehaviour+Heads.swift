// SPDX-License-Identifier: Apache-2.0

// Status lines and fields. RFC 9112, sections 2 to 5.
extension ServerBehaviour {
  private static func status(_ name: String, _ line: String, _ ends: End...) -> ServerBehaviour {
    ServerBehaviour(name, ends) { $0.raw("\(line)\r\nContent-Length: 2\r\n\r\nok") }
  }

  private init(_ name: String, _ ends: [End], _ answer: @escaping @Sendable (ServerTurn) -> [ServerAction]) {
    self.name = name
    self.ends = ends
    self.answer = answer
  }

  static let statuses: [ServerBehaviour] = [
    status("status-000", "HTTP/1.1 000 Zero", .notHTTP),
    status("status-099", "HTTP/1.1 099 Low", .notHTTP),
    status("status-99", "HTTP/1.1 99 Short", .notHTTP),
    status("status-600", "HTTP/1.1 600 High", .text("ok"), .notHTTP),
    status("status-999", "HTTP/1.1 999 What", .text("ok"), .notHTTP),
    status("status-9999", "HTTP/1.1 9999 Long", .notHTTP),
    status("status-text", "HTTP/1.1 abc Words", .notHTTP),
    status("status-negative", "HTTP/1.1 -200 OK", .notHTTP),
    status("status-missing", "HTTP/1.1", .notHTTP),
    status("status-without-reason", "HTTP/1.1 200", .text("ok")),
    status("status-reason-empty", "HTTP/1.1 200 ", .text("ok")),
    status("status-reason-not-ascii", "HTTP/1.1 200 \u{e9}", .text("ok")),
    status("status-reason-long", "HTTP/1.1 200 " + String(repeating: "r", count: 60_000), .text("ok"), .notHTTP),
    ServerBehaviour("status-000-without-body", .notHTTP) { $0.raw("HTTP/1.1 000 Zero\r\n\r\n") },
    ServerBehaviour("continue", .file) { [.send($0.head("HTTP/1.1 100 Continue"))] + $0.whole() },
    ServerBehaviour("continue-storm", .file) { turn in
      [.send((0..<1000).flatMap { _ in turn.head("HTTP/1.1 100 Continue") })] + turn.whole()
    },
    ServerBehaviour("continue-with-length", .file, .notHTTP) {
      [.send($0.head("HTTP/1.1 100 Continue", ["Content-Length: 5"])), .wait(50)]
    },
    ServerBehaviour("continue-and-nothing", .file) { [.send($0.head("HTTP/1.1 100 Continue")), .wait(100)] },
    ServerBehaviour("early-hints", .file) { [.send($0.head("HTTP/1.1 103 Early Hints", ["Link: </a>"]))] + $0.whole() },
    ServerBehaviour("switching-protocols", .file, .empty, .notHTTP, .text("\u{0}\u{0}bytes")) {
      $0.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n\u{0}\u{0}bytes")
    },
    ServerBehaviour("no-content-with-body", .empty) {
      $0.raw("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")
    },
    ServerBehaviour("not-modified", .empty) { $0.raw("HTTP/1.1 304 Not Modified\r\n\($0.tag)\r\n\r\n") },
    ServerBehaviour("not-modified-with-body", .empty) {
      $0.raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello")
    },
    ServerBehaviour("unauthorized-odd", .text("no")) {
      $0.reply("401 Unauthorized", "no", "WWW-Authenticate: Digest realm=\"x, nonce=, qop=\"auth-int,auth\" stale=,,,")
    },
    ServerBehaviour("unauthorized-unclosed", .text("no")) {
      $0.reply("401 Unauthorized", "no", "WWW-Authenticate: Digest realm=\"x")
    },
    ServerBehaviour("unauthorized-without-scheme", .text("no")) { $0.reply("401 Unauthorized", "no") },
    ServerBehaviour("proxy-unauthorized", .text("no")) {
      $0.reply("407 Proxy Authentication Required", "no", "Proxy-Authenticate: Basic realm=\"x\"")
    },
    ServerBehaviour("too-early", .text("no")) { $0.reply("425 Too Early", "no") },
    ServerBehaviour("too-many-requests", .text("no")) {
      $0.reply("429 Too Many Requests", "no", "Retry-After: Fri, 99 Feb 999999 99:99:99 GMT")
    },
    ServerBehaviour("retry-after-huge", .text("no")) {
      $0.reply("503 Service Unavailable", "no", "Retry-After: 99999999999999999999")
    },
    ServerBehaviour("retry-after-negative", .text("no")) {
      $0.reply("503 Service Unavailable", "no", "Retry-After: -1")
    },
    ServerBehaviour("retry-after-past", .text("no")) {
      $0.reply("500 Internal Server Error", "no", "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT")
    },
    ServerBehaviour("gone", .text("no")) { $0.reply("410 Gone", "no") },
  ]

  private static func field(_ name: String, _ line: String, _ ends: End...) -> ServerBehaviour {
    ServerBehaviour(name, ends) { $0.raw("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\nok") }
  }

  static let fields: [ServerBehaviour] = [
    field("field-value-nul", "X-A: a\u{0}b", .notHTTP),
    field("field-value-controls", "X-A: a\u{1}\u{7f}b", .notHTTP, .text("ok")),
    field("field-value-not-ascii", "X-A: \u{e9}\u{20ac}", .text("ok")),
    field("field-value-long", "X-A: " + String(repeating: "v", count: 60_000), .text("ok"), .notHTTP),
    field("field-value-empty", "X-A:", .text("ok")),
    field("field-name-empty", ": value", .notHTTP),
    field("field-name-space", "X A: value", .notHTTP),
    field("field-name-space-at-end", "X-A : value", .notHTTP),
    field("field-name-not-ascii", "X-\u{e9}: value", .notHTTP),
    field("field-name-long", String(repeating: "n", count: 60_000) + ": v", .text("ok"), .notHTTP),
    field("field-without-colon", "nothing", .notHTTP),
    field("field-folded", "X-A: a\r\n b", .text("ok"), .notHTTP),
    field("field-ends-with-lf", "X-A: a\nX-B: b", .text("ok"), .notHTTP),
    field("field-cr-alone", "X-A: a\rX-B: b", .notHTTP, .text("ok")),
    field("fields-many", (0..<5000).map { "A\($0): b" }.joined(separator: "\r\n"), .notHTTP),
    field(
      "connection-odd", "Connection: close, keep-alive, ,upgrade\r\nKeep-Alive: timeout=-1, max=99999999999999999999",
      .text("ok")),
    field(
      "cookies-odd",
      "Set-Cookie: a=b; Max-Age=99999999999999999999999\r\nSet-Cookie: c=d; Max-Age=-99999999999999999999\r\n"
        + "Set-Cookie: e=f; Expires=Fri, 99 Feb 999999 99:99:99 GMT\r\nSet-Cookie: =; ;;;\r\nSet-Cookie: \u{e9}=\u{e9}",
      .text("ok")),
    field("cookie-long", "Set-Cookie: a=" + String(repeating: "c", count: 60_000), .text("ok"), .notHTTP),
    field("content-type-odd", "Content-Type: ;;;=, \"", .text("ok")),
    field("disposition-path", "Content-Disposition: attachment; filename=\"../../../etc/passwd\"", .text("ok")),
    ServerBehaviour("fields-endless", .notHTTP) { turn in
      [.send(Array("HTTP/1.1 200 OK\r\n".utf8))]
        + (0..<400).map { .send(Array("X-\($0): \(String(repeating: "y", count: 1000))\r\n".utf8)) }
    },
    ServerBehaviour("field-value-endless", .notHTTP) { _ in
      [.send(Array("HTTP/1.1 200 OK\r\nX-A: ".utf8)), .send([UInt8](repeating: 121, count: 200_000)), .wait(50)]
    },
  ]

  static let versions: [ServerBehaviour] = [
    ServerBehaviour("http-0.9", .notHTTP) { [.send($0.file.bytes), .wait(50)] },
    ServerBehaviour("http-1.0", .file) { [.send($0.head("HTTP/1.0 200 OK")), .sendSlowly($0.file.bytes)] },
    status("http-2.0", "HTTP/2.0 200 OK", .text("ok"), .notHTTP),
    status("http-9.9", "HTTP/9.9 200 OK", .text("ok"), .notHTTP),
    status("http-no-version", "HTTP/ 200 OK", .notHTTP),
    status("http-lower-case", "http/1.1 200 OK", .notHTTP),
    status("http-request", "GET / HTTP/1.1", .notHTTP),
    ServerBehaviour("http-2-frames", .notHTTP) { _ in
      [.send([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]), .wait(50)]
    },
    ServerBehaviour("ssh", .notHTTP) { $0.raw("SSH-2.0-OpenSSH_9.2\r\n") },
    ServerBehaviour("empty-lines", .notHTTP, .file) { $0.raw("\r\n\r\n\r\n\r\n") },
    ServerBehaviour("empty-lines-first", .text("ok"), .notHTTP) {
      $0.raw("\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    },
    ServerBehaviour("binary", .notHTTP) { _ in
      [.send((0..<4000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 200) }), .wait(50)]
    },
  ]
}
