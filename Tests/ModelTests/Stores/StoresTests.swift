// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import Stores

/// What all stores share.
@Suite(.timeLimit(.minutes(1)))
struct StoresTests {
  private struct Value: Codable, Equatable {
    var text: String
    var date: Date
  }

  private let value = Value(text: "é", date: Date(timeIntervalSince1970: 1.5))

  /// The path of a database in a folder that exists during `body`.
  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "stores-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder + "/test.sqlite")
  }

  @Test func `tables are created once, and keep their rows when the file is opened again`() throws {
    try withFile { path in
      for round in 1...3 {
        let pool = try DatabasePool.opening(path)
        try pool.createTables(of: "first", "CREATE TABLE items (name TEXT)")
        try pool.run("INSERT INTO items (name) VALUES (?)", ["item"])
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM items") } == round)
        try pool.close()
      }
    }
  }

  @Test func `two stores share one file`() throws {
    try withFile { path in
      for _ in 1...2 {
        let pool = try DatabasePool.opening(path)
        try pool.createTables(of: "first", "CREATE TABLE one (id INTEGER); CREATE TABLE two (id INTEGER)")
        try pool.createTables(of: "second", "CREATE TABLE three (id INTEGER)")
        try pool.write { db in for table in ["one", "two", "three"] { try db.run("INSERT INTO \(table) VALUES (1)") } }
        try pool.close()
      }
    }
  }

  @Test func `tables whose creation fails are not created in part`() throws {
    let queue = try DatabaseQueue()
    #expect(throws: DatabaseError.self) {
      try queue.createTables(of: "first", "CREATE TABLE one (id INTEGER); CREATE TABLE two (")
    }
    try queue.createTables(of: "first", "CREATE TABLE one (id INTEGER)")
    #expect(try queue.read { try $0.tableExists("one") })
  }

  @Test func `a committed transaction is on the disk`() throws {
    try withFile { path in
      let pool = try DatabasePool.opening(path)
      let found = try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
      // FULL.
      #expect(found == 2)
      try pool.close()
    }
  }

  /// SQLite overwrites its write-ahead log in the second transaction of a process at the earliest.
  @Test func `the log of processes that are killed after one transaction does not grow without bound`() throws {
    try withFile { path in
      var longest = 0
      var file = path
      for process in 1...45 {
        let pool = try DatabasePool.opening(file)
        try pool.createTables(of: "first", "CREATE TABLE items (value BLOB)")
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM items") } == process - 1)
        try pool.run("INSERT INTO items (value) VALUES (zeroblob(?))", [process == 1 ? 0 : 300_000])
        // A copy of the files is what a process leaves that is killed now.
        let next = "\(path)-\(process)"
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: file + suffix, toPath: next + suffix) }
        try pool.close()
        file = next
        longest = max(longest, try Data(contentsOf: URL(filePath: next + "-wal")).count)
      }
      #expect(longest < 9_000_000)
    }
  }

  @Test func `a damaged file is an error`() throws {
    try withFile { path in
      try Data("this is not a database, and it is long enough to have a header".utf8).write(to: URL(filePath: path))
      #expect(throws: DatabaseError.self) { try DatabasePool.opening(path) }
    }
  }

  @Test func `stored values and dates are the same when they are read again`() throws {
    let queue = try DatabaseQueue()
    try queue.createTables(of: "first", "CREATE TABLE items (value BLOB, other BLOB, at REAL, never REAL)")
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .secondsSince1970
    try queue.run(
      "INSERT INTO items (value, at) VALUES (?, ?)",
      [try encoder.encode(value), value.date.timeIntervalSince1970])
    let row = try #require(try queue.read { try Row.fetchOne($0, sql: "SELECT * FROM items") })
    #expect(try row.decoded("value") == value)
    #expect(try row.decodedIfPresent("value") == value)
    #expect(try row.decodedIfPresent("other") == Optional<Value>.none)
    #expect(row.date("at") == value.date && row.dateIfPresent("at") == value.date)
    #expect(row.dateIfPresent("never") == nil)
    #expect(throws: (any Error).self) { try [Int](stored: row["value"]) }
  }
}
