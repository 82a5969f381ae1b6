// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages
import Testing

@testable import Cluster

@Suite(.timeLimit(.minutes(1))) struct InstanceTests {
  private let configuration = try? ClusterConfiguration(
    yaml: """
      device: {name: iphone}
      extensions:
        - {bundle: a.W, executable: w, agent: 2}
      """)

  @Test func `an instance's folders are accessible to their owner only`() async throws {
    try await withInstance { instance in
      let container = instance.device("iphone").containers(of: "a.b") + "/1"
      #expect(container == instance.path + "/device/iphone/containers/a.b/1")
      try DeviceFolder.makeContainer(at: container)
      try instance.device("iphone").makeGroups(["group.a"])
      try instance.device("iphone").makeTransfers()
      for path in [
        instance.path, instance.keys, instance.knownFolder, instance.journal, container + "/Library/Caches",
        container + "/tmp",
        container + "/Documents", instance.device("iphone").group("group.a"), instance.device("iphone").transfers,
      ] {
        #expect(mode(path) == 0o700, "\(path)")
      }
    }
  }

  @Test(arguments: ["", "{", "{}"]) func `a damaged public half of a key is written again`(content: String) async throws
  {
    let configuration = try #require(configuration)
    try await withInstance { instance in
      try StandingKey.makeAll(for: configuration, in: instance)
      let first = try StandingKey.loadAllPublic(in: instance)
      let path = instance.knownFolder + "/host.json"
      try Data(content.utf8).write(to: URL(fileURLWithPath: path))
      try StandingKey.makeAll(for: configuration, in: instance)
      #expect(try StandingKey.loadAllPublic(in: instance) == first)
    }
  }

  @Test func `standing keys are created once and match the addresses of their holders`() async throws {
    let configuration = try #require(configuration)
    try await withInstance { instance in
      try StandingKey.makeAll(for: configuration, in: instance)
      let first = try StandingKey.loadAllPublic(in: instance)
      #expect(first.map(\.name.rawValue) == ["agent-2", "host", "operator", "provider", "watcher"])
      #expect(first.map(\.facts.pattern.text).contains("device/iphone/agent/2"))
      #expect(mode(instance.keys + "/host") == 0o700)
      #expect(mode(instance.keys + "/host/key.json") == 0o600)
      try StandingKey.makeAll(for: configuration, in: instance)
      #expect(try StandingKey.loadAllPublic(in: instance) == first)
      let operators = try StandingKey.load(.operator, in: instance)
      #expect(operators.pattern.matches(.operator("7")))
      #expect(!operators.pattern.matches(.host("iphone")))
    }
  }

  @Test func `concurrent creation of the standing keys yields one set of keys`() async throws {
    let configuration = try #require(configuration)
    try await withInstance { instance in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { try StandingKey.makeAll(for: configuration, in: instance) } }
        try await group.waitForAll()
      }
      let names = try FileManager.default.subpathsOfDirectory(atPath: instance.keys)
      #expect(names.count == 12, "expected six folders with one key each and no temporary file: \(names)")
      let known = try FileManager.default.contentsOfDirectory(atPath: instance.knownFolder)
      #expect(known.count == 5, "\(known)")
      for key in try StandingKey.loadAllPublic(in: instance) {
        #expect(try StandingKey.load(key.name, in: instance).facts == key.facts)
      }
    }
  }

  @Test func `an unused next key is returned again until it is taken`() async throws {
    let configuration = try #require(configuration)
    try await withInstance { instance in
      try StandingKey.makeAll(for: configuration, in: instance)
      let present = try StandingKey.load(.host, in: instance)
      let next = try StandingKey.next(.host, in: instance)
      #expect(try StandingKey.next(.host, in: instance) == next)
      #expect(try StandingKey.load(.host, in: instance) == present)
      #expect(next.pattern == present.pattern && next.publicKey != present.publicKey && next.since >= present.since)
      #expect(mode(instance.keys + "/host/next.json") == 0o600)
      try StandingKey.takeNext(.host, in: instance)
      #expect(try StandingKey.load(.host, in: instance) == next)
      #expect(try StandingKey.next(.host, in: instance) != next)
    }
  }

  @Test func `only one process at a time can renew a key`() async throws {
    let configuration = try #require(configuration)
    try await withInstance { instance in
      try StandingKey.makeAll(for: configuration, in: instance)
      try await StandingKey.locked(.host, in: instance) {
        let error = await #expect(throws: ClusterError.self) { try await StandingKey.locked(.host, in: instance) {} }
        #expect(error?.message.contains("by another process") == true)
        try await StandingKey.locked(.operator, in: instance) {}
      }
      try await StandingKey.locked(.host, in: instance) {}
    }
  }

  @Test func `a key file that other users can read is refused`() async throws {
    let configuration = try #require(configuration)
    try await withInstance { instance in
      try StandingKey.makeAll(for: configuration, in: instance)
      chmod(instance.keys + "/host/key.json", 0o644)
      let error = #expect(throws: ClusterError.self) { try StandingKey.load(.host, in: instance) }
      #expect(error?.code == .key)
      #expect(error?.message.contains("chmod 600") == true)
    }
  }

  @Test(
    arguments: [
      (0o600, 10_001, true), (0o400, 10_001, true), (0o440, 10_001, false), (0o440, 0, true), (0o640, 0, true),
      (0o644, 0, false), (0o460, 0, false), (0o444, 0, false),
    ] as [(mode_t, uid_t, Bool)])
  func `a key may be readable by its owner, and by the group of root's file`(
    mode: mode_t, owner: uid_t, isPrivate: Bool
  ) {
    #expect(StandingKey.isPrivate(mode | S_IFREG, owner: owner, reader: 10_001) == isPrivate)
    // For root, its own file is as that of any user.
    #expect(!StandingKey.isPrivate(0o440, owner: 0, reader: 0))
  }

  @Test func `a password for the database is made once, and kept`() async throws {
    try await withInstance { instance in
      try instance.create()
      try instance.makeDatabasePassword(user: "lab")
      let password = try String(contentsOfFile: instance.database + "/password", encoding: .utf8)
      #expect(password.count == 64 && password.allSatisfy(\.isHexDigit))
      try instance.makeDatabasePassword(user: "lab")
      #expect(try String(contentsOfFile: instance.database + "/pgpass", encoding: .utf8) == "*:*:*:lab:\(password)\n")
      #expect(mode(instance.database + "/password") == 0o600 && mode(instance.database + "/pgpass") == 0o600)
    }
  }

  @Test func `the error of a missing key names the command that creates it`() async throws {
    try await withInstance { instance in
      let error = #expect(throws: ClusterError.self) { try StandingKey.load(.agent(9), in: instance) }
      #expect(error?.message.contains("agent-9/key.json is missing: `widgetlab keys make") == true)
    }
  }

  @Test func `waiting for an announcement returns it once it is written`() async throws {
    try await withInstance { instance in
      let announcement = BusAnnouncement(endpoint: "tcp://a:1", tap: "tcp://a:2", publicKey: "k", pid: 3)
      async let waited = BusAnnouncement.wait(in: instance, within: .seconds(60))
      try announcement.write(in: instance)
      #expect(try await waited == announcement)
      #expect(mode(instance.busAnnouncement) == 0o600)
    }
  }

  @Test func `waiting in vain for an announcement fails with the missing file and advice`() async throws {
    try await withInstance { instance in
      let error = await #expect(throws: ClusterError.self) {
        try await BusAnnouncement.wait(in: instance, within: .milliseconds(30))
      }
      #expect(error?.code == .notThere)
      #expect(error?.message.contains("bus.json did not appear") == true)
      #expect(error?.message.contains("widgetlab up") == true)
    }
  }

  @Test func `a damaged announcement is an error and is not treated as missing`() async throws {
    try await withInstance { instance in
      try Data("{".utf8).write(to: URL(fileURLWithPath: instance.busAnnouncement))
      let error = #expect(throws: ClusterError.self) { try BusAnnouncement.read(in: instance) }
      #expect(error?.code == .folder)
    }
  }

  private func mode(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
  }
}
