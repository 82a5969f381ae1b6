// SPDX-License-Identifier: Apache-2.0

package import PrometheusMetrics

extension ClusterConfiguration {
  /// The push server, which replaces Apple's.
  package struct PushServer: Sendable, Hashable {
    package var executable = "push-server"
    /// The interface that it listens on.
    package var listen = "127.0.0.1"
    /// The host name to announce and to put into the certificate. Needed when it listens on every interface.
    package var advertise: String?
    /// The port that replaces `api.sandbox.push.apple.com`; 0 selects a free port, and keeps it after a restart.
    package var developmentPort = 0
    /// The port that replaces `api.push.apple.com`.
    package var productionPort = 0
    /// Where it exposes its metrics; `nil` for nowhere.
    package var metrics: MetricsEndpoint?
    /// The URI of a PostgreSQL database, which several replicas share; `nil` for its own SQLite database.
    package var database: String?
    /// How many replicas `widgetlab up` starts: `push-server/1`, `push-server/2` …
    package var replicas = 1
    package var rules = PushRules()

    package init() {}
  }

  /// Rules of the push server, see Documentation/fidelity/apns.md.
  package struct PushRules: Sendable, Hashable {
    /// How long entries of the delivery log are kept.
    package var logAge: Duration = .seconds(7 * 86_400)
    /// Maximum number of requests in the delivery log.
    package var logLimit = 100_000
    /// Maximum number of requests that wait to be written. Further requests get `ServiceUnavailable`.
    package var queueLimit = 10_000
    /// Maximum number of notifications of one subject that are in flight to its device.
    package var inFlight = 32
    /// How long a notification without an expiration is stored.
    package var storageAge: Duration = .seconds(30 * 86_400)
    /// How long the push server knows a device token after its end. Later, it is unknown.
    package var endedTokenAge: Duration = .seconds(30 * 86_400)
    /// Maximum number of delivery log entries that are written to the journal per second.
    package var journalRate = 1_000
    /// Maximum payload size, bytes.
    package var payloadLimit = 4_096
    /// Maximum VoIP payload size, bytes.
    package var voipPayloadLimit = 5_120
    /// Maximum age of a provider token.
    package var providerTokenLifetime: Duration = .seconds(3_600)
    /// Minimum time between two changes of the provider token on a connection; 0 for any.
    package var providerTokenUpdateInterval: Duration = .seconds(1_200)
    /// Maximum number of consecutive requests to one device token on a connection; 0 for any number.
    package var consecutiveRequests = 0
    /// The time window of `consecutiveRequests`.
    package var consecutiveWindow: Duration = .seconds(60)
    /// A connection without requests is closed after this long.
    package var idleTimeout: Duration = .seconds(3_600)
    /// The time from one burst of notifications of priority 5 to the next on a device; 0 for none.
    package var priority5Interval: Duration = .seconds(15)
    /// The same for priority 1.
    package var priority1Interval: Duration = .seconds(60)
    /// The time from one background notification of an app to the next on a device; 0 for none.
    package var backgroundInterval: Duration = .seconds(1_200)
    /// A connection whose refusals outweigh its successes by this number gets few concurrent streams; 0 for never.
    package var slowedRefusals = 100
    /// The concurrent streams of such a connection.
    package var slowedStreams = 1
    /// A connection whose refusals outweigh its successes by this number is closed; 0 for never.
    package var endedRefusals = 1_000
    /// How many refusals a BadDeviceToken counts for.
    package var badDeviceTokenWeight = 2

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
      guard (0...65_535).contains(port) else { throw reader.error(name, "must be a port, or 0 for a free port") }
    }
    guard developmentPort == 0 || developmentPort != productionPort else {
      throw reader.error("productionPort", "is the same as developmentPort: each environment needs its own port")
    }
    guard !executable.isEmpty else { throw reader.error("executable", "must not be empty") }
    metrics = try reader.metricsEndpoint()
    database = try reader.string("database")
    replicas = try reader.integer("replicas") ?? replicas
    if let database {
      do { try Expansion.check(database) } catch { throw reader.error("database", "\(error)") }
      guard Self.isDatabase(database) else {
        throw reader.error("database", "must begin with postgres:// or postgresql://, or be ${env.NAME}")
      }
    }
    guard (1...64).contains(replicas) else { throw reader.error("replicas", "must be 1 to 64") }
    guard replicas == 1 || database != nil else {
      throw reader.error("replicas", "more than one needs `database`, a PostgreSQL database that they share")
    }
    guard replicas == 1 || (developmentPort == 0 && productionPort == 0) else {
      throw reader.error("replicas", "more than one needs free ports: remove developmentPort and productionPort")
    }
    guard replicas == 1 || metrics?.port ?? 0 == 0 else {
      throw reader.error("metrics", "more than one replica needs free ports: use the port 0")
    }
    for (name, port) in [("developmentPort", developmentPort), ("productionPort", productionPort)] {
      guard port == 0 || metrics.map({ Int($0.port) != port }) ?? true else {
        throw reader.error("metrics", "has the port of \(name): each server needs its own port")
      }
    }
    try rules.read(&reader)
    try reader.finish()
  }
}

