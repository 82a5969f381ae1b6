// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import Stores

/// Copies of the write-ahead log into the database, on real files.
@Suite(.timeLimit(.minutes(1))) struct `Copies of the write-ahead log` {
  /// A pool with an empty table, and its folder.
  private func withPool(_ body: (DatabasePool) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "checkpoints-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pool = try DatabasePool.opening(folder + "/a.sqlite")
    try await pool.write { try $0.execute(sql: "CREATE TABLE bodies (body BLOB NOT NULL)") }
    try await body(pool)
    try pool.close()
  }

  /// The size of the database file without its log, in bytes.
  private func size(of pool: DatabasePool) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: pool.path)[.size] as? Int ?? 0
  }

  @Test func `the log is copied beside the transactions, and is written from its beginning after that`() async throws {
    try await withPool { pool in
      let (copies, copied) = AsyncStream.makeStream(of: Void.self)
      let checkpoints = Checkpoints(pool) { copied.yield() }
      let body = Data(count: 1 << 20)
      let before = try size(of: pool)
      // 256 pages each: the fourth transaction passes the interval.
      for _ in 1...4 { try await pool.write { try $0.run("INSERT INTO bodies VALUES (?)", [body]) } }
      for await _ in copies { break }
      #expect(try size(of: pool) >= before + 4 << 20)
      let log = pool.path + "-wal"
      let length = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
      for _ in 1...2 { try await pool.write { try $0.run("INSERT INTO bodies VALUES (?)", [body]) } }
      #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == length)
      withExtendedLifetime(checkpoints) {}
    }
  }

  @Test func `without it, SQLite copies the log again`() async throws {
    try await withPool { pool in
      do { _ = Checkpoints(pool) }
      let body = Data(count: 1 << 20)
      let before = try size(of: pool)
      for _ in 1...4 { try await pool.write { try $0.run("INSERT INTO bodies VALUES (?)", [body]) } }
      #expect(try size(of: pool) > before)
    }
  }
}
