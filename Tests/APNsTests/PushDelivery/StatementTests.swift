// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import PushDelivery

@Suite struct `Statements with bound values` {
  private let database: DatabaseQueue

  init() throws {
    database = try DatabaseQueue()
    try database.write { try $0.execute(sql: "CREATE TABLE row (place INTEGER PRIMARY KEY, value)") }
  }

  private func insert<Value: ColumnValue>(_ values: [Value]) throws {
    try database.write { db in
      let insert = try db.cachedStatement(sql: "INSERT INTO row (place, value) VALUES (?, ?)")
      for (place, value) in values.enumerated() { try insert.perform(place, value) }
    }
  }

  private func read<Value: DatabaseValueConvertible & StatementColumnConvertible>() throws -> [Value] {
    try database.read { try Value.fetchAll($0, sql: "SELECT value FROM row ORDER BY place") }
  }

  @Test func `a value is read as it was written`() throws {
    let id = UUID()
    try insert([id])
    #expect(try read() as [UUID] == [id])
    try database.write { try $0.execute(sql: "DELETE FROM row") }
    try insert([1.5, -0.25])
    #expect(try read() as [Double] == [1.5, -0.25])
    try database.write { try $0.execute(sql: "DELETE FROM row") }
    try insert([Int64.max, .min])
    #expect(try read() as [Int64] == [.max, .min])
    try database.write { try $0.execute(sql: "DELETE FROM row") }
    try insert([true, false])
    #expect(try read() as [Bool] == [true, false])
  }

  @Test func `a text is written whole, also when it is empty or has a NUL`() throws {
    let texts = ["", "a", "fifteen letters", "more than fifteen letters", "Zürich 🚉", "{\"a\":\"\u{0}\"}", "\u{0}"]
    try insert(texts)
    let (types, bytes) = try database.read { db in
      (
        try String.fetchSet(db, sql: "SELECT typeof(value) FROM row"),
        try Data.fetchAll(db, sql: "SELECT CAST(value AS BLOB) FROM row ORDER BY place")
      )
    }
    #expect(types == ["text"] && bytes == texts.map { Data($0.utf8) })
  }

  @Test func `the texts of a row are whole, also when they are longer than the memory on the stack`() throws {
    try database.write { try $0.execute(sql: "CREATE TABLE texts (one, two, three, id)") }
    let id = UUID()
    for length in [0, 1, 300, 500, 504, 505, 511, 512, 513, 1023, 1024, 1025, 5000] {
      let texts = ["a", "b", "c"].map { String(repeating: $0, count: length) }
      let read = try database.write { db in
        let insert = try db.cachedStatement(sql: "INSERT INTO texts (one, two, three, id) VALUES (?, ?, ?, ?)")
        try insert.perform(texts[0], Optional(texts[1]), texts[2], id)
        defer { try? db.execute(sql: "DELETE FROM texts") }
        return try Row.fetchOne(db, sql: "SELECT * FROM texts")
      }
      #expect(read?["one"] == texts[0] && read?["two"] == texts[1] && read?["three"] == texts[2], "\(length)")
      #expect(read?["id"] == id)
    }
  }

  @Test func `a value that is missing is NULL, also after a row that has one`() throws {
    try insert(["first", nil, "third"])
    #expect(try database.read { try Int.fetchAll($0, sql: "SELECT place FROM row WHERE value IS NULL") } == [1])
  }

  @Test func `a row that is refused is an error, and the statement can be used again`() throws {
    try database.write { db in
      let insert = try db.cachedStatement(sql: "INSERT INTO row (place, value) VALUES (?, ?)")
      try insert.perform(1, "one")
      let error = #expect(throws: DatabaseError.self) { try insert.perform(1, "again") }
      #expect(error?.resultCode == .SQLITE_CONSTRAINT && error?.sql?.hasPrefix("INSERT") == true)
      #expect(error?.message?.contains("row.place") == true)
      try insert.perform(2, "two")
    }
    #expect(try read() as [String] == ["one", "two"])
  }

  @Test func `a value too many is an error`() throws {
    try database.write { db in
      let insert = try db.cachedStatement(sql: "INSERT INTO row (place) VALUES (?)")
      let error = #expect(throws: DatabaseError.self) { try insert.perform(1, 2) }
      #expect(error?.resultCode == .SQLITE_RANGE)
    }
  }

  @Test func `a statement that returns a row is refused`() throws {
    try database.read { db in
      let select = try db.cachedStatement(sql: "SELECT ?")
      #expect(throws: DatabaseError.self) { try select.perform(1) }
    }
  }
}
