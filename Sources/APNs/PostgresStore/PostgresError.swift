// SPDX-License-Identifier: Apache-2.0

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
  static let taken = "55006"

  var isTaken: Bool { state == Self.taken }

  /// Another transaction was in the way, and the same work succeeds when it is repeated: a deadlock, a serialization
  /// failure, a lock that was not granted, or a row that another replica has inserted.
  var isConflict: Bool { state.map { ["40001", "40P01", "55P03", "23505"].contains($0) } ?? false }
}
