import Archive
import Cluster
import Conversations
import Foundation
import GRDB
import MessageBus
import Testing

@testable import HostSystem

@Suite(.timeLimit(.minutes(1))) struct `a device whose extension says its kinds` {
  @Test(arguments: [true, false])
  func `whether each kind is placed by itself is a setting`(places: Bool) async throws {
    try await Home.with(placesEachKind: places) { home in
      try await home.live { device in
        let kinds = try await device.kinds()
        #expect(kinds == (places ? ["Coffee", "Tea"] : []))
      }
    }
  }

  @Test func `finishes a removal that its last life began`() async throws {
    try await Home.with(placesEachKind: true) { home in
      try await home.live { device in
        let kinds = try await device.kinds()
        #expect(kinds == ["Coffee", "Tea"])
      }
      // The host died when the gallery had written it down, and Timelines had not.
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

/// What the lives of one host have in common.
private struct Home {
  let folder: String
  let configuration: ClusterConfiguration
  var database: String { folder + "/host.sqlite" }

  static func with(placesEachKind: Bool, _ body: (Home) async throws -> Void) async throws {
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
    try await body(Home(folder: folder, configuration: configuration))
  }

  /// One life of the host, whose extension is there.
  func live(_ body: (Life) async throws -> Void) async throws {
    let bus = InMemoryBus()
    let pool = try DatabasePool(path: database)
    let connection = bus.connection(.host("iphone"))
    let device = try Device(
      configuration, instance: InstanceFolder(folder), database: pool, bus: connection
    ) { Issue.record("the device is broken: \($0)") }
    try await device.resume()
    _ = try await connection.start()
    let widget = bus.connection(.widgetExtension("iphone", "com.example.Widget"))
    _ = try await widget.start()
    let kinds = ["Coffee", "Tea"].map { WidgetDeclaration(kind: $0) }
    _ = try await widget.request(ProcessReady(pid: 7, executable: "widget", widgets: kinds), to: .host("iphone"))
    let person = bus.connection(.operator("1"))
    _ = try await person.start()
    try await body(Life(person: person))
    await device.leave()
    try pool.close()
  }
}

private struct Life {
  let person: Connection

  /// Of all that Timelines keeps, by number.
  func kinds() async throws -> [String] {
    try await person.request(ListBudget(), to: .host("iphone")).accounts.map(\.widgetKind)
  }
}
