// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Archive

@Suite struct ArchivedValueTests {
  @Test func `an archived value of every type survives encoding and decoding`() throws {
    let values: [String: ArchivedValue] = [
      "a": true, "b": 1.5, "c": "text", "d": .date(Date(timeIntervalSince1970: 7)), "e": .list([1, "x", .list([])]),
      "f": .number(.infinity), "g": .record([:]),
    ]
    let value = ArchivedValue.record(ArchivedArguments(values: values))
    #expect(try JSONDecoder().decode(ArchivedValue.self, from: JSONEncoder().encode(value)) == value)
  }

  @Test func `a view archive survives encoding and decoding, and its JSON omits empty fields`() throws {
    let view = ViewArchive(
      .container(.vStack), [.spacing: 4], children: [.text("a"), .empty],
      modifiers: [
        .init(.layer(.overlay), views: [.text("c")]), .init(.layout(.containerBackground), views: [.text("b")]),
      ])
    let data = try JSONEncoder().encode(view)
    #expect(try JSONDecoder().decode(ViewArchive.self, from: data) == view)
    #expect(view.lines == ["b", "a", "c"])
    #expect(String(decoding: try JSONEncoder().encode(ViewArchive.empty), as: UTF8.self) == #"{"n":"EmptyView"}"#)
  }
}
