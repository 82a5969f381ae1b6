// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import CLazy
import Foundation
import Glibc

/// A failure of SQLite.
struct StoreFailure: Error, CustomStringConvertible, LocalizedError {
  let code: Int32
  let reason: String

  /// Whether another process uses the store; SQLite's `SQLITE_BUSY`.
  var isBusy: Bool { code & 0xFF == 5 }
  var description: String { "the store failed: \(reason)" + (code == 0 ? "" : " (SQLite's code \(code))") }
  var errorDescription: String? { description }
}

/// A connection to a database of SQLite. One thread at a time.
final class StoreConnection {
  private let handle: OpaquePointer
  private let path: String

  /// How long a statement waits while another process writes, in milliseconds. A process that is suspended within its
  /// transaction is ended by the device, as on a phone, so the wait has an end. A disk that many processes use needs
  /// seconds for one transaction.
  private static let patience: Int32 = 60_000

  /// - Parameter path: the file, or `:memory:`.
  init(_ path: String) throws {
    if let reason = lazy_sqlite_load() {
      throw StoreFailure(
        code: 0, reason: String(cString: reason) + "; install the package libsqlite3-0 of Debian and Ubuntu")
    }
    var connection: OpaquePointer?
    let code = lazy_sqlite_open(path, Self.patience, &connection)
    guard let connection else { throw StoreFailure(code: code, reason: "\(path) cannot be opened") }
    guard code == lazy_sqlite_ok else {
      let reason = Self.message(connection)
      lazy_sqlite_close(connection)
      throw StoreFailure(code: code, reason: "\(path): \(reason)")
    }
    handle = connection
    self.path = path
  }

  deinit { lazy_sqlite_close(handle) }

  private static func message(_ handle: OpaquePointer) -> String {
    lazy_sqlite_message(handle).map { String(cString: $0) } ?? "no reason given"
  }

  private func check(_ code: Int32, _ expected: Int32...) throws {
    guard expected.contains(code) else { throw StoreFailure(code: code, reason: Self.message(handle)) }
  }

  /// Executes statements without parameters.
  func execute(_ statements: String) throws { try check(lazy_sqlite_execute(handle, statements), lazy_sqlite_ok) }

  /// Executes statements that change the mode of the journal: there SQLite does not wait for other processes itself.
  func executeWhenFree(_ statements: String) throws {
    let end = Self.endOfPatience
    while true {
      do {
        return try execute(statements)
      } catch let failure as StoreFailure where failure.isBusy && ContinuousClock.now < end {
        // SQLite gives no event for it: a pause of a millisecond.
        poll(nil, 0, 1)
      }
    }
  }

  /// Empties a write-ahead log of more than 8 MiB, unless another process uses the store or the disk fails. SQLite overwrites
  /// the log from the second transaction of a process on. An extension that saves once and is then killed would make it
  /// longer each time.
  func shortenLog() {
    var log = stat()
    guard stat(path + "-wal", &log) == 0, log.st_size > 8 << 20 else { return }
    try? execute("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
    try? execute("PRAGMA busy_timeout = \(Self.patience)")
  }

  private static var endOfPatience: ContinuousClock.Instant { .now + .milliseconds(Int(patience)) }

  /// Does something while no other thread and no other process does it in the same folder.
  static func withLock<Result>(on folder: URL, _ body: () throws -> Result) throws -> Result {
    let path = folder.path(percentEncoded: false)
    let descriptor: Int32
    do {
      descriptor = try FolderLock.take(path, patience: .milliseconds(Int(patience)))
    } catch {
      let isBusy = error.code == EWOULDBLOCK
      let why = isBusy ? "another process is opening a store there" : String(cString: strerror(error.code))
      throw StoreFailure(code: 0, reason: "\(path) cannot be \(error.isOpened ? "locked" : "opened"): \(why)")
    }
    defer { close(descriptor) }
    return try body()
  }

  /// Executes a statement, and passes each row.
  func run(_ text: String, _ values: [StoreValue] = [], row: (StoreRow) throws -> Void = { _ in }) throws {
    var prepared: OpaquePointer?
    try check(lazy_sqlite_prepare(handle, text, &prepared), lazy_sqlite_ok)
    guard let statement = prepared else { return }
    defer { lazy_sqlite_finalize(statement) }
    for (index, value) in zip(Int32(1)..., values) {
      let code =
        switch value {
        case .text(let text): lazy_sqlite_bind_text(statement, index, text)
        case .number(let number): lazy_sqlite_bind_number(statement, index, number)
        case .bytes(let bytes):
          bytes.withUnsafeBytes { lazy_sqlite_bind_bytes(statement, index, $0.baseAddress, Int32($0.count)) }
        }
      try check(code, lazy_sqlite_ok)
    }
    while true {
      let code = lazy_sqlite_step(statement)
      try check(code, lazy_sqlite_row, lazy_sqlite_done)
      if code == lazy_sqlite_done { return }
      try row(StoreRow(statement: statement))
    }
  }

  /// Performs changes in one transaction. After an error nothing is changed.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try execute("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      try? execute("ROLLBACK")
      throw error
    }
  }
}

/// A parameter of a statement.
enum StoreValue {
  case text(String)
  case number(Int64)
  case bytes(Data)
}

/// A row of a result, valid until the next one.
struct StoreRow {
  fileprivate let statement: OpaquePointer

  func bytes(_ index: Int32) -> Data {
    var count: Int32 = 0
    guard let bytes = lazy_sqlite_column(statement, index, &count) else { return Data() }
    return Data(bytes: bytes, count: Int(count))
  }

  func text(_ index: Int32) -> String { String(decoding: bytes(index), as: UTF8.self) }
}
