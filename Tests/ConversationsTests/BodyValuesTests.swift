import Conversations
import Foundation
import Testing

@Suite struct `the values of a body` {
  private func withFile(_ data: Data, _ body: (String) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "values-\(UUID().uuidString)")
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try body(file.path)
  }

  @Test func `are the same in an envelope and in a file, whatever is in them and however long they are`() throws {
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

  @Test func `are not taken from a file that lacks, ends too soon or has something else in it`() throws {
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