extension ClusterConfiguration.PushServer {
  /// Whether a text may be the URI of a PostgreSQL database. Its variables are not expanded yet.
  package static func isDatabase(_ text: String) -> Bool {
    ["postgres://", "postgresql://", "${env."].contains { text.hasPrefix($0) }
  }

  /// Why a text cannot be the name of a replica; `nil` if it can.
  package static func objection(toReplica name: String) -> String? {
    let isPermitted = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    return isPermitted && (1...32).contains(name.utf8.count)
      ? nil : "'\(name)' is not a name of 1 to 32 letters, digits, '-' and '.'"
  }
}

extension ClusterConfiguration.PushRules {
  fileprivate mutating func read(_ reader: inout ConfigurationReader) throws(ClusterError) {
    logAge = try reader.seconds("logAge") ?? logAge
    logLimit = try reader.integer("logLimit") ?? logLimit
    queueLimit = try reader.integer("queueLimit") ?? queueLimit
    inFlight = try reader.integer("inFlight") ?? inFlight
    storageAge = try reader.seconds("storageAge") ?? storageAge
    endedTokenAge = try reader.seconds("endedTokenAge") ?? endedTokenAge
    journalRate = try reader.integer("journalRate") ?? journalRate
    payloadLimit = try reader.integer("payloadLimit") ?? payloadLimit
    voipPayloadLimit = try reader.integer("voipPayloadLimit") ?? voipPayloadLimit
    providerTokenLifetime = try reader.seconds("providerTokenLifetime") ?? providerTokenLifetime
    providerTokenUpdateInterval = try reader.seconds("providerTokenUpdateInterval") ?? providerTokenUpdateInterval
    consecutiveRequests = try reader.integer("consecutiveRequests") ?? consecutiveRequests
    consecutiveWindow = try reader.seconds("consecutiveWindow") ?? consecutiveWindow
    idleTimeout = try reader.seconds("idleTimeout") ?? idleTimeout
    priority5Interval = try reader.seconds("priority5Interval") ?? priority5Interval
    priority1Interval = try reader.seconds("priority1Interval") ?? priority1Interval
    backgroundInterval = try reader.seconds("backgroundInterval") ?? backgroundInterval
    try readRefusals(&reader)
    guard logLimit >= 100 else { throw reader.error("logLimit", "must be at least 100") }
    guard queueLimit >= 1 else { throw reader.error("queueLimit", "must be at least 1") }
    guard (1...1_000).contains(inFlight) else { throw reader.error("inFlight", "must be 1 to 1000") }
    guard journalRate >= 0 else { throw reader.error("journalRate", "must be 0 or more") }
    for (name, limit) in [("payloadLimit", payloadLimit), ("voipPayloadLimit", voipPayloadLimit)] {
      guard (1...8_192).contains(limit) else { throw reader.error(name, "must be 1 to 8192 bytes") }
    }
    guard consecutiveRequests >= 0 else { throw reader.error("consecutiveRequests", "must be 0 or more") }
    guard idleTimeout > .zero else { throw reader.error("idleTimeout", "must be more than 0") }
  }

  private mutating func readRefusals(_ reader: inout ConfigurationReader) throws(ClusterError) {
    slowedRefusals = try reader.integer("slowedRefusals") ?? slowedRefusals
    slowedStreams = try reader.integer("slowedStreams") ?? slowedStreams
    endedRefusals = try reader.integer("endedRefusals") ?? endedRefusals
    badDeviceTokenWeight = try reader.integer("badDeviceTokenWeight") ?? badDeviceTokenWeight
    for (name, value) in [("slowedRefusals", slowedRefusals), ("endedRefusals", endedRefusals)] {
      guard value >= 0 else { throw reader.error(name, "must be 0 or more") }
    }
    guard (1...1_000).contains(slowedStreams) else { throw reader.error("slowedStreams", "must be 1 to 1000") }
    guard badDeviceTokenWeight >= 1 else { throw reader.error("badDeviceTokenWeight", "must be at least 1") }
  }
}
