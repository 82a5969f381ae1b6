// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import Journal
import Messages
import WidgetLabTesting

/// What a power failure has left, and the search for what it must not have lost.
struct PowerFailure {
  /// Something that was acknowledged is gone.
  struct Loss: CustomStringConvertible {
    enum Kind: String, CaseIterable { case database, task, file, push, journal, number }
    let kind: Kind
    let description: String

    init(_ kind: Kind, _ words: String) {
      self.kind = kind
      description = "\(kind.rawValue): \(words)"
    }
  }

  let state: DiskModel.State
  /// Seconds since 1970.
  let time: Double
  /// The folder of the cluster, below which the paths of the state are.
  let folder: String
  private var losses: [Loss] = []

  init(_ state: DiskModel.State, at time: Double, of folder: String) {
    self.state = state
    self.time = time
    self.folder = folder
  }

  /// Writes the files to another folder; only those whose relative paths `isWanted` selects. An existing file keeps its
  /// mode, since keys must not be readable by others.
  func write(to target: String, where isWanted: (String) -> Bool = { _ in true }) throws {
    for path in state.folders.sorted() where isWanted(relative(path)) {
      try FileManager.default.createDirectory(atPath: target + relative(path), withIntermediateDirectories: true)
    }
    for (path, content) in state.contents where isWanted(relative(path)) {
      let descriptor = Glibc.open(target + relative(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      defer { close(descriptor) }
      guard descriptor >= 0, Glibc.write(descriptor, content, content.count) == content.count else {
        throw LabError("\(target + relative(path)) cannot be written: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// With a slash at its beginning.
  private func relative(_ path: String) -> String { String(path.dropFirst(folder.count)) }

  /// What the check knows of the whole run.
  struct Run {
    let promises: PowerPromises
    let journal: [LabEnvelope]
    /// The content that the provider serves, by URL.
    let served: [String: [UInt8]]
    /// Whether the journal waits for the disk.
    let isSynchronized: Bool
    /// The path of the part file of a task.
    let part: (PowerPromises.Task) -> String
  }

  /// Writes the state to an empty folder, opens it as the processes would, and returns what is lost.
  static func losses(
    _ failure: PowerFailure, _ run: Run, in target: String, missing: String? = nil
  ) throws -> [Loss] {
    try? FileManager.default.removeItem(atPath: target)
    defer { try? FileManager.default.removeItem(atPath: target) }
    var failure = failure
    let wanted = ["/host", "/push-server", "/journal", "/bus"]
    try failure.write(to: target) { name in
      name != missing && wanted.contains { name == $0 || name.hasPrefix($0 + "/") }
    }
    failure.checkDatabases(run, target)
    if run.isSynchronized { failure.checkJournal(run, target) }
    failure.checkNumbers(run, target)
    return failure.losses
  }

  private mutating func lose(_ kind: Loss.Kind, _ words: String) { losses.append(Loss(kind, words)) }

  // MARK: Databases

  private mutating func checkDatabases(_ run: Run, _ target: String) {
    do {
      let taken = try Self.open(target + "/host/host.sqlite") { db in
        try checkTasks(run, db)
        return Set(try String.fetchAll(db, sql: "SELECT uniqueID FROM takenPushes").compactMap { UUID(uuidString: $0) })
      }
      try Self.open(target + "/push-server/push.sqlite") { try checkPushes(run, taken: taken, in: $0) }
    } catch {
      lose(.database, "\(error)")
    }
  }

  private static func open<T>(_ path: String, _ read: (Database) throws -> T) throws -> T {
    guard FileManager.default.fileExists(atPath: path) else { throw LabError("\(path) is missing") }
    var configuration = Configuration()
    // This copy needs no disk.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let answer = try queue.read { db in
      let verdict = try String.fetchAll(db, sql: "PRAGMA integrity_check")
      guard verdict == ["ok"] else { throw LabError("\(path) is damaged: \(verdict)") }
      return try read(db)
    }
    try queue.close()
    return answer
  }

  private mutating func checkTasks(_ run: Run, _ db: Database) throws {
    var present: [PowerPromises.Task: (hasEnded: Bool, hasFailed: Bool)] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT owner, session, task, endedOrder, failure FROM tasks") {
      let task = PowerPromises.Task(owner: row["owner"], session: row["session"], number: row["task"])
      present[task] = ((row["endedOrder"] as Int?) != nil, (row["failure"] as Data?) != nil)
    }
    for task in run.promises.tasks(at: time) where present[task] == nil { lose(.task, "\(task) was accepted") }
    for task in run.promises.endedTasks(at: time) where present[task]?.hasEnded == false {
      lose(.task, "\(task) had ended")
    }
    for (task, status) in present where status.hasEnded && !status.hasFailed {
      guard let url = run.promises.urls[task], let expected = run.served[url] else { continue }
      let content = state.contents[run.part(task)]
      if content != expected {
        lose(
          .file, "\(task) has ended and its file \(content.map { "differs, with \($0.count) bytes" } ?? "is missing")")
      }
    }
  }

  private mutating func checkPushes(_ run: Run, taken takenIDs: Set<UUID>, in db: Database) throws {
    var knownPushes: [UUID: Bool] = [:]
    let sql = """
      SELECT uniqueID, next, number IN (SELECT number FROM kept) AS isKept,
        (SELECT group_concat(name) FROM steps WHERE request = number) AS steps FROM requests WHERE status = 200
      """
    let settled: Set<String> = ["superseded", "collapsed", "expired", "notStored", "tokenUnregistered"]
    for row in try Row.fetchAll(db, sql: sql) {
      let steps = ((row["steps"] as String?) ?? "").split(separator: ",").map(String.init) + [row["next"] ?? ""]
      let id: UUID = row["uniqueID"]
      knownPushes[id] = row["isKept"] || takenIDs.contains(id) || !settled.isDisjoint(with: steps)
    }
    for push in run.promises.pushes(at: time) where knownPushes[push] != true {
      lose(
        .push,
        "\(push) had the status 200 and is \(knownPushes[push] == nil ? "unknown" : "neither kept nor delivered")")
    }
  }

  // MARK: The journal

  /// Gives the machine another start than the one in which the journal was written.
  static func restartMachine(_ numbers: String) throws {
    guard var bytes = FileManager.default.contents(atPath: numbers), bytes.count == 40 else { return }
    for index in 24..<40 where bytes[24..<40].contains(where: { $0 != 0 }) { bytes[index] ^= 0x55 }
    try bytes.write(to: URL(fileURLWithPath: numbers))
  }

  /// Starts the journal as the next broker does: no number and no generation that was received is given again.
  private mutating func checkNumbers(_ run: Run, _ target: String) {
    guard let needed = run.promises.envelope(at: time) else { return }
    do {
      try Self.restartMachine(target + "/bus/numbers")
      let writer = try JournalWriter(
        folder: URL(fileURLWithPath: target + "/journal"), isSynchronized: run.isSynchronized,
        numbers: target + "/bus/numbers")
      let next = writer.lastSequence + 1
      if next <= needed.sequence { lose(.number, "\(next) is given again, and this one was received: \(needed)") }
    } catch {
      lose(.number, "\(error)")
    }
  }

  private mutating func checkJournal(_ run: Run, _ target: String) {
    guard let needed = run.promises.envelope(at: time) else { return }
    var last: UInt64 = 0
    do {
      var cursor = JournalReader(folder: URL(fileURLWithPath: target + "/journal")).cursor()
      while last < needed.sequence, let envelope = try cursor.next() {
        let sequence = envelope.header.sequence
        guard sequence == last + 1, run.journal[Int(sequence) - 1].id == envelope.header.id else {
          return lose(.journal, "envelope \(sequence) follows \(last)")
        }
        last = sequence
      }
    } catch {
      return lose(.journal, "after envelope \(last): \(error)")
    }
    if last < needed.sequence { lose(.journal, "it ends with envelope \(last), and this one was received: \(needed)") }
  }
}
