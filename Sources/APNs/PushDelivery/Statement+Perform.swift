// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite

// Writes of many rows. GRDB resets a statement three times for a row, clears its former values, and copies each text
// twice; here a row costs one copy of each text.

/// A value of a column.
protocol ColumnValue {
  /// - Parameter place: counted from 1.
  /// - Returns: `SQLITE_OK` or an error.
  func bind(to statement: SQLiteStatement, at place: CInt) -> CInt
}

extension Statement {
  /// Executes a statement that returns no rows, with these values.
  ///
  /// - Throws: `DatabaseError`. The statement can be used again.
  func perform<each Value: ColumnValue>(_ values: repeat each Value) throws {
    var place: CInt = 0
    for value in repeat each values {
      place += 1
      let code = value.bind(to: sqliteStatement, at: place)
      guard code == SQLITE_OK else { throw failure(code) }
    }
    let code = sqlite3_step(sqliteStatement)
    // Returns the error of the step again.
    let ended = sqlite3_reset(sqliteStatement)
    guard code == SQLITE_DONE else { throw failure(ended == SQLITE_OK ? SQLITE_MISUSE : ended) }
  }

  private func failure(_ code: CInt) -> DatabaseError {
    let connection = sqlite3_db_handle(sqliteStatement)
    return DatabaseError(
      resultCode: ResultCode(rawValue: code), message: sqlite3_errmsg(connection).map { String(cString: $0) }, sql: sql)
  }
}

/// SQLite copies a value before `bind` returns.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension String: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt) -> CInt {
    var text = self
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        // SQLite takes no address for NULL, and an empty text may have none.
        guard let start = characters.baseAddress else { return sqlite3_bind_text(statement, place, "", 0, copied) }
        return sqlite3_bind_text(statement, place, start, CInt(characters.count), copied)
      }
    }
  }
}

extension UUID: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt) -> CInt {
    withUnsafeBytes(of: uuid) { sqlite3_bind_blob(statement, place, $0.baseAddress, CInt($0.count), copied) }
  }
}

extension Int64: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt) -> CInt {
    sqlite3_bind_int64(statement, place, self)
  }
}

extension Int: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt) -> CInt { Int64(self).bind(to: statement, at: place) }
}

extension Bool: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt) -> CInt {
    Int64(self ? 1 : 0).bind(to: statement, at: place)
  }
}

extension Double: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt) -> CInt {
    sqlite3_bind_double(statement, place, self)
  }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  func bind(to statement: SQLiteStatement, at place: CInt) -> CInt {
    self?.bind(to: statement, at: place) ?? sqlite3_bind_null(statement, place)
  }
}
