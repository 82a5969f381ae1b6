// SPDX-License-Identifier: Apache-2.0

import CLazy
import Foundation

/// One connection to a PostgreSQL server. All functions block until the server has replied. Not for use by two threads at
/// once.
final class PostgresConnection {
  /// A statement and its parameters.
  struct Command {
    let sql: String
    let values: [PostgresValue]

    init(_ sql: String, _ values: [PostgresValue] = []) {
      self.sql = sql
      self.values = values
    }
  }

  private let handle: OpaquePointer
  /// The names of the prepared statements, by text.
  private var prepared: [String: String] = [:]

  /// Connects.
  ///
  /// - Parameters:
  ///   - url: a connection URI of libpq.
  ///   - name: the application's name in `pg_stat_activity`.
  /// - Throws: why the server cannot be reached.
  init(_ url: String, name: String) throws {
    // Values of the URI replace those before it.
    let words: [(String, String?)] = [
      ("connect_timeout", "5"), ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
      ("tcp_user_timeout", "10000"), ("fallback_application_name", name), ("dbname", url),
      ("client_encoding", "UTF8"),
    ]
    var keys = words.map { strdup($0.0).map { UnsafePointer($0) } } + [nil]
    var values = words.map { $0.1.flatMap { strdup($0) }.map { UnsafePointer($0) } } + [nil]
    defer { for text in keys + values { free(UnsafeMutablePointer(mutating: text)) } }
    guard let handle = lazy_pq_connect(&keys, &values) else { throw PostgresError("no memory for a connection") }
    self.handle = handle
    guard lazy_pq_is_connected(handle) else {
      // `deinit` ends the connection: all properties have values.
      throw PostgresError(String(cString: lazy_pq_message(handle)))
    }
    lazy_pq_ignore_notices(handle)
  }

  deinit { lazy_pq_finish(handle) }

  /// Why the text is not a connection URI, or cannot be used on this machine; `nil` if it can. Call it first.
  static func objection(to url: String) -> String? {
    if let failure = lazy_postgres_load() { return String(cString: failure) }
    guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
      return "it does not begin with postgres:// or postgresql://"
    }
    var message: UnsafeMutablePointer<CChar>?
    guard !lazy_pq_accepts(url, &message) else { return nil }
    defer { lazy_pq_free(message) }
    return message.map { String(cString: $0).trimmingCharacters(in: .whitespacesAndNewlines) } ?? "it cannot be read"
  }

  /// The descriptor, to wait for notifications.
  var descriptor: Int32 { lazy_pq_descriptor(handle) }

  /// Whether a transaction is open, or has failed.
  var isInTransaction: Bool { !lazy_pq_is_idle(handle) }

  /// Executes statements without parameters, separated by semicolons.
  ///
  /// - Throws: the first error.
  func execute(_ sql: String) throws {
    let result = PostgresRows(lazy_pq_execute(handle, sql))
    if let error = result.error(handle) { throw error }
  }

  /// Executes statements in order, with one round trip. Without `BEGIN` and `COMMIT` they are one transaction.
  ///
  /// - Returns: the rows of each statement.
  /// - Throws: the first error; the statements after it were not executed.
  @discardableResult
  func execute(_ commands: [Command]) throws -> [PostgresRows] {
    guard lazy_pq_begin_pipeline(handle) else { throw failure }
    var fresh: [Int: String] = [:]
    for (index, command) in commands.enumerated() {
      if let name = try send(command) { fresh[index] = name }
    }
    guard lazy_pq_synchronize(handle) else { throw failure }
    var results: [PostgresRows] = []
    var first: PostgresError?
    for (index, command) in commands.enumerated() {
      if let name = fresh[index] {
        let error = next().error(handle)
        if error == nil { prepared[command.sql] = name }
        first = first ?? error
      }
      let rows = next()
      first = first ?? rows.error(handle)
      results.append(rows)
    }
    // The result of the synchronisation point.
    let end = PostgresRows(lazy_pq_next(handle))
    if first == nil, !lazy_pq_is_connected(handle) || !end.isSynchronization { first = failure }
    _ = lazy_pq_end_pipeline(handle)
    if let first { throw first }
    return results
  }

  /// Executes one statement.
  ///
  /// - Throws: its error.
  @discardableResult
  func execute(_ command: Command) throws -> PostgresRows { try execute([command])[0] }

  private var failure: PostgresError { PostgresError(String(cString: lazy_pq_message(handle))) }

  /// - Returns: the name of the statement, if it is not prepared yet.
  private func send(_ command: Command) throws -> String? {
    let name = prepared[command.sql]
    let used = name ?? "s\(prepared.count)-\(command.sql.hashValue)"
    if name == nil, !lazy_pq_send_prepare(handle, used, command.sql) { throw failure }
    let bytes = command.values.map(\.bytes)
    let isSent = Self.withPointers(to: bytes) { pointers in
      lazy_pq_send(
        handle, used, Int32(bytes.count), pointers, bytes.map { Int32($0.count) },
        [Int32](repeating: 1, count: bytes.count))
    }
    guard isSent else { throw failure }
    return name == nil ? used : nil
  }

  /// The result of the next statement of a pipeline.
  private func next() -> PostgresRows {
    let rows = PostgresRows(lazy_pq_next(handle))
    // The separator between two statements.
    lazy_pq_clear(lazy_pq_next(handle))
    return rows
  }

  private static func withPointers<Result>(
    to values: [[UInt8]], _ body: ([UnsafePointer<CChar>?]) -> Result
  ) -> Result {
    // One block for all parameters, each with a byte more, because libpq reads a null pointer as NULL.
    let size = values.reduce(1) { $0 + $1.count + 1 }
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { block in
      var pointers: [UnsafePointer<CChar>?] = []
      var offset = 0
      for value in values {
        let part = UnsafeMutableRawBufferPointer(rebasing: block[offset..<(offset + value.count + 1)])
        part.copyBytes(from: value)
        pointers.append(UnsafeRawPointer(part.baseAddress)?.assumingMemoryBound(to: CChar.self))
        offset += value.count + 1
      }
      return body(pointers)
    }
  }

  // MARK: Notifications

  /// Reads what has arrived.
  ///
  /// - Returns: the contents of the notifications.
  /// - Throws: when the connection has ended.
  func notifications() throws -> [String] {
    guard lazy_pq_consume(handle) else { throw failure }
    var found: [String] = []
    while let notification = lazy_pq_next_notification(handle) {
      found.append(String(cString: lazy_pq_notification_content(notification)))
      lazy_pq_notification_free(notification)
    }
    return found
  }
}

