// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Glibc
package import MessageBus
package import Messages
package import ZeroMQ

/// The key of a process that is not spawned by an agent. It is in a folder of its holder, `keys/<name>`, mode 0600, so
/// that a container can be given only the keys of its processes. The public half is in `known`, where the broker
/// reads it.
package struct StandingKey: Codable, Sendable, Hashable {
  /// The holder of the key, and the name of its folder.
  package struct Name: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static let messageBus = Name(rawValue: "message-bus")
    package static let host = Name(rawValue: "host")
    package static let provider = Name(rawValue: "provider")
    package static let pushServer = Name(rawValue: "push-server")
    /// Shared by all fleets.
    package static let fleet = Name(rawValue: "fleet")
    /// Shared by all runs of the operator's tool.
    package static let `operator` = Name(rawValue: "operator")
    /// Shared by all health checks.
    package static let watcher = Name(rawValue: "watcher")
    package static func agent(_ number: Int) -> Name { Name(rawValue: "agent-\(number)") }

    package var description: String { rawValue }
  }

  /// The part of a key that the broker needs.
  package struct Public: Sendable, Hashable {
    package let name: Name
    package let facts: StandingKeyFacts
  }

  package let pattern: AddressPattern
  package let publicKey: String
  package let secretKey: String
  /// The time of creation.
  package let since: Timestamp

  package var pair: CurveKeyPair { CurveKeyPair(publicKey: publicKey, secretKey: secretKey) }
  package var facts: StandingKeyFacts { StandingKeyFacts(pattern: pattern, publicKey: publicKey, since: since) }

  private init(for name: Name, pattern: AddressPattern) throws(ClusterError) {
    let pair: CurveKeyPair
    do {
      pair = try CurveKeyPair.generate()
    } catch {
      throw ClusterError(.key, "cannot create a key for \(name): \(error)")
    }
    self.pattern = pattern
    self.publicKey = pair.publicKey
    self.secretKey = pair.secretKey
    self.since = .now
  }

  // MARK: Creating

  /// The key holders of a cluster, with the addresses that each may use.
  package static func holders(of configuration: ClusterConfiguration) -> [(name: Name, pattern: AddressPattern)] {
    let device = configuration.device.name
    return [
      (.messageBus, AddressPattern(.messageBus)), (.host, AddressPattern(.host(device))),
      (.provider, AddressPattern(.provider)), (.operator, AddressPattern("operator/*")), (.watcher, .watchers),
    ]
      + (configuration.pushServer.map {
        [(.pushServer, $0.database == nil ? AddressPattern(.pushServer) : .pushServers), (.fleet, .fleets)]
      } ?? [])
      + configuration.agentNumbers.map { (.agent($0), AddressPattern(.agent(device, $0))) }
  }

  /// Creates the missing keys: the broker's, the host's, one for each agent that the configuration names, the
  /// provider's, the push server's and the fleets' if there is one, the operators' and the health checks'; and writes their public
  /// halves to the broker's folder. Existing keys are kept, also when two processes do this at once.
  ///
  /// - Throws: `key` or `instance-folder`.
  package static func makeAll(
    for configuration: ClusterConfiguration, in instance: InstanceFolder
  ) throws(ClusterError) {
    try instance.create()
    for (name, pattern) in holders(of: configuration) { try make(name, pattern, in: instance) }
  }

  private static func make(
    _ name: Name, _ pattern: AddressPattern, in instance: InstanceFolder
  ) throws(ClusterError) {
    try instance.makeKeyFolder(of: name)
    let path = instance.key(of: name)
    if !FileManager.default.fileExists(atPath: path) {
      _ = try JSONFile.writeIfMissing(try StandingKey(for: name, pattern: pattern), to: path)
    }
    let present = try load(name, in: instance)
    guard present.pattern == pattern else {
      throw ClusterError(
        .key,
        "\(path) belongs to \(present.pattern), but the configuration expects \(pattern): use another instance folder, "
          + "or remove the file")
    }
    // A damaged file of the public half is replaced, too.
    guard name != .messageBus, (try? known(name, in: instance)) != present.facts else { return }
    try JSONFile.write(present.facts, to: instance.knownKey(of: name))
  }

  /// Replaces the current key with a new one. For a cluster that is not running.
  ///
  /// - Returns: the former key and the new one.
  /// - Throws: `key` or `instance-folder`.
  package static func replace(
    _ name: Name, in instance: InstanceFolder
  ) throws(ClusterError) -> (former: StandingKey, current: StandingKey) {
    let former = try load(name, in: instance)
    let current = try StandingKey(for: name, pattern: former.pattern)
    if name != .messageBus { try JSONFile.write(current.facts, to: instance.knownKey(of: name)) }
    try JSONFile.write(current, to: instance.key(of: name))
    return (former, current)
  }

  /// Returns the key that follows the current one, and creates it if necessary. A next key that was created but never
  /// used is returned again, so that an interrupted renewal is completed by the next one.
  ///
  /// - Throws: `key` or `instance-folder`.
  package static func next(_ name: Name, in instance: InstanceFolder) throws(ClusterError) -> StandingKey {
    let path = instance.nextKey(of: name)
    let pattern = try load(name, in: instance).pattern
    _ = try JSONFile.writeIfMissing(try StandingKey(for: name, pattern: pattern), to: path)
    return try load(at: path, of: instance)
  }

  /// Replaces the current key with the next key, atomically.
  ///
  /// - Throws: `instance-folder`.
  package static func takeNext(_ name: Name, in instance: InstanceFolder) throws(ClusterError) {
    guard rename(instance.nextKey(of: name), instance.key(of: name)) == 0 else {
      throw ClusterError(
        .folder, "\(instance.key(of: name)) cannot be replaced: \(String(cString: strerror(errno)))")
    }
  }

  /// Holds an exclusive lock on the key while the body runs. The kernel releases it when the process exits.
  ///
  /// - Throws: `key` when another process holds the lock, and what the body throws.
  package static func locked<T>(
    _ name: Name, in instance: InstanceFolder, _ body: () async throws -> T
  ) async throws -> T {
    let folder = open(instance.keyFolder(of: name), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      throw ClusterError(
        .key,
        "\(instance.keyFolder(of: name)) does not exist here: renew the key of \(name) where its holder runs")
    }
    defer { close(folder) }
    guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
      throw ClusterError(.key, "the key of \(name) is being renewed by another process: try again in a moment")
    }
    return try await body()
  }

  /// Deletes a next key that the broker has rejected.
  package static func dropNext(_ name: Name, in instance: InstanceFolder) { unlink(instance.nextKey(of: name)) }

  // MARK: Reading

  /// Whether this process can read the key. A container has only the keys of its processes.
  package static func isHere(_ name: Name, in instance: InstanceFolder) -> Bool {
    FileManager.default.fileExists(atPath: instance.key(of: name))
  }

  /// Reads one key.
  ///
  /// - Throws: `key` when it is missing, damaged, or readable by others than its owner; see `isPrivate`.
  package static func load(_ name: Name, in instance: InstanceFolder) throws(ClusterError) -> StandingKey {
    try load(at: instance.key(of: name), of: instance)
  }

  private static func load(at path: String, of instance: InstanceFolder) throws(ClusterError) -> StandingKey {
    guard let key = try JSONFile.read(StandingKey.self, at: path) else {
      throw ClusterError(.key, "\(path) is missing: `widgetlab keys make --instance \(instance.path)` creates the keys")
    }
    guard key.publicKey.utf8.count == 40, key.secretKey.utf8.count == 40 else {
      throw ClusterError(
        .key, "\(path) holds no key pair: remove it, then run `widgetlab keys make`")
    }
    var status = stat()
    guard stat(path, &status) == 0, isPrivate(status.st_mode, owner: status.st_uid, reader: geteuid()) else {
      throw ClusterError(.key, "\(path) is readable by other users: run `chmod 600 \(path)`")
    }
    return key
  }

  /// Whether the permissions of a key file are acceptable: only its owner can read it. The group of a file of root may
  /// read it too, if the reader is not root: container engines give such files to their processes. Source: the rule of
  /// PostgreSQL for the key of its certificate.
  package static func isPrivate(_ mode: mode_t, owner: uid_t, reader: uid_t) -> Bool {
    mode & (owner == 0 && reader != 0 ? 0o037 : 0o077) == 0
  }

  private static func known(_ name: Name, in instance: InstanceFolder) throws(ClusterError) -> StandingKeyFacts? {
    try JSONFile.read(StandingKeyFacts.self, at: instance.knownKey(of: name))
  }

  /// The keys that the broker accepts: the public half of every key of the instance except its own, sorted by name.
  ///
  /// - Throws: `key` or `instance-folder`.
  package static func loadAllPublic(in instance: InstanceFolder) throws(ClusterError) -> [Public] {
    let files: [String]
    do {
      files = try FileManager.default.contentsOfDirectory(atPath: instance.knownFolder)
    } catch {
      throw ClusterError(
        .key,
        "\(instance.knownFolder) cannot be read: `widgetlab keys make --instance \(instance.path)` creates the keys")
    }
    var keys: [Public] = []
    for file in files.sorted() where file.hasSuffix(".json") {
      let name = Name(rawValue: String(file.dropLast(5)))
      // A key that was just removed is no longer accepted.
      guard let facts = try known(name, in: instance) else { continue }
      keys.append(Public(name: name, facts: facts))
    }
    return keys
  }
}

