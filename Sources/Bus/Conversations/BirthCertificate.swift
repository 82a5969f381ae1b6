/// What an agent hands a child on its standard input: one line of JSON, then the end of the file. The runtime reads and
/// closes it before the author's code runs, so that the key stands in no environment and no argument list.
package struct BirthCertificate: Codable, Sendable, Hashable {
  /// Who the child is on the bus.
  package let address: Address
  /// Which life of that address this is.
  package let generation: UInt32
  /// The host system of its device.
  package let host: Address
  /// Where the broker listens, such as `tcp://127.0.0.1:7701`.
  package let endpoint: String
  /// The broker's key, z85.
  package let serverKey: String
  /// This life's key pair, z85.
  package let publicKey: String
  package let secretKey: String
  /// The process's own folder.
  package let container: String
  /// Folders of app groups, by group identifier.
  package let groups: [String: String]
  package let rules: ProcessRules
  /// The agent's process id: a child whose parent is somebody else has been orphaned before it could ask to die with it.
  package let agentPid: Int32

  package init(
    address: Address, generation: UInt32, host: Address, endpoint: String, serverKey: String, publicKey: String,
    secretKey: String, container: String, groups: [String: String], rules: ProcessRules = ProcessRules(),
    agentPid: Int32
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
  }
}