/// The rows of a statement, in PostgreSQL's binary format.
final class PostgresRows {
  private let result: OpaquePointer?

  init(_ result: OpaquePointer?) { self.result = result }

  deinit { lazy_pq_clear(result) }

  var count: Int { Int(lazy_pq_count(result)) }

  /// The number of rows that the statement changed.
  var changed: Int { Int(String(cString: lazy_pq_changed(result))) ?? 0 }

  var isSynchronization: Bool { lazy_pq_status(result) == lazy_pq_pipeline_sync }

  /// The error of the statement; `nil` if it succeeded.
  func error(_ handle: OpaquePointer) -> PostgresError? {
    switch lazy_pq_status(result) {
    case lazy_pq_command_ok, lazy_pq_tuples_ok: nil
    case _ where result == nil: PostgresError(String(cString: lazy_pq_message(handle)))
    default:
      PostgresError(
        state: lazy_pq_error_field(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) },
        lazy_pq_error_field(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
          ?? String(cString: lazy_pq_error_message(result)))
    }
  }

  private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    guard !isNull(row, column) else { return nil }
    return UnsafeRawBufferPointer(
      start: lazy_pq_value(result, Int32(row), Int32(column)),
      count: Int(lazy_pq_length(result, Int32(row), Int32(column))))
  }

  func isNull(_ row: Int, _ column: Int) -> Bool { lazy_pq_is_null(result, Int32(row), Int32(column)) }

  /// An integer of 2, 4 or 8 bytes; 0 for NULL.
  func int(_ row: Int, _ column: Int) -> Int64 {
    guard let bytes = bytes(row, column), let first = bytes.first else { return 0 }
    return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
  }

  /// 0 for NULL.
  func double(_ row: Int, _ column: Int) -> Double { Double(bitPattern: UInt64(bitPattern: int(row, column))) }

  func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column)?.first == 1 }

  func text(_ row: Int, _ column: Int) -> String? { bytes(row, column).map { String(decoding: $0, as: UTF8.self) } }

  func uuid(_ row: Int, _ column: Int) -> UUID {
    guard let bytes = bytes(row, column), bytes.count == 16 else {
      return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }

  /// A date in seconds since 1970; `nil` for NULL.
  func date(_ row: Int, _ column: Int) -> Date? {
    isNull(row, column) ? nil : Date(timeIntervalSince1970: double(row, column))
  }
}

