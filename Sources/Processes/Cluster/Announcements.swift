import Foundation

/// Where the broker listens, as it says in `bus/bus.json` once it does.
package struct BusAnnouncement: Codable, Hashable, Sendable {
  /// Where peers connect, such as `tcp://127.0.0.1:7701`.
  package let endpoint: String
  /// Where the tap is.
  package let tap: String
  /// The broker's key, z85.
  package let publicKey: String
  package let pid: Int32

  package init(endpoint: String, tap: String, publicKey: String, pid: Int32) {
    self.endpoint = endpoint
    self.tap = tap
    self.publicKey = publicKey
    self.pid = pid
  }

  /// What stands in the instance; `nil` before the first broker.
  ///
  /// - Throws: `instance-folder`.
  package static func read(in instance: InstanceFolder) throws(ClusterError) -> BusAnnouncement? {
    try JSONFile.read(BusAnnouncement.self, at: instance.busAnnouncement)
  }

  /// Waits until the broker has announced itself.
  ///
  /// - Throws: `not-there` when the time is over, `instance-folder`, or `CancellationError`.
  package static func wait(in instance: InstanceFolder, within limit: Duration) async throws -> BusAnnouncement {
    try await waitForFile(
      BusAnnouncement.self, at: instance.busAnnouncement, within: limit,
      advice: "is `widgetlab up` (or message-bus) running with the instance folder \(instance.path)?")
  }

  /// Writes the announcement, whole, in the place of an older one.
  ///
  /// - Throws: `instance-folder`.
  package func write(in instance: InstanceFolder) throws(ClusterError) {
    try JSONFile.write(self, to: instance.busAnnouncement)
  }
}

/// Where the provider server listens, as it says in `provider.json` once it does.
package struct ProviderAnnouncement: Codable, Hashable, Sendable {
  /// Such as `http://127.0.0.1:8080`.
  package let url: String
  package let pid: Int32

  package init(url: String, pid: Int32) {
    self.url = url
    self.pid = pid
  }

  /// What stands in the instance; `nil` before the first provider server.
  ///
  /// - Throws: `instance-folder`.
  package static func read(in instance: InstanceFolder) throws(ClusterError) -> ProviderAnnouncement? {
    try JSONFile.read(ProviderAnnouncement.self, at: instance.providerAnnouncement)
  }

  /// Waits until the provider server has announced itself.
  ///
  /// - Throws: `not-there` when the time is over, `instance-folder`, or `CancellationError`.
  package static func wait(in instance: InstanceFolder, within limit: Duration) async throws -> ProviderAnnouncement {
    try await waitForFile(
      ProviderAnnouncement.self, at: instance.providerAnnouncement, within: limit,
      advice: "is the provider of widgetlab.yaml running with the instance folder \(instance.path)?")
  }

  /// Writes the announcement, whole, in the place of an older one.
  ///
  /// - Throws: `instance-folder`.
  package func write(in instance: InstanceFolder) throws(ClusterError) {
    try JSONFile.write(self, to: instance.providerAnnouncement)
  }
}

/// Where the push server listens, as it says in `push-server.json` once it does, and what a provider needs for it.
package struct PushServerAnnouncement: Codable, Hashable, Sendable {
  /// What plays `https://api.sandbox.push.apple.com`, such as `https://127.0.0.1:2197`.
  package let development: String
  /// What plays `https://api.push.apple.com`.
  package let production: String
  /// The file of the certificate that signed the server's: a provider has to trust it.
  package let certificateAuthority: String
  /// The file of the development environment's provider key, a `.p8`.
  package let key: String
  /// Its key id, ten characters.
  package let keyID: String
  /// The id of the team that it belongs to, ten characters.
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

  /// What stands in the instance; `nil` before the first push server.
  ///
  /// - Throws: `instance-folder`.
  package static func read(in instance: InstanceFolder) throws(ClusterError) -> PushServerAnnouncement? {
    try JSONFile.read(PushServerAnnouncement.self, at: instance.pushServerAnnouncement)
  }

  /// Waits until the push server has announced itself.
  ///
  /// - Throws: `not-there` when the time is over, `instance-folder`, or `CancellationError`.
  package static func wait(in instance: InstanceFolder, within limit: Duration) async throws -> PushServerAnnouncement {
    try await waitForFile(
      PushServerAnnouncement.self, at: instance.pushServerAnnouncement, within: limit,
      advice: "does widgetlab.yaml have `pushServer:`, and is it running with the instance folder \(instance.path)?")
  }

  /// Writes the announcement, whole, in the place of an older one.
  ///
  /// - Throws: `instance-folder`.
  package func write(in instance: InstanceFolder) throws(ClusterError) {
    try JSONFile.write(self, to: instance.pushServerAnnouncement)
  }
}

/// Looks for a file every 20 ms until it is there.
private func waitForFile<T: Decodable>(
  _ type: T.Type, at path: String, within limit: Duration, advice: String
) async throws -> T {
  let deadline = ContinuousClock.now + limit
  while true {
    if let value = try JSONFile.read(type, at: path) { return value }
    guard ContinuousClock.now < deadline else {
      throw ClusterError(.notThere, "\(path) did not appear within \(limit): \(advice)")
    }
    try await Task.sleep(for: .milliseconds(20))
  }
}
