// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing

@testable import WidgetLab

@Suite struct `The instance registry` {
  private func withBook<T>(_ body: (InstanceRegistry) throws -> T) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-book-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(InstanceRegistry(folder: folder))
  }

  private func files(_ registry: InstanceRegistry) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: registry.folder)) ?? []
  }

  private func mode(_ path: String) throws -> Int? {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test func `a running instance is in the registry until it leaves`() throws {
    try withBook { registry in
      #expect(try registry.running() == [])
      var entry = InstanceRegistry.Entry(instance: "/somewhere/.widgetlab/second", configuration: "/somewhere/w.yaml")
      let file = try InstanceLease(entry, in: registry)
      #expect(try registry.running() == [entry])
      #expect(entry.name == "second")
      entry.endpoint = "tcp://127.0.0.1:1"
      try file.write(entry)
      #expect(try registry.running().first?.isReady == true)
      #expect(try mode(registry.folder) == 0o700)
      #expect(try mode(registry.file(of: entry.instance)) == 0o600)
      file.remove()
      #expect(try registry.running() == [])
      #expect(files(registry) == [])
    }
  }

  @Test func `a reader removes registry entries that no process holds`() throws {
    try withBook { registry in
      try registry.open()
      let entry = InstanceRegistry.Entry(instance: "/dead", configuration: "/dead.yaml")
      try Output.jsonData(entry).write(to: URL(fileURLWithPath: registry.file(of: "/dead")))
      #expect(try registry.running() == [])
      #expect(files(registry) == [])
    }
  }

  @Test func `a registry entry whose pid was reused is not reported as running`() throws {
    try withBook { registry in
      let entry = InstanceRegistry.Entry(instance: "/a", configuration: "/a.yaml")
      let file = try InstanceLease(entry, in: registry)
      var text = String(decoding: try Output.jsonData(entry), as: UTF8.self)
      text.replace("\"startTime\":\(entry.startTime)", with: "\"startTime\":\(entry.startTime + 1)")
      try file.write(try JSONDecoder().decode(InstanceRegistry.Entry.self, from: Data(text.utf8)))
      #expect(try registry.running() == [])
      file.remove()
    }
  }

  @Test func `a name resolves to the running instance of that name if only one has it`() throws {
    try withBook { registry in
      let options = try InstanceOptions.parse(["--instance", "second"])
      #expect(try options.running(in: registry) == nil)
      let one = try InstanceLease(InstanceRegistry.Entry(instance: "/one/second", configuration: "/c"), in: registry)
      #expect(try options.running(in: registry) == "/one/second")
      let two = try InstanceLease(InstanceRegistry.Entry(instance: "/two/second", configuration: "/c"), in: registry)
      let commandError = #expect(throws: CommandError.self) { try options.running(in: registry) }
      #expect(commandError?.exit == Exit.usage)
      #expect(commandError?.advice?.contains("/two/second") == true)
      one.remove()
      two.remove()
    }
  }

  @Test func `a registry folder that other users can write to is rejected`() throws {
    try withBook { registry in
      try registry.open()
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: registry.folder)
      #expect(throws: CommandError.self) { try registry.running() }
    }
  }

  @Test func `a lock file whose holder has exited counts as free`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-lock-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try "\(Int32.max)\n".write(toFile: InstanceLock.file(in: folder), atomically: true, encoding: .utf8)
    #expect(InstanceLock.holder(in: folder) == nil)
    let lock = try InstanceLock(instance: folder)
    #expect(InstanceLock.holder(in: folder) == getpid())
    lock.release()
    #expect(!FileManager.default.fileExists(atPath: InstanceLock.file(in: folder)))
  }
}
