// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import FidelityRules
import Foundation
import GRDB
import Testing

@testable import HostSystem

/// The folder and database of a device, which remain after the host exits.
private final class Place: Sendable {
  let instance = FileManager.default.temporaryDirectory.path + "/containers-\(UUID().uuidString)"
  let database: DatabaseQueue

  init() throws {
    database = try DatabaseQueue()
  }

  deinit { try? FileManager.default.removeItem(atPath: instance) }

  var folder: DeviceFolder { InstanceFolder(instance).device("iphone") }

  /// Opens the containers as the next host process does.
  func containers() throws -> Containers {
    try Containers(of: ["com.example.App", "com.example.App.Widget"], in: folder, DeviceStore(database))
  }
}

@Suite struct `Containers of a device` {
  private let app = "com.example.App"
  private let widget = "com.example.App.Widget"
  private let place: Place
  private let containers: Containers

  init() throws {
    place = try Place()
    containers = try place.containers()
  }

  private func path(_ bundle: String, _ containers: Containers? = nil) throws -> String {
    try #require((containers ?? self.containers).path(of: bundle))
  }

  private func write(_ name: String, in folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: "\(folder)/\(name)").deletingLastPathComponent().path,
      withIntermediateDirectories: true)
    try Data("kept".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test func `a container is named by a UUID and keeps its path across a host restart`() throws {
    let name = URL(fileURLWithPath: try path(app)).lastPathComponent
    #expect(UUID(uuidString: name) != nil)
    #expect(try path(app).hasPrefix(place.folder.containers(of: app)))
    #expect(exists(try path(app) + "/Library/Caches"))
    #expect(try path(app, place.containers()) == path(app))
    #expect(containers.path(of: "com.example.Other") == nil)
  }

  @Test(.rule("PROCESS-20"))
  func `moving a container changes its path and keeps its files, except for delivered downloads`() throws {
    let old = try path(app)
    try write("Documents/note", in: old)
    try write("Library/Caches/com.apple.nsurlsessiond/Downloads/\(app)/a.tmp", in: old)
    try containers.beginMove(of: [app, widget])
    #expect(containers.moving == [app, widget])
    #expect(try path(app) == old)
    try containers.endMove(of: [app, widget])
    let new = try path(app)
    #expect(new != old && !exists(old) && containers.moving.isEmpty)
    #expect(exists(new + "/Documents/note"))
    #expect(!exists(new + "/Library/Caches/com.apple.nsurlsessiond"))
    #expect(try path(app, place.containers()) == new)
  }

  @Test func `a move that was recorded but not performed is pending after a host restart`() throws {
    let old = try path(app)
    try containers.beginMove(of: [app])
    let next = try place.containers()
    #expect(next.moving == [app])
    #expect(try path(app, next) == old)
    try next.endMove(of: [app])
    #expect(try path(app, next) != old)
  }

  @Test func `a move that was performed but not recorded is recognised after a host restart`() throws {
    let old = try path(app)
    try write("Documents/note", in: old)
    try containers.beginMove(of: [app])
    let target = try #require(try DeviceStore(place.database).places()[app]?.next)
    try FileManager.default.moveItem(atPath: old, toPath: place.folder.containers(of: app) + "/\(target)")
    let next = try place.containers()
    #expect(next.moving.isEmpty)
    #expect(try path(app, next).hasSuffix(target))
    #expect(exists(try path(app, next) + "/Documents/note"))
  }

  @Test func `files at a former path are removed after a host restart`() throws {
    let old = try path(app)
    try containers.beginMove(of: [app])
    try containers.endMove(of: [app])
    try write("Library/late", in: old)
    _ = try place.containers()
    #expect(!exists(old))
    #expect(exists(try path(app)))
  }
}
