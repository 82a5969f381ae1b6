// SPDX-License-Identifier: Apache-2.0
/// A way in which a server of downloads misbehaves, and how a download that meets it may end.
package struct ServerBehaviour: Sendable {
  /// How a download may end.
  package enum End: Sendable, Hashable {
    /// With the whole file: at once, or when it is repeated and the server is good again.
    case file
    /// With another file, of the same size.
    case otherFile
    /// With this body.
    case body([UInt8])
    /// With an error, which is final.
    case failure(Int)
  }

  /// Stable: failure files contain it.
  package let name: String
  /// One of these must happen.
  package let ends: [End]
  /// Answers a request.
  package let answer: @Sendable (ServerTurn) -> [ServerAction]

  init(_ name: String, _ ends: End..., answer: @escaping @Sendable (ServerTurn) -> [ServerAction]) {
    self.name = name
    self.ends = ends
    self.answer = answer
  }

  /// Whether a download that meets it fails, and is not repeated.
  package var isFinal: Bool {
    ends.allSatisfy { end in
      if case .failure = end { true } else { false }
    }
  }

  /// All, in the order of the pages.
  package static let all: [ServerBehaviour] =
    lengths + chunks + ranges + validators + redirections + codings + connections + statuses + fields + versions
    + securePorts

  private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

  /// The behaviour of a name; `nil` when this version has none.
  package static func named(_ name: String) -> ServerBehaviour? { byName[name] }
}

extension ServerBehaviour.End {
  /// `NSURLErrorCannotParseResponse`: TRANSFER-57 and -58.
  static let notHTTP = Self.failure(-1017)
  /// `NSURLErrorCannotDecodeContentData`: TRANSFER-59.
  static let notDecoded = Self.failure(-1016)
  /// `NSURLErrorUnsupportedURL`: TRANSFER-25 and -56.
  static let unsupported = Self.failure(-1002)
  /// `NSURLErrorBadURL`.
  static let badURL = Self.failure(-1000)
  /// `NSURLErrorSecureConnectionFailed`: TRANSFER-61.
  static let notSecure = Self.failure(-1200)
  /// `NSURLErrorHTTPTooManyRedirects`: TRANSFER-55.
  static let tooManyRedirects = Self.failure(-1007)
  static let empty = Self.body([])
  static func text(_ text: String) -> Self { .body(Array(text.utf8)) }
}

// Status lines and fields. RFC 9112, sections 2 to 5.
extension ServerBehaviour {
  private static func status(_ name: String, line: String, ends: End...) -> ServerBehaviour {
    ServerBehaviour(name, ends: ends) { $0.raw("\(line)\r\nContent-Length: 2\r\n\r\nok") }
  }

  private init(_ name: String, ends: [End], answer: @escaping @Sendable (ServerTurn) -> [ServerAction]) {
    self.name = name
    self.ends = ends
    self.answer = answer
  }

