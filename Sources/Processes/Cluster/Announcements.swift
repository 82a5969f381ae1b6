// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Where a standing process listens. The process writes it to a file of the instance once it listens.
package protocol Announcement: Codable, Hashable, Sendable {
  var pid: Int32 { get }
  /// The file of the announcement.
  static func path(in instance: InstanceFolder) -> String
  /// What the user should check when the announcement does not appear.
  static func advice(in instance: InstanceFolder) -> String
}

extension Announcement {
  /// The announcement in the instance; `nil` before the first such process has written one.
  ///
  /// - Throws: `instance-folder`.
  package static func read(in instance: InstanceFolder) throws(ClusterError) -> Self? {
    try read(at: path(in: instance))
  }

  /// The announcement in a file; `nil` before it is written.
  ///
  /// - Throws: `instance-folder`.
  package static func read(at path: String) throws(ClusterError) -> Self? { try JSONFile.read(Self.self, at: path) }

  /// Waits until the process has announced itself. Polls every 20 ms.
  ///
  /// - Throws: `not-there` at the timeout, `instance-folder`, or `CancellationError`.
  package static func wait(in instance: InstanceFolder, within limit: Duration) async throws -> Self {
    let deadline = ContinuousClock.now + limit
    while true {
      if let announcement = try read(in: instance) { return announcement }
      guard ContinuousClock.now < deadline else {
        throw ClusterError(
          .notThere, "\(path(in: instance)) did not appear within \(limit): \(advice(in: instance))")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Replaces the announcement atomically.
  ///
  /// - Throws: `instance-folder`.
  package func write(in instance: InstanceFolder) throws(ClusterError) {
    try write(to: Self.path(in: instance))
  }

  /// Replaces the announcement in a file atomically.
  ///
  /// - Throws: `instance-folder`.
  package func write(to path: String) throws(ClusterError) { try JSONFile.write(self, to: path) }
}

/// Where the broker listens, in `bus/bus.json`.
package struct BusAnnouncement: Announcement {
  /// The endpoint that peers connect to, such as `tcp://127.0.0.1:7701`.
  package let endpoint: String
  /// The endpoint of the tap.
  package let tap: String
  /// The broker's CURVE public key, Z85.
  package let publicKey: String
  package let pid: Int32

  package init(endpoint: String, tap: String, publicKey: String, pid: Int32) {
    self.endpoint = endpoint
    self.tap = tap
    self.publicKey = publicKey
    self.pid = pid
  }

  package static func path(in instance: InstanceFolder) -> String { instance.busAnnouncement }

  package static func advice(in instance: InstanceFolder) -> String {
    "is `widgetlab up` (or message-bus) running with the instance folder \(instance.path)?"
  }
}

/// Where the provider server listens, in `provider.json`.
package struct ProviderAnnouncement: Announcement {
  /// Such as `http://127.0.0.1:8080`.
  package let url: String
  package let pid: Int32

  package init(url: String, pid: Int32) {
    self.url = url
    self.pid = pid
  }

  package static func path(in instance: InstanceFolder) -> String { instance.providerAnnouncement }

  package static func advice(in instance: InstanceFolder) -> String {
    "is the provider server of widgetlab.yaml running with the instance folder \(instance.path)?"
  }
}

/// Where the push server listens, in `push-server.json`, and what a provider needs to use it.
package struct PushServerAnnouncement: Announcement {
  /// The URL that replaces `https://api.sandbox.push.apple.com`, such as `https://127.0.0.1:2197`.
  package let development: String
  /// The URL that replaces `https://api.push.apple.com`.
  package let production: String
  /// The file of the certificate authority that signed the server's certificate. A provider has to trust it.
  package let certificateAuthority: String
  /// The file of the development environment's provider key, a `.p8`.
  package let key: String
  /// The key's id, ten characters.
  package let keyID: String
  /// The id of the team that owns the key, ten characters.
  package let teamID: String
  package let pid: Int32

  package init(
    development: String, production: String, certificateAuthority: String, key: String, keyID: String, teamID: String,
    pid: Int32
  ) {
    self.development = development
    self.production = production
    self.certificateAuthority = certificateAuthority
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
    self.pid = pid
  }

  package static func path(in instance: InstanceFolder) -> String { instance.pushServerAnnouncement }

  package static func advice(in instance: InstanceFolder) -> String {
    "does widgetlab.yaml have `pushServer:`, and is the push server running with the instance folder \(instance.path)?"
  }
}

/// A fleet of an instance, in `fleet/<name>/fleet.json`.
package struct FleetAnnouncement: Codable, Hashable, Sendable {
  package let name: String
  package let devices: Int
  package let seed: UInt64
  /// The path of the profile; `nil` for the default day.
  package let profile: String?
  package let pid: Int32

  package init(name: String, devices: Int, seed: UInt64, profile: String?, pid: Int32) {
    self.name = name
    self.devices = devices
    self.seed = seed
    self.profile = profile
    self.pid = pid
  }

  package static func path(of name: String, in instance: InstanceFolder) -> String {
    instance.fleet(name) + "/fleet.json"
  }

  /// - Throws: `instance-folder`.
  package static func read(_ name: String, in instance: InstanceFolder) throws(ClusterError) -> FleetAnnouncement? {
    try JSONFile.read(FleetAnnouncement.self, at: path(of: name, in: instance))
  }

  /// The fleets that were started in an instance, by name.
  ///
  /// - Throws: `instance-folder`.
  package static func all(in instance: InstanceFolder) throws(ClusterError) -> [FleetAnnouncement] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: instance.fleets)) ?? []
    var found: [FleetAnnouncement] = []
    for name in names.sorted() { if let fleet = try read(name, in: instance) { found.append(fleet) } }
    return found
  }

  /// - Throws: `instance-folder`.
  package func write(in instance: InstanceFolder) throws(ClusterError) {
    try JSONFile.write(self, to: Self.path(of: name, in: instance))
  }
}

/// The lock of a fleet, held while its process runs. The kernel releases it when the process exits.
package final class FleetLock: Sendable {
  private let descriptor: CInt

  /// - Throws: `not-there` when another process has it, `instance-folder`.
  package init(_ name: String, in instance: InstanceFolder) throws(ClusterError) {
    let path = instance.fleet(name) + "/lock"
    let candidate = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard candidate >= 0 else {
      throw ClusterError(.folder, "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    guard flock(candidate, LOCK_EX | LOCK_NB) == 0 else {
      close(candidate)
      throw ClusterError(
        .notThere,
        "the fleet \(name) of \(instance.path) is run by another process: give this one another --name, or stop that one"
      )
    }
    descriptor = candidate
  }

  deinit { close(descriptor) }
}