/// A parameter of a statement, in PostgreSQL's binary format. The statement declares the type with a cast.
enum PostgresValue {
  case int64(Int64)
  case double(Double)
  case text(String)
  case int64s([Int64])
  case int16s([Int16])
  case doubles([Double?])
  case texts([String?])
  case uuids([UUID])
  case bools([Bool])

  /// Returns the bytes on the wire.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .int64(let value): bytes.append(bigEndian: value)
    case .double(let value): bytes.append(bigEndian: value.bitPattern)
    case .text(let value): bytes.append(contentsOf: Self.permitted(value))
    case .int64s(let values):
      Self.array(of: 20, count: values.count, size: 8, to: &bytes) { index, bytes in
        bytes.append(bigEndian: Int32(8))
        bytes.append(bigEndian: values[index])
      }
    case .int16s(let values):
      Self.array(of: 21, count: values.count, size: 2, to: &bytes) { index, bytes in
        bytes.append(bigEndian: Int32(2))
        bytes.append(bigEndian: values[index])
      }
    case .doubles(let values):
      Self.array(of: 701, count: values.count, size: 8, to: &bytes) { index, bytes in
        guard let value = values[index] else { return bytes.append(bigEndian: Int32(-1)) }
        bytes.append(bigEndian: Int32(8))
        bytes.append(bigEndian: value.bitPattern)
      }
    case .texts(let values):
      Self.array(of: 25, count: values.count, size: 32, to: &bytes) { index, bytes in
        guard let value = values[index] else { return bytes.append(bigEndian: Int32(-1)) }
        let text = Self.permitted(value)
        bytes.append(bigEndian: Int32(text.count))
        bytes.append(contentsOf: text)
      }
    case .uuids(let values):
      Self.array(of: 2950, count: values.count, size: 16, to: &bytes) { index, bytes in
        bytes.append(bigEndian: Int32(16))
        withUnsafeBytes(of: values[index].uuid) { bytes.append(contentsOf: $0) }
      }
    case .bools(let values):
      Self.array(of: 16, count: values.count, size: 1, to: &bytes) { index, bytes in
        bytes.append(bigEndian: Int32(1))
        bytes.append(values[index] ? 1 : 0)
      }
    }
    return bytes
  }

  /// A text without the character NUL, which PostgreSQL does not store: it becomes U+FFFD.
  private static func permitted(_ text: String) -> String.UTF8View {
    text.utf8.contains(0) ? text.replacing("\0", with: "\u{fffd}").utf8 : text.utf8
  }

  /// Appends an array of one dimension, with the object identifier of its elements' type.
  private static func array(
    of type: Int32, count: Int, size: Int, to bytes: inout [UInt8], element: (Int, inout [UInt8]) -> Void
  ) {
    bytes.reserveCapacity(20 + count * (size + 4))
    bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
    bytes.append(bigEndian: Int32(1))
    bytes.append(bigEndian: type)
    guard count > 0 else { return }
    bytes.append(bigEndian: Int32(count))
    bytes.append(bigEndian: Int32(1))
    for index in 0..<count { element(index, &bytes) }
  }
}

extension [UInt8] {
  mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

/// A failure of a connection or of a statement.
struct PostgresError: Error, CustomStringConvertible {
  /// The SQLSTATE; `nil` when the server did not reply.
  let state: String?
  let message: String

  init(state: String? = nil, _ message: String) {
    self.state = state
    self.message = message.split(separator: "\n").joined(separator: "; ")
  }

  var description: String { state.map { "\(message) (SQLSTATE \($0))" } ?? message }

  /// The server has ended the connection, or did not reply: class 08, a shutdown, or the limit of an idle transaction.
  var endsConnection: Bool {
    guard let state else { return true }
    return state.hasPrefix("08") || ["57P01", "57P02", "57P03", "25P03"].contains(state)
  }

  /// Another cluster uses the database: `object_in_use`.
  static let objectInUse = "55006"

  var isTaken: Bool { state == Self.objectInUse }

  /// Another transaction was in the way, and the same work succeeds when it is repeated: a deadlock, a serialization
  /// failure, a lock that was not granted, or a row that another replica has inserted.
  var isConflict: Bool { state.map { ["40001", "40P01", "55P03", "23505"].contains($0) } ?? false }
}
