// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

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
