package import Conversations
import Foundation
import Glibc
package import ZeroMQ

/// The key of a process that is not spawned by an agent, as it lies in the instance's `keys` folder, mode 0600.
package struct StandingKey: Codable, Sendable, Hashable {
  /// Which standing process a key belongs to; the name of its file.
  package struct Name: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static let messageBus = Name(rawValue: "message-bus")
    package static let host = Name(rawValue: "host")
    package static let provider = Name(rawValue: "provider")
    /// Every run of the operator's tool.
    package static let `operator` = Name(rawValue: "operator")
    package static func agent(_ number: Int) -> Name { Name(rawValue: "agent-\(number)") }

    package var description: String { rawValue }
  }

  /// What the broker needs to know of a key.
  package struct Public: Sendable, Hashable {
    package let name: Name
    /// Which addresses it may speak as.
    package let pattern: AddressPattern
    /// z85, 40 characters.
    package let publicKey: String
  }

  package let pattern: AddressPattern
  package let publicKey: String
  package let secretKey: String

  package var pair: CurveKeyPair { CurveKeyPair(publicKey: publicKey, secretKey: secretKey) }

  /// Makes the keys that are missing: the broker's, the host's, one for each agent that the configuration names, the
  /// provider's and the operators'. Keys that are there stay, also when two processes do this at once.
  ///
  /// - Throws: `key` or `instance-folder`.
  package static func makeAll(
    for configuration: ClusterConfiguration, in instance: InstanceFolder
  ) throws(ClusterError) {
    try instance.create()
    let device = configuration.device.name
    var patterns: [(Name, AddressPattern)] = [
      (.messageBus, AddressPattern(.messageBus)), (.host, AddressPattern(.host(device))),
      (.provider, AddressPattern(.provider)), (.operator, AddressPattern("operator/*")),
    ]
    for number in configuration.agentNumbers {
      patterns.append((.agent(number), AddressPattern(.agent(device, number))))
    }
    for (name, pattern) in patterns { try make(name, pattern, in: instance) }
  }

  private static func make(
    _ name: Name, _ pattern: AddressPattern, in instance: InstanceFolder
  ) throws(ClusterError) {
    let path = path(name, in: instance)
    if !FileManager.default.fileExists(atPath: path) {
      let pair: CurveKeyPair
      do {
        pair = try CurveKeyPair.generate()
      } catch {
        throw ClusterError(.key, "no key could be made for \(name): \(error)")
      }
      let key = StandingKey(pattern: pattern, publicKey: pair.publicKey, secretKey: pair.secretKey)
      if try JSONFile.writeIfMissing(key, to: path) { return }
    }
    let present = try load(name, in: instance)
    guard present.pattern == pattern else {
      throw ClusterError(
        .key,
        "\(path) belongs to \(present.pattern), and the configuration wants \(pattern): use another instance folder, "
          + "or remove the file")
    }
  }

  /// Reads one key.
  ///
  /// - Throws: `key` when it is missing, damaged, or open to others than its owner.
  package static func load(_ name: Name, in instance: InstanceFolder) throws(ClusterError) -> StandingKey {
    let path = path(name, in: instance)
    guard let key = try JSONFile.read(StandingKey.self, at: path) else {
      throw ClusterError(.key, "\(path) is missing: `widgetlab keys --instance \(instance.path)` makes the keys")
    }
    guard key.publicKey.utf8.count == 40, key.secretKey.utf8.count == 40 else {
      throw ClusterError(.key, "\(path) holds no key pair: remove it, and make the keys again with `widgetlab keys`")
    }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 == 0 else {
      throw ClusterError(.key, "\(path) can be read by others than its owner: chmod 600 \(path)")
    }
    return key
  }

  /// What the broker lets in: the public half of every key of the instance, sorted by name.
  ///
  /// - Throws: `key` or `instance-folder`.
  package static func loadAllPublic(in instance: InstanceFolder) throws(ClusterError) -> [Public] {
    let files: [String]
    do {
      files = try FileManager.default.contentsOfDirectory(atPath: instance.keys)
    } catch {
      throw ClusterError(
        .key, "\(instance.keys) cannot be read: `widgetlab keys --instance \(instance.path)` makes the keys")
    }
    var keys: [Public] = []
    for file in files.sorted() where file.hasSuffix(".json") {
      let name = Name(rawValue: String(file.dropLast(5)))
      let key = try load(name, in: instance)
      keys.append(Public(name: name, pattern: key.pattern, publicKey: key.publicKey))
    }
    return keys
  }

  private static func path(_ name: Name, in instance: InstanceFolder) -> String {
    "\(instance.keys)/\(name).json"
  }
}