  static let statuses: [ServerBehaviour] = [
    status("status-000", line: "HTTP/1.1 000 Zero", ends: .notHTTP),
    status("status-099", line: "HTTP/1.1 099 Low", ends: .notHTTP),
    status("status-99", line: "HTTP/1.1 99 Short", ends: .notHTTP),
    status("status-600", line: "HTTP/1.1 600 High", ends: .text("ok"), .notHTTP),
    status("status-999", line: "HTTP/1.1 999 What", ends: .text("ok"), .notHTTP),
    status("status-9999", line: "HTTP/1.1 9999 Long", ends: .notHTTP),
    status("status-text", line: "HTTP/1.1 abc Words", ends: .notHTTP),
    status("status-negative", line: "HTTP/1.1 -200 OK", ends: .notHTTP),
    status("status-missing", line: "HTTP/1.1", ends: .notHTTP),
    status("status-without-reason", line: "HTTP/1.1 200", ends: .text("ok")),
    status("status-reason-empty", line: "HTTP/1.1 200 ", ends: .text("ok")),
    status("status-reason-not-ascii", line: "HTTP/1.1 200 \u{e9}", ends: .text("ok")),
    status(
      "status-reason-long", line: "HTTP/1.1 200 " + String(repeating: "r", count: 60_000), ends: .text("ok"), .notHTTP),
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
      $0.reply(
        "401 Unauthorized", body: "no",
        fields: "WWW-Authenticate: Digest realm=\"x, nonce=, qop=\"auth-int,auth\" stale=,,,")
    },
    ServerBehaviour("unauthorized-unclosed", .text("no")) {
      $0.reply("401 Unauthorized", body: "no", fields: "WWW-Authenticate: Digest realm=\"x")
    },
    ServerBehaviour("unauthorized-without-scheme", .text("no")) { $0.reply("401 Unauthorized", body: "no") },
    ServerBehaviour("proxy-unauthorized", .text("no")) {
      $0.reply("407 Proxy Authentication Required", body: "no", fields: "Proxy-Authenticate: Basic realm=\"x\"")
    },
    ServerBehaviour("too-early", .text("no")) { $0.reply("425 Too Early", body: "no") },
    ServerBehaviour("too-many-requests", .text("no")) {
      $0.reply("429 Too Many Requests", body: "no", fields: "Retry-After: Fri, 99 Feb 999999 99:99:99 GMT")
    },
    ServerBehaviour("retry-after-huge", .text("no")) {
      $0.reply("503 Service Unavailable", body: "no", fields: "Retry-After: 99999999999999999999")
    },
    ServerBehaviour("retry-after-negative", .text("no")) {
      $0.reply("503 Service Unavailable", body: "no", fields: "Retry-After: -1")
    },
    ServerBehaviour("retry-after-past", .text("no")) {
      $0.reply("500 Internal Server Error", body: "no", fields: "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT")
    },
    ServerBehaviour("gone", .text("no")) { $0.reply("410 Gone", body: "no") },
  ]

  private static func field(_ name: String, line: String, ends: End...) -> ServerBehaviour {
    ServerBehaviour(name, ends: ends) { $0.raw("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\nok") }
  }

  static let fields: [ServerBehaviour] = [
    field("field-value-nul", line: "X-A: a\u{0}b", ends: .notHTTP),
    field("field-value-controls", line: "X-A: a\u{1}\u{7f}b", ends: .notHTTP, .text("ok")),
    field("field-value-not-ascii", line: "X-A: \u{e9}\u{20ac}", ends: .text("ok")),
    field("field-value-long", line: "X-A: " + String(repeating: "v", count: 60_000), ends: .text("ok"), .notHTTP),
    field("field-value-empty", line: "X-A:", ends: .text("ok")),
    field("field-name-empty", line: ": value", ends: .notHTTP),
    field("field-name-space", line: "X A: value", ends: .notHTTP),
    field("field-name-space-at-end", line: "X-A : value", ends: .notHTTP),
    field("field-name-not-ascii", line: "X-\u{e9}: value", ends: .notHTTP),
    field("field-name-long", line: String(repeating: "n", count: 60_000) + ": v", ends: .text("ok"), .notHTTP),
    field("field-without-colon", line: "nothing", ends: .notHTTP),
    field("field-folded", line: "X-A: a\r\n b", ends: .text("ok"), .notHTTP),
    field("field-ends-with-lf", line: "X-A: a\nX-B: b", ends: .text("ok"), .notHTTP),
    field("field-cr-alone", line: "X-A: a\rX-B: b", ends: .notHTTP, .text("ok")),
    field("fields-many", line: (0..<5000).map { "A\($0): b" }.joined(separator: "\r\n"), ends: .notHTTP),
    field(
      "connection-odd",
      line: "Connection: close, keep-alive, ,upgrade\r\nKeep-Alive: timeout=-1, max=99999999999999999999",
      ends: .text("ok")),
    field(
      "cookies-odd",
      line: "Set-Cookie: a=b; Max-Age=99999999999999999999999\r\nSet-Cookie: c=d; Max-Age=-99999999999999999999\r\n"
        + "Set-Cookie: e=f; Expires=Fri, 99 Feb 999999 99:99:99 GMT\r\nSet-Cookie: =; ;;;\r\nSet-Cookie: \u{e9}=\u{e9}",
      ends: .text("ok")),
    field("cookie-long", line: "Set-Cookie: a=" + String(repeating: "c", count: 60_000), ends: .text("ok"), .notHTTP),
    field("content-type-odd", line: "Content-Type: ;;;=, \"", ends: .text("ok")),
    field(
      "disposition-path", line: "Content-Disposition: attachment; filename=\"../../../etc/passwd\"", ends: .text("ok")),
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
    status("http-2.0", line: "HTTP/2.0 200 OK", ends: .text("ok"), .notHTTP),
    status("http-9.9", line: "HTTP/9.9 200 OK", ends: .text("ok"), .notHTTP),
    status("http-no-version", line: "HTTP/ 200 OK", ends: .notHTTP),
    status("http-lower-case", line: "http/1.1 200 OK", ends: .notHTTP),
    status("http-request", line: "GET / HTTP/1.1", ends: .notHTTP),
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

// How a body is framed and encoded. RFC 9112, sections 6 and 7; RFC 9110, section 8.4.
extension ServerBehaviour {
  static let lengths: [ServerBehaviour] = [
    ServerBehaviour("length-too-long", .file) { $0.cut($0.tag) },
    ServerBehaviour("length-too-short", .file) {
      [.send($0.ok($0.length)), .send($0.file.bytes + [65, 66, 67]), .wait(50)]
    },
    ServerBehaviour("length-missing", .file) { [.send($0.ok($0.tag)), .sendSlowly($0.file.bytes)] },
    ServerBehaviour("length-zero-with-body", .empty) { $0.raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nbody") },
    ServerBehaviour("length-twice", .notHTTP) {
      [.send($0.ok($0.length, "Content-Length: 100")), .send($0.file.bytes), .wait(50)]
    },
    ServerBehaviour("length-same-twice", .file, .notHTTP) {
      [.send($0.ok($0.length, $0.length)), .send($0.file.bytes), .wait(50)]
    },
    ServerBehaviour("length-list", .file, .notHTTP) {
      [.send($0.ok("\($0.length), \($0.size)")), .send($0.file.bytes), .wait(50)]
    },
    ServerBehaviour("length-huge", .file) {
      [.send($0.ok("Content-Length: 9223372036854775807", $0.tag)), .send(Array($0.half))]
    },
    ServerBehaviour("length-overflow", .notHTTP) {
      $0.raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx")
    },
    ServerBehaviour("length-negative", .notHTTP) { $0.raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nbody") },
    ServerBehaviour("length-text", .notHTTP) { $0.raw("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nbody") },
    ServerBehaviour("length-plus", .notHTTP) { $0.raw("HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nbody") },
    ServerBehaviour("length-and-chunks", .file, .notHTTP) {
      [
        .send($0.ok("Content-Length: 7", "Transfer-Encoding: chunked")), .send($0.chunks(of: 8192, $0.file.bytes[...])),
        .send(last),
      ]
    },
  ]

  private static let last = Array("0\r\n\r\n".utf8)
  private static let chunked = "Transfer-Encoding: chunked"

  static let chunks: [ServerBehaviour] = [
    ServerBehaviour("chunks", .file) {
      [.send($0.ok(chunked, $0.tag)), .sendSlowly($0.chunks(of: 5000, $0.file.bytes[...]) + last), .keep]
    },
    ServerBehaviour("chunk-size-no-number", .notHTTP) {
      [.send($0.ok(chunked) + $0.chunks(of: 8192, $0.half) + Array("ZZZZ\r\n".utf8)), .wait(50)]
    },
    ServerBehaviour("chunk-size-overflow", .notHTTP) {
      $0.raw("HTTP/1.1 200 OK\r\n\(chunked)\r\n\r\nFFFFFFFFFFFFFFFFF\r\nabc\r\n")
    },
    ServerBehaviour("chunk-size-negative", .notHTTP) {
      $0.raw("HTTP/1.1 200 OK\r\n\(chunked)\r\n\r\n-2\r\nok\r\n0\r\n\r\n")
    },
    ServerBehaviour("chunk-too-long", .notHTTP) {
      $0.raw("HTTP/1.1 200 OK\r\n\(chunked)\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n")
    },
    ServerBehaviour("chunk-cut", .file) {
      [.send($0.ok(chunked, $0.tag)), .send(Array($0.chunks(of: 8192, $0.half).dropLast(100)))]
    },
    ServerBehaviour("chunk-last-missing", .file) {
      [.send($0.ok(chunked, $0.tag)), .send($0.chunks(of: 8192, $0.file.bytes[...]))]
    },
    ServerBehaviour("chunk-last-late", .file) {
      [.send($0.ok(chunked) + $0.chunks(of: 8192, $0.file.bytes[...])), .wait(400), .send(last), .keep]
    },
    ServerBehaviour("chunk-trailers", .file) {
      [
        .send($0.ok(chunked) + $0.chunks(of: 8192, $0.file.bytes[...])),
        .send(Array("0\r\nX-Sum: 1\r\nETag: \"z\"\r\n\r\n".utf8)), .keep,
      ]
    },
    ServerBehaviour("chunk-extensions", .file) {
      [.send($0.ok(chunked) + $0.chunks(of: 8192, $0.file.bytes[...], extension: ";a=b;c=\"d\"") + last), .keep]
    },
    ServerBehaviour("chunk-single-bytes", .file) {
      [
        .send($0.ok(chunked) + $0.chunks(of: 1, $0.file.bytes.prefix(300))),
        .send($0.chunks(of: 8192, $0.file.bytes.dropFirst(300)) + last), .keep,
      ]
    },
    ServerBehaviour("transfer-coding-unknown", .file, .notHTTP, .text("body")) {
      $0.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\nbody")
    },
    ServerBehaviour("transfer-coding-gzip", .file, .notHTTP, .text("4\r\nbody\r\n0\r\n\r\n"), .text("body")) {
      $0.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n")
    },
  ]

  /// 8 MB from 53 kB.
  private static let bomb = Coding.Bomb(8 << 20)

  static let codings: [ServerBehaviour] = [
    ServerBehaviour("gzip", .file) { $0.encoded("gzip", Coding.gzip($0.file.bytes[...])) },
    ServerBehaviour("gzip-in-chunks", .file) {
      [
        .send($0.ok("Content-Encoding: gzip", chunked)),
        .sendSlowly($0.chunks(of: 999, Coding.gzip($0.file.bytes[...])[...]) + last), .keep,
      ]
    },
    ServerBehaviour("gzip-two-members", .file) {
      $0.encoded("gzip", Coding.gzip($0.half) + Coding.gzip($0.file.bytes.dropFirst($0.half.count)))
    },
    ServerBehaviour("gzip-twice", .file, .notDecoded) {
      $0.encoded("gzip, gzip", Coding.gzip(Coding.gzip($0.file.bytes[...])[...]))
    },
    ServerBehaviour("gzip-truncated", .notDecoded) {
      $0.encoded("gzip", Coding.gzip($0.file.bytes[...]).dropLast(2000))
    },
    ServerBehaviour("gzip-cut", .file) {
      let body = Coding.gzip($0.file.bytes[...])
      return [.send($0.ok("Content-Encoding: gzip", "Content-Length: \(body.count)")), .send(body.dropLast(2000))]
    },
    ServerBehaviour("gzip-wrong-checksum", .notDecoded) {
      var body = Coding.gzip($0.file.bytes[...])
      body[body.count - 6] ^= 255
      return $0.encoded("gzip", body)
    },
    ServerBehaviour("gzip-not-gzip", .notDecoded) { $0.encoded("gzip", $0.file.bytes) },
    ServerBehaviour("gzip-then-garbage", .file, .notDecoded) {
      $0.encoded("gzip", Coding.gzip($0.file.bytes[...]) + Array("garbage".utf8))
    },
    ServerBehaviour("gzip-empty", .empty) { $0.reply("200 OK", body: "", fields: "Content-Encoding: gzip") },
    ServerBehaviour("gzip-of-nothing", .empty) { $0.encoded("gzip", Coding.gzip([])) },
    ServerBehaviour("gzip-204", .empty) { $0.raw("HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n") },
    ServerBehaviour("gzip-bomb", .body(bomb.decoded), .notDecoded, .failure(-3003)) {
      $0.encoded("gzip", bomb.encoded)
    },
    ServerBehaviour("deflate", .file) { $0.encoded("deflate", Coding.zlib($0.file.bytes[...])) },
    ServerBehaviour("deflate-raw", .file, .notDecoded) { $0.encoded("deflate", Coding.deflate($0.file.bytes[...])) },
    ServerBehaviour("coding-unknown", .file) { $0.encoded("rot13", $0.file.bytes) },
    ServerBehaviour("coding-brotli", .file) { $0.encoded("br", $0.file.bytes) },
    ServerBehaviour("coding-identity", .file) { $0.encoded("identity", $0.file.bytes) },
    ServerBehaviour("coding-empty", .file) { $0.encoded("", $0.file.bytes) },
  ]
}

// Interrupted downloads and how the server continues them. RFC 9110, sections 8.8, 13 and 14.
extension ServerBehaviour {
  static let ranges: [ServerBehaviour] = [
    ServerBehaviour("range-ignored", .file) { turn in turn.resumed { _ in turn.whole() } },
    ServerBehaviour("range-from-zero", .file) { turn in turn.resumed { _ in turn.part(0..<1000, of: turn.file) } },
    ServerBehaviour("range-earlier", .file) { turn in
      turn.resumed { turn.part(max(0, $0 - 10)..<turn.size, of: turn.file) }
    },
    ServerBehaviour("range-later", .file) { turn in
      turn.resumed { turn.part(min($0 + 10, turn.size - 1)..<turn.size, of: turn.file) }
    },
    ServerBehaviour("range-other-total", .file) { turn in
      turn.resumed { turn.part($0..<turn.size, of: turn.file, "bytes \($0)-\(turn.size - 1)/\(turn.size + 7)") }
    },
    ServerBehaviour("range-total-unknown", .file) { turn in
      turn.resumed { turn.part($0..<turn.size, of: turn.file, "bytes \($0)-\(turn.size - 1)/*") }
    },
    ServerBehaviour("range-not-described", .file) { turn in
      turn.resumed { first in
        [
          .send(turn.head("HTTP/1.1 206 Partial Content", ["Content-Length: \(turn.size - first)", turn.tag])),
          .send(Array(turn.file.bytes[first...])),
        ]
      }
    },
    ServerBehaviour("range-no-numbers", .file) { turn in
      turn.resumed { turn.part($0..<turn.size, of: turn.file, "bytes a-b/c") }
    },
    ServerBehaviour("range-overflow", .file) { turn in
      turn.resumed { turn.part($0..<turn.size, of: turn.file, "bytes \($0)-99999999999999999999/99999999999999999999") }
    },
    ServerBehaviour("range-backwards", .file) { turn in
      turn.resumed { turn.part($0..<turn.size, of: turn.file, "bytes \(turn.size)-\($0)/\(turn.size)") }
    },
    ServerBehaviour("range-other-unit", .file) { turn in
      turn.resumed { turn.part($0..<turn.size, of: turn.file, "lines 1-2/3") }
    },
    ServerBehaviour("range-multipart", .file) { turn in
      turn.resumed { first in
        let part = "--b\r\nContent-Range: bytes \(first)-\(first + 9)/\(turn.size)\r\n\r\n0123456789\r\n--b--\r\n"
        return turn.reply("206 Partial Content", body: part, fields: "Content-Type: multipart/byteranges; boundary=b")
      }
    },
    ServerBehaviour("range-cut", .file) { turn in
      turn.resumed {
        Array(turn.part($0..<turn.size, of: turn.file).dropLast(2)) + [
          .send(Array(turn.file.bytes[$0..<min($0 + 100, turn.size)]))
        ]
      }
    },
    ServerBehaviour("range-too-long", .file) { turn in
      turn.resumed { Array(turn.part($0..<turn.size, of: turn.file).dropLast()) + [.send([65, 66, 67]), .wait(50)] }
    },
    ServerBehaviour("range-refused", .file) { turn in
      turn.resumed { _ in
        turn.reply("416 Range Not Satisfiable", body: "", fields: "Content-Range: bytes */\(turn.size)")
      }
    },
    ServerBehaviour("range-refused-without-total", .file) { turn in
      turn.resumed { _ in turn.reply("416 Range Not Satisfiable") }
    },
    ServerBehaviour("range-unasked", .file) { turn in turn.part(0..<turn.size, of: turn.file) },
    ServerBehaviour("range-unavailable", .file, .text("later")) { turn in
      turn.resumed { _ in turn.reply("503 Service Unavailable", body: "later", fields: "Retry-After: 1") }
    },
  ]

  static let validators: [ServerBehaviour] = [
    ServerBehaviour("tag-changes-in-part", .file) { turn in
      turn.resumed { turn.part($0..<turn.size, of: turn.otherFile) }
    },
    ServerBehaviour("tag-changes-with-file", .file, .otherFile) { turn in
      turn.resumed { _ in
        [.send(turn.ok(turn.length, "ETag: \(turn.otherFile.entityTag)")), .sendSlowly(turn.otherFile.bytes), .keep]
      }
    },
    ServerBehaviour("tag-changes-same-bytes", .file) { turn in
      turn.resumed { _ in [.send(turn.ok(turn.length, "ETag: \"again\"")), .sendSlowly(turn.file.bytes), .keep] }
    },
    ServerBehaviour("tag-weak", .file) { $0.cut("ETag: W/\"weak\"") },
    ServerBehaviour("tag-missing", .file) { $0.cut() },
    ServerBehaviour("tag-twice", .file) { $0.cut($0.tag, "ETag: \"second\"") },
    ServerBehaviour("tag-without-quotes", .file) { $0.cut("ETag: figures") },
    ServerBehaviour("tag-long", .file) { $0.cut("ETag: \"\(String(repeating: "e", count: 8000))\"") },
    ServerBehaviour("tag-empty", .file) { $0.cut("ETag:") },
    ServerBehaviour("date-odd", .file) { $0.cut("Last-Modified: Fri, 99 Feb 999999 99:99:99 GMT") },
    ServerBehaviour("date-in-future", .file) { $0.cut("Last-Modified: Fri, 01 Jan 2100 00:00:00 GMT") },
    ServerBehaviour("date-no-date", .file) { $0.cut("Last-Modified: yesterday") },
  ]
}

// Redirections, and connections that end or are slow. RFC 9110, section 15.4.
extension ServerBehaviour {
  static let redirections: [ServerBehaviour] = [
    ServerBehaviour("redirect-loop", .tooManyRedirects) { $0.redirect("/loop/\($0.file.name)") },
    ServerBehaviour("redirect-three-times", .file) { $0.redirect("/hop/2/\($0.file.name)") },
    ServerBehaviour("redirect-other-host", .file) { $0.redirect("http://localhost:\($0.ports.main)\($0.plain)") },
    ServerBehaviour("redirect-other-port", .file) {
      $0.redirect("http://127.0.0.1:\($0.ports.other)\($0.plain)", "307 Temporary Redirect")
    },
    ServerBehaviour("redirect-without-host", .file) { $0.redirect("//127.0.0.1:\($0.ports.other)\($0.plain)") },
    ServerBehaviour("redirect-see-other", .file) { $0.redirect($0.plain, "303 See Other") },
    ServerBehaviour("redirect-permanent", .file) { $0.redirect($0.plain, "308 Permanent Redirect") },
    ServerBehaviour("redirect-user", .file) { $0.redirect("http://u:p@127.0.0.1:\($0.ports.main)\($0.plain)") },
    ServerBehaviour("redirect-fragment", .file) { $0.redirect("\($0.plain)#part") },
    ServerBehaviour("redirect-dots", .file) { $0.redirect("/a/b/../..\($0.plain)") },
    ServerBehaviour("redirect-ftp", .unsupported) { $0.redirect("ftp://127.0.0.1/file") },
    ServerBehaviour("redirect-file", .unsupported) { $0.redirect("file:///etc/passwd") },
    ServerBehaviour("redirect-data", .unsupported) { $0.redirect("data:text/plain,hi") },
    ServerBehaviour("redirect-port-above-65535", .badURL, .failure(-1004)) { $0.redirect("http://127.0.0.1:99999/x") },
    ServerBehaviour("redirect-port-overflow", .badURL, .failure(-1004)) {
      $0.redirect("http://127.0.0.1:99999999999999999999/x")
    },
    ServerBehaviour("redirect-secure-port-above-65535", .badURL, .failure(-1004)) {
      $0.redirect("https://127.0.0.1:65536/x")
    },
    ServerBehaviour("redirect-port-zero", .file, .badURL) { $0.redirect("http://127.0.0.1:0/x") },
    ServerBehaviour("redirect-port-negative", .badURL) { $0.redirect("http://127.0.0.1:-1/x") },
    ServerBehaviour("redirect-bad-address", .badURL) { $0.redirect("http://[::zz/ a b") },
    ServerBehaviour("redirect-no-host", .badURL, .file) { $0.redirect("http:///x") },
    ServerBehaviour("redirect-without-location", .text("moved")) { $0.reply("302 Found", body: "moved") },
    ServerBehaviour("redirect-empty-location", .text("moved")) {
      $0.reply("302 Found", body: "moved", fields: "Location:")
    },
    ServerBehaviour("redirect-two-locations", .file, .text(ServerTurn.notFound)) {
      $0.reply("302 Found", body: "", fields: "Location: \($0.plain)", "Location: /missing")
    },
    ServerBehaviour("redirect-long", .text(ServerTurn.notFound)) {
      $0.redirect("/" + String(repeating: "a", count: 30_000))
    },
    ServerBehaviour("redirect-spaces", .text(ServerTurn.notFound), .badURL) { $0.redirect("/a b c") },
    ServerBehaviour("redirect-not-ascii", .text(ServerTurn.notFound), .badURL) { $0.redirect("/\u{fc}\u{20ac}") },
    ServerBehaviour("redirect-long-body", .file) {
      [
        .send($0.head("HTTP/1.1 302 Found", ["Location: \($0.plain)", "Content-Length: 300000"])),
        .send([UInt8](repeating: 65, count: 300_000)), .keep,
      ]
    },
    ServerBehaviour("redirect-300", .text("choose")) {
      $0.reply("300 Multiple Choices", body: "choose", fields: "Location: \($0.plain)")
    },
  ]

  static let connections: [ServerBehaviour] = [
    ServerBehaviour("reset-at-once", .file) { _ in [.reset] },
    ServerBehaviour("close-at-once", .file) { _ in [] },
    ServerBehaviour("reset-in-head", .file) { [.send(Array($0.ok($0.length).prefix(20))), .wait(30), .reset] },
    ServerBehaviour("close-in-head", .file) { [.send(Array($0.ok($0.length).prefix(20)))] },
    ServerBehaviour("close-in-field", .file) { [.send(Array($0.ok($0.length).dropLast(4)))] },
    ServerBehaviour("reset-after-head", .file) { [.send($0.ok($0.length, $0.tag)), .wait(30), .reset] },
    ServerBehaviour("close-after-head", .file) { [.send($0.ok($0.length, $0.tag))] },
    ServerBehaviour("reset-in-body", .file) { $0.cut($0.tag) + [.wait(30), .reset] },
    ServerBehaviour("reset-after-body", .file) {
      [.send($0.ok($0.length, $0.tag)), .send($0.file.bytes), .wait(100), .reset]
    },
    ServerBehaviour("reset-before-close", .file) {
      [.send($0.ok($0.tag)), .sendSlowly(Array($0.half)), .wait(30), .reset]
    },
    ServerBehaviour("half-closed", .file) { [.send($0.ok($0.length, $0.tag)), .send(Array($0.half)), .finish] },
    ServerBehaviour("silent-then-close", .file) { _ in [.wait(900)] },
    ServerBehaviour("silent-in-body", .file) { $0.cut($0.tag) + [.wait(900)] },
    ServerBehaviour("slow-head", .file) { turn in
      turn.ok(turn.length, turn.tag).flatMap { [ServerAction.send([$0]), .wait(3)] } + [
        .sendSlowly(turn.file.bytes), .keep,
      ]
    },
    ServerBehaviour("slow-body", .file) { turn in
      [.send(turn.ok(turn.length, turn.tag))]
        + turn.file.bytes.prefix(60).flatMap { [ServerAction.send([$0]), .wait(10)] }
        + [.sendSlowly(Array(turn.file.bytes.dropFirst(60))), .keep]
    },
    ServerBehaviour("slow-then-cut", .file) { turn in
      [.send(turn.ok(turn.length, turn.tag))]
        + turn.file.bytes.prefix(60).flatMap { [ServerAction.send([$0]), .wait(10)] }
    },
    ServerBehaviour("response-twice", .file) {
      [.send($0.ok($0.length)), .send($0.file.bytes), .send($0.ok($0.length)), .send(Array($0.half)), .wait(100)]
    },
    ServerBehaviour("garbage-while-idle", .file) {
      [.send($0.ok($0.length)), .send($0.file.bytes), .wait(150), .send(Array("garbage".utf8)), .wait(100)]
    },
    ServerBehaviour("timeout-while-idle", .file) {
      [.send($0.ok($0.length)), .send($0.file.bytes), .wait(100)] + $0.reply("408 Request Timeout").dropLast() + [
        .wait(100)
      ]
    },
  ]

  /// The connections to these ports end before a request: see `SecurePort`.
  static let securePorts: [ServerBehaviour] = SecurePort.all.map { port in
    ServerBehaviour(port.name, port.end) { $0.redirect("https://127.0.0.1:\($0.ports.secure[port.name] ?? 0)/x") }
  }
}

/// A port at which a server speaks no TLS, or ends in the middle of it.
package struct SecurePort: Sendable {
  /// Also that of the behaviour which redirects to it.
  package let name: String
  let end: ServerBehaviour.End
  /// What it does when the first bytes of a client have arrived.
  package let actions: [ServerAction]

  private init(_ name: String, end: ServerBehaviour.End, actions: ServerAction...) {
    self.name = name
    self.end = end
    self.actions = actions
  }

  /// The head of a record of TLS: its type, version 1.2 and length.
  private static func record(_ type: UInt8, length: UInt16, bytes: [UInt8]) -> ServerAction {
    .send([type, 3, 3, UInt8(length >> 8), UInt8(length & 255)] + bytes)
  }

  package static let all = [
    SecurePort("tls-garbage", end: .notSecure, actions: .send([UInt8](repeating: 0xa5, count: 2000)), .wait(50)),
    SecurePort(
      "tls-plain", end: .notSecure, actions: .send(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)),
      .wait(50)),
    SecurePort("tls-alert", end: .notSecure, actions: record(21, length: 2, bytes: [2, 40]), .wait(50)),
    SecurePort("tls-unknown-record", end: .notSecure, actions: record(99, length: 4, bytes: [1, 2, 3, 4]), .wait(50)),
    SecurePort(
      "tls-hello-malformed", end: .notSecure, actions: record(22, length: 8, bytes: [2, 0, 0, 4, 9, 9, 9, 9]), .wait(50)
    ),
    SecurePort(
      "tls-record-too-long", end: .notSecure,
      actions: record(22, length: 0xffff, bytes: [UInt8](repeating: 0, count: 100)), .wait(50)),
    SecurePort("tls-close", end: .file),
    SecurePort("tls-reset", end: .file, actions: .reset),
    SecurePort("tls-close-in-record", end: .file, actions: record(22, length: 200, bytes: [2, 0, 0, 100, 3, 3])),
    SecurePort("tls-close-alert", end: .file, actions: record(21, length: 2, bytes: [1, 0])),
    SecurePort("tls-silent-then-close", end: .file, actions: .wait(700)),
  ]
}
