// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite

// Writes of many rows. GRDB resets a statement three times for a row, clears its former values, and copies each text
// twice, the second time into memory that SQLite allocates. Here a row costs one copy of each text, on the stack.

/// A value of a column.
protocol ColumnValue {
  /// - Parameters:
  ///   - place: counted from 1.
  ///   - memory: for the bytes of the value, which are removed from it. They stay until the statement has no values.
  /// - Returns: `SQLITE_OK` or an error.
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt
}

extension Statement {
  /// Executes a statement that returns no rows, with these values.
  ///
  /// - Throws: `DatabaseError`. The statement can be used again.
  func perform<each Value: ColumnValue>(_ values: repeat each Value) throws {
    try withUnsafeTemporaryAllocation(byteCount: textsOfRow, alignment: 1) { memory in
      defer { sqlite3_clear_bindings(sqliteStatement) }
      var (memory, place) = (memory, CInt(0))
      for value in repeat each values {
        place += 1
        let code = value.bind(to: sqliteStatement, at: place, in: &memory)
        guard code == SQLITE_OK else { throw failure(code) }
      }
      let code = sqlite3_step(sqliteStatement)
      // Returns the error of the step again.
      let ended = sqlite3_reset(sqliteStatement)
      guard code == SQLITE_DONE else { throw failure(ended == SQLITE_OK ? SQLITE_MISUSE : ended) }
    }
  }

  private func failure(_ code: CInt) -> DatabaseError {
    let connection = sqlite3_db_handle(sqliteStatement)
    return DatabaseError(
      resultCode: ResultCode(rawValue: code), message: sqlite3_errmsg(connection).map { String(cString: $0) }, sql: sql)
  }
}

/// Bytes on the stack for the texts of a row. The texts of a request without its payload are shorter.
private let textsOfRow = 1024

/// SQLite copies a value before `bind` returns.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension UnsafeMutableRawBufferPointer {
  /// Copies bytes to the start of this memory, and removes that part from it. Returns `nil` when it is too small.
  fileprivate mutating func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count <= count else { return nil }
    copyMemory(from: bytes)
    defer { self = Self(rebasing: self[bytes.count...]) }
    return UnsafeRawPointer(baseAddress)
  }
}

extension String: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    var text = self
    return text.withUTF8 { bytes in
      // SQLite takes no address for NULL, and an empty text may have none.
      guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, place, "", 0, copied) }
      let kept = memory.keep(UnsafeRawBufferPointer(bytes))
      let characters = (kept ?? UnsafeRawPointer(start)).assumingMemoryBound(to: CChar.self)
      return sqlite3_bind_text(statement, place, characters, CInt(bytes.count), kept == nil ? copied : nil)
    }
  }
}

extension UUID: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    withUnsafeBytes(of: uuid) { bytes in
      let kept = memory.keep(bytes)
      return sqlite3_bind_blob(
        statement, place, kept ?? bytes.baseAddress, CInt(bytes.count), kept == nil ? copied : nil)
    }
  }
}

extension Int64: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    sqlite3_bind_int64(statement, place, self)
  }
}

extension Int: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    sqlite3_bind_int64(statement, place, Int64(self))
  }
}

extension Bool: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    sqlite3_bind_int64(statement, place, self ? 1 : 0)
  }
}

extension Double: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    sqlite3_bind_double(statement, place, self)
  }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt, in memory: inout UnsafeMutableRawBufferPointer) -> CInt {
    self?.bind(to: statement, at: place, in: &memory) ?? sqlite3_bind_null(statement, place)
  }
}
