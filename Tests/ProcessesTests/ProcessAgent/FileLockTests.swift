// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import GRDB
import Glibc
import MessageBus
import Messages
import Testing

@testable import ProcessAgent

/// Which locks of a process count when it is suspended.
@Suite(.timeLimit(.minutes(1))) struct FileLockTests {
  private static let group = "group.com.example"

  @Test(.rule("PROCESS-22")) func `the locks that the kernel reports are parsed`() throws {
    let lock = try #require(FileLock("lock:\t1: POSIX  ADVISORY  READ 28138 fe:00:163 128 128", path: "/g/a-shm"))
    #expect(lock.type == "POSIX" && !lock.isExclusive && lock.bytes == 128...128)
    let whole = try #require(FileLock("lock:\t2: FLOCK  ADVISORY  WRITE 28138 fe:00:163 0 EOF", path: "/g/a"))
    #expect(whole.type == "FLOCK" && whole.isExclusive && whole.bytes == 0...Int.max)
    #expect(FileLock("flags:\t0100002", path: "/g/a") == nil)
    #expect(FileLock("lock:\t2: FLOCK  ADVISORY  WRITE 28138 fe:00:163 a EOF", path: "/g/a") == nil)
    #expect(FileLock("lock:\t2: FLOCK  ADVISORY  WRITE 28138 fe:00:163 9 3", path: "/g/a") == nil)
  }

  @Test(.rule("PROCESS-22", "PROCESS-23")) func `only locks on files of the app groups count`() throws {
    func held(_ path: String, _ line: String = "lock: 1: FLOCK ADVISORY WRITE 1 fe:00:1 0 EOF") throws -> [HeldLock] {
      FileLock.held([try #require(FileLock(Substring(line), path: path))], groups: [Self.group: "/groups/a"])
    }
    #expect(try held("/groups/a/b/c") == [HeldLock(group: Self.group, file: "b/c", kind: "flock")])
    #expect(try held("/groups/ab/c").isEmpty)
    #expect(try held("/home/c").isEmpty)
    #expect(try held("/groups/a/Library/Preferences/group.com.example.defaults").isEmpty)
    let other = "lock: 1: OFDLCK ADVISORY READ -1 fe:00:1 0 9"
    #expect(try held("/groups/a/c", other) == [HeldLock(group: Self.group, file: "c", kind: "fcntl")])
  }

  @Test(.rule("PROCESS-23"), arguments: ["wal", "delete"])
  func `the locks of a transaction count, and those of an idle connection do not`(mode: String) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("locks-\(UUID().uuidString)")
      .resolvingSymlinksInPath()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = Configuration()
    configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA journal_mode = \(mode)") }
    let queue = try DatabaseQueue(path: folder.appending(path: "a.sqlite").path, configuration: configuration)
    func held() -> [HeldLock] { FileLock.held(FileLock.locks(of: getpid()), groups: [Self.group: folder.path]) }
    let transaction = [HeldLock(group: Self.group, file: "a.sqlite", kind: "SQLite transaction")]
    try queue.write { db in
      try db.execute(sql: "CREATE TABLE a (b)")
      #expect(held() == transaction)
    }
    #expect(held().isEmpty)
    let open = FileLock.locks(of: getpid()).filter { $0.path.hasPrefix(folder.path) }
    #expect(open.count == (mode == "wal" ? 2 : 0), "an idle connection with a write-ahead log has two locks")
    try queue.read { db in
      _ = try Row.fetchAll(db, sql: "SELECT * FROM a")
      #expect(held() == transaction)
    }
    #expect(held().isEmpty)
  }

  @Test(.rule("PROCESS-22")) func `a child that the host stops with a lock on a file of its group is reported`()
    async throws
  {
    try await withFixture { fixture in
      let file = "\(fixture.folder)/group/notes"
      try FileManager.default.createDirectory(atPath: "\(fixture.folder)/group", withIntermediateDirectories: true)
      let instance = try await fixture.spawn("exec 9>>\(file); flock 9; echo locked; exec sleep 600")
      _ = try await fixture.received(ProcessOutput.self) { $0.line == "locked" }
      // The operator's stop has no consequence.
      let operatorsConnection = fixture.bus.connection(.operator("1"))
      _ = try await operatorsConnection.start()
      for signal in [SIGSTOP, SIGCONT] {
        let request = SignalProcess(address: AgentFixture.child, generation: instance.generation, signal: signal)
        _ = try await operatorsConnection.request(request, to: .agent("d", 1))
      }
      #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != LocksHeld.kind })
      _ = try await fixture.signal(SIGSTOP, generation: instance.generation)
      let held = try await fixture.received(LocksHeld.self)
      #expect(held.address == AgentFixture.child && held.generation == instance.generation && held.count == 1)
      #expect(held.locks == [HeldLock(group: "group.a", file: "notes", kind: "flock")])
      #expect("\(held)" == "0xdead10cc: suspended while it held a lock (flock) on notes of group.a")
      // The stop is confirmed after the host has received the report.
      let kinds = await fixture.bus.sentEnvelopes.map(\.header.kind)
      let reported = try #require(kinds.firstIndex(of: LocksHeld.kind.answered(.acknowledged)))
      #expect(try #require(kinds.lastIndex(of: SignalProcess.kind.answered(.ok))) > reported)
      await operatorsConnection.leave()
    }
  }

  @Test(.rule("PROCESS-22")) func `a child that the host stops without a lock is not reported`() async throws {
    try await withFixture { fixture in
      let instance = try await fixture.spawn("echo up; exec sleep 600")
      _ = try await fixture.received(ProcessOutput.self) { $0.line == "up" }
      _ = try await fixture.signal(SIGSTOP, generation: instance.generation)
      #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != LocksHeld.kind })
    }
  }
}
