// SPDX-License-Identifier: Apache-2.0

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
        return turn.reply("206 Partial Content", part, "Content-Type: multipart/byteranges; boundary=b")
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
      turn.resumed { _ in turn.reply("416 Range Not Satisfiable", "", "Content-Range: bytes */\(turn.size)") }
    },
    ServerBehaviour("range-refused-without-total", .file) { turn in
      turn.resumed { _ in turn.reply("416 Range Not Satisfiable") }
    },
    ServerBehaviour("range-unasked", .file) { turn in turn.part(0..<turn.size, of: turn.file) },
    ServerBehaviour("range-unavailable", .file, .text("later")) { turn in
      turn.resumed { _ in turn.reply("503 Service Unavailable", "later", "Retry-After: 1") }
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
