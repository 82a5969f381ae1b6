// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import Messages
import Synchronization

/// The ports at which the servers of an instance first listened, in `ports.json`. Stored downloads and the configuration of
/// backends contain them, so each later start uses them again.
struct KeptPorts: Codable, Equatable {
  /// By the name of the server, such as `provider`; for a push server by environment, such as `push-server development`.
  var ports: [String: UInt16] = [:]

  static func file(in instance: InstanceFolder) -> String { instance.path + "/ports.json" }

  /// Reads the file. A missing or damaged one has no ports: free ones are chosen.
  static func read(in instance: InstanceFolder) -> KeptPorts {
    ((try? JSONFile.read(KeptPorts.self, at: file(in: instance))) ?? nil) ?? KeptPorts()
  }

  /// Keeps the port of a URL, unless the server has one already: one that was used only because that was in use does not
  /// replace it.
  mutating func keep(_ url: String?, of name: String) {
    guard ports[name] == nil, let port = url.flatMap({ URL(string: $0)?.port }).flatMap(UInt16.init(exactly:)) else {
      return
    }
    ports[name] = port
  }

  /// Whether a server can listen at a port of this machine.
  static func isFree(_ port: UInt16) -> Bool { ReservedPorts().reserve(port) != nil }
}

/// Ports of this machine that no other program gets while their server is killed and started again.
///
/// A socket that is bound and does not listen keeps each of them. A server can listen at it all the same if both set
/// `SO_REUSEADDR` (`man 7 socket`), as ZeroMQ and the push server do. It is no free port for the kernel.
final class ReservedPorts: Sendable {
  private let sockets = Mutex<[Int32]>([])

  deinit {
    for descriptor in sockets.withLock(\.self) { close(descriptor) }
  }

  /// - Parameter port: `nil` for any free one.
  /// - Returns: `nil` when another program listens at it, or there is no socket.
  func reserve(_ port: UInt16? = nil) -> UInt16? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = (port ?? 0).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else {
      close(descriptor)
      return nil
    }
    sockets.withLock { $0.append(descriptor) }
    return UInt16(bigEndian: address.sin_port)
  }
}

extension ClusterLifecycle {
  /// The announcement files of the push servers, by the name of the process.
  private var pushServerFiles: [(name: String, file: String)] {
    cluster.pushServers.map { address in
      let file = address.replica.map(cluster.instance.pushServerAnnouncement) ?? cluster.instance.pushServerAnnouncement
      return (ClusterFacts.standingName(of: address), file)
    }
  }

  /// Keeps the ports in the announcements, before these are removed.
  func keepPorts() {
    let instance = cluster.instance
    let before = KeptPorts.read(in: instance)
    var ports = before
    ports.keep((try? ProviderAnnouncement.read(in: instance))?.url, of: "provider")
    for (name, file) in pushServerFiles {
      let announcement = try? PushServerAnnouncement.read(at: file)
      ports.keep(announcement?.development, of: "\(name) development")
      ports.keep(announcement?.production, of: "\(name) production")
    }
    guard ports != before else { return }
    do {
      try JSONFile.write(ports, to: KeptPorts.file(in: instance))
    } catch {
      Output.printError("widgetlab: the next `widgetlab up` will choose other ports: \(error)")
    }
  }

  /// The port of an earlier start; `nil` before the first one, and when another process has the port, which is printed.
  func keptPort(of server: String) async throws -> UInt16? {
    guard let port = KeptPorts.read(in: cluster.instance).ports[server] else { return nil }
    // The processes of an `up` that was killed end with it, a moment later.
    for _ in 0..<40 {
      if KeptPorts.isFree(port) { return port }
      try await Task.sleep(for: .milliseconds(50))
    }
    Output.printError(
      "! port \(port) of \(server) is in use by another process: a free port is used until the next `widgetlab up`. "
        + "Downloads that were accepted with port \(port) wait; to end them, stop that process and start again")
    return nil
  }
}
