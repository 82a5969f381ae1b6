// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc

/// The locks of this process.
struct Locks {
  static let shared = Result { try Locks() }

  private let notes: DatabaseQueue

  private init() throws {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA journal_mode = WAL") }
    notes = try DatabaseQueue(path: groupFolder.appending(path: "notes.sqlite").path, configuration: configuration)
    try notes.write { db in try db.execute(sql: "CREATE TABLE IF NOT EXISTS note (text TEXT NOT NULL)") }
  }

  /// Takes the locks that are wanted now, and keeps them.
  ///
  /// - Returns: what it did, and the number of notes in the database.
  func hold(_ wanted: String) throws -> String {
    switch wanted {
    case "idle":
      try notes.write { db in try db.execute(sql: "INSERT INTO note VALUES ('idle')") }
      UserDefaults(suiteName: ProcessInfo.processInfo.environment["TRIAL_GROUP"])?.set(true, forKey: "idle")
      try lock(URL(fileURLWithPath: NSHomeDirectory()).appending(path: "own"))
    case "transaction":
      try notes.writeWithoutTransaction { db in
        try db.beginTransaction(.immediate)
        try db.execute(sql: "INSERT INTO note VALUES ('lost')")
      }
    case "file": try lock(groupFolder.appending(path: "caches/flag"))
    default: fatalError("there is no instruction '\(wanted)'")
    }
    let count = try notes.unsafeRead { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM note") ?? 0 }
    return "\(wanted) \(count)"
  }

  /// Opens a file and locks it for the rest of the process.
  private func lock(_ file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      fatalError("\(file.path) cannot be locked: \(String(cString: strerror(errno)))")
    }
  }
}
