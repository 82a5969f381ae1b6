// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProcessAgent

struct LineTests {
  @Test func `lines are complete however the bytes are split`() {
    for size in 1...7 {
      var splitter = LineSplitter()
      var lines: [String] = []
      let bytes = Array("één\n\ntwo\nrest".utf8)
      for start in stride(from: 0, to: bytes.count, by: size) {
        lines += splitter.append(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(lines == ["één", "", "two"])
      #expect(splitter.finish() == "rest")
      #expect(splitter.finish() == nil)
    }
  }

  @Test func `a long line is split between characters without loss`() {
    var splitter = LineSplitter()
    let text = "a" + String(repeating: "€", count: 6000)
    var lines = splitter.append(Array(text.utf8))
    if let last = splitter.finish() { lines.append(last) }
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.utf8.count <= LineSplitter.limit })
    #expect(lines.joined() == text)
  }

  @Test func `invalid UTF-8 is replaced by replacement characters`() {
    var splitter = LineSplitter()
    #expect(splitter.append([0x61, 0xff, 0x62, 0x0a]) == ["a\u{fffd}b"])
    let junk = [UInt8](repeating: 0x80, count: LineSplitter.limit + 1)
    #expect(splitter.append(junk).map(\.unicodeScalars.count) == [LineSplitter.limit])
  }
}
