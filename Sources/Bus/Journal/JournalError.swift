import Glibc

/// Why the journal could not be written or read. Definite: a batch that could not be appended was not appended in part.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The kernel refused a write: the disk is full, the folder is read-only or belongs to somebody else.
    case notWritable = "not-writable"
    /// The kernel refused a read.
    case notReadable = "not-readable"
    /// A file ends in `.journal` and does not begin as version 1 does.
    case notAJournal = "not-a-journal"
    /// A record does not have its checksum, and records follow that do: the disk or a hand changed it.
    case damaged
    /// A segment between two others is missing.
    case gap
    /// The reader was so far behind that what it had not read yet was removed, since the journal keeps a limit.
    case trimmed
  }

  package let code: Code
  /// The file or folder that it is about.
  package let path: String
  /// What happened, for a person.
  package let message: String

  package init(_ code: Code, _ path: String, _ message: String) {
    self.code = code
    self.path = path
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(path): \(message)" }

  /// The failure of the system call that this thread made last.
  static func last(_ code: Code, _ path: String, _ call: String) -> JournalError {
    JournalError(code, path, "\(call): \(String(cString: strerror(errno)))")
  }
}
