// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import FidelityRules
import Foundation
import GRDB
import Messages
import Testing

@testable import HostSystem

@Suite struct `The identifier for a vendor` {
  private let database: DatabaseQueue

  init() throws { database = try DatabaseQueue() }

  /// As the next host process has them.
  private func identifiers(of apps: [String]) throws -> VendorIdentifiers {
    try VendorIdentifiers(of: apps, in: DeviceStore(database))
  }

  @Test(.rule("PROCESS-30")) func `apps of one vendor have one, those of another have another`() throws {
    let identifiers = try identifiers(of: ["com.example.App", "com.example.Other", "com.example.deep.App", "single"])
    let first = try #require(identifiers[app: "com.example.App"])
    #expect(UUID(uuidString: first) != nil)
    #expect(identifiers[app: "com.example.Other"] == first)
    #expect(identifiers[app: "com.example.deep.App"] != first)
    #expect(identifiers[app: "single"].flatMap { UUID(uuidString: $0) } != nil)
    #expect(identifiers[app: "org.example.App"] == nil)
  }

  @Test(.rule("PROCESS-30")) func `it remains while the vendor has an app, and is another one afterwards`() throws {
    let first = try identifiers(of: ["com.example.App", "com.example.Other"])[app: "com.example.App"]
    #expect(first != nil)
    #expect(try identifiers(of: ["com.example.Other"])[app: "com.example.Other"] == first)
    #expect(try identifiers(of: ["com.example.App"])[app: "com.example.App"] == first)
    #expect(try identifiers(of: [])[app: "com.example.App"] == nil)
    let next = try identifiers(of: ["com.example.App"])[app: "com.example.App"]
    #expect(next != nil && next != first)
  }

  @Test(.rule("PROCESS-30")) func `an app and its extension get the same one in their environment`() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/vendor-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let instance = InstanceFolder(folder)
    let configuration = try ClusterConfiguration(
      yaml: """
        device: {name: iphone}
        apps:
          - {bundle: com.example.App, executable: app}
        extensions:
          - {bundle: com.example.App.Widget, executable: widget}
          - {bundle: org.other.App.Widget, executable: widget}
        """)
    let store = try DeviceStore(database)
    let containers = try Containers(
      of: configuration.products.map(\.bundle), in: instance.device("iphone"), store)
    let programs = configuration.programs(
      groups: [:], containers, try VendorIdentifiers(of: configuration.vendorApps, in: store), in: instance)
    var vendors: [String: String] = [:]
    for program in programs {
      let request = try program.spawn(DeviceSettings(), "test")
      vendors[program.address.bundleIdentifier ?? ""] = request.environment[LaunchVariables.vendor]
    }
    let app = try #require(vendors["com.example.App"])
    #expect(UUID(uuidString: app) != nil)
    #expect(vendors["com.example.App.Widget"] == app)
    #expect(vendors["org.other.App.Widget"].flatMap { UUID(uuidString: $0) } != nil)
    #expect(vendors["org.other.App.Widget"] != app)
  }
}
