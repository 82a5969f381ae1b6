// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `Ports that a cluster keeps` {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "ports-\(UUID().uuidString)").path
  private var instance: InstanceFolder { InstanceFolder(folder) }

  private func lifecycle(_ more: String = "pushServer: {}") throws -> ClusterLifecycle {
    try instance.create()
    let path = folder + "/widgetlab.yaml"
    try "device: {name: iphone}\n\(more)\n".write(toFile: path, atomically: true, encoding: .utf8)
    let cluster = try ClusterFacts(folder: folder, configurationPath: path)
    return ClusterLifecycle(
      cluster: cluster, search: ExecutableSearch(configuration: path, named: nil),
      supervisor: Supervisor(instance: folder) { _ in })
  }

  private func announce(_ provider: Int, development: Int, production: Int) throws {
    try ProviderAnnouncement(url: "http://127.0.0.1:\(provider)", pid: 1).write(in: instance)
    try PushServerAnnouncement(
      development: "https://127.0.0.1:\(development)", production: "https://127.0.0.1:\(production)",
      certificateAuthority: "", key: "", keyID: "", teamID: "", pid: 1
    ).write(in: instance)
  }

  /// A socket that listens at a free port of this machine.
  private static func listen() -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    Glibc.listen(descriptor, 1)
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  @Test func `the ports of the first start are kept when the announcements are removed`() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lifecycle = try lifecycle()
    try announce(11, development: 12, production: 13)
    lifecycle.removeAnnouncements()
    #expect(try ProviderAnnouncement.read(in: instance) == nil)
    let kept = ["provider": 11, "push-server development": 12, "push-server production": 13] as [String: UInt16]
    #expect(KeptPorts.read(in: instance).ports == kept)
    // A later start with other ports, such as while the kept ones are in use, changes nothing.
    try announce(21, development: 22, production: 23)
    lifecycle.removeAnnouncements()
    #expect(KeptPorts.read(in: instance).ports == kept)
  }

  @Test func `replicas of the push server have their own ports`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lifecycle = try lifecycle("pushServer: {database: postgres://localhost/x, replicas: 2}")
    for (replica, port) in [("1", 31), ("2", 32)] {
      let url = "https://127.0.0.1:\(port)"
      try PushServerAnnouncement(
        development: url, production: url, certificateAuthority: "", key: "", keyID: "", teamID: "", pid: 1
      ).write(to: instance.pushServerAnnouncement(of: replica))
    }
    lifecycle.removeAnnouncements()
    #expect(Set(KeptPorts.read(in: instance).ports.values) == [31, 32])
    #expect(KeptPorts.read(in: instance).ports.count == 4)
  }

  @Test func `a kept port is used when it is free, and not while another process has it`() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lifecycle = try lifecycle()
    let (other, port) = Self.listen()
    try announce(Int(port), development: 1, production: 2)
    lifecycle.keepPorts()
    #expect(try await lifecycle.keptPort(of: "provider") == nil)
    close(other)
    #expect(try await lifecycle.keptPort(of: "provider") == port)
    #expect(try await lifecycle.keptPort(of: "unknown") == nil)
  }

  @Test func `a server listens again and again at a reserved port, and no other program can have it`() throws {
    let reserved = ReservedPorts()
    let port = try #require(reserved.reserve())
    func bound(reuse: Int32) -> Bool {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      defer { close(descriptor) }
      var reuse = reuse
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      return result == 0 && Glibc.listen(descriptor, 1) == 0
    }
    #expect(bound(reuse: 1) && bound(reuse: 1))
    #expect(!bound(reuse: 0))
    withExtendedLifetime(reserved) {}
  }

  @Test func `a damaged file has no ports`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try instance.create()
    try Data().write(to: URL(fileURLWithPath: KeptPorts.file(in: instance)))
    #expect(KeptPorts.read(in: instance).ports.isEmpty)
  }
}