extension InstanceFolder {
  fileprivate func keyFolder(of name: StandingKey.Name) -> String { "\(keys)/\(name)" }
  fileprivate func key(of name: StandingKey.Name) -> String { keyFolder(of: name) + "/key.json" }
  fileprivate func nextKey(of name: StandingKey.Name) -> String { keyFolder(of: name) + "/next.json" }
  fileprivate func knownKey(of name: StandingKey.Name) -> String { "\(knownFolder)/\(name).json" }
  fileprivate func makeKeyFolder(of name: StandingKey.Name) throws(ClusterError) { try makeFolder(keyFolder(of: name)) }
}

extension StandingKey {
  /// Renews the key of a connected process: creates the next key, registers it with the broker, replaces the current
  /// key, and moves the connection to it. No message in progress is lost.
  ///
  /// The file of the current key is replaced atomically, after the broker has journalled the next key. A process that
  /// is killed during the renewal therefore restarts with a key that the broker accepts, and a repeated renewal
  /// completes the first one.
  ///
  /// - Throws: `BusError` of the registration, `key` or `instance-folder`.
  package static func renew(
    _ name: Name, of connection: Connection, in instance: InstanceFolder
  ) async throws -> RenewKey.Reply {
    try await locked(name, in: instance) {
      let reply = try await exchange(name, pattern: nil, over: connection, in: instance)
      try await connection.renewLine()
      return reply
    }
  }

