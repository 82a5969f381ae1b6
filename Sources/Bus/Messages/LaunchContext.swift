// SPDX-License-Identifier: Apache-2.0

/// The launch context that an agent passes to a child on standard input: one line of JSON, then end of file. The
/// runtime reads and closes it before the author's code runs, so the key is in no environment and no argument list.
package struct LaunchContext: Codable, Sendable, Hashable {
  /// The child's address on the bus.
  package let address: Address
  /// The generation of this process instance.
  package let generation: UInt32
  /// The host system of its device.
  package let host: Address
  /// The broker's endpoint, such as `tcp://127.0.0.1:7701`.
  package let endpoint: String
  /// The broker's key, z85.
  package let serverKey: String
  /// The key pair of this process instance, z85.
  package let publicKey: String
  package let secretKey: String
  /// The process's container folder.
  package let container: String
  /// Folders of app groups, by group identifier.
  package let groups: [String: String]
  package let rules: ProcessRules
  /// The agent's process id: a child with another parent was orphaned before it could set its parent-death signal.
  package let agentPid: Int32
  /// The page by which faults are injected into the process; `nil` in ordinary use.
  package let faultPoints: String?

  package init(
    address: Address, generation: UInt32, host: Address, endpoint: String, serverKey: String, publicKey: String,
    secretKey: String, container: String, groups: [String: String], rules: ProcessRules = ProcessRules(),
    agentPid: Int32, faultPoints: String? = nil
  ) {
    self.address = address
    self.generation = generation
    self.host = host
    self.endpoint = endpoint
    self.serverKey = serverKey
    self.publicKey = publicKey
    self.secretKey = secretKey
    self.container = container
    self.groups = groups
    self.rules = rules
    self.agentPid = agentPid
    self.faultPoints = faultPoints
  }
}
