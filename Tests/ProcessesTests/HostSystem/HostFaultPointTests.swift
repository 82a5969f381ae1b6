// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Cluster
import FaultPoints
import Foundation
import GRDB
import Messages
import Stores
import Testing

@testable import HostSystem

@Suite(.timeLimit(.minutes(1))) struct `The fault points of a host` {
  @Test func `each table of the database has its points`() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/points-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let database = try DatabasePool(path: folder + "/host.sqlite")
    let configuration = try ClusterConfiguration(yaml: "device: {name: iphone}")
    let device = try Device(
      configuration, instance: InstanceFolder(folder), database: database,
      bus: InMemoryBus().connection(.host("iphone")), broken: { Issue.record("the device failed: \($0)") })
    await device.leave()
    let tables = try await database.read { db in
      try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        .map { (name: $0["name"] as String, sql: $0["sql"] as String? ?? "") }
        .filter { !$0.name.hasPrefix("sqlite_") && !$0.name.hasPrefix("grdb_") }
    }
    #expect(Set(tables.map(\.name)) == Set(StoreFaultPoints.host.keys))
    // SQLite reports no changes of a table without row ids.
    for table in tables { #expect(!table.sql.contains("WITHOUT ROWID"), "\(table.name)") }
    for points in StoreFaultPoints.host.values { #expect(points.before.canFail) }
  }
}
