// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import Stores

@Suite struct `The advice about a database` {
  private let folder = FileManager.default.temporaryDirectory.path + "/advice-\(UUID().uuidString)"

  private func advice(_ name: String = "host.sqlite") -> DatabaseAdvice {
    DatabaseAdvice(
      file: folder + "/" + name, process: "host", content: "the downloads",
      removal: "remove the folder: it is empty then")
  }

  private func withDatabase(_ work: (DatabaseAdvice) throws -> Void) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let advice = advice()
    let database = try DatabasePool.opening(advice.file)
    try database.write { db in
      try db.execute(sql: "CREATE TABLE lines (text TEXT)")
      for _ in 0..<200 {
        try db.execute(sql: "INSERT INTO lines VALUES (?)", arguments: [String(repeating: "x", count: 500)])
      }
    }
    try database.close()
    try work(advice)
  }

  private func overwrite(_ path: String, at offset: UInt64, _ bytes: Data) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: offset)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  @Test func `a full disk is named, and nothing is said to be lost`() throws {
    try withDatabase { advice in
      let text = advice.text(shortage: "no space left on the disk: /x has 0 KiB free of 60 MiB")
      #expect(
        text.hasPrefix("no space left on the disk: /x has 0 KiB free of 60 MiB. Nothing that was accepted is lost"))
    }
  }

  @Test func `a database that is damaged in the middle is said to be damaged, with what is lost`() throws {
    try withDatabase { advice in
      try overwrite(advice.file, at: 8192, Data(repeating: 0xff, count: 8192))
      let text = advice.text(shortage: nil)
      #expect(text.contains("is damaged"), "\(text)")
      #expect(text.contains("A part of the downloads is lost. Stop the cluster, and put back a copy of it, or remove"))
    }
  }

  @Test func `a file that is no database is said to be damaged`() throws {
    try withDatabase { advice in
      try overwrite(advice.file, at: 0, Data(repeating: 7, count: 4096))
      #expect(advice.text(shortage: nil).contains("is damaged: file is not a database"))
    }
  }

  @Test func `a file that the kernel does not let anyone write is said to be intact`() {
    // The kernel refuses this one to root, too.
    let advice = DatabaseAdvice(
      file: "/proc/sys/kernel/osrelease", process: "host", content: "the downloads", removal: "remove it")
    let text = advice.text(shortage: nil)
    #expect(text.contains("cannot be written") && text.contains("Nothing is lost"), "\(text)")
  }

  @Test func `an intact database points to the disk`() throws {
    try withDatabase { advice in
      #expect(advice.text(shortage: nil).contains("has no damage and can be written: the disk may have an error"))
    }
  }

  @Test func `a database that is missing or empty is noticed, unless the instance is new`() throws {
    try withDatabase { advice in
      #expect(advice.loss(since: folder) == nil)
      try FileManager.default.removeItem(atPath: advice.file)
      #expect(advice.loss(since: folder + "/other") == nil)
      #expect(advice.loss(since: folder)?.contains("does not exist, and") == true)
      try Data().write(to: URL(fileURLWithPath: advice.file))
      #expect(advice.loss(since: folder)?.hasSuffix("exists: the host starts without the downloads") == true)
      // The first page is written with the mode of the log, the tables are in the log.
      let database = try DatabasePool.opening(advice.file)
      try database.write { try $0.execute(sql: "CREATE TABLE lines (text TEXT)") }
      #expect(advice.loss(since: folder) == nil)
      let first = try Data(contentsOf: URL(fileURLWithPath: advice.file))
      try database.close()
      for ending in ["-wal", "-shm"] { unlink(advice.file + ending) }
      try first.write(to: URL(fileURLWithPath: advice.file))
      #expect(advice.loss(since: folder)?.contains("is empty") == true)
    }
  }
}