  /// Renews a key that no process holds permanently: its next user reads the new one. Call it within `locked`.
  ///
  /// - Parameters:
  ///   - pattern: the addresses of the key; nil for the connection's own key.
  ///   - connection: an operator's.
  /// - Throws: as `renew`.
  package static func exchange(
    _ name: Name, pattern: AddressPattern?, over connection: any BusConnection, in instance: InstanceFolder
  ) async throws -> RenewKey.Reply {
    let formerKey = try await onDisk { try load(name, in: instance) }
    let successor = try await onDisk { try next(name, in: instance) }
    do {
      let registered = try await connection.request(
        RegisterKey(publicKey: successor.publicKey, pattern: pattern), to: .messageBus, within: .seconds(20),
        whenUnreachable: .wait)
      try await onDisk { try takeNext(name, in: instance) }
      return RenewKey.Reply(
        former: formerKey.publicKey, current: successor.publicKey, graceSeconds: registered.graceSeconds)
    } catch let error as BusError where error.code == .keyInUse {
      dropNext(name, in: instance)
      throw error
    }
  }

  /// Keeps file I/O off the socket's thread.
  @concurrent
  private static func onDisk<T: Sendable>(_ work: @Sendable () throws -> T) async throws -> T { try work() }
}

extension StandingProcess {
  /// Renews the process's key when an operator requests it. Call it before the connection is started.
  package static func renewKey(
    _ name: StandingKey.Name, on connection: Connection, in instance: InstanceFolder
  ) {
    connection.onRequest(RenewKey.self) { [weak connection] _, _ in
      guard let connection else { throw BusError(.closed, "the process is exiting") }
      return try await StandingKey.renew(name, of: connection, in: instance)
    }
  }
}
