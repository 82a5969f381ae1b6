// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// What is true of a database that cannot be used, and what the user can do.
///
/// It examines the file, since the same error may have several causes.
package struct DatabaseAdvice: Sendable {
  /// The path of the database.
  package let file: String
  private let process: String
  private let content: String
  private let removal: String

  /// - Parameters:
  ///   - process: what has the database, such as `host`.
  ///   - content: what is lost with it.
  ///   - removal: what to remove to start without it, and what follows from that.
  package init(file: String, process: String, content: String, removal: String) {
    self.file = file
    self.process = process
    self.content = content
    self.removal = removal
  }

  /// Sentences for the end of an error.
  ///
  /// - Parameter shortage: that the disk is full, and where; `nil` when it has space.
  package func text(shortage: String?) -> String {
    if let shortage {
      return "\(shortage). Nothing that was accepted is lost: remove files or enlarge the file system, and the "
        + "\(process) continues where it was"
    }
    if let obstacle {
      return "\(obstacle). Nothing is lost: make it writable for this user, and the \(process) continues where it was"
    }
    if let damage {
      return
        "\(file) is damaged: \(damage). A part of \(content) is lost. Stop the cluster, and put back a copy of it, "
        + "or \(removal)"
    }
    return
      "\(file) has no damage and can be written: the disk may have an error, see the kernel's log. After a restart, "
      + "the \(process) resumes where it was"
  }

  /// A sentence if the database has nothing, although something exists that is made with it; `nil` otherwise, and for a
  /// new instance.
  ///
  /// - Parameter trace: the path of what exists since the first start of the process.
  package func loss(since trace: String) -> String? {
    // A database of one page has no table, unless the tables are in its log.
    guard size(file) <= 4096, size(file + "-wal") == 0, FileManager.default.fileExists(atPath: trace) else {
      return nil
    }
    let state = FileManager.default.fileExists(atPath: file) ? "is empty" : "does not exist"
    return "the database \(file) \(state), and \(trace) exists: the \(process) starts without \(content)"
  }

  /// Why the database cannot be written: the kernel refuses it.
  private var obstacle: String? {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
    for path in [folder, file, file + "-wal"] where access(path, W_OK) != 0 && errno != ENOENT {
      return "\(path) cannot be written: \(String(cString: strerror(errno)))"
    }
    return nil
  }

  /// What SQLite finds wrong with the file.
  private var damage: String? {
    guard size(file) > 0 else { return nil }
    var configuration = Configuration()
    configuration.readonly = true
    do {
      let found = try DatabaseQueue(path: file, configuration: configuration).read { db in
        try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
      }
      return found == "ok" ? nil : found?.replacing("\n", with: " ")
    } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
      return error.message ?? "\(error)"
    } catch {
      return nil
    }
  }

  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
