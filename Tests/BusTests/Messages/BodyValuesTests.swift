// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@Suite struct `The values of a message body` {
  private func withFile(_ data: Data, _ body: (String) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "values-\(UUID().uuidString)")
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try body(file.path)
  }

  @Test
  func `body values are the same in an envelope and in a file, also when they are long or have line breaks`() throws {
    let texts = ["", "two\nlines", "\"quoted\"", String(repeating: "long", count: 50_000)] + (1...9000).map { "\($0)" }
    var inline = BodyValues(texts)
    #expect(try inline.all() == texts)
    try withFile(try BodyCoding.lines(texts)) { path in
      var values = try BodyValues<String>(file: path)
      #expect(try values.next() == "")
      #expect(try values.all() == Array(texts.dropFirst()))
      #expect(try values.next() == nil)
    }
  }

  @Test func `body values are refused from a file that is missing, truncated or of another type`() throws {
    #expect(throws: BusError.self) { try BodyValues<String>(file: "/nowhere") }
    let lines = try BodyCoding.lines(["one", "two"])
    try withFile(lines.dropLast()) { path in
      var values = try BodyValues<String>(file: path)
      #expect(try values.next() == "one")
      #expect(throws: BusError.self) { try values.next() }
    }
    try withFile(lines) { path in
      var values = try BodyValues<Int>(file: path)
      #expect(throws: BusError.self) { try values.next() }
    }
  }
}
