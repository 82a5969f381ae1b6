// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import Cluster
package import Logging
package import Messages
package import PrometheusMetrics

/// The option of a standing process that exposes metrics.
package struct MetricsOption: ParsableArguments {
  /// Where the metrics are exposed; `nil` for nowhere, or for the setting in `widgetlab.yaml`.
  @Option(
    name: .customLong("metrics"),
    help: ArgumentHelp(
      "Expose metrics for Prometheus at http://HOST:PORT/metrics; the port 0 selects a free one.",
      valueName: "host:port"))
  package var endpoint: MetricsEndpoint?

  package init() {}

  /// Starts the server of the metrics if the option or the setting has an endpoint, and announces it.
  ///
  /// - Parameters:
  ///   - setting: the endpoint in `widgetlab.yaml`, which the option replaces.
  ///   - address: of this process.
  ///   - advertise: the host name to announce; `nil` for that of the endpoint.
  ///   - families: called on the server's thread for each request; must not block.
  /// - Returns: the server, which the caller stops; `nil` without an endpoint.
  /// - Throws: `MetricsError`, or `instance-folder`.
  package func serve(
    _ setting: MetricsEndpoint?, as address: Address, advertise: String? = nil, in instance: InstanceFolder,
    logger: Logger, _ families: @escaping @Sendable () -> [MetricFamily]
  ) throws -> MetricsServer? {
    guard let endpoint = endpoint ?? setting else { return nil }
    let server = try MetricsServer(endpoint, families)
    let announced = MetricsEndpoint(host: advertise ?? endpoint.host, port: server.endpoint.port)
    do {
      try MetricsAnnouncement(announced, of: address).write(in: instance)
    } catch {
      server.stop()
      throw error
    }
    logger.notice("metrics", metadata: ["url": "http://\(announced)/metrics"])
    return server
  }
}

extension MetricsEndpoint: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }
}

/// Where a process exposes its metrics, in `metrics/NAME.json`. The format is that of the file-based service discovery of
/// Prometheus (`file_sd_configs`), which can read `metrics/*.json`.
package struct MetricsAnnouncement: Codable, Hashable, Sendable {
  /// One group of targets.
  package struct Group: Codable, Hashable, Sendable {
    /// `HOST:PORT`.
    package let targets: [String]
    package let labels: [String: String]
  }

  package let group: Group

  package init(_ endpoint: MetricsEndpoint, of address: Address) {
    group = Group(targets: [endpoint.description], labels: ["process": address.text])
  }

  package init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    group = try list.decode(Group.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    try list.encode(group)
  }

  /// The file of the announcement of a process.
  package static func path(of address: Address, in instance: InstanceFolder) -> String {
    instance.metrics + "/" + address.text.replacing("/", with: "-") + ".json"
  }

  /// The address of the process.
  private var process: String { group.labels["process"] ?? "" }

  /// Replaces the announcement atomically.
  ///
  /// - Throws: `instance-folder`.
  func write(in instance: InstanceFolder) throws(ClusterError) {
    try instance.createMetrics()
    try JSONFile.write(self, to: "\(instance.metrics)/\(process.replacing("/", with: "-")).json")
  }
}
