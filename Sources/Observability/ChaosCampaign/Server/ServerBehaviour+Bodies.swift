// SPDX-License-Identifier: Apache-2.0

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
    ServerBehaviour("gzip-empty", .empty) { $0.reply("200 OK", "", "Content-Encoding: gzip") },
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
