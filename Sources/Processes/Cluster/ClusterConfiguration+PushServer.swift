extension ClusterConfiguration {
  /// What plays Apple's push servers.
  package struct PushServer: Sendable, Hashable {
    package var executable = "push-server"
    /// Where it listens.
    package var listen = "127.0.0.1"
    /// The host name to announce, and in the certificate, where it listens on every interface.
    package var advertise: String?
    /// What plays `api.sandbox.push.apple.com`; 0 takes a free one, and the same again after a death.
    package var developmentPort = 0
    /// What plays `api.push.apple.com`.
    package var productionPort = 0
    package var rules = PushRules()

    package init() {}
  }

  /// Rules of the push server, see Documentation/fidelity.md.
  package struct PushRules: Sendable, Hashable {
    /// How long the delivery log is kept.
    package var logAge: Duration = .seconds(7 * 86_400)
    /// Requests that it keeps.
    package var logLimit = 100_000
    /// Requests that wait to be written; one more is answered `ServiceUnavailable`.
    package var queueLimit = 10_000
    /// Notifications of one subject on their way to its device.
    package var inFlight = 32
    /// How long a notification without an expiration is stored.
    package var storageAge: Duration = .seconds(30 * 86_400)
    /// Lines of the delivery log in the journal, a second.
    package var journalRate = 1_000
    /// Bytes of a payload.
    package var payloadLimit = 4_096
    /// Bytes of a VoIP payload.
    package var voipPayloadLimit = 5_120
    /// How old a provider token may be.
    package var providerTokenLifetime: Duration = .seconds(3_600)
    /// How long a connection keeps to one provider token; 0 for any change.
    package var providerTokenUpdateInterval: Duration = .seconds(1_200)
    /// Consecutive requests to one device token on a connection; 0 for any number.
    package var consecutiveRequests = 0
    /// Within how long.
    package var consecutiveWindow: Duration = .seconds(60)
    /// A connection without a request is ended after so long.
    package var idleTimeout: Duration = .seconds(3_600)

    package init() {}
  }
}

extension ClusterConfiguration.PushServer {
  init(reading mapping: ConfigurationReader) throws(ClusterError) {
    var reader = mapping
    self.init()
    executable = try reader.string("executable") ?? executable
    listen = try reader.string("listen") ?? listen
    advertise = try reader.string("advertise")
    developmentPort = try reader.integer("developmentPort") ?? developmentPort
    productionPort = try reader.integer("productionPort") ?? productionPort
    for (name, port) in [("developmentPort", developmentPort), ("productionPort", productionPort)] {
      guard (0...65_535).contains(port) else { throw reader.error(name, "is a port, or 0 for a free one") }
    }
    guard developmentPort == 0 || developmentPort != productionPort else {
      throw reader.error("productionPort", "is that of development: each environment has its own")
    }
    guard !executable.isEmpty else { throw reader.error("executable", "is empty") }
    try rules.read(&reader)
    try reader.finish()
  }
}

extension ClusterConfiguration.PushRules {
  fileprivate mutating func read(_ reader: inout ConfigurationReader) throws(ClusterError) {
    logAge = try reader.seconds("logAge") ?? logAge
    logLimit = try reader.integer("logLimit") ?? logLimit
    queueLimit = try reader.integer("queueLimit") ?? queueLimit
    inFlight = try reader.integer("inFlight") ?? inFlight
    storageAge = try reader.seconds("storageAge") ?? storageAge
    journalRate = try reader.integer("journalRate") ?? journalRate
    payloadLimit = try reader.integer("payloadLimit") ?? payloadLimit
    voipPayloadLimit = try reader.integer("voipPayloadLimit") ?? voipPayloadLimit
    providerTokenLifetime = try reader.seconds("providerTokenLifetime") ?? providerTokenLifetime
    providerTokenUpdateInterval = try reader.seconds("providerTokenUpdateInterval") ?? providerTokenUpdateInterval
    consecutiveRequests = try reader.integer("consecutiveRequests") ?? consecutiveRequests
    consecutiveWindow = try reader.seconds("consecutiveWindow") ?? consecutiveWindow
    idleTimeout = try reader.seconds("idleTimeout") ?? idleTimeout
    guard logLimit >= 100 else { throw reader.error("logLimit", "is at least 100") }
    guard queueLimit >= 1 else { throw reader.error("queueLimit", "is at least 1") }
    guard (1...1_000).contains(inFlight) else { throw reader.error("inFlight", "is 1 to 1000") }
    guard journalRate >= 0 else { throw reader.error("journalRate", "is 0 or more") }
    for (name, limit) in [("payloadLimit", payloadLimit), ("voipPayloadLimit", voipPayloadLimit)] {
      guard (1...8_192).contains(limit) else { throw reader.error(name, "is 1 to 8192 bytes") }
    }
    guard consecutiveRequests >= 0 else { throw reader.error("consecutiveRequests", "is 0 or more") }
    guard idleTimeout > .zero else { throw reader.error("idleTimeout", "is more than 0") }
  }
}
