// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import SwiftUI
import WidgetKit

/// An extension for tests that does, when it is asked for a timeline, what the file `instruction` in the folder of its
/// app group says.
struct FixtureLifecycle: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: LifecycleProvider()) { entry in Text(verbatim: entry.text) }
  }
}

/// The folder of the app group.
let groupFolder: URL = {
  let group = ProcessInfo.processInfo.environment["TRIAL_GROUP"] ?? ""
  guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
    fatalError("there is no folder of the app group '\(group)'")
  }
  return folder
}()

struct LifecycleEntry: TimelineEntry {
  let date: Date
  let text: String
}

struct LifecycleProvider: TimelineProvider {
  func placeholder(in context: Context) -> LifecycleEntry { LifecycleEntry(date: .now, text: "none") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (LifecycleEntry) -> Void) {
    completion(placeholder(in: context))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<LifecycleEntry>) -> Void) {
    let text: String
    do {
      let instruction = try String(contentsOf: groupFolder.appending(path: "instruction"), encoding: .utf8)
      if instruction.hasPrefix("meet "), let calls = Int(instruction.dropFirst(5)) {
        print("call \(Meeting.wait(for: calls)) of \(calls)")
        text = "met"
      } else {
        text = try Locks.shared.get().hold(instruction)
      }
    } catch {
      text = "\(error)"
    }
    completion(Timeline(entries: [LifecycleEntry(date: .now, text: text)], policy: .never))
  }
}

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

/// A place where calls of a provider wait for each other.
enum Meeting {
  private static let condition = NSCondition()
  private nonisolated(unsafe) static var waitingCount = 0  // only with the lock of `condition`
  private nonisolated(unsafe) static var meetings = 0  // the same

  /// Blocks the thread until this number of calls has come.
  ///
  /// - Returns: the place of this call in the order in which the calls came.
  static func wait(for calls: Int) -> Int {
    condition.lock()
    defer { condition.unlock() }
    waitingCount += 1
    let (place, meeting) = (waitingCount, meetings)
    if waitingCount == calls {
      waitingCount = 0
      meetings += 1
      condition.broadcast()
    }
    while meeting == meetings { condition.wait() }
    return place
  }
}
