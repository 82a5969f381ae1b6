// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Cluster
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Testing

@testable import HostSystem

@Suite(.timeLimit(.minutes(1))) struct `Default placements` {
  @Test(.rule("GALLERY-09"), arguments: [true, false])
  func `a setting determines whether each kind is placed automatically`(places: Bool) async throws {
    try await PlacementFixture.with(placesEachKind: places) { home in
      try await home.live { device in
        let kinds = try await device.kinds()
        #expect(kinds == (places ? ["Coffee", "Tea"] : []))
      }
    }
  }

  @Test func `a restarted host completes a removal that it had begun`() async throws {
    try await PlacementFixture.with(placesEachKind: true) { home in
      try await home.live { device in
        let kinds = try await device.kinds()
        #expect(kinds == ["Coffee", "Tea"])
      }
      // The host exited when Gallery had stored the removal and Timelines had not.
      let database = try DatabaseQueue(path: home.database)
      try await database.write { try $0.execute(sql: "DELETE FROM placements WHERE id = 1") }
      try database.close()
      try await home.live { device in
        let kinds = try await device.kinds()
        #expect(kinds == ["Tea"])
      }
    }
  }
}

/// The folder and configuration that all processes of one host share.
private struct PlacementFixture {
  let folder: String
  let configuration: ClusterConfiguration
  var database: String { folder + "/host.sqlite" }

  static func with(placesEachKind: Bool, _ body: (PlacementFixture) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/device-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = try ClusterConfiguration(
      yaml: """
        device: {name: iphone}
        extensions:
          - {bundle: com.example.Widget, executable: widget}
        settings: {placesEachKind: \(placesEachKind)}
        """)
    try await body(PlacementFixture(folder: folder, configuration: configuration))
  }

  /// Runs `body` with a host process whose extension is ready.
  func live(_ body: (ProcessInstance) async throws -> Void) async throws {
    let bus = InMemoryBus()
    let pool = try DatabasePool(path: database)
    let connection = bus.connection(.host("iphone"))
    let device = try Device(
      configuration, instance: InstanceFolder(folder), database: pool, bus: connection
    ) { Issue.record("the device failed: \($0)") }
    try await device.resume()
    _ = try await connection.start()
    let widget = bus.connection(.widgetExtension("iphone", "com.example.Widget"))
    _ = try await widget.start()
    let kinds = ["Coffee", "Tea"].map { WidgetDeclaration(kind: $0) }
    _ = try await widget.request(ProcessReady(pid: 7, executable: "widget", widgets: kinds), to: .host("iphone"))
    let person = bus.connection(.operator("1"))
    _ = try await person.start()
    try await body(ProcessInstance(person: person))
    await device.leave()
    try pool.close()
  }
}

private struct ProcessInstance {
  let person: Connection

  /// Returns the kinds of all placements in Timelines, ordered by number.
  func kinds() async throws -> [String] {
    try await person.request(ListBudget(), to: .host("iphone")).accounts.map(\.widgetKind)
  }
}
