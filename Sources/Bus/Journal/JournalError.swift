// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why the journal could not be written or read. Definite: a failed append leaves no part of the batch behind.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The kernel rejected a write: the disk is full, or the folder is read-only or owned by another user.
    case notWritable = "not-writable"
    /// The kernel rejected a read.
    case notReadable = "not-readable"
    /// A file ends in `.journal` but does not begin with the head of version 1.
    case notAJournal = "not-a-journal"
    /// The checksum of a record is wrong, and valid records follow: the disk or an edit changed it.
    case damaged
    /// A segment between two others is missing.
    case gap
    /// The reader was so far behind that segments it had not read were removed, since the journal has a size limit.
    case trimmed
  }

  package let code: Code
  /// The file or folder concerned.
  package let path: String
  /// A description for the user.
  package let message: String

  package init(_ code: Code, _ path: String, _ message: String) {
    self.code = code
    self.path = path
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(path): \(message)" }

  /// A failure that an injector has armed.
  init(_ code: Code, _ path: String, injected error: Int32) {
    self.init(code, path, "injected: \(String(cString: strerror(error)))")
  }

  /// The failure of the last system call on this thread.
  static func last(_ code: Code, _ path: String, _ call: String) -> JournalError {
    JournalError(code, path, "\(call): \(String(cString: strerror(errno)))")
  }
}
